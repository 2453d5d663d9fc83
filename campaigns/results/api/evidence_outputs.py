"""What goes out of attempts one kind at a time: each row says of which run, cell and attempt it is."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.kit.api import shapes
from campaigns.kit.api.selection import Selectable
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

    @extend_schema_field(shapes.DistributionSummary)
    def get_summary(self, row: Distribution) -> dict[str, Any]:
        """Extremes, mean, percentiles."""
        shares: Sequence[float] = self.context.get("shares") or SHARES
        found = summarise(bytes(row.encoded), shares)
        return {
            "minimum": found.minimum,
            "maximum": found.maximum,
            "mean": found.mean,
            "percentiles": [
                {"label": p.label, "share": p.share, "value": p.microseconds, "needs": p.needs}
                for p in found.percentiles
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
            *shapes.ATTEMPT_FIELDS,
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
