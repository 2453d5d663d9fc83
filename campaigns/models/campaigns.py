"""The design of campaigns: campaign, factors, cells, sessions, blocks, launch requests."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from campaigns.models.targets import Target
from campaigns.models.teams import Team, default_team


class Template(models.Model):
    """A template of campaigns; `definition`: the design of new drafts."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="templates")
    name = models.CharField(max_length=120, help_text="As your team will look for it.")
    notes = models.TextField(
        max_length=2000,
        blank=True,
        help_text="What it is for, and what to change each time.",
    )
    definition = models.JSONField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(retired_at=None),
                name="template_name_once_in_a_team",
            )
        ]

    def __str__(self) -> str:
        return self.name


METRIC_LETTERS = 100
FACTOR_LETTERS = 80


class Campaign(models.Model):
    """A question and the experiment that answers it, on a target.

    The definition is fixed at launch; `planning.design` declares what an Amendment may change later.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        CANCELLING = "cancelling", "Cancelling"
        CANCELLED = "cancelled", "Cancelled"
        FINISHED = "finished", "Finished"

    class Order(models.TextChoices):
        INTERLEAVED = "interleaved", "Interleaved"
        PAIRED = "paired", "Paired"
        BLOCKED = "blocked", "Blocked"
        RANDOM = "random", "Random"

    class StopRule(models.TextChoices):
        FIXED = "fixed", "Fixed number of blocks"
        PRECISION = "precision", "Until precise enough"

    class Afterwards(models.TextChoices):
        RESTORE = "restore", "Set them back to what they were"
        KEEP = "keep", "Leave them as the last run had them"

    class Fidelity(models.TextChoices):
        RAW = "raw", "measured here or raw values imported"
        AGGREGATED = "aggregated", "aggregated before the import"
        ROUNDED = "rounded", "rounded before the import"

    CLOSED = frozenset({State.CANCELLED, State.FINISHED})
    ACTIVE = frozenset({State.RUNNING, State.PAUSED, State.CANCELLING})

    team = models.ForeignKey(Team, on_delete=models.PROTECT, default=default_team)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="campaigns"
    )
    name = models.CharField(max_length=120)
    question = models.CharField(max_length=500)
    kind = models.CharField(max_length=50)
    target = models.ForeignKey(
        Target,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text="The first one, where the campaign has several.",
    )
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    state = models.CharField(max_length=20, choices=State, default=State.DRAFT, db_index=True)
    state_reason = models.TextField(blank=True)

    parameters = models.JSONField(default=dict, help_text="The fixed parameters, by name.")
    excluded = models.JSONField(default=list, help_text="Combinations of levels left out.")
    order = models.CharField(max_length=20, choices=Order, default=Order.INTERLEAVED)
    paired_factor = models.CharField(max_length=FACTOR_LETTERS, blank=True)
    baseline = models.JSONField(null=True, blank=True, help_text="Level of the paired factor.")
    repetitions = models.PositiveIntegerField(default=3)
    warm_ups = models.PositiveIntegerField(default=0)
    cool_down_seconds = models.FloatField(default=0)
    run_limit_seconds = models.FloatField(default=3600)
    time_budget_seconds = models.FloatField(
        null=True,
        blank=True,
        help_text="From the first run after launch or resumption to the end of the last one.",
    )
    max_failed_share = models.FloatField(
        default=0.5, help_text="Of the runs that ended; more of them failed or void: it pauses."
    )
    max_consecutive_failures = models.PositiveIntegerField(
        default=5, help_text="So many runs failed or void one after another: it pauses."
    )
    server_wait_seconds = models.FloatField(
        default=1800, db_default=1800, help_text="So long it waits for a server that is away."
    )
    seed = models.BigIntegerField(default=1)
    pool = models.CharField(max_length=50, default="measure")

    primary_metric = models.CharField(max_length=METRIC_LETTERS)
    primary_contrast = models.JSONField(
        null=True,
        blank=True,
        help_text="factor, candidate, baseline, and `at`: levels of other factors; none: all count.",
    )
    smallest_effect = models.FloatField(default=0.05)
    margin = models.FloatField(default=0.02)
    failed_limit = models.FloatField(
        default=0.05, help_text="Of the work of a cell: above it there is no number to judge."
    )
    criterion = models.JSONField(
        default=dict, help_text="Conditions that a cell has to keep; `planning.criterion`."
    )
    search = models.JSONField(
        null=True, blank=True, help_text="Of a search for capacity; `planning.search`."
    )
    configurations = models.JSONField(
        null=True,
        blank=True,
        help_text="Named sets of settings that are levels; `planning.configurations`.",
    )
    closed_loop = models.JSONField(
        null=True, blank=True, help_text="Declared with submitted runs; `planning.closed_loops`."
    )
    stop_rule = models.CharField(max_length=20, choices=StopRule, default=StopRule.FIXED)
    stop_width = models.FloatField(
        default=0.03, help_text="Precise enough: half the interval of every change, a share of 1."
    )
    stop_most = models.PositiveIntegerField(default=30, help_text="Blocks, however precise.")
    settings_afterwards = models.CharField(
        max_length=10,
        choices=Afterwards,
        default=Afterwards.RESTORE,
        help_text="What becomes of the target's settings at the end.",
    )
    anew = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A build is installed at the begin of each whole plot, even where it is in force.",
    )

    required_checks = ArrayField(
        models.CharField(max_length=40),
        default=list,
        blank=True,
        help_text="Checks of fitness that its targets must have passed; `planning.fitness`.",
    )
    requires_watch = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its runs are void where a watch of the target gives nothing.",
    )
    unfit_reason = models.CharField(
        max_length=500, blank=True, help_text="Why it is launched though one is missing."
    )
    caveat = models.TextField(
        blank=True, help_text="Which checks were missing at its launch, and that reason."
    )

    source = models.CharField(max_length=300, blank=True, help_text="Where an import came from.")
    fidelity = models.CharField(max_length=20, choices=Fidelity, default=Fidelity.RAW)
    external_id = models.CharField(
        max_length=100, blank=True, help_text="By which whoever submits it knows it."
    )
    clone_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="clones"
    )
    template = models.ForeignKey(
        Template, on_delete=models.SET_NULL, null=True, blank=True, related_name="campaigns"
    )
    line = models.ForeignKey(
        "Line",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="campaigns",
        help_text="Whose history it is a part of.",
    )
    created_at = models.DateTimeField(db_default=Now())
    archived_at = models.DateTimeField(null=True, blank=True)
    launched_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    counted_from = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Launch or resumption: failures count from here, the budget from the first run after.",
    )
    counted_after = models.BigIntegerField(
        default=0,
        help_text="The last attempt that was over by then; those after it count, whatever clocks say.",
    )
    queue_place = models.BigIntegerField(
        null=True, blank=True, help_text="Campaigns of one target go first with the lower one."
    )
    not_before = models.DateTimeField(null=True, blank=True, help_text="End of the cool-down.")
    away_since = models.DateTimeField(
        null=True, blank=True, help_text="Its server does not answer, and runs wait for it."
    )
    analysis_requested_at = models.DateTimeField(null=True, blank=True)
    analysis_sent_at = models.DateTimeField(
        null=True, blank=True, help_text="To a worker; then its last sign of life."
    )
    analysis_began_at = models.DateTimeField(null=True, blank=True)
    analysis_seconds = models.FloatField(
        null=True, blank=True, help_text="What the last analysis took."
    )

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at", "-id"], name="campaigns_newest_first")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[
                        "draft",
                        "running",
                        "paused",
                        "cancelling",
                        "cancelled",
                        "finished",
                    ]
                ),
                name="campaign_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(run_limit_seconds__gt=0), name="run_limit_positive"
            ),
            models.CheckConstraint(
                condition=~models.Q(time_budget_seconds__lte=0), name="time_budget_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(max_failed_share__gt=0, max_failed_share__lte=1),
                name="failed_share_is_a_share",
            ),
            models.CheckConstraint(
                condition=models.Q(max_consecutive_failures__gte=1),
                name="some_failures_in_a_row",
            ),
            models.CheckConstraint(
                condition=models.Q(server_wait_seconds__gt=0), name="wait_for_a_server_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(repetitions__gte=1), name="at_least_one_repetition"
            ),
            models.CheckConstraint(
                condition=models.Q(cool_down_seconds__gte=0), name="cool_down_not_negative"
            ),
            models.CheckConstraint(
                condition=models.Q(smallest_effect__gt=0, margin__gt=0),
                name="effect_and_margin_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(state="draft") | models.Q(launched_at__isnull=False),
                name="launched_before_it_leaves_draft",
            ),
            models.CheckConstraint(
                condition=~models.Q(order="paired") | ~models.Q(paired_factor=""),
                name="paired_order_names_its_factor",
            ),
            models.CheckConstraint(
                condition=models.Q(failed_limit__gt=0, failed_limit__lte=1),
                name="failed_limit_is_a_share",
            ),
            models.UniqueConstraint(
                fields=["team", "external_id"],
                condition=~models.Q(external_id=""),
                name="external_id_once_a_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def targets(self) -> "list[Target]":
        """The servers under test in their order; none of a campaign whose runs come from outside."""
        read = "places" in getattr(self, "_prefetched_objects_cache", {})
        places = self.places.all() if read else self.places.select_related("target")
        several = [place.target for place in places]
        return several or [self.target] * (self.target is not None)  # type: ignore[list-item]

    @property
    def configured(self) -> set[str]:
        """The settings that its named configurations set."""
        return {name for chosen in (self.configurations or {}).values() for name in chosen}

    @property
    def is_production(self) -> bool:
        """Whether a server under test is marked as one that others depend on."""
        return any(target.is_production for target in self.targets)

    @property
    def target_names(self) -> str:
        """The names of the servers under test."""
        return ", ".join(target.name for target in self.targets)

    @property
    def block_word(self) -> str:
        """The noun for a block: runs that are not close together in time are a repetition."""
        in_blocks = self.order in (self.Order.INTERLEAVED, self.Order.PAIRED)
        return "block" if in_blocks else "repetition"

    @property
    def withheld(self) -> str:
        """The reason why no answer is shown yet; empty once the campaign has ended."""
        if self.state not in self.ACTIVE:
            return ""
        return f"The campaign is {self.state}: no answer is given before its stop rule is met."

    @property
    def stop_rule_text(self) -> str:
        """The stop rule as text, with its limits."""
        text = self.get_stop_rule_display()
        if self.stop_rule != self.StopRule.PRECISION:
            return text
        return f"{text}: ±{100 * self.stop_width:g} %, at most {self.stop_most} blocks"


class CampaignTarget(models.Model):
    """One of several targets of a campaign; a campaign with a single one has no such rows.

    level: the level of the factor with the role TARGET that stands for it: its name at the design.
    out_at: since when nothing more is measured on it, because it failed; out_reason: how. machine: names and IP
    addresses of its machine as they were resolved at launch; null where that was not done.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="places", db_index=False
    )
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="places")
    position = models.PositiveIntegerField()
    level = models.CharField(max_length=100)
    out_at = models.DateTimeField(null=True, blank=True)
    out_reason = models.TextField(blank=True)
    machine = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "target"], name="campaign_target_once"),
            models.UniqueConstraint(fields=["campaign", "position"], name="target_position_once"),
            models.UniqueConstraint(fields=["campaign", "level"], name="target_level_once"),
        ]

    def __str__(self) -> str:
        return self.level


def on_target(target: Target | int) -> models.Q:
    """Return the condition on campaigns that a target (or its key), one of several or the only one, is theirs."""
    return _with(target=target)


def on_address(address: str) -> models.Q:
    """Return the condition on campaigns that a server is one of theirs: they stand in its queue."""
    return _with(target__address=address)


def _with(**of: object) -> models.Q:
    others = CampaignTarget.objects.filter(**of).order_by()
    return models.Q(**of) | models.Q(pk__in=others.values("campaign"))


class Factor(models.Model):
    """A parameter that the campaign varies."""

    class Role(models.TextChoices):
        LOAD = "load", "how much is asked of the target at once"
        SETTING = "setting", "what somebody may choose"
        WORK = "work", "what is done"
        INSTRUMENT = "instrument", "how it is measured"
        TARGET = "target", "which target"
        BUILD = "build", "which version of the target's software"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="factors", db_index=False
    )
    name = models.CharField(max_length=FACTOR_LETTERS)
    position = models.PositiveIntegerField()
    hard_to_change = models.BooleanField(default=False)
    role = models.CharField(
        max_length=20,
        choices=Role,
        blank=True,
        help_text="What its levels are; empty: what the kind of test declares.",
    )
    guess = models.CharField(
        max_length=300,
        blank=True,
        db_default="",
        help_text="Why it is a factor, where an imported file does not say so; its levels are not ranked before somebody states its role.",
    )
    unlimited = models.FloatField(
        null=True, help_text="The level that means no limit, which comes after all others."
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="factor_once"),
            models.UniqueConstraint(fields=["campaign", "position"], name="factor_position_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Level(models.Model):
    """A value of a factor."""

    factor = models.ForeignKey(
        Factor, on_delete=models.CASCADE, related_name="levels", db_index=False
    )
    position = models.PositiveIntegerField()
    value = models.JSONField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["factor", "position"], name="level_position_once"),
            models.UniqueConstraint(fields=["factor", "value"], name="level_value_once"),
        ]

    def __str__(self) -> str:
        return str(self.value)


class Cell(models.Model):
    """A combination of levels; `levels_by_factor` is a copy of them for readers."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="cells", db_index=False
    )
    position = models.PositiveIntegerField()
    levels = models.ManyToManyField(Level, related_name="cells")
    levels_by_factor = models.JSONField(default=dict)
    received = models.PositiveIntegerField(default=0, help_text="Runs that came from outside.")
    target = models.ForeignKey(
        Target,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="cells",
        help_text="Where the campaign has several: the one that its runs measure.",
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "position"], name="cell_position_once"),
            models.UniqueConstraint(
                fields=["campaign", "levels_by_factor"], name="cell_combination_once"
            ),
        ]

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.levels_by_factor.items())


class Session(models.Model):
    """A launch or an extension of a campaign on its target."""

    class Kind(models.TextChoices):
        LAUNCH = "launch", "launch"
        EXTENSION = "extension", "extension"
        TRIAL = "trial", "try-out"
        IMPORT = "import", "import"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="sessions", db_index=False
    )
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=Kind)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    started_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="session_number_once")
        ]

    def __str__(self) -> str:
        return f"session {self.number}"


class Block(models.Model):
    """One run of each cell, close together in time; a pair is a block of two.

    stratum: with the paired order, the levels of all factors but the paired one. phase: of a search for
    capacity; what explored has chosen the loads, so only what confirms is judged. Checks of recovery are
    warm-ups, which no analysis has.
    """

    class Phase(models.TextChoices):
        NONE = "", "planned"
        EXPLORE = "explore", "explore"
        CONFIRM = "confirm", "confirm"
        CHECK = "check", "check of recovery"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="blocks", db_index=False
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField()
    repetition = models.PositiveIntegerField()
    stratum = models.JSONField(default=dict)
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.NONE, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="block_number_once")
        ]

    def __str__(self) -> str:
        return f"block {self.number}"


class Amendment(models.Model):
    """A change of a locked field after launch."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="amendments")
    field = models.CharField(max_length=50)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.field} of {self.campaign}"


class LaunchRequest(models.Model):
    """A request to load a production server, which another operator of the team approves or rejects.

    options: arguments of the step: `blocks` of an extension; `cell` of a try-out, or `run`
    that is repeated, by their positions.
    definition_hash: of the requested definition; the request is void once that has changed.
    """

    TEAM = "campaign__team"

    class Step(models.TextChoices):
        LAUNCH = "launch", "launch"
        TRY = "try", "try-out"
        EXTEND = "extend", "extension"
        AGAIN = "again", "repetition of a run"

    class State(models.TextChoices):
        WAITING = "waiting", "waits for approval"
        APPROVED = "approved", "approved"
        REFUSED = "refused", "refused"
        WITHDRAWN = "withdrawn", "withdrawn"
        OUTDATED = "outdated", "void: the definition was changed"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="launch_requests")
    step = models.CharField(max_length=10, choices=Step)
    options = models.JSONField(default=dict)
    definition_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="launches_asked"
    )
    asked_at = models.DateTimeField(db_default=Now())
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="launches_decided",
    )
    decided_at = models.DateTimeField(null=True)
    words = models.TextField(blank=True, help_text="Why it was refused or approved.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign"],
                condition=models.Q(state="waiting"),
                name="one_launch_request_waits",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="approved")
                | (models.Q(decided_by__isnull=False) & ~models.Q(decided_by=models.F("asked_by"))),
                name="second_yes_is_another_persons",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_step_display()} of {self.campaign}"
