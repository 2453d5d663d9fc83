"""What is observed on a target while an attempt runs: the watches, and what they saw."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.runs import Attempt
from campaigns.models.targets import Target


class Watch(models.Model):
    """A source of observations about a target: how it is reached, and how often it is read.

    source: the name of a module of campaigns.targets.watches.sources. address: a URL, or host and port, as the
    source says. `key` and `password` are encrypted, and never shown. host_key, offered_key, confirmed_rule: as
    of SshLogin. options: what else the source needs (campaigns.targets.watches.base.Option).
    """

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="watches")
    source = models.CharField(max_length=30)
    address = models.CharField(max_length=500)
    username = models.CharField("user name", max_length=200, blank=True)
    password = models.TextField(blank=True, editable=False)
    key = models.TextField(blank=True, editable=False)
    host_key = models.TextField(blank=True)
    offered_key = models.TextField(blank=True)
    confirmed_rule = models.CharField(max_length=300, blank=True)
    step_seconds = models.FloatField(
        "seconds between two samples",
        default=1.0,
        validators=[MinValueValidator(0.2), MaxValueValidator(60)],
    )
    options = models.JSONField(default=dict, blank=True)
    is_on = models.BooleanField("in use", default=True)
    created_at = models.DateTimeField(db_default=Now())
    tried_at = models.DateTimeField(null=True, blank=True)
    try_failure = models.TextField(blank=True, help_text="Empty: the last try succeeded.")

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "watches"
        constraints = [
            models.UniqueConstraint(
                fields=["target", "source", "address"], name="watch_once_a_target"
            ),
            models.CheckConstraint(
                condition=models.Q(step_seconds__gte=0.2, step_seconds__lte=60),
                name="watch_has_a_step",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.address}"


class Watched(models.Model):
    """What one watch did in one attempt.

    offset_seconds: the source's clock minus the worker's, which is uncertain by `uncertainty_seconds`; drift: how
    much the offset changed meanwhile. gaps: pairs of seconds on the run's clock without samples. cpu_seconds: of the
    target, for watching; worker_cpu_seconds: of the worker. facts: what the source knows of the machine (cores, memory …).
    """

    class State(models.TextChoices):
        WHOLE = "whole", "watched"
        PARTLY = "partly", "watched in part"
        NOT = "not", "not watched"

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="watched", db_index=False
    )
    source = models.CharField(max_length=30)
    address = models.CharField(max_length=500)
    state = models.CharField(max_length=10, choices=State)
    reason = models.TextField(blank=True)
    step_seconds = models.FloatField()
    offset_seconds = models.FloatField(null=True)
    uncertainty_seconds = models.FloatField(null=True)
    drift_seconds = models.FloatField(null=True)
    is_certain = models.BooleanField(
        default=True, help_text="False: its clock is not known well enough to judge the run by it."
    )
    frames = models.PositiveIntegerField(default=0)
    gaps = models.JSONField(default=list)
    cpu_seconds = models.FloatField(null=True)
    worker_cpu_seconds = models.FloatField(null=True)
    facts = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "watched"
        constraints = [
            models.UniqueConstraint(fields=["attempt", "source", "address"], name="watched_once")
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.state}"


class WatchedSeries(models.Model):
    """Values of one quantity at equal steps on the run's clock, where 0 is the start of the measurement.

    quantity: a name of campaigns.targets.watches.catalog. label: the group, device, or state of sessions it is
    of; empty: the whole machine. values: float32, compressed with zlib; not a number: a gap. first, last: of a
    counter, so that its sum is exact.
    """

    watched = models.ForeignKey(
        Watched, on_delete=models.CASCADE, related_name="series", db_index=False
    )
    quantity = models.CharField(max_length=40)
    label = models.CharField(max_length=100, blank=True)
    start_seconds = models.FloatField()
    step_seconds = models.FloatField()
    count = models.PositiveIntegerField()
    first = models.FloatField(null=True)
    last = models.FloatField(null=True)
    values = models.BinaryField()

    class Meta:
        verbose_name_plural = "watched series"
        constraints = [
            models.UniqueConstraint(
                fields=["watched", "quantity", "label"], name="watched_series_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.quantity} {self.label}".strip()


class WatchedSummary(models.Model):
    """A quantity in one phase of an attempt: phases as of Phase, and `steady`, the window that is judged."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="watched_summaries", db_index=False
    )
    quantity = models.CharField(max_length=40)
    label = models.CharField(max_length=100, blank=True)
    phase = models.CharField(max_length=50)
    unit = models.CharField(max_length=20)
    mean = models.FloatField()
    p50 = models.FloatField()
    p95 = models.FloatField()
    largest = models.FloatField()

    class Meta:
        verbose_name_plural = "watched summaries"
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "phase", "quantity", "label"], name="watched_summary_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.quantity} {self.label} in {self.phase}"


class WatchedEvent(models.Model):
    """Something that happened on the target while it was watched; seconds on the run's clock."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="watched_events", db_index=False
    )
    kind = models.CharField(max_length=30)
    text = models.CharField(max_length=300)
    at_seconds = models.FloatField()
    until_seconds = models.FloatField(null=True)
    matters = models.BooleanField(default=False, help_text="A caveat of the run.")

    class Meta:
        ordering = ["at_seconds", "pk"]
        indexes = [models.Index(fields=["attempt"], name="watched_event_of_attempt")]

    def __str__(self) -> str:
        return self.text


class Binding(models.Model):
    """Which resource of the target binds in an attempt, by campaigns.stats.binding.

    rule: the version of that rule. result: its typed result as JSON; it can be computed anew from the series.
    """

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, primary_key=True, related_name="binding"
    )
    rule = models.PositiveSmallIntegerField()
    result = models.JSONField()

    def __str__(self) -> str:
        return f"binding of {self.attempt_id}"
