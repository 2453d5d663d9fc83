"""REST resources of what runs observed and proved, over all runs of a campaign."""

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
    """One combination of levels. `position`: from 1; `levels`: by name of the factor."""

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
    """Of which run, by its position; of which cell; and of which attempt, by its number."""

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
        """Microseconds, always."""
        return "µs"

    def get_url(self, row: Distribution) -> str:
        """Where its percentiles and bytes are."""
        return address_of(self, "api-distribution", row.attempt, row.name)


class DistributionDetail(DistributionRow):
    """With its percentiles, and as HDR histogram (V2, base64 of its compressed bytes)."""

    summary = serializers.SerializerMethodField()
    encoded = serializers.SerializerMethodField()

    class Meta(DistributionRow.Meta):
        fields = [*DistributionRow.Meta.fields, "summary", "encoded"]

    @extend_schema_field(DistributionSummary)
    def get_summary(self, row: Distribution) -> dict[str, Any]:
        """Extremes, mean, percentiles."""
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
        """As it is stored: HdrHistogram's own text is base64 already."""
        return bytes(row.encoded).decode("ascii")


class SeriesRow(OfRun, serializers.ModelSerializer[Series]):
    """Values at equal steps from the start of the clock."""

    count = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Series
        fields = [*OF_RUN, "name", "unit", "step_seconds", "count", "url"]

    def get_count(self, row: Series) -> int:
        """How many values there are."""
        return len(row.values)

    def get_url(self, row: Series) -> str:
        """Where the values are."""
        return address_of(self, "api-one-series", row.attempt, row.name)


class SeriesDetail(SeriesRow):
    """With its values."""

    class Meta(SeriesRow.Meta):
        fields = [*SeriesRow.Meta.fields, "values"]


class AttemptRow(Selectable, serializers.ModelSerializer[Attempt]):
    """One try at a run; what it observed is at its `url`."""

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
        """Where its evidence is."""
        return address_of(self, "api-attempt", attempt)


class ExclusionOutput(Selectable, serializers.ModelSerializer[Exclusion]):
    """A run that somebody took out of the analysis. `withdrawn_at`: null while that holds."""

    run = serializers.IntegerField(source="run.position")
    by = serializers.StringRelatedField[Any](source="user", allow_null=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Exclusion
        fields = ["id", "run", "by", "reason", "at", "withdrawn_at", "url"]

    def get_url(self, exclusion: Exclusion) -> str:
        """Where it is read."""
        key = [exclusion.run.campaign_id, exclusion.pk]
        return reverse("api-exclusion", key, request=self.context["request"])


class FindingRow(Selectable, serializers.ModelSerializer[Finding]):
    """What the statistics say. `data_hash`: of what it was computed from; `versions`: by what."""

    versions = serializers.DictField(child=serializers.JSONField())
    url = serializers.SerializerMethodField()

    class Meta:
        model = Finding
        fields = ["name", "data_hash", "versions", "computed_at", "url"]

    def get_url(self, finding: Finding) -> str:
        """Where its result is."""
        key = [finding.campaign_id, finding.name]
        return reverse("api-finding", key, request=self.context["request"])


class FindingOutput(FindingRow):
    """With its result."""

    result = serializers.DictField(child=serializers.JSONField())

    class Meta(FindingRow.Meta):
        fields = [*FindingRow.Meta.fields, "result"]


class LogLineOutput(Selectable, serializers.ModelSerializer[LogLine]):
    """One line of a campaign's log. `run`: its position; null where it is of no run."""

    run = serializers.IntegerField(source="run.position", allow_null=True, default=None)

    class Meta:
        model = LogLine
        fields = ["at", "tone", "text", "run"]


class WorkerOutput(Selectable, serializers.ModelSerializer[Worker]):
    """A worker process. `present`: it has said just now that it lives."""

    pools = serializers.ListField(child=serializers.CharField())
    present = serializers.BooleanField()

    class Meta:
        model = Worker
        fields = ["name", "host", "pools", "seen_at", "present"]


def address_of(
    serializer: serializers.BaseSerializer[Any], name: str, attempt: Attempt, *key: str
) -> str:
    """Where something of an attempt is."""
    run = attempt.run
    path = [run.campaign_id, run.position, attempt.number, *key]
    url = reverse(name, path, request=serializer.context["request"])
    return f"{url}?trial=true" if run.purpose == Run.Purpose.TRIAL else url


class Evidence(CampaignApi):
    """A list of everything of one kind that attempts at runs of a campaign left behind."""

    model: ClassVar[type[Model]]
    output: ClassVar[type[Selectable]]
    narrowing: ClassVar[type[FilterSet]]
    unread: ClassVar[tuple[str, ...]] = ()
    """Columns that a list does not show."""

    def rows(self, request: Request, pk: int) -> Response:
        """Return them in the order in which they were stored."""
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
        """Values of all runs, failed and void attempts among them: `attempt_state` tells."""
        return self.rows(request, pk)


class Proofs(Evidence):
    """GET: proofs of clean state and same work."""

    model, output, narrowing = Proof, ProofRow, ProofFilters

    @operation("list_proofs", TAG, answer=ProofRow, filters=ProofFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Probes of clean state before, and of same work after, with what they measured."""
        return self.rows(request, pk)


class Distributions(Evidence):
    """GET: which distributions there are."""

    model, output, narrowing = Distribution, DistributionRow, NamedFilters
    unread = ("encoded",)

    @operation("list_distributions", TAG, answer=DistributionRow, filters=NamedFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Distributions of samples, each of one attempt; percentiles are at their `url`."""
        return self.rows(request, pk)


class SeriesOfRuns(Evidence):
    """GET: which series there are."""

    model, output, narrowing = Series, SeriesRow, NamedFilters

    @operation("list_series", TAG, answer=SeriesRow, filters=NamedFilters)
    def get(self, request: Request, pk: int) -> Response:
        """What runs carried over their time; values are at their `url`."""
        return self.rows(request, pk)


class Attempts(CampaignApi):
    """GET: attempts at runs."""

    @operation("list_attempts", TAG, answer=AttemptRow, filters=AttemptFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Attempts at all runs, also those that were void or lost."""
        rows = Attempt.objects.filter(run__campaign=self.campaign(pk)).select_related("run__cell")
        return self.page(rows, AttemptRow, "pk", AttemptFilters)


class OfOneAttempt(RunApi):
    """What views of one attempt share."""

    def attempt(self, pk: int, position: int, number: int, *, trial: bool) -> Attempt:
        """Find it, or raise Http404."""
        run = self.run(pk, position, trial=trial)
        result = next((each for each in run.attempts.all() if each.number == number), None)
        if result is None:
            raise Http404(f"Run {position} has no attempt {number}.")
        result.run = run
        return result


class OneAttempt(OfOneAttempt):
    """GET: one attempt with its evidence."""

    @operation("get_attempt", TAG, answer=AttemptOutput, query=RunQuery)
    def get(self, request: Request, pk: int, position: int, number: int) -> Response:
        """One attempt with everything that it observed and proved."""
        trial = self.read_query(RunQuery)["trial"]
        return Response(self.shown(self.attempt(pk, position, number, trial=trial), AttemptOutput))


class OneDistribution(OfOneAttempt):
    """GET: one distribution with its percentiles."""

    @operation("get_distribution", TAG, answer=DistributionDetail, query=PercentilesQuery)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """A distribution with its percentiles, and as HDR histogram."""
        asked = self.read_query(PercentilesQuery)
        attempt = self.attempt(pk, position, number, trial=asked["trial"])
        row = attempt.distributions.filter(name=name).first()
        if row is None:
            raise Http404(f"This attempt has no distribution “{name}”.")
        row.attempt = attempt
        shares = [float(Decimal(text) / 100) for text in asked.get("percentiles", ())]
        return Response(self.shown(row, DistributionDetail, shares=shares))


class OneSeries(OfOneAttempt):
    """GET: one series with its values."""

    @operation("get_series", TAG, answer=SeriesDetail, query=RunQuery)
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """A series with its values."""
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
        """Combinations of levels, by position."""
        return self.page(self.campaign(pk).cells.all(), CellOutput, "position")


class OneCell(CampaignApi):
    """GET: one cell."""

    @operation("get_cell", "campaigns", answer=CellOutput)
    def get(self, request: Request, pk: int, position: int) -> Response:
        """One combination of levels."""
        self.read_query(NoQuery)
        row = self.campaign(pk).cells.filter(position=position).first()
        if row is None:
            raise Http404(f"This campaign has no cell {position}.")
        return Response(self.shown(row, CellOutput))
