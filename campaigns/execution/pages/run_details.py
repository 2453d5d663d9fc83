"""Build the page of a run: its attempts, bars, tables and charts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse

from campaigns.execution import live
from campaigns.execution.pages.run_samples import (
    FailureLine,
    SampleTable,
    failure_lines,
    sample_plots,
    sample_table,
)
from campaigns.kinds.base import Metric
from campaigns.kit import numbers
from campaigns.kit.charts.labels import level_text
from campaigns.kit.formats import direction, observed
from campaigns.kit.histogram import needs
from campaigns.kit.mappings import ProgramProgress
from campaigns.kit.numbers import number
from campaigns.models import (
    Attempt,
    AttemptOutput,
    DeletedSamples,
    Generator,
    Measurement,
    Phase,
    Proof,
    Run,
)
from campaigns.results.phrases import value_text
from campaigns.results.rows import Accepted
from campaigns.results.run_plots import Plot, labelled, throughput_plot
from campaigns.results.watched_plots import LinkLine, WatchedView, links_of, watched_view

STEPS = (
    Attempt.Phase.RESET,
    Attempt.Phase.APPLY,
    Attempt.Phase.MEASURE,
    Attempt.Phase.VERIFY,
)

TONES = {
    Generator.State.DONE: "pass",
    Generator.State.FAILED: "fail",
    Generator.State.LATE: "fail",
}
HEALTH_TONES = {"healthy": "pass", "warned": "warn", "starved": "fail", "saturated": "fail"}


@dataclass(frozen=True, slots=True)
class GeneratorLine:
    """One generator. tone, health_tone: of its state, and of its health."""

    name: str
    place: str
    state: str
    tone: str
    reason: str
    clock: str
    start_at: datetime | None
    cpu: str
    lag: str
    descriptors: str
    ports: str
    health: str
    health_tone: str
    reasons: tuple[str, ...]


def generator_lines(rows: Iterable[Generator]) -> tuple[GeneratorLine, ...]:
    """Return lines for generators, the parts of an attempt one after the other."""
    rows = list(rows)
    several = len({row.part for row in rows}) > 1
    return tuple(
        GeneratorLine(
            name=f"{row.part}.{row.number}" if several else str(row.number),
            place=f"{row.worker} on {row.host}" if row.worker else f"pool {row.pool}",
            state=row.get_state_display(),
            tone=TONES.get(Generator.State(row.state), "info"),
            reason=row.reason,
            clock=_clock(row),
            start_at=row.start_at,
            cpu=_cores(row.health_figures),
            lag=numbers.duration(row.health_figures.get("loop_lag_p99_seconds")),
            descriptors=_used(row.health_figures, "descriptors", "descriptor_limit"),
            ports=_used(row.health_figures, "ports_in_use", "ports"),
            health=row.health,
            health_tone=HEALTH_TONES.get(row.health, "warn"),
            reasons=tuple(row.health_reasons),
        )
        for row in rows
    )


def _clock(row: Generator) -> str:
    """Return the clock offset with which the start was converted, in milliseconds."""
    if row.clock_offset_seconds is None or row.clock_uncertainty_seconds is None:
        return "—"
    offset, uncertain = row.clock_offset_seconds * 1000, row.clock_uncertainty_seconds * 1000
    places = 1 if uncertain >= 0.1 else 3
    return f"{numbers.signed(offset, places)} ± {numbers.signed(uncertain, places).lstrip('+')} ms"


def _cores(figures: Mapping[str, float]) -> str:
    return number(figures.get("busiest_process_cores", figures.get("cpu_cores")))


def _used(figures: Mapping[str, float], used: str, most: str) -> str:
    if used not in figures:
        return "—"
    limit = f" of {number(figures[most])}" if figures.get(most) else ""
    return f"{number(figures[used])}{limit}"


@dataclass(frozen=True, slots=True)
class Step:
    """One of the four steps of an attempt. `mark`: done, now or empty."""

    name: str
    mark: str
    text: str


def steps_of(current: live.Current) -> list[Step]:
    """Return the four steps, with details of the current one."""
    names = [step.value for step in STEPS]
    now = names.index(current.phase) if current.phase in names else -1
    if current.phase == Attempt.Phase.STORE:
        now = len(names)
    marks = ["done" if index < now else "now" if index == now else "" for index in range(4)]
    return [
        Step(name, mark, _detail(current.reported) if mark == "now" else "")
        for name, mark in zip(names, marks, strict=True)
    ]


def _detail(values: ProgramProgress) -> str:
    """Return the details of the current step."""
    parts = []
    if isinstance(values.get("seconds"), int | float):
        parts.append(numbers.duration(values["seconds"]))
    if files := _first(values, "files_total", "files"):
        parts.append(f"{number(values.get('files_done', 0))} of {numbers.counted(files, 'file')}")
    elif values.get("files_done"):
        parts.append(numbers.counted(values["files_done"], "file"))
    if syncs := values.get("syncs_total"):
        parts.append(f"{number(values.get('syncs_done', 0))} of {numbers.counted(syncs, 'sync')}")
    if hosts := values.get("hosts"):
        parts.append(f"{number(values.get('hosts_done', 0))} of {numbers.counted(hosts, 'host')}")
    if transactions := values.get("transactions_done"):
        parts.append(numbers.counted(transactions, "transaction"))
    return " · ".join(parts)


def _first(values: ProgramProgress, *names: str) -> Any:
    """Return the first value among the names that drivers may use for it."""
    return next((values[name] for name in names if values.get(name) is not None), None)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a time, as a bar."""

    name: str
    text: str
    width: str
    shade: str

    def __str__(self) -> str:
        return f"{self.name} {self.text}"


@dataclass(frozen=True, slots=True)
class SpanLine:
    """A part of a time that others may overlap, as a bar at its place.

    certain, certain_width: of the part of the bar from the first count on, in shares of the whole.
    """

    name: str
    text: str
    start: str
    width: str
    certain: str
    certain_width: str


@dataclass(frozen=True, slots=True)
class ProofLine:
    """A probe with its value."""

    name: str
    expected: str
    measured: str
    ok: bool


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact of the environment; `after` is empty where it was the same after the run."""

    side: str
    name: str
    value: str
    after: str


@dataclass(frozen=True, slots=True)
class OutputLine:
    """What a program printed, or a file that it wrote. cut: its end is missing."""

    name: str
    size: int
    cut: bool
    address: str


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt, ready to be written."""

    attempt: Attempt
    steps: tuple[Part, ...]
    parts: tuple[Part, ...]
    spans: tuple[SpanLine, ...]
    samples: SampleTable | None
    deleted: str
    clean_state: tuple[ProofLine, ...]
    same_work: tuple[ProofLine, ...]
    settings: tuple[tuple[str, str, str, bool], ...]
    values: tuple[tuple[str, str, str], ...]
    figures: tuple[tuple[str, str], ...]
    generators: tuple[GeneratorLine, ...]
    failures: tuple[FailureLine, ...]
    plots: tuple[Plot, ...]
    environment: tuple[FactLine, ...]
    changed: tuple[FactLine, ...]
    outputs: tuple[OutputLine, ...]
    watched: WatchedView | None
    links: Sequence[LinkLine]

    @property
    def all_plots(self) -> tuple[Plot, ...]:
        """Return every chart, that of the watched target included."""
        of_target = self.watched.plot if self.watched else None
        return (*self.plots, of_target) if of_target else self.plots


def attempt_view(
    attempt: Attempt,
    metrics: Sequence[Metric],
    samples: Mapping[str, Sequence[Any]],
    sample: str,
) -> AttemptView:
    """Arrange what an attempt observed; everything but `samples` was prefetched.

    sample: the name of one sample.
    """
    phases = list(attempt.phases.all())
    measured = [phase for phase in phases if phase.of == Phase.Of.MEASURE]
    proofs = list(attempt.proofs.all())
    facts = tuple(
        FactLine(fact.get_side_display(), fact.name, fact.value, fact.value_after)
        for fact in attempt.environment.all()
    )
    simulators = [attempt.simulator] if attempt.simulator else []
    return AttemptView(
        attempt=attempt,
        steps=_parts([p for p in phases if p.of == Phase.Of.ATTEMPT]),
        parts=_parts([p for p in measured if p.started_seconds is None]),
        spans=_spans([p for p in measured if p.started_seconds is not None]),
        samples=sample_table(samples, sample),
        deleted=_deleted(attempt, sample),
        clean_state=_proofs(proofs, Proof.Step.RESET),
        same_work=_proofs(proofs, Proof.Step.VERIFY),
        settings=tuple(
            (seen.name, level_text(seen.asked), level_text(seen.in_force), seen.ok)
            for seen in attempt.effective_settings.all()
        ),
        values=_values(list(attempt.measurements.all()), metrics, attempt.units_done),
        figures=tuple(
            (name.replace("_", " "), number(float(value)))
            for name, value in sorted(attempt.health_figures.items())
            if isinstance(value, int | float)
        ),
        generators=generator_lines(attempt.generators.all()),
        failures=failure_lines(attempt, samples),
        plots=tuple(
            labelled(plot, simulators)
            for plot in (*_series(attempt), *sample_plots(attempt, samples, sample))
        ),
        environment=facts,
        changed=tuple(fact for fact in facts if fact.after),
        outputs=tuple(_output(attempt, row) for row in attempt.outputs.all()),
        watched=_watched(attempt, phases, simulators),
        links=links_of(attempt, attempt.run.target),
    )


def _watched(
    attempt: Attempt, phases: Sequence[Phase], simulators: Sequence[str]
) -> WatchedView | None:
    view = watched_view(attempt, phases)
    if view is None or view.plot is None:
        return view
    return replace(view, plot=labelled(view.plot, simulators))


def _output(attempt: Attempt, row: AttemptOutput) -> OutputLine:
    run = attempt.run
    address = reverse("api-output", args=[run.campaign_id, run.position, attempt.number, row.name])
    trial = "?trial=true" if run.purpose == Run.Purpose.TRIAL else ""
    return OutputLine(row.name, row.size, row.cut, address + trial)


def _deleted(attempt: Attempt, sample: str) -> str:
    """Return which displays are missing since the team's retention has deleted the raw samples."""
    gone: DeletedSamples | None = getattr(attempt, "deleted_samples", None)
    if gone is None:
        return ""
    return (
        f"The {numbers.counted(gone.count, sample)} of this attempt were deleted on {gone.at:%Y-%m-%d}, "
        f"as the team keeps raw samples for {gone.kept_days} days: they are not listed or drawn here any "
        "more. Measurements, distributions and series stay, and every statistic with them."
    )


def _parts(phases: Sequence[Phase]) -> tuple[Part, ...]:
    whole = sum(phase.seconds for phase in phases) or 1.0
    return tuple(
        Part(
            name=phase.name.replace("_", " "),
            text=numbers.duration(phase.seconds),
            width=f"{100 * phase.seconds / whole:.2f}%",
            shade=f"l{1 + index % 6}",
        )
        for index, phase in enumerate(phases)
    )


def _spans(phases: Sequence[Phase]) -> tuple[SpanLine, ...]:
    """Place parts on one time axis, which ends with the last of them."""
    places = [(phase, phase.started_seconds or 0.0) for phase in phases]
    whole = max((start + phase.seconds for phase, start in places), default=0.0) or 1.0
    return tuple(
        SpanLine(
            name=phase.name.replace("_", " "),
            text=_from_to(start, start + phase.seconds),
            start=_share(start, whole),
            width=_share(phase.seconds, whole),
            certain=_share(counted, whole),
            certain_width=_share(start + phase.seconds - counted, whole),
        )
        for phase, start in places
        for counted in [start if phase.counted_seconds is None else phase.counted_seconds]
    )


def _share(seconds: float, whole: float) -> str:
    return f"{100 * seconds / whole:.2f}%"


def _from_to(start: float, end: float) -> str:
    """Write two instants of one time axis, no more exact than the interval between two probes of the target."""
    if end >= numbers.CLOCK_FROM_SECONDS:
        return f"{numbers.clock(start)} … {numbers.clock(end)}"
    return f"{start:.2f} … {end:.2f} s"


def _proofs(proofs: Sequence[Proof], step: Proof.Step) -> tuple[ProofLine, ...]:
    return tuple(
        ProofLine(
            proof.name,
            _probe(proof.expected, proof.unit, exact=not proof.ok),
            _probe(proof.measured, proof.unit, exact=not proof.ok),
            proof.ok,
        )
        for proof in proofs
        if proof.step == step
    )


def _probe(value: Any, unit: str, *, exact: bool) -> str:
    """Write a value; exactly where the two differ, since rounded they may be equal."""
    if exact and unit == "B" and isinstance(value, int | float):
        return f"{number(int(value))} B"
    return level_text(value) if value == "" else observed(value, unit)


def _values(
    measurements: Sequence[Measurement], metrics: Sequence[Metric], samples: int
) -> tuple[tuple[str, str, str], ...]:
    """Return (label, value, direction) in the order in which the kind declares them.

    The health of the generator explains bounds. A percentile with too few samples shows how many it needs.
    """
    order = {metric.name: index for index, metric in enumerate(metrics)}
    labels = {metric.name: metric.label for metric in metrics}
    lines = {
        m.metric.name: (
            labels.get(m.metric.name, m.metric.name.replace("_", " ")),
            value_text(Accepted(m.value, m.unit, m.lower_is_better, m.censored, bound=False)),
            direction(m.lower_is_better),
        )
        for m in measurements
    }
    for metric in metrics:
        if metric.percentile and metric.name not in lines:
            needed = needs(samples, metric.percentile) if samples else ""
            if needed:
                lines[metric.name] = (metric.label, needed, direction(metric.direction))
    ranked = sorted(lines, key=lambda name: (order.get(name, len(order)), name))
    return tuple(lines[name] for name in ranked)


def _series(attempt: Attempt) -> list[Plot]:
    return [
        replace(
            throughput_plot(
                series.name.replace("_", " "), series.unit, series.step_seconds, series.values
            ),
            id=f"series-{number}",
        )
        for number, series in enumerate(attempt.series.all(), start=1)
    ]
