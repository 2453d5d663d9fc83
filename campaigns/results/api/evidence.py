"""REST resources of what the runs of a campaign observed and proved: lists and single items."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable, text
from campaigns.kit.filters import FilterSet
from campaigns.kit.histogram import SHARES, summarise
from campaigns.models import (
    Attempt,
    Distribution,
    Exclusion,
    Finding,
    LogLine,
    Measurement,
    Proof,
    Run,
    Series,
    Worker,
)
from campaigns.planning.api.base import CampaignApi
from campaigns.results.api.base import RunApi
from campaigns.results.api.run_outputs import (
    ATTEMPT_FIELDS,
    AttemptOutput,
    PercentilesQuery,
    RunQuery,
)
from campaigns.results.filters import AttemptFilters, MeasurementFilters, NamedFilters, ProofFilters


class CellOutput(Selectable):
    """One combination of levels. `position` counts from 1; `levels` are by name of the factor."""

    position = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField(), source="levels_by_factor")


class PercentileOutput(Part):
    """A percentile; null with what it `needs` where there are too few values for it."""

    label = serializers.CharField()  # type: ignore[assignment]
    share = serializers.FloatField()
    value = serializers.IntegerField(allow_null=True)
    needs = text()


class DistributionSummary(Part):
    """Of all samples of one attempt, each in the `unit` of the distribution; null without any."""

    minimum = serializers.IntegerField(allow_null=True)
    maximum = serializers.IntegerField(allow_null=True)
    mean = serializers.FloatField(allow_null=True)
    percentiles = PercentileOutput(many=True)


TAG = "evidence"
OF_RUN = ["run", "purpose", "cell", "attempt", "attempt_state"]


class OfRun(Selectable):
    """The run (by position), cell (by position) and attempt (by number) that a row belongs to."""

    run = serializers.IntegerField(source="attempt.run.position")
    purpose = serializers.ChoiceField(choices=Run.Purpose.choices, source="attempt.run.purpose")
    cell = serializers.IntegerField(source="attempt.run.cell.position")
    attempt = serializers.IntegerField(source="attempt.number")
    attempt_state = serializers.ChoiceField(choices=Attempt.State.choices, source="attempt.state")


class MeasurementRow(OfRun, serializers.ModelSerializer[Measurement]):
    """One value. `censored`: a lower limit; `bound`: the generator was saturated."""

    class Meta:
        model = Measurement
        fields = [
            *OF_RUN,
            "metric",
            "value",
            "unit",
            "lower_is_better",
            "censored",
            "bound",
            "fidelity",
        ]


class ProofRow(OfRun, serializers.ModelSerializer[Proof]):
    """A probe with its measured value: clean state before, same work after."""

    class Meta:
        model = Proof
        fields = [*OF_RUN, "step", "name", "expected", "measured", "unit", "ok"]


class DistributionRow(OfRun, serializers.ModelSerializer[Distribution]):
    """The samples of one quantity. `dropped`: out of range, and not in it."""

    unit = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Distribution
        fields = [*OF_RUN, "name", "unit", "count", "dropped", "url"]

    def get_unit(self, row: Distribution) -> str:
        """Return the unit, which is always microseconds."""
        return "µs"

    def get_url(self, row: Distribution) -> str:
        """Return the address of the distribution with its percentiles and histogram."""
        return address_of(self, "api-distribution", row.attempt, row.name)


class DistributionDetail(DistributionRow):
    """A distribution with percentiles and its HDR histogram (V2, compressed, in base64)."""

    summary = serializers.SerializerMethodField()
    encoded = serializers.SerializerMethodField()

    class Meta(DistributionRow.Meta):
        fields = [*DistributionRow.Meta.fields, "summary", "encoded"]

    @extend_schema_field(DistributionSummary)
    def get_summary(self, row: Distribution) -> dict[str, Any]:
        """Return extremes, mean and percentiles."""
        shares: Sequence[float] = self.context.get("shares") or SHARES
        result = summarise(bytes(row.encoded), shares)
        return {
            "minimum": result.minimum,
            "maximum": result.maximum,
            "mean": result.mean,
            "percentiles": [
                {"label": p.label, "share": p.share, "value": p.microseconds, "needs": p.needs}
                for p in result.percentiles
            ],
        }

    def get_encoded(self, row: Distribution) -> str:
        """Return the histogram as it is stored: HdrHistogram encodes it in base64 already."""
        return bytes(row.encoded).decode("ascii")


class SeriesRow(OfRun, serializers.ModelSerializer[Series]):
    """Values at equal steps from the start of the clock."""

    count = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Series
        fields = [*OF_RUN, "name", "unit", "step_seconds", "count", "url"]

    def get_count(self, row: Series) -> int:
        """Return the number of values."""
        return len(row.values)

    def get_url(self, row: Series) -> str:
        """Return the address of the series with its values."""
        return address_of(self, "api-one-series", row.attempt, row.name)


class SeriesDetail(SeriesRow):
    """A series with its values."""

    class Meta(SeriesRow.Meta):
        fields = [*SeriesRow.Meta.fields, "values"]


class AttemptRow(Selectable, serializers.ModelSerializer[Attempt]):
    """An attempt at a run. `url` is the address of what it observed."""

    run = serializers.IntegerField(source="run.position")
    purpose = serializers.ChoiceField(choices=Run.Purpose.choices, source="run.purpose")
    cell = serializers.IntegerField(source="run.cell.position")
    url = serializers.SerializerMethodField()

    class Meta:
        model = Attempt
        fields = [
            "run",
            "purpose",
            "cell",
            *ATTEMPT_FIELDS,
            "stand_in",
            "url",
        ]

    def get_url(self, attempt: Attempt) -> str:
        """Return the address of the attempt with its evidence."""
        return address_of(self, "api-attempt", attempt)


class ExclusionOutput(Selectable, serializers.ModelSerializer[Exclusion]):
    """A run excluded from the analysis. `withdrawn_at` is null while the exclusion is in force."""

    run = serializers.IntegerField(source="run.position")
    by = serializers.StringRelatedField[Any](source="user", allow_null=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Exclusion
        fields = ["id", "run", "by", "reason", "at", "withdrawn_at", "url"]

    def get_url(self, exclusion: Exclusion) -> str:
        """Return the address of the exclusion."""
        key = [exclusion.run.campaign_id, exclusion.pk]
        return reverse("api-exclusion", key, request=self.context["request"])


class FindingRow(Selectable, serializers.ModelSerializer[Finding]):
    """A finding. `data_hash`: of the data it was computed from; `versions`: of what computed it."""

    versions = serializers.DictField(child=serializers.JSONField())
    url = serializers.SerializerMethodField()

    class Meta:
        model = Finding
        fields = ["name", "data_hash", "versions", "computed_at", "url"]

    def get_url(self, finding: Finding) -> str:
        """Return the address of the finding with its result."""
        key = [finding.campaign_id, finding.name]
        return reverse("api-finding", key, request=self.context["request"])


class FindingOutput(FindingRow):
    """A finding with its result."""

    result = serializers.DictField(child=serializers.JSONField())

    class Meta(FindingRow.Meta):
        fields = [*FindingRow.Meta.fields, "result"]


class LogLineOutput(Selectable, serializers.ModelSerializer[LogLine]):
    """One line of a campaign's log. `run`: position of its run; null without one."""

    run = serializers.IntegerField(source="run.position", allow_null=True, default=None)

    class Meta:
        model = LogLine
        fields = ["at", "tone", "text", "run"]


class WorkerOutput(Selectable, serializers.ModelSerializer[Worker]):
    """A worker process. `present`: it has reported recently."""

    pools = serializers.ListField(child=serializers.CharField())
    present = serializers.BooleanField()

    class Meta:
        model = Worker
        fields = ["name", "host", "pools", "seen_at", "present"]


def address_of(
    serializer: serializers.BaseSerializer[Any], name: str, attempt: Attempt, *key: str
) -> str:
    """Return the address of something that belongs to an attempt."""
    run = attempt.run
    path = [run.campaign_id, run.position, attempt.number, *key]
    url = reverse(name, path, request=serializer.context["request"])
    return f"{url}?trial=true" if run.purpose == Run.Purpose.TRIAL else url


class Evidence(CampaignApi):
    """Base of lists of one kind of evidence, from all attempts at the runs of a campaign."""

    model: ClassVar[type[Model]]
    output: ClassVar[type[Selectable]]
    narrowing: ClassVar[type[FilterSet]]
    unread: ClassVar[tuple[str, ...]] = ()
    """Columns that the list does not show, so that the query need not read them."""

    def rows(self, request: Request, pk: int) -> Response:
        """Return a page of rows in the order in which they were stored."""
        results: QuerySet[Any] = self.model._default_manager.filter(
            attempt__run__campaign=self.campaign(pk)
        )
        rows = results.select_related("attempt__run__cell").defer(*self.unread)
        return self.page(rows, self.output, "pk", self.narrowing)


class Measurements(Evidence):
    """GET: values of all metrics, with their units."""

    model, output, narrowing = Measurement, MeasurementRow, MeasurementFilters

    @operation("list_measurements", TAG, answer=MeasurementRow, filters=MeasurementFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List values of all runs. `attempt_state` marks those of failed and void attempts."""
        return self.rows(request, pk)


class Proofs(Evidence):
    """GET: proofs of clean state and same work."""

    model, output, narrowing = Proof, ProofRow, ProofFilters

    @operation("list_proofs", TAG, answer=ProofRow, filters=ProofFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List checks of clean state before, and of the same work after, with measured values."""
        return self.rows(request, pk)


class Distributions(Evidence):
    """GET: distributions of samples, without their percentiles."""

    model, output, narrowing = Distribution, DistributionRow, NamedFilters
    unread = ("encoded",)

    @operation("list_distributions", TAG, answer=DistributionRow, filters=NamedFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List distributions of samples, each of one attempt. Percentiles are at their `url`."""
        return self.rows(request, pk)


class SeriesOfRuns(Evidence):
    """GET: series, without their values."""

    model, output, narrowing = Series, SeriesRow, NamedFilters

    @operation("list_series", TAG, answer=SeriesRow, filters=NamedFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List what runs recorded over time. Values are at the `url` of each series."""
        return self.rows(request, pk)


class Attempts(CampaignApi):
    """GET: attempts at runs."""

    @operation("list_attempts", TAG, answer=AttemptRow, filters=AttemptFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List attempts at all runs, including void and lost attempts."""
        rows = Attempt.objects.filter(run__campaign=self.campaign(pk)).select_related("run__cell")
        return self.page(rows, AttemptRow, "pk", AttemptFilters)


class OfOneAttempt(RunApi):
    """Base of views of one attempt."""

    def attempt(self, pk: int, position: int, number: int, *, trial: bool) -> Attempt:
        """Return the attempt at a run, or raise Http404."""
        run = self.run(pk, position, trial=trial)
        for attempt in run.attempts.all():
            if attempt.number == number:
                attempt.run = run
                return attempt
        raise Http404(f"Run {position} has no attempt {number}.")


class OneAttempt(OfOneAttempt):
    """GET: one attempt with its evidence."""

    @operation("get_attempt", TAG, answer=AttemptOutput, query=RunQuery)
    def get(self, request: Request, pk: int, position: int, number: int) -> Response:
        """Return an attempt with everything that it observed and proved."""
        trial = self.read_query(RunQuery)["trial"]
        return Response(self.shown(self.attempt(pk, position, number, trial=trial), AttemptOutput))


class OneDistribution(OfOneAttempt):
    """GET: one distribution with its percentiles."""

    @operation("get_distribution", TAG, answer=DistributionDetail, query=PercentilesQuery)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """Return a distribution with its percentiles and its HDR histogram."""
        query = self.read_query(PercentilesQuery)
        attempt = self.attempt(pk, position, number, trial=query["trial"])
        row = attempt.distributions.filter(name=name).first()
        if row is None:
            raise Http404(f"This attempt has no distribution “{name}”.")
        row.attempt = attempt
        shares = [float(Decimal(text) / 100) for text in query.get("percentiles", ())]
        return Response(self.shown(row, DistributionDetail, shares=shares))


class OneSeries(OfOneAttempt):
    """GET: one series with its values."""

    @operation("get_series", TAG, answer=SeriesDetail, query=RunQuery)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """Return a series with its values."""
        trial = self.read_query(RunQuery)["trial"]
        attempt = self.attempt(pk, position, number, trial=trial)
        row = attempt.series.filter(name=name).first()
        if row is None:
            raise Http404(f"This attempt has no series “{name}”.")
        row.attempt = attempt
        return Response(self.shown(row, SeriesDetail))


class Cells(CampaignApi):
    """GET: the cells of a campaign."""

    @operation("list_cells", "campaigns", answer=CellOutput)
    def get(self, request: Request, pk: int) -> Response:
        """List combinations of levels, by position."""
        return self.page(self.campaign(pk).cells.all(), CellOutput, "position")


class OneCell(CampaignApi):
    """GET: one cell."""

    @operation("get_cell", "campaigns", answer=CellOutput)
    def get(self, request: Request, pk: int, position: int) -> Response:
        """Return one combination of levels."""
        self.read_query(NoQuery)
        row = self.campaign(pk).cells.filter(position=position).first()
        if row is None:
            raise Http404(f"This campaign has no cell {position}.")
        return Response(self.shown(row, CellOutput))
