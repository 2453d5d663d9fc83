"""Runs, their attempts, the generators of an attempt, and the leases that attempts hold."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Block, Campaign, Cell
from campaigns.models.targets import Target


class RunQuerySet(models.QuerySet["Run"]):
    """Runs of a campaign."""

    def at(self, position: int, *, trial: bool = False) -> "Run":
        """Return the run, or the try-out, at a position. Raise Run.DoesNotExist."""
        tried = models.Q(purpose=Run.Purpose.TRIAL)
        return self.get(tried if trial else ~tried, position=position)


class Run(models.Model):
    """One planned execution of one cell in one block, at a fixed position."""

    class State(models.TextChoices):
        PLANNED = "planned", "planned"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        VOID = "void", "void"
        CANCELLED = "cancelled", "cancelled"

    class Purpose(models.TextChoices):
        MEASURED = "measured", "measured"
        WARM_UP = "warm_up", "warm-up"
        TRIAL = "trial", "try-out"

    OPEN = frozenset({State.PLANNED, State.RUNNING})
    CLOSED = frozenset({State.DONE, State.FAILED, State.VOID, State.CANCELLED})
    WITH_VALUES = (State.DONE, State.FAILED)
    """States of runs whose measured values count."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    cell = models.ForeignKey(Cell, on_delete=models.PROTECT, related_name="runs")
    block = models.ForeignKey(Block, on_delete=models.PROTECT, related_name="runs")
    position = models.PositiveIntegerField()
    purpose = models.CharField(max_length=20, choices=Purpose, default=Purpose.MEASURED)
    state = models.CharField(max_length=20, choices=State, default=State.PLANNED)
    reason = models.TextField(blank=True, help_text="Why it is failed, void or cancelled.")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts_allowed = models.PositiveIntegerField(default=3)
    external_id = models.CharField(
        max_length=100, blank=True, help_text="By which whoever submitted it knows it."
    )
    info = models.JSONField(null=True, blank=True, help_text="What else came with it.")

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        indexes = [models.Index(fields=["campaign", "state", "position"], name="runs_by_state")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["planned", "running", "done", "failed", "void", "cancelled"]
                ),
                name="run_state_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["planned", "running"])
                | models.Q(finished_at__isnull=True),
                name="open_run_has_not_ended",
            ),
            models.UniqueConstraint(
                fields=["campaign", "position"],
                condition=~models.Q(purpose="trial"),
                name="run_position_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "position"],
                condition=models.Q(purpose="trial"),
                name="trial_position_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "external_id"],
                condition=~models.Q(external_id=""),
                name="run_external_id_once",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.position}"

    @property
    def target(self) -> Target | None:
        """The server that it measures: that of its cell, where the campaign has several."""
        return self.cell.target or self.campaign.target


def runs_at(address: str, prefix: str = "") -> models.Q:
    """Return the condition on runs that they measure this server. prefix: from another table to the run."""
    return models.Q(**{f"{prefix}cell__target__address": address}) | models.Q(
        **{f"{prefix}cell__target": None, f"{prefix}campaign__target__address": address}
    )


class Exclusion(models.Model):
    """The exclusion of a run from the analysis, by whom and why. The run is still shown."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="exclusions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Now())
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(withdrawn_at__isnull=True),
                name="one_exclusion_a_run",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="exclusion_says_why"),
        ]

    def __str__(self) -> str:
        return f"exclusion of {self.run}"


class Attempt(models.Model):
    """One attempt at a run. It begins when a worker claims it; `queued`: the message was sent."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        ACCEPTED = "accepted", "accepted"
        FAILED = "failed", "failed"
        VOID = "void", "void"
        LOST = "lost", "lost"
        CANCELLED = "cancelled", "cancelled"

    class Phase(models.TextChoices):
        NONE = "", "not begun"
        RESET = "reset", "reset"
        APPLY = "apply", "apply"
        MEASURE = "measure", "measure"
        VERIFY = "verify", "verify"
        STORE = "store", "store"

    OPEN = (State.QUEUED, State.RUNNING)
    WITH_VALUES = (State.ACCEPTED, State.FAILED)
    """States of attempts whose values may count."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State, default=State.QUEUED)
    phase = models.CharField(max_length=20, choices=Phase, default=Phase.NONE, blank=True)
    reason = models.TextField(blank=True)
    traceback = models.TextField(blank=True)
    pool = models.CharField(max_length=50)
    worker = models.CharField(max_length=200, blank=True)
    host = models.CharField(max_length=200, blank=True)
    token = models.BigIntegerField(help_text="Fencing token of the target's lease.")
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    interrupted_at = models.DateTimeField(
        null=True, blank=True, help_text="Its worker was asked to shut down."
    )
    queued_at = models.DateTimeField(db_default=Now())
    claimed_at = models.DateTimeField(null=True, blank=True)
    measure_started_at = models.DateTimeField(null=True, blank=True)
    measure_finished_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    units_done = models.PositiveIntegerField(default=0)
    units_failed = models.PositiveIntegerField(default=0)
    failures = models.JSONField(default=dict)
    failure_examples = models.JSONField(
        default=dict,
        db_default={},
        help_text="The first message of a class of failures, where no sample has it.",
    )
    simulator = models.CharField(
        max_length=200, blank=True, help_text="Which simulator was measured; empty: a real server."
    )
    facts_unread = models.TextField(
        blank=True, help_text="Why the target's facts could not be read again after the run."
    )
    health = models.CharField(max_length=20, blank=True)
    health_reasons = models.JSONField(default=list)
    health_figures = models.JSONField(default=dict)

    class Meta:
        ordering = ["run", "number"]
        indexes = [
            models.Index(
                fields=["run"],
                condition=~models.Q(simulator=""),
                name="attempts_on_simulators",  # of the few that are one
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[
                        "queued",
                        "running",
                        "accepted",
                        "failed",
                        "void",
                        "lost",
                        "cancelled",
                    ]
                ),
                name="attempt_state_known",
            ),
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number_once"),
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(state="accepted"),
                name="one_accepted_attempt_a_run",
            ),
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(state__in=["queued", "running"]),
                name="one_open_attempt_a_run",
            ),
            models.CheckConstraint(
                condition=models.Q(state="queued")
                | models.Q(claimed_at__isnull=False)
                | models.Q(state="cancelled"),
                name="claimed_before_it_ends",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.run}"


class Lease(models.Model):
    """A lease, until an instant by the database's clock. `token`, the fencing token, grows with each holder."""

    holder = models.CharField(max_length=200, blank=True, help_text="In words.")
    token = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class TargetLease(Lease):
    """A lease of a target address: one measuring run at a time."""

    attempt = models.OneToOneField(
        Attempt, on_delete=models.SET_NULL, null=True, blank=True, related_name="targetlease"
    )
    address = models.CharField(max_length=300, unique=True)

    def __str__(self) -> str:
        return self.address


class GeneratorLease(Lease):
    """A lease of a generator host; a run with several generators holds several."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.SET_NULL, null=True, blank=True, related_name="generator_leases"
    )
    host = models.CharField(max_length=200, unique=True)

    def __str__(self) -> str:
        return self.host


class Dispatcher(models.Model):
    """The only row: when dispatch last ran, and until when it treats no lease as lost."""

    ticked_at = models.DateTimeField(null=True, blank=True)
    hold_until = models.DateTimeField(null=True, blank=True)
    database_started_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return "dispatcher"


def own_version() -> str:
    """Return the version of perfdash in this process."""
    return str(settings.VERSION)


class Worker(models.Model):
    """A worker process, which renews `seen_at`.

    lacks: what its machine cannot run: reasons by kind, parameter and level. version: of perfdash; empty for the
    released 0.1.0, which does not write it.
    """

    name = models.CharField(max_length=200, unique=True)
    version = models.CharField(max_length=50, blank=True, default=own_version, db_default="")
    host = models.CharField(max_length=200)
    pools = models.JSONField(default=list)
    lacks = models.JSONField(default=dict)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class LogLine(models.Model):
    """One line of a campaign's log."""

    ANALYSIS_FAILED = "the analysis failed"

    class Tone(models.TextChoices):
        PLAIN = "", "plain"
        NOW = "now", "going on"
        BAD = "bad", "needs a look"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="log")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="log")
    at = models.DateTimeField(db_default=Now())
    tone = models.CharField(max_length=5, choices=Tone, default=Tone.PLAIN, blank=True)
    text = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text


class Generator(models.Model):
    """One of several programs that load the target together, each supervised by its own worker.

    All instants are of the database's clock. Between `start_at` and the end of the
    load only its own worker writes here: it renews `expires_at` as a lease.
    """

    class State(models.TextChoices):
        WANTED = "wanted", "wanted"
        CLAIMED = "claimed", "claimed"
        READY = "ready", "ready"
        STARTED = "started", "started"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        LATE = "late", "late"

    OPEN = (State.WANTED, State.CLAIMED, State.READY, State.STARTED)
    LOADING = (State.CLAIMED, State.READY, State.STARTED)
    """States in which the program may load the target."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="generators")
    part = models.PositiveIntegerField(
        default=1, help_text="Which of the loads that the attempt makes one after the other."
    )
    number = models.PositiveIntegerField(help_text="1 to as many as there are.")
    pool = models.CharField(max_length=50, help_text="The queue of the workers that may take it.")
    state = models.CharField(max_length=20, choices=State, default=State.WANTED)
    reason = models.TextField(blank=True, help_text="Why it waits, failed or came late.")
    worker = models.CharField(max_length=200, blank=True)
    host = models.CharField(max_length=200, blank=True)
    module = models.CharField(max_length=200, help_text="The engine program.")
    request = models.TextField(
        blank=True,
        help_text="What the program is asked for, encrypted; gone when the attempt ends.",
    )
    clock_offset_seconds = models.FloatField(
        null=True, blank=True, help_text="The database's clock minus the host's."
    )
    clock_uncertainty_seconds = models.FloatField(null=True, blank=True)
    wanted_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a message was last sent.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    start_at = models.DateTimeField(null=True, blank=True, help_text="The same for all.")
    finished_at = models.DateTimeField(null=True, blank=True)
    stop_at = models.DateTimeField(null=True, blank=True, help_text="It was told to stop.")
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="Its load has ended by then, unless this is renewed."
    )
    result = models.BinaryField(
        null=True, blank=True, help_text="What the program reported but for samples: zlib, JSON."
    )
    samples = models.BinaryField(
        null=True, blank=True, help_text="Its samples: zlib, JSON; gone when the attempt ends."
    )
    health = models.CharField(max_length=20, blank=True)
    health_reasons = models.JSONField(default=list)
    health_figures = models.JSONField(default=dict)

    class Meta:
        ordering = ["attempt", "part", "number"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["wanted", "claimed", "ready", "started", "done", "failed", "late"]
                ),
                name="generator_state_known",
            ),
            models.UniqueConstraint(
                fields=["attempt", "part", "number"], name="generator_number_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["claimed", "ready", "started", "done"])
                | models.Q(claimed_at__isnull=False, worker__gt="", host__gt=""),
                name="generator_claimed_by_somebody",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["started", "done"])
                | models.Q(start_at__isnull=False),
                name="generator_starts_when_told",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["failed", "late"]) | ~models.Q(reason=""),
                name="generator_says_why",
            ),
        ]
        indexes = [
            models.Index(
                fields=["attempt"],
                condition=models.Q(state__in=["wanted", "claimed", "ready", "started"]),
                name="open_generators",
            )
        ]

    def __str__(self) -> str:
        return f"generator {self.number} of {self.attempt}"
