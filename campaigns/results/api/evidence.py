"""REST resources of what the runs of a campaign observed and proved: lists and single items."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from django.db.models import Max, Min, QuerySet
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable, text
from campaigns.kit.filters import FilterSet
from campaigns.kit.histogram import SHARES, summarise
from campaigns.kit.mappings import JsonObject
from campaigns.models import (
    Attempt,
    Distribution,
    Measurement,
    Proof,
    Run,
    Series,
)
from campaigns.models import AttemptOutput as Printed
from campaigns.models.campaigns import METRIC_LETTERS
from campaigns.planning.api.base import CampaignApi
from campaigns.results.api.base import RunApi
from campaigns.results.api.run_outputs import (
    ATTEMPT_FIELDS,
    AttemptOutput,
    OfMetric,
    PercentilesQuery,
    RunQuery,
)
from campaigns.results.filters import AttemptFilters, MeasurementFilters, NamedFilters, ProofFilters
from campaigns.results.outputs import BYTES, download_of


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
AnyNamed = TypeVar("AnyNamed", Distribution, Series, Printed)
OF_RUN = ["run", "purpose", "cell", "attempt", "attempt_state"]


class OfRun(Selectable):
    """The run (by position), cell (by position) and attempt (by number) that a row belongs to."""

    run = serializers.IntegerField(source="attempt.run.position")
    purpose = serializers.ChoiceField(choices=Run.Purpose.choices, source="attempt.run.purpose")
    cell = serializers.IntegerField(source="attempt.run.cell.position")
    attempt = serializers.IntegerField(source="attempt.number")
    attempt_state = serializers.ChoiceField(choices=Attempt.State.choices, source="attempt.state")


class MeasurementRow(OfRun, OfMetric, serializers.ModelSerializer[Measurement]):
    """One value. `censored`: a lower limit; `bound`: the generator was saturated or starved."""

    metric = serializers.CharField(source="metric.name", max_length=METRIC_LETTERS)

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
    def get_summary(self, row: Distribution) -> JsonObject:
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
            "simulator",
            "url",
        ]

    def get_url(self, attempt: Attempt) -> str:
        """Return the address of the attempt with its evidence."""
        return address_of(self, "api-attempt", attempt)


def address_of(
    serializer: serializers.BaseSerializer[Any], name: str, attempt: Attempt, *key: str
) -> str:
    """Return the address of something that belongs to an attempt."""
    run = attempt.run
    path = [run.campaign_id, run.position, attempt.number, *key]
    url = reverse(name, path, request=serializer.context["request"])
    return f"{url}?trial=true" if run.purpose == Run.Purpose.TRIAL else url


WITHIN = "campaigns_attempt.id BETWEEN %s AND %s"


class EvidenceList(CampaignApi):
    """Base of lists of evidence from all attempts, in the order in which it was stored.

    A subclass names its operation; its docstring is the description in the OpenAPI document.
    """

    rows: ClassVar[QuerySet[Any]]
    output: ClassVar[type[Selectable]]
    filters: ClassVar[type[FilterSet]]
    campaign_path: ClassVar[str] = "attempt__run__campaign"

    def __init_subclass__(cls, *, name: str) -> None:
        described = operation(name, TAG, answer=cls.output, filters=cls.filters)
        extend_schema_view(get=described)(cls)

    def get(self, request: Request, pk: int) -> Response:
        rows = self.rows.filter((self.campaign_path, self.campaign(pk)))
        attempts = Attempt.objects.filter(run__campaign=pk)
        bounds = attempts.aggregate(first=Min("pk"), last=Max("pk"))
        # Without them, PostgreSQL may walk through the attempts of all campaigns for the first page. Django would
        # write them for the column of the evidence, where they do not help.
        rows = rows.extra(where=[WITHIN], params=[bounds["first"], bounds["last"]])  # noqa: S610
        return self.page(rows, self.output, "pk", self.filters)


class Measurements(EvidenceList, name="list_measurements"):
    """List values of all runs. `attempt_state` marks those of failed and void attempts."""

    rows = Measurement.objects.select_related("attempt__run__cell", "metric")
    output, filters = MeasurementRow, MeasurementFilters


class Proofs(EvidenceList, name="list_proofs"):
    """List checks of clean state before, and of the same work after, with measured values."""

    rows = Proof.objects.select_related("attempt__run__cell")
    output, filters = ProofRow, ProofFilters


class Distributions(EvidenceList, name="list_distributions"):
    """List distributions of samples, each of one attempt. Percentiles are at their `url`."""

    rows = Distribution.objects.select_related("attempt__run__cell").defer("encoded")
    output, filters = DistributionRow, NamedFilters


class SeriesOfRuns(EvidenceList, name="list_series"):
    """List what runs recorded over time. Values are at the `url` of each series."""

    rows = Series.objects.select_related("attempt__run__cell")
    output, filters = SeriesRow, NamedFilters


class Attempts(EvidenceList, name="list_attempts"):
    """List attempts at all runs, including void and lost attempts."""

    rows = Attempt.objects.select_related("run__cell")
    output, filters = AttemptRow, AttemptFilters
    campaign_path = "run__campaign"


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

    def named(self, attempt: Attempt, rows: QuerySet[AnyNamed], name: str, what: str) -> AnyNamed:
        """Return the row of an attempt that has a name, or raise Http404."""
        row = rows.filter(attempt=attempt, name=name).first()
        if row is None:
            raise Http404(f"This attempt has no {what} “{name}”.")
        row.attempt = attempt
        return row


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
        row = self.named(attempt, Distribution.objects.all(), name, "distribution")
        shares = [float(Decimal(text) / 100) for text in query.get("percentiles", ())]
        return Response(self.shown(row, DistributionDetail, shares=shares))


class OneSeries(OfOneAttempt):
    """GET: one series with its values."""

    @operation("get_series", TAG, answer=SeriesDetail, query=RunQuery)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """Return a series with its values."""
        trial = self.read_query(RunQuery)["trial"]
        attempt = self.attempt(pk, position, number, trial=trial)
        row = self.named(attempt, Series.objects.all(), name, "series")
        return Response(self.shown(row, SeriesDetail))


class OneOutput(OfOneAttempt):
    """GET: what a program printed, or a file that it wrote."""

    @operation("get_output", TAG, answer=OpenApiTypes.BINARY, query=RunQuery, media_type=BYTES)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> HttpResponse:
        """Return an output of a program, as it was printed."""
        trial = self.read_query(RunQuery)["trial"]
        attempt = self.attempt(pk, position, number, trial=trial)
        return download_of(self.named(attempt, Printed.objects.all(), name, "output"))


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
