"""The generators of an attempt whose load comes from several places at once."""

from django.db import models
from django.db.models.functions import Now

from campaigns.models.runs import Attempt


class Generator(models.Model):
    """One of several programs that load the target together, each kept by a worker of its own.

    All instants are of the database's clock. Nobody writes here between `start_at` and the end of the
    load, but for its own worker, which renews `expires_at` as a lease.
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
    """States in which a program may be there that loads the target."""

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
