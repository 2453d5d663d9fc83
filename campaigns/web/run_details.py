"""What one run's page is written from: its attempt in words, bars, tables and charts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.charts import formats
from campaigns.drivers.base import Metric
from campaigns.models import Attempt, Measurement, Phase, Proof
from campaigns.queries.rows import Standing
from campaigns.templatetags.formats import number, observed
from campaigns.web.phrases import inside, level_text, value_text
from campaigns.web.plots import Plot, labelled, samples_plot, throughput_plot

TIMES = "_seconds"
"""Columns of samples that end so are times, counted from the start of the sample."""
START = "start_seconds"
FAILURE = "failure"
MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a time, as a bar."""

    name: str
    text: str
    width: str
    shade: str


@dataclass(frozen=True, slots=True)
class ProofLine:
    """A probe with its value."""

    name: str
    expected: str
    measured: str
    ok: bool


@dataclass(frozen=True, slots=True)
class FailureLine:
    """A class of failures with its first examples."""

    name: str
    count: int
    examples: str


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact of the environment; `after` is empty where it was the same after the run."""

    side: str
    name: str
    value: str
    after: str


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt, ready to be written."""

    attempt: Attempt
    steps: tuple[Part, ...]
    parts: tuple[Part, ...]
    clean_state: tuple[ProofLine, ...]
    same_work: tuple[ProofLine, ...]
    settings: tuple[tuple[str, str, str, bool], ...]
    values: tuple[tuple[str, str, str], ...]
    figures: tuple[tuple[str, str], ...]
    failures: tuple[FailureLine, ...]
    plots: tuple[Plot, ...]
    environment: tuple[FactLine, ...]
    changed: tuple[FactLine, ...]


def attempt_view(
    attempt: Attempt, metrics: Sequence[Metric], samples: Mapping[str, Sequence[Any]]
) -> AttemptView:
    """Arrange what an attempt observed; everything but `samples` was prefetched."""
    phases = list(attempt.phases.all())
    proofs = list(attempt.proofs.all())
    facts = tuple(
        FactLine(fact.get_side_display(), fact.name, fact.value, fact.value_after)
        for fact in attempt.environment.all()
    )
    stand_ins = [attempt.stand_in] if attempt.stand_in else []
    return AttemptView(
        attempt=attempt,
        steps=_parts([p for p in phases if p.of == Phase.Of.ATTEMPT]),
        parts=_parts([p for p in phases if p.of == Phase.Of.MEASURE]),
        clean_state=_proofs(proofs, Proof.Step.RESET),
        same_work=_proofs(proofs, Proof.Step.VERIFY),
        settings=tuple(
            (seen.name, level_text(seen.asked), level_text(seen.in_force), seen.ok)
            for seen in attempt.effective_settings.all()
        ),
        values=_values(list(attempt.measurements.all()), metrics),
        figures=tuple(
            (name.replace("_", " "), formats.number(float(value)))
            for name, value in sorted(attempt.health_figures.items())
            if isinstance(value, int | float)
        ),
        failures=_failures(attempt, samples),
        plots=tuple(
            labelled(plot, stand_ins) for plot in (*_series(attempt), *_samples(attempt, samples))
        ),
        environment=facts,
        changed=tuple(fact for fact in facts if fact.after),
    )


def _parts(phases: Sequence[Phase]) -> tuple[Part, ...]:
    whole = sum(phase.seconds for phase in phases) or 1.0
    return tuple(
        Part(
            name=phase.name.replace("_", " "),
            text=formats.duration(phase.seconds),
            width=f"{100 * phase.seconds / whole:.2f}%",
            shade=f"l{1 + index % 6}",
        )
        for index, phase in enumerate(phases)
    )


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
    """Write a value; exactly where the two differ, since rounded they may be the same."""
    if exact and unit == "B" and isinstance(value, int | float):
        return f"{number(int(value))} B"
    return level_text(value) if value == "" else observed(value, unit)


def _values(
    measurements: Sequence[Measurement], metrics: Sequence[Metric]
) -> tuple[tuple[str, str, str], ...]:
    """(label, value, which way is better), in the order in which the kind declares them.

    That they are bounds is said once, beside the generator's health.
    """
    order = {metric.name: index for index, metric in enumerate(metrics)}
    labels = {metric.name: metric.label for metric in metrics}
    ranked = sorted(measurements, key=lambda m: (order.get(m.metric, len(order)), m.metric))
    return tuple(
        (
            labels.get(m.metric, m.metric.replace("_", " ")),
            value_text(Standing(m.value, m.unit, m.lower_is_better, m.censored, bound=False)),
            "lower is better" if m.lower_is_better else "higher is better",
        )
        for m in ranked
    )


def _failures(attempt: Attempt, samples: Mapping[str, Sequence[Any]]) -> tuple[FailureLine, ...]:
    counts: Counter[str] = Counter(attempt.failures)
    return tuple(
        FailureLine(name, count, "; ".join(_examples(name, samples)))
        for name, count in counts.most_common()
    )


def _examples(failure: str, samples: Mapping[str, Sequence[Any]]) -> list[str]:
    """The first samples of a class of failures, with what is known of them."""
    found = [index for index, word in enumerate(samples.get(FAILURE, ())) if word == failure][
        :MOST_EXAMPLES
    ]
    told = [name for name in samples if name != FAILURE and not name.endswith(TIMES)]
    return [
        ", ".join(f"{name} {samples[name][index]}" for name in told if samples[name][index] != "")
        for index in found
    ]


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


def _samples(attempt: Attempt, samples: Mapping[str, Sequence[Any]]) -> list[Plot]:
    """One chart of all times, of the samples that did not fail."""
    failures = samples.get(FAILURE)
    curves = {
        inside(name.removesuffix(TIMES).replace("_", " ")): [
            value
            for index, value in enumerate(column)
            if isinstance(value, int | float) and not (failures and failures[index])
        ]
        for name, column in samples.items()
        if name.endswith(TIMES) and name != START
    }
    if not any(curves.values()):
        return []
    return [samples_plot("time", curves, attempt.units_failed)]
