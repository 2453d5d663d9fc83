"""Output shapes of runs and their attempts with all evidence."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns import models
from campaigns.kit.api import outputs
from campaigns.kit.api.inputs import Flag, Input, Percentiles
from campaigns.kit.api.outputs import Part, Selectable
from campaigns.kit.mappings import JsonObject
from campaigns.models import (
    Attempt,
    Campaign,
    Cell,
    EffectiveSetting,
    EnvironmentFact,
    Exclusion,
    Generator,
    Measurement,
    Phase,
    Proof,
    Run,
)
from campaigns.planning.api.cell_name import CellName

ATTEMPT_FIELDS = (
    *("number", "state", "phase", "reason", "worker", "host", "queued_at", "claimed_at"),
    *("measure_started_at", "measure_finished_at", "finished_at", "units_done", "units_failed"),
)
"""Fields of an attempt that every answer has."""


def cell_output(cell: Cell) -> JsonObject:
    """Return position and levels of a cell."""
    return {"position": cell.position, "levels": cell.levels_by_factor}


OBSERVED = frozenset({"excluded", "attempts", "proofs", "measurements", "simulator"})
"""Fields of a run in a list that need further queries."""


class OfMetric(Part):
    """What a value has from its metric."""

    unit = serializers.CharField(source="metric.unit", max_length=20)
    lower_is_better = serializers.BooleanField(
        source="metric.lower_is_better", allow_null=True, help_text="None: neither way is better."
    )
    fidelity = serializers.ChoiceField(source="metric.fidelity", choices=Campaign.Fidelity.choices)


class MeasurementOutput(OfMetric, serializers.ModelSerializer[Measurement]):
    """One value. `censored`: a lower limit; `bound`: the generator was saturated or starved."""

    class Meta:
        model = Measurement
        fields = ["value", "unit", "lower_is_better", "censored", "bound", "fidelity"]


class ExclusionNote(serializers.ModelSerializer[Exclusion]):
    """Who took a run out of the analysis, and why."""

    by = serializers.StringRelatedField[Any](source="user", allow_null=True)

    class Meta:
        model = Exclusion
        fields = ["by", "reason", "at"]


class ProofCounts(outputs.Part):
    """How many proofs hold, of how many."""

    total = serializers.IntegerField()
    ok = serializers.IntegerField()


class Health(outputs.Part):
    """How the generator did."""

    verdict = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(child=serializers.JSONField())


class RunOutput(Selectable, serializers.ModelSerializer[Run]):
    """A run in a list, with all values of the attempt that stands for it."""

    cell = serializers.SerializerMethodField()
    block = serializers.IntegerField(source="block.number")
    repetition = serializers.IntegerField(source="block.repetition")
    session = serializers.IntegerField(source="block.session.number")
    excluded = serializers.SerializerMethodField()
    attempts = serializers.SerializerMethodField()
    proofs = serializers.SerializerMethodField()
    measurements = serializers.SerializerMethodField()
    simulator = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "position",
            "purpose",
            "state",
            "reason",
            "cell",
            "block",
            "repetition",
            "session",
            "started_at",
            "finished_at",
            "excluded",
            "attempts",
            "proofs",
            "measurements",
            "simulator",
            "url",
        ]

    @extend_schema_field(CellName)
    def get_cell(self, run: Run) -> JsonObject:
        """Position and levels."""
        return cell_output(run.cell)

    @extend_schema_field(ExclusionNote(allow_null=True))
    def get_excluded(self, run: Run) -> Any:
        """The exclusion that stands, or null."""
        standing: list[Exclusion] = run.standing_exclusions  # type: ignore[attr-defined]
        return ExclusionNote(standing[0]).data if standing else None

    @extend_schema_field(serializers.IntegerField())
    def get_attempts(self, run: Run) -> Any:
        """How many there were."""
        return len(run.attempts.all())

    @extend_schema_field(ProofCounts)
    def get_proofs(self, run: Run) -> dict[str, int]:
        """How many hold, of how many, in the attempt that stands for the run."""
        attempt = accepted_attempt(run)
        if attempt is None:
            return {"total": 0, "ok": 0}
        return {"total": attempt.proofs_all, "ok": attempt.proofs_ok}  # type: ignore[attr-defined]

    @extend_schema_field(serializers.DictField(child=MeasurementOutput()))
    def get_measurements(self, run: Run) -> JsonObject:
        """All metrics of the attempt that stands for the run."""
        return measurements_of(
            each
            for attempt in run.attempts.all()
            for each in attempt.that_count  # type: ignore[attr-defined]
        )

    def get_simulator(self, run: Run) -> str:
        """What stood in for the target; empty where that was a real one."""
        attempt = accepted_attempt(run)
        return attempt.simulator if attempt else ""

    def get_url(self, run: Run) -> str:
        """Where its attempts are."""
        key = [run.campaign_id, run.position]
        url = reverse("api-run", key, request=self.context["request"])
        return f"{url}?trial=true" if run.purpose == Run.Purpose.TRIAL else url


class PhaseOutput(serializers.ModelSerializer[Phase]):
    """How long a step, or a part of the measured time, took; `started_seconds` where parts overlap."""

    class Meta:
        model = Phase
        fields = ["of", "name", "seconds", "started_seconds", "counted_seconds"]


class ProofOutput(serializers.ModelSerializer[Proof]):
    """A probe with its measured value."""

    class Meta:
        model = Proof
        fields = ["step", "name", "expected", "measured", "unit", "ok"]


class SettingOutput(serializers.ModelSerializer[EffectiveSetting]):
    """A level as asked and as read back."""

    class Meta:
        model = EffectiveSetting
        fields = ["name", "asked", "in_force", "ok"]


class FactOutput(serializers.ModelSerializer[EnvironmentFact]):
    """A fact of target or generator; `value_after` where it was another after the run, else empty."""

    class Meta:
        model = EnvironmentFact
        fields = ["side", "name", "value", "value_after"]


class GeneratorOutput(serializers.ModelSerializer[Generator]):
    """One of several generators that loaded the target together; see docs/how-to/generators.md.

    `clock_offset_seconds`: the database's clock minus the host's.
    """

    health = serializers.SerializerMethodField()

    class Meta:
        model = Generator
        fields = [
            *("part", "number", "pool", "state", "reason", "worker", "host"),
            *("claimed_at", "ready_at", "start_at", "finished_at"),
            *("clock_offset_seconds", "clock_uncertainty_seconds", "health"),
        ]

    @extend_schema_field(Health(allow_null=True))
    def get_health(self, generator: Generator) -> JsonObject | None:
        """How it did; null where that is not known."""
        return health_of(generator)


class PrintedOutput(serializers.ModelSerializer[models.AttemptOutput]):
    """What a program printed, or a file that it wrote. `cut`: its end is missing. `url`: its content."""

    url = serializers.SerializerMethodField()

    class Meta:
        model = models.AttemptOutput
        fields = ["name", "size", "cut", "url"]

    def get_url(self, output: models.AttemptOutput) -> str:
        """Return the address of its content."""
        run = output.attempt.run
        key = [run.campaign_id, run.position, output.attempt.number, output.name]
        url = reverse("api-output", key, request=self.context["request"])
        return f"{url}?trial=true" if run.purpose == Run.Purpose.TRIAL else url


class AttemptOutput(Selectable, serializers.ModelSerializer[Attempt]):
    """One try at a run, with its evidence."""

    health = serializers.SerializerMethodField()
    measurements = serializers.SerializerMethodField()
    phases = PhaseOutput(many=True)
    proofs = ProofOutput(many=True)
    effective_settings = SettingOutput(many=True)
    environment = FactOutput(many=True)
    generators = GeneratorOutput(many=True)
    outputs = PrintedOutput(many=True)

    class Meta:
        model = Attempt
        fields = [
            *ATTEMPT_FIELDS,
            "failures",
            "failure_examples",
            "health",
            "measurements",
            "phases",
            "proofs",
            "effective_settings",
            "environment",
            "facts_unread",
            "simulator",
            "generators",
            "outputs",
        ]

    @extend_schema_field(Health(allow_null=True))
    def get_health(self, attempt: Attempt) -> JsonObject | None:
        """How the generator did; null where nothing was measured."""
        return health_of(attempt)

    @extend_schema_field(serializers.DictField(child=MeasurementOutput()))
    def get_measurements(self, attempt: Attempt) -> JsonObject:
        """By metric."""
        return measurements_of(attempt.measurements.all())


class RunDetail(RunOutput):
    """A run with everything that its attempts observed and proved."""

    @extend_schema_field(AttemptOutput(many=True))
    def get_attempts(self, run: Run) -> Any:
        """Each of them."""
        return [AttemptOutput(attempt, context=self.context).data for attempt in run.attempts.all()]


def health_of(row: Attempt | Generator) -> JsonObject | None:
    """Return verdict, reasons and figures of what generated load; None where there are none."""
    if not row.health:
        return None
    return {
        "verdict": row.health,
        "reasons": row.health_reasons,
        "figures": row.health_figures,
    }


def measurements_of(measurements: Iterable[Measurement]) -> JsonObject:
    """Return values by metric in the shape of MeasurementOutput, without a serializer for each of thousands."""
    return {
        each.metric.name: {
            "value": each.value,
            "unit": each.unit,
            "lower_is_better": each.lower_is_better,
            "censored": each.censored,
            "bound": each.bound,
            "fidelity": each.fidelity,
        }
        for each in measurements
    }


def accepted_attempt(run: Run) -> Attempt | None:
    """Return the attempt whose values count for a run: the accepted one, else the last failed one."""
    attempts = [each for each in run.attempts.all() if each.state in Attempt.WITH_VALUES]
    accepted = Attempt.State.ACCEPTED
    return max(attempts, key=lambda each: (each.state == accepted, each.number), default=None)


class RunQuery(Input):
    """`?trial=true`: the try-out at a position, not the planned run."""

    trial = Flag(default=False)


class PercentilesQuery(RunQuery):
    """`?percentiles=50,99.9`: at most 20, with at most three decimals."""

    percentiles = Percentiles()
