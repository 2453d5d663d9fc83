"""What an attempt measured and proved. Only campaigns.results writes these tables."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import connection, models
from django.db.models.functions import Now

from campaigns.models.campaigns import METRIC_LETTERS, Campaign, Session
from campaigns.models.runs import Attempt, Run
from campaigns.models.teams import Team

ACCEPTED_FIRST = models.Case(models.When(attempt__state=Attempt.State.ACCEPTED, then=0), default=1)


class MetricOfValues(NamedTuple):
    """What the values of one metric share."""

    name: str
    unit: str
    lower_is_better: bool | None = None
    fidelity: str = Campaign.Fidelity.RAW.value


class StoredMetricQuerySet(models.QuerySet["StoredMetric"]):
    """Metrics by which values are stored."""

    def keys_of(self, metrics: Iterable[MetricOfValues]) -> dict[MetricOfValues, int]:
        """Return the key of each metric, in one query where all are known; store those that are new.

        Read for each batch of values. A cache in the process would outlive a transaction that is rolled back,
        a restored backup, and the temporary tables of a bundle.
        """
        wanted = set(metrics)
        result = self._known(wanted) if wanted else {}
        if missing := sorted(wanted - result.keys(), key=str):  # in one order: no deadlock
            StoredMetric.objects.bulk_create(
                [StoredMetric(**metric._asdict()) for metric in missing], ignore_conflicts=True
            )
            result = self._known(wanted)
        return result

    def _known(self, wanted: set[MetricOfValues]) -> dict[MetricOfValues, int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT name, unit, lower_is_better, fidelity, id FROM campaigns_storedmetric"
                " WHERE name = ANY(%s)",
                [list({metric.name for metric in wanted})],
            )
            rows = ((MetricOfValues(*metric), key) for *metric, key in cursor.fetchall())
            return {metric: key for metric, key in rows if metric in wanted}


class StoredMetric(models.Model):
    """What the values of one metric share, stored once for all campaigns.

    A value refers to it by a number of four bytes. A row is never changed, nor deleted.
    """

    id = models.AutoField(primary_key=True)
    name = models.CharField(max_length=METRIC_LETTERS)
    unit = models.CharField(max_length=20)
    lower_is_better = models.BooleanField(null=True, help_text="None: neither way is better.")
    fidelity = models.CharField(
        max_length=20, choices=Campaign.Fidelity, default=Campaign.Fidelity.RAW
    )

    objects = StoredMetricQuerySet.as_manager()

    class Meta:
        constraints = [
            # Two, since PostgreSQL 14 has no NULLS NOT DISTINCT.
            models.UniqueConstraint(
                fields=["name", "unit", "lower_is_better", "fidelity"], name="stored_metric_once"
            ),
            models.UniqueConstraint(
                fields=["name", "unit", "fidelity"],
                condition=models.Q(lower_is_better=None),
                name="stored_metric_without_direction_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} in {self.unit}"


class _IsOneOf(models.Func):
    """Whether a column is one of the values of a subquery, which is executed once, before the rows are read.

    Joined to the metrics by their names instead, PostgreSQL would read all values of each attempt.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = models.BooleanField()


class MeasurementQuerySet(models.QuerySet["Measurement"]):
    """Measurements, with the rule which of them counts for a run."""

    def of(self, *names: str) -> Self:
        """Return the measurements of metrics of these names."""
        keys = ArraySubquery(StoredMetric.objects.filter(name__in=names).values("pk"))
        return self.filter(_IsOneOf(models.F("metric_id"), keys))

    def that_count(self, *first: str) -> Self:
        """Return the measurement that counts of each run and metric.

        Only runs that are done or failed have one. It is that of the accepted attempt, else of the last
        failed attempt that has a value of the metric. Ordered by `first` (fields of the run, one with
        a minus descending), then by run and metric.
        """
        one = (*first, "attempt__run_id", "metric__name")
        return (
            self.filter(
                attempt__state__in=Attempt.WITH_VALUES, attempt__run__state__in=Run.WITH_VALUES
            )
            .order_by(*one, ACCEPTED_FIRST, "-attempt__number")
            .distinct(*(name.removeprefix("-") for name in one))
        )


MeasurementBase = models.Manager.from_queryset(MeasurementQuerySet)


class MeasurementManager(MeasurementBase["Measurement"]):
    """Measurements with their metrics, so that no row needs a query for its name."""

    def get_queryset(self) -> models.QuerySet["Measurement"]:
        """Return all of them."""
        return super().get_queryset().select_related("metric")


class Measurement(models.Model):
    """One number that an attempt measured. bound: the generator was saturated or starved.

    There may be millions. The row has no gaps, no text, and no primary key of its own: with both indexes it
    takes some 85 bytes. `script/bench values` measures it.
    """

    pk = models.CompositePrimaryKey("attempt", "metric")
    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="measurements", db_index=False
    )
    value = models.FloatField()
    # Without a constraint: its check would lock the metric's row for each value, and all writers share that row.
    metric = models.ForeignKey(
        StoredMetric,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    censored = models.BooleanField(default=False)
    bound = models.BooleanField(default=False)

    objects = MeasurementManager()

    class Meta:
        indexes = [
            models.Index(
                fields=["attempt"],
                condition=models.Q(bound=True) | models.Q(censored=True),
                name="measurement_limits",  # of the few that are one
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(value__gt=float("-inf"), value__lt=float("inf")),
                name="value_is_a_number",  # not a number counts as above infinity
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric.name} {self.value} {self.unit}"

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return self.metric.unit

    @property
    def lower_is_better(self) -> bool | None:
        """The direction; None: neither way is better."""
        return self.metric.lower_is_better

    @property
    def fidelity(self) -> str:
        """How exact the value is."""
        return self.metric.fidelity


class Distribution(models.Model):
    """The samples of one quantity as an HDR histogram (integer microseconds)."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="distributions", db_index=False
    )
    name = models.CharField(max_length=50)
    encoded = models.BinaryField()
    count = models.PositiveBigIntegerField()
    dropped = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "name"], name="distribution_once")
        ]

    def __str__(self) -> str:
        return self.name


class Series(models.Model):
    """Values at equal steps from the start of the measurement."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="series", db_index=False
    )
    name = models.CharField(max_length=50)
    unit = models.CharField(max_length=20)
    step_seconds = models.FloatField()
    values = ArrayField(models.FloatField())

    class Meta:
        verbose_name_plural = "series"
        constraints = [models.UniqueConstraint(fields=["attempt", "name"], name="series_once")]

    def __str__(self) -> str:
        return self.name


class RawSamples(models.Model):
    """All samples of an attempt: columns as JSON, compressed with zlib."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="raw_samples")
    count = models.PositiveBigIntegerField()
    columns = models.BinaryField()

    class Meta:
        verbose_name_plural = "raw samples"

    def __str__(self) -> str:
        return f"{self.count} samples"


class Phase(models.Model):
    """The duration of a step of the attempt, or of a part of its measured time."""

    class Of(models.TextChoices):
        ATTEMPT = "attempt", "step of the attempt"
        MEASURE = "measure", "part of the measured time"

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="phases", db_index=False
    )
    of = models.CharField(max_length=10, choices=Of)
    name = models.CharField(max_length=50)
    seconds = models.FloatField()
    started_seconds = models.FloatField(
        null=True, blank=True, help_text="Since the clock started; parts that have it may overlap."
    )
    counted_seconds = models.FloatField(
        null=True, blank=True, help_text="Since the clock started, when the target first counted."
    )

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["attempt", "of", "name"], name="phase_once")]

    def __str__(self) -> str:
        return self.name


class Proof(models.Model):
    """A check with its measured value: clean state before, same work after."""

    class Step(models.TextChoices):
        RESET = "reset", "clean state"
        VERIFY = "verify", "same work"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="proofs")
    step = models.CharField(max_length=10, choices=Step)
    name = models.CharField(max_length=100)
    expected = models.JSONField()
    measured = models.JSONField()
    unit = models.CharField(max_length=20, blank=True)
    ok = models.BooleanField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class EffectiveSetting(models.Model):
    """The value of a setting that was read back before a run."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="effective_settings"
    )
    name = models.CharField(max_length=100)
    asked = models.JSONField(null=True)
    in_force = models.JSONField(null=True)
    ok = models.BooleanField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class EnvironmentFact(models.Model):
    """A fact about the target or the generator while an attempt ran.

    Facts of a target are read before and after the measurement.
    """

    class Side(models.TextChoices):
        TARGET = "target", "target"
        GENERATOR = "generator", "generator"

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, related_name="environment", db_index=False
    )
    side = models.CharField(max_length=10, choices=Side)
    name = models.CharField(max_length=100)
    value = models.TextField()
    value_after = models.TextField(
        blank=True, help_text="After the run, where it was another; else empty."
    )

    class Meta:
        ordering = ["side", "name"]
        constraints = [
            models.UniqueConstraint(fields=["attempt", "side", "name"], name="fact_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.value}"


class Finding(models.Model):
    """A result of the statistics, with the hash of its input."""

    JUDGING = (
        "answer",
        "calibration",
        "capacity",
        "curves",
        "levels",
        "matrix",
        "pairs",
        "sensitivity",
        "thresholds",
        "usl",
        "with_excluded",
        "within_blocks",
    )
    """The names of findings with verdicts, ranks or recommendations."""
    FAILED_PARTS = "failed_parts"
    """The name of the finding that lists what could not be computed."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="findings", db_index=False
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True)
    name = models.CharField(max_length=METRIC_LETTERS + 20)
    result = models.JSONField()
    data_hash = models.CharField(max_length=80)
    versions = models.JSONField(default=dict)
    computed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="finding_once_a_campaign")
        ]

    def __str__(self) -> str:
        return self.name


class PublishedAnswer(models.Model):
    """The answer of a campaign as lists, messages and readers of `perfdash_views.campaigns` see it.

    perfdash writes it with the findings; the pages of one campaign write the answer from the findings, which hold more. It
    holds where the finding `answer` is stored, so that nobody else has to delete it. caveat: the worst one; more_caveats: how
    many others there are. badges: the word of the primary question, if there is one. means: of the cells along the only factor, as a
    spark line shows them. version: of perfdash, whose words these are; another one has them written anew.
    """

    campaign = models.OneToOneField(
        Campaign, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    sentence = models.TextField()
    certainty = models.TextField(db_default="")
    caveat = models.TextField()
    more_caveats = models.PositiveIntegerField(db_default=0)
    badges = models.JSONField(db_default=[])
    means = ArrayField(models.FloatField(null=True), db_default=[])
    computed_at = models.DateTimeField(db_default=Now(), db_index=True)
    version = models.CharField(max_length=40, blank=True, db_default="")

    def __str__(self) -> str:
        return self.sentence


class Retention(models.Model):
    """A team's retention: older raw samples are deleted; without a row none are."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, related_name="retention")
    keep_samples_days = models.PositiveIntegerField(
        "keep raw samples for",
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
        help_text="Empty: forever.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(keep_samples_days__gte=1), name="samples_are_kept_a_day"
            )
        ]

    def __str__(self) -> str:
        return f"{self.team} keeps raw samples for {self.keep_samples_days} days"


class DeletedSamples(models.Model):
    """A record of deleted raw samples: how many there were, and the retention that applied."""

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, related_name="deleted_samples"
    )
    count = models.PositiveBigIntegerField()
    kept_days = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "deleted samples"

    def __str__(self) -> str:
        return f"{self.count} samples, deleted"
