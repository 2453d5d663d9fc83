"""Lines: the same question again and again, the readings of it, and the trends that they make."""

from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import METRIC_LETTERS, Campaign, Session, Template
from campaigns.models.settings import Setting
from campaigns.models.targets import Target
from campaigns.models.teams import Team

MOST_MINUTES, MINUTES = 10_080, 600
VERSION_LETTERS = 200
MOST_SESSIONS = 50
MOST_MUTED_DAYS = 90


class Line(models.Model):
    """A template on a target, measured again and again; or campaigns of one question that come from outside.

    template, target: null where the campaigns come from outside; `kind` and `question` tell which these are. subject: the part
    of the target whose versions are the axis; empty: time is. state_reason: why it is paused. due_at: when it is measured
    next; null where nothing is scheduled. cron: five fields, in the time zone `zone`; empty: nothing is scheduled.
    by_version: each new version that the target tells is measured. sessions_per_version: so often by that and by hooks.
    seen_version, seen_at: another version than those that were measured, and the instant of the probe that told it first.
    restless: facts that changed so often that they border nothing. switch: the build of the target that installs a version of
    the subject; null: none does. confirm: whether what is suspected is measured again without being asked for.
    """

    class State(models.TextChoices):
        ON = "on", "on"
        PAUSED = "paused", "paused"
        ENDED = "ended", "ended"

    class Confirm(models.TextChoices):
        AUTOMATIC = "automatic", "automatically"
        ASK = "ask", "when an operator asks for it"
        OFF = "off", "never"

    OPEN = (State.ON, State.PAUSED)

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="lines")
    template = models.ForeignKey(
        Template, on_delete=models.PROTECT, null=True, related_name="lines"
    )
    target = models.ForeignKey(Target, on_delete=models.PROTECT, null=True, related_name="lines")
    kind = models.CharField(max_length=50)
    question = models.CharField(max_length=500)
    subject = models.CharField(max_length=80, blank=True)
    name = models.CharField(max_length=120, help_text="As your team will look for it.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="lines"
    )
    state = models.CharField(max_length=10, choices=State, default=State.ON)
    state_reason = models.CharField(max_length=1000, blank=True)
    cron = models.CharField(
        "schedule",
        max_length=100,
        blank=True,
        help_text=(
            "Five fields of cron: minute, hour, day, month, weekday. 30 2 * * * is each night at 02:30. "
            "Empty: only by hand."
        ),
    )
    zone = models.CharField(
        "time zone of the schedule",
        max_length=60,
        blank=True,
        default="UTC",
        help_text="Such as Europe/Berlin; summer time is respected.",
    )
    due_at = models.DateTimeField(null=True, blank=True)
    by_version = models.BooleanField(
        "measure each new version",
        default=False,
        db_default=False,
        help_text="As soon as two probes, at least a minute apart, have seen it on the target.",
    )
    sessions_per_version = models.PositiveSmallIntegerField(
        "sessions of a version",
        default=1,
        db_default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_SESSIONS)],
        help_text="So often a version is measured when it is seen, or when a hook asks for it. The schedule goes on.",
    )
    seen_version = models.CharField(
        max_length=VERSION_LETTERS, blank=True, default="", db_default=""
    )
    seen_at = models.DateTimeField(null=True, blank=True)
    minutes_a_week = models.PositiveIntegerField(
        "minutes a week",
        default=MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text="So long the schedule may measure in seven days; further occasions are skipped. Campaigns that somebody starts by hand count, and are not held back.",
    )
    switch = models.ForeignKey(
        Setting, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    confirm = models.CharField(
        "measured again",
        max_length=10,
        choices=Confirm,
        default=Confirm.AUTOMATIC,
        db_default=Confirm.AUTOMATIC,
        help_text="A suspected change is measured again, old and new side by side, before anybody is called.",
    )
    metrics = ArrayField(models.CharField(max_length=METRIC_LETTERS), default=list)
    restless = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name", "pk"]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(state="on", due_at__isnull=False),
                name="lines_that_are_due",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "template", "target", "subject"],
                condition=~models.Q(state="ended") & models.Q(template__isnull=False),
                name="line_once_in_a_team",
            ),
            models.UniqueConstraint(
                fields=["team", "kind", "question", "subject"],
                condition=~models.Q(state="ended") & models.Q(template=None),
                name="line_from_outside_once_in_a_team",
            ),
            models.CheckConstraint(
                condition=models.Q(template__isnull=False, target__isnull=False)
                | models.Q(template=None, target=None, cron=""),
                name="line_of_a_template_has_a_target",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class LineApproval(models.Model):
    """That a second operator lets a line load a production server. hash: of all that was approved; another one makes it void."""

    TEAM = "line__team"

    line = models.ForeignKey(Line, on_delete=models.CASCADE, related_name="approvals")
    hash = models.CharField(max_length=64)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    approved_at = models.DateTimeField(db_default=Now())
    until = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(approved_by=models.F("asked_by")),
                name="line_is_approved_by_another",
            )
        ]

    def __str__(self) -> str:
        return f"approval {self.pk}"


class LineHook(models.Model):
    """An address to which signed messages are posted, that ask a line to look. secret: encrypted."""

    class Style(models.TextChoices):
        STANDARD = "standard", "Standard Webhooks"
        GITHUB = "github", "GitHub"
        GITLAB = "gitlab", "GitLab"

    TEAM = "line__team"

    line = models.OneToOneField(Line, on_delete=models.CASCADE, related_name="hook")
    uid = models.CharField(max_length=32, unique=True)
    style = models.CharField(max_length=10, choices=Style)
    secret = models.TextField(editable=False)

    def __str__(self) -> str:
        return f"hook of {self.line}"


class Occasion(models.Model):
    """A moment at which a line was due, and what became of it. key: by which it is one, however often it is asked for.

    hint: the version that a hook told; it waits until the target tells it, too.
    """

    class Trigger(models.TextChoices):
        SCHEDULE = "schedule", "schedule"
        VERSION = "version", "version seen"
        HOOK = "hook", "hook"
        HAND = "hand", "by hand"
        AGAIN = "again", "to repeat a change"

    class Outcome(models.TextChoices):
        LAUNCHED = "launched", "launched"
        WAITS = "waits", "waits"
        MERGED = "merged", "merged"
        SKIPPED = "skipped", "skipped"
        REFUSED = "refused", "refused"
        NEVER_CAME = "never_came", "never came"

    TEAM = "line__team"

    line = models.ForeignKey(
        Line, on_delete=models.CASCADE, related_name="occasions", db_index=False
    )
    key = models.CharField(max_length=100)
    trigger = models.CharField(max_length=10, choices=Trigger)
    due_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.CharField(max_length=2000, blank=True)
    hint = models.CharField(max_length=VERSION_LETTERS, blank=True, default="", db_default="")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    campaign = models.ForeignKey(
        Campaign, on_delete=models.SET_NULL, null=True, related_name="occasions"
    )

    class Meta:
        ordering = ["-due_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["line", "key"], name="occasion_once"),
            models.UniqueConstraint(
                fields=["line"],
                condition=models.Q(outcome="waits") & ~models.Q(trigger="hook"),
                name="one_occasion_waits",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class SubjectVersion(models.Model):
    """A version that a target told. position: in the order of its scheme; two spellings of one version share it."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    subject = models.CharField(max_length=80)
    text = models.CharField(max_length=VERSION_LETTERS)
    scheme = models.CharField(max_length=20)
    position = models.PositiveIntegerField(default=0)
    first_seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["team", "subject", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["team", "subject", "text"], name="version_once")
        ]

    def __str__(self) -> str:
        return self.text


class FactSet(models.Model):
    """The facts of an environment, of which many readings have the same. facts: by side and name."""

    hash = models.CharField(max_length=64, unique=True)
    facts = models.JSONField()

    def __str__(self) -> str:
        return self.hash


class Reading(models.Model):
    """One session of a line, with the versions that its target told.

    companions: the versions of what was installed beside the subject. torn: the version changed within it. border: what
    ended the environment of the reading before: facts by name, and days; null where nothing did. environment: its number.
    """

    TEAM = "line__team"

    line = models.ForeignKey(
        Line, on_delete=models.CASCADE, related_name="readings", db_index=False
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="readings")
    version = models.ForeignKey(
        SubjectVersion, on_delete=models.PROTECT, null=True, related_name="readings"
    )
    companions = models.JSONField(default=dict)
    facts = models.ForeignKey(FactSet, on_delete=models.PROTECT, related_name="readings")
    data_hash = models.CharField(max_length=80, blank=True)
    environment = models.PositiveIntegerField(default=0)
    border = models.JSONField(null=True)
    simulator = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()
    torn = models.BooleanField(default=False)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["line", "at"], name="readings_of_a_line")]
        constraints = [
            models.UniqueConstraint(fields=["line", "session"], name="reading_once_a_line")
        ]

    def __str__(self) -> str:
        return f"reading {self.pk}"


class Trend(models.Model):
    """One cell and one metric of a line. state: what lists show of it, so that they read no points."""

    TEAM = "line__team"

    line = models.ForeignKey(Line, on_delete=models.CASCADE, related_name="trends", db_index=False)
    levels = models.JSONField(default=dict)
    metric = models.CharField(max_length=METRIC_LETTERS)
    unit = models.CharField(max_length=40, blank=True)
    label = models.CharField(max_length=200)
    lower_is_better = models.BooleanField(null=True)
    fingerprint = models.CharField(max_length=80)
    state = models.JSONField(default=dict)

    class Meta:
        ordering = ["line", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["line", "fingerprint"], name="trend_once_a_line")
        ]

    def __str__(self) -> str:
        return self.label


class Point(models.Model):
    """One session of a trend. y: the mean of logs of the metric; sd: of these logs, within the session; n: runs.

    y is null where the session tells nothing; flags say why. once: it was suspected and measured again, and not reproduced:
    it counts in the plateau and in noise, and begins no suspicion of its own.
    """

    trend = models.ForeignKey(
        Trend, on_delete=models.CASCADE, related_name="points", db_index=False
    )
    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="points")
    y = models.FloatField(null=True)
    sd = models.FloatField(null=True)
    n = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    flags = ArrayField(models.CharField(max_length=30), default=list)
    once = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["trend", "reading"]
        constraints = [
            models.UniqueConstraint(fields=["trend", "reading"], name="point_once_a_reading")
        ]

    def __str__(self) -> str:
        return f"point {self.pk}"


class TrendChange(models.Model):
    """What a trend shows: a change of its level, or that its newest sessions differ. Rebuilt whole from the points.

    reading: the first one of the new level; of a screen, a creep and a failure the newest one. good, bad: the change came in
    a version behind good, in bad at the latest; null where the line has no versions, the same where it came within one.
    estimate, low, high: the new level over the old one, on logs of the metric, with its 95 % interval. p: by itself;
    adjusted: among the trends of its line. suspected: it is large enough, and stands out among them. code: of what found it.
    """

    class Kind(models.TextChoices):
        SCREEN = "screen", "newest sessions differ"
        CHANGE = "change", "level changed"
        MACHINE = "machine", "changed within a version"
        CREEP = "creep", "crept away from its reference"
        FAILING = "failing", "passes no more"

    class Direction(models.TextChoices):
        WORSE = "worse", "worse"
        BETTER = "better", "better"
        NEITHER = "", "neither is better"

    TEAM = "trend__line__team"

    trend = models.ForeignKey(
        Trend, on_delete=models.CASCADE, related_name="changes", db_index=False
    )
    kind = models.CharField(max_length=10, choices=Kind)
    direction = models.CharField(max_length=10, choices=Direction, blank=True)
    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="changes")
    good = models.ForeignKey(
        SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    bad = models.ForeignKey(
        SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    estimate = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    p = models.FloatField(null=True)
    adjusted = models.FloatField(null=True)
    suspected = models.BooleanField(default=False)
    code = models.PositiveSmallIntegerField(default=1)

    class Meta:
        ordering = ["trend", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["trend", "kind", "direction", "reading"], name="change_once_a_trend"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class TrendWord(models.Model):
    """What was decided of a trend, by a person or by the system. Never deleted: to compute a history again changes none.

    good, bad: the versions between which it applies. reading: the session that it marks.
    """

    class Word(models.TextChoices):
        ONCE = "once", "seen once, and not again"
        BORDER = "border", "the machine changed"
        EXPECTED = "expected", "expected"
        NOT_A_REGRESSION = "not_a_regression", "no regression"
        TAKEN_BACK = "taken_back", "taken back"

    TEAM = "trend__line__team"

    trend = models.ForeignKey(Trend, on_delete=models.CASCADE, related_name="words")
    good = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    bad = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    reading = models.ForeignKey(Reading, on_delete=models.SET_NULL, null=True, related_name="words")
    word = models.CharField(max_length=20, choices=Word)
    reason = models.CharField(max_length=1000, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["trend", "reading", "word"],
                condition=models.Q(reading__isnull=False),
                name="word_once_a_reading",
            )
        ]

    def __str__(self) -> str:
        return self.word


class Alert(models.Model):
    """Trends of one subject that moved in one direction, in overlapping ranges.

    evidence is the system's, handling is people's. good, bad: it came after the one version, with the other at the latest; of
    a line by time both are null, and good_at and bad_at tell alone. closed: why, and when; null while it is open.
    changed_at: against lost updates.
    """

    class Direction(models.TextChoices):
        WORSE = "worse", "worse"
        BETTER = "better", "better"

    class Evidence(models.TextChoices):
        SUSPECTED = "suspected", "suspected"
        CONFIRMED = "confirmed", "confirmed"
        REPEATED = "repeated", "repeated"
        MACHINE = "machine", "the machine"
        NOT_REPRODUCED = "not_reproduced", "not reproduced"
        UNVERIFIED = "unverified", "not verified"

    class Handling(models.TextChoices):
        NEW = "new", "new"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        FIXED = "fixed", "fixed"
        EXPECTED = "expected", "expected"
        NOT_A_REGRESSION = "not_a_regression", "no regression"

    CALLING = (Evidence.CONFIRMED, Evidence.REPEATED)
    """What people are told of."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="alerts")
    subject = models.CharField(max_length=80, blank=True)
    direction = models.CharField(max_length=10, choices=Direction, default=Direction.WORSE)
    good = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    bad = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    good_at = models.DateTimeField(null=True)
    bad_at = models.DateTimeField()
    evidence = models.CharField(
        max_length=20, choices=Evidence, default=Evidence.SUSPECTED, db_index=True
    )
    evidence_reason = models.CharField(max_length=1000, blank=True)
    handling = models.CharField(max_length=20, choices=Handling, default=Handling.NEW)
    handling_reason = models.CharField(max_length=1000, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="alerts"
    )
    issue_url = models.URLField(max_length=500, blank=True)
    fixed_in = models.ForeignKey(
        SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+"
    )
    opened_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    told_at = models.DateTimeField(null=True)
    closed = models.CharField(max_length=20, blank=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-opened_at", "-pk"]
        indexes = [
            models.Index(
                fields=["team", "subject"],
                condition=models.Q(closed_at=None),
                name="alerts_that_are_open",
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(closed="", closed_at=None)
                | (~models.Q(closed="") & models.Q(closed_at__isnull=False)),
                name="closed_alert_says_why",
            )
        ]

    def __str__(self) -> str:
        return f"alert {self.pk}"


class AlertTrend(models.Model):
    """A trend of an alert. reading: the first session that showed it; seen: the newest one.

    estimate, low, high: on logs, larger is worse; of the pairs once there are some. is_open: of its alert, for the constraint.
    """

    TEAM = "alert__team"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="trends")
    trend = models.ForeignKey(Trend, on_delete=models.CASCADE, related_name="alert_trends")
    direction = models.CharField(max_length=10, choices=Alert.Direction)
    kind = models.CharField(max_length=10)
    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="+")
    seen = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="+")
    estimate = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    p = models.FloatField(null=True)
    evidence = models.CharField(
        max_length=30, choices=Alert.Evidence, default=Alert.Evidence.SUSPECTED
    )
    is_open = models.BooleanField(default=True)
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["alert", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["trend", "direction"],
                condition=models.Q(is_open=True),
                name="one_open_alert_a_trend",
            ),
            models.UniqueConstraint(fields=["alert", "trend"], name="trend_once_an_alert"),
        ]

    def __str__(self) -> str:
        return f"{self.trend} in {self.alert}"


class Confirmation(models.Model):
    """Old and new measured again for an alert: side by side in a campaign, or, without a build, the new one in two more sessions.

    seen: the newest session when it was planned. outcome: empty while it goes on. figures: by the key of a trend, as
    `confirming.Figures`. due_at: when the next try begins. tries: launches that gave no answer.
    """

    class Way(models.TextChoices):
        PAIRS = "pairs", "side by side"
        SESSIONS = "sessions", "two more sessions"

    TEAM = "line__team"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="confirmations")
    line = models.ForeignKey(Line, on_delete=models.CASCADE, related_name="confirmations")
    way = models.CharField(max_length=10, choices=Way)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.SET_NULL, null=True, related_name="confirmations"
    )
    good = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    bad = models.ForeignKey(SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+")
    seen = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="+")
    pairs = models.PositiveIntegerField(default=0)
    outcome = models.CharField(max_length=30, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    figures = models.JSONField(default=dict)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    began_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["line"], condition=models.Q(outcome=""), name="one_open_confirmation_a_line"
            )
        ]

    def __str__(self) -> str:
        return f"confirmation {self.pk}"

    @property
    def outcome_words(self) -> str:
        """The outcome as a page writes it."""
        return self.outcome.replace("_", " ")


class Mute(models.Model):
    """A person's word that nobody is called about a line, a trend, a metric or a target, until an instant or a version.

    It is measured all the same. ended_at: it was taken back, or its version came. told_at: its author was told that it ends.
    """

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="mutes")
    line = models.ForeignKey(Line, on_delete=models.CASCADE, null=True, related_name="mutes")
    trend = models.ForeignKey(Trend, on_delete=models.CASCADE, null=True, related_name="mutes")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, null=True, related_name="+")
    metric = models.CharField(max_length=METRIC_LETTERS, blank=True)
    until = models.DateTimeField()
    until_version = models.ForeignKey(
        SubjectVersion, on_delete=models.PROTECT, null=True, related_name="+"
    )
    reason = models.CharField(max_length=1000)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    began_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["until", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(line__isnull=False, trend=None, target=None, metric="")
                | models.Q(line=None, trend__isnull=False, target=None, metric="")
                | models.Q(line=None, trend=None, target__isnull=False, metric="")
                | (models.Q(line=None, trend=None, target=None) & ~models.Q(metric="")),
                name="mute_has_one_scope",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    until__lte=models.F("began_at") + timedelta(days=MOST_MUTED_DAYS)
                ),
                name="mute_ends_in_90_days",
            ),
        ]

    def __str__(self) -> str:
        return f"mute {self.pk}"
