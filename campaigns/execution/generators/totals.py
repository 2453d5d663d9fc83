"""Totals over several generators, and the state of each. Values are added, never averaged."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from campaigns.execution.generators.messages import unpack_outcome
from campaigns.kinds.base import GeneratorFailed, Health, Measured
from campaigns.kinds.load.judging import judge
from campaigns.kinds.load.merging import merge
from campaigns.kinds.programs.health import BOUNDS, HEALTHY, SATURATED, STARVED, WARNED, Verdict
from campaigns.kinds.programs.program import Outcome
from campaigns.kit.mappings import JsonObject, ProgramHello, ProgramProgress
from campaigns.models import Attempt, Generator

WORST = (HEALTHY, WARNED, STARVED, SATURATED)
CLOCK_WARNS_SECONDS = 0.05
"""A clock that is more uncertain gives a warning, since the start was not common to all."""


class Gathered:
    """The rows of generators that are done; read them with their results."""

    def __init__(self, rows: Sequence[Generator], attempt: Attempt) -> None:
        self.rows = rows
        self.outcomes = [
            unpack_outcome(bytes(row.result or b""), bytes(row.samples or b"")) for row in rows
        ]
        self.figures = list(_figures(rows, self.outcomes))
        self.verdicts = [
            _verdict(row, figures) for row, figures in zip(rows, self.figures, strict=True)
        ]
        self.outcome = self._merged()

    def store_health(self) -> None:
        """Store the health of each generator in its row."""
        for row, figures, verdict in zip(self.rows, self.figures, self.verdicts, strict=True):
            Generator.objects.filter(pk=row.pk).update(
                health=verdict.word,
                health_reasons=list(verdict.reasons),
                health_figures=dict(figures),
            )

    def judged(self, measured: Measured) -> Measured:
        """Return the worst verdict of all generators with its reasons, unless the driver's own is worse."""
        own = WORST.index(measured.health.verdict)
        texts = [measured.health.verdict, *(verdict.word for verdict in self.verdicts)]
        reasons = [
            f"Generator {row.number} ({row.host}): {reason}"
            for row, verdict in zip(self.rows, self.verdicts, strict=True)
            for reason in verdict.reasons
            if WORST.index(verdict.word) > own
        ]
        health = Health(
            max(texts, key=WORST.index),
            (*measured.health.reasons, *reasons),
            measured.health.figures,
        )
        return replace(measured, health=health)

    def _merged(self) -> Outcome:
        """Merge the descriptions of the programs. Raise GeneratorFailed where they differ."""
        first = self.outcomes[0]
        made_of = [_made_of(outcome.hello) for outcome in self.outcomes]
        for row, other in zip(self.rows, made_of, strict=True):
            if other != made_of[0]:
                raise GeneratorFailed(
                    f"Generator {row.number} on {row.host} is made of {other}, generator 1 on "
                    f"{self.rows[0].host} of {made_of[0]}: install the same versions everywhere."
                )
        results = [
            {**outcome.result, "figures": figures}
            for outcome, figures in zip(self.outcomes, self.figures, strict=True)
            if outcome.result
        ]
        return Outcome(
            hello=first.hello,
            result=merge(results) if len(results) == len(self.outcomes) else {},
            samples=_stacked(self.outcomes),
            progress=first.progress,
            cpu_seconds=sum(outcome.cpu_seconds for outcome in self.outcomes),
            seconds=max(outcome.seconds for outcome in self.outcomes),
            timed_out=any(outcome.timed_out for outcome in self.outcomes),
        )


def added_progress(parts: Sequence[ProgramProgress]) -> ProgramProgress:
    """Add the progress of generators: counts, and values per second; of times and shares the largest."""
    added: JsonObject = {}
    for name in {name: None for part in parts for name in part}:
        values = [part[name] for part in parts if name in part]
        if all(isinstance(value, list) and all(map(_is_number, value)) for value in values):
            added[name] = [sum(each) for each in zip_longest(*values, fillvalue=0)]
        elif all(map(_is_number, values)):
            added[name] = max(values) if name.endswith(("seconds", "share")) else sum(values)
        else:
            added[name] = values[0]
    return added


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _made_of(hello: ProgramHello) -> str:
    libraries = hello.get("libraries", {})
    return ", ".join(f"{name} {version}" for name, version in sorted(libraries.items()))


def _stacked(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    """Concatenate the samples; a column is empty for a generator that does not have it."""
    names = {name: None for outcome in outcomes for name in outcome.samples}
    if not names:
        return {}
    stacked: dict[str, list[Any]] = {name: [] for name in (*names, "generator")}
    for number, outcome in enumerate(outcomes, start=1):
        rows = max((len(column) for column in outcome.samples.values()), default=0)
        for name in names:
            stacked[name].extend(outcome.samples.get(name, [None] * rows))
        stacked["generator"].extend([number] * rows)
    return stacked


def _figures(rows: Sequence[Generator], outcomes: Sequence[Outcome]) -> Sequence[dict[str, float]]:
    """Return each one's figures; to one of several on a machine, the others of us are no strangers."""
    own: dict[str, float] = defaultdict(float)
    every = [
        {**outcome.result.get("figures", {}), **row.health_figures}
        for row, outcome in zip(rows, outcomes, strict=True)
    ]
    for row, figures in zip(rows, every, strict=True):
        own[row.host] += figures.get("cpu_cores", 0.0)
    for row, figures in zip(rows, every, strict=True):
        if "machine_cpu_share" in figures and figures.get("cores"):
            ours = own[row.host] / figures["cores"]
            figures["others_cpu_share"] = max(0.0, figures["machine_cpu_share"] - ours)
    return every


def _verdict(row: Generator, figures: Mapping[str, float]) -> Verdict:
    result = judge(figures)
    uncertain = row.clock_uncertainty_seconds or 0.0
    if uncertain <= CLOCK_WARNS_SECONDS:
        return result
    reason = (
        f"Its clock is known to ±{uncertain * 1000:.0f} ms only, so it may have begun as much earlier or "
        "later than the others."
    )
    return Verdict(result.word if result.word in BOUNDS else WARNED, (*result.reasons, reason))
