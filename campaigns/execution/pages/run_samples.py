"""The samples of a run on its page: a list of a few, the distribution of many, and the failed ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit import numbers
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import MISSING
from campaigns.models import Attempt
from campaigns.results.run_plots import Plot, samples_plot

TIMES = "_seconds"
"""Endings of columns of samples that are times, counted from the start of the sample."""
START = "start_seconds"
FAILURE = "failure"
MOST_EXAMPLES = 3
FEW = 20
"""Up to so many samples are listed; a curve of their shares would show less."""


@dataclass(frozen=True, slots=True)
class SampleTable:
    """Each sample. heads: (name, whether it holds numbers); rows have a text for each of them."""

    title: str
    heads: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[tuple[str, bool], ...], ...]


@dataclass(frozen=True, slots=True)
class FailureLine:
    """A class of failures with its first examples."""

    name: str
    count: int
    examples: str


def sample_table(samples: Mapping[str, Sequence[Any]], sample: str) -> SampleTable | None:
    """List the samples, where they are few; columns without information are left out."""
    columns = {
        name: column for name, column in samples.items() if any(v not in ("", None) for v in column)
    }
    count = len(next(iter(columns.values()), ()))
    if not 0 < count <= FEW:
        return None
    numeric = {
        name: all(isinstance(value, int | float | None) for value in column)
        for name, column in columns.items()
    }
    return SampleTable(
        title=numbers.counted(count, sample),
        heads=tuple((_word(name), numeric[name]) for name in columns),
        rows=tuple(
            tuple((_cell(name, columns[name][index]), numeric[name]) for name in columns)
            for index in range(count)
        ),
    )


def sample_plots(attempt: Attempt, samples: Mapping[str, Sequence[Any]], sample: str) -> list[Plot]:
    """Return one chart of all times of samples that did not fail, where they are many."""
    failures = samples.get(FAILURE)
    curves = {
        inside(_word(name)): [
            value
            for index, value in enumerate(column)
            if isinstance(value, int | float) and not (failures and failures[index])
        ]
        for name, column in samples.items()
        if name.endswith(TIMES) and name != START and len(column) > FEW
    }
    if not any(curves.values()):
        return []
    return [samples_plot("time", curves, attempt.units_failed, sample)]


def _word(name: str) -> str:
    return name.removesuffix(TIMES).replace("_", " ")


def _cell(name: str, value: Any) -> str:
    if value is None or value == "":
        return MISSING
    return numbers.duration(float(value)) if name.endswith(TIMES) else str(value)


def failure_lines(
    attempt: Attempt, samples: Mapping[str, Sequence[Any]]
) -> tuple[FailureLine, ...]:
    """Return classes of failures, the most frequent first."""
    counts: Counter[str] = Counter(attempt.failures)
    return tuple(
        FailureLine(
            name,
            count,
            "; ".join(_examples(name, samples)) or attempt.failure_examples.get(name, ""),
        )
        for name, count in counts.most_common()
    )


def _examples(failure: str, samples: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the first samples of a class of failures, with their data."""
    results = [index for index, word in enumerate(samples.get(FAILURE, ())) if word == failure][
        :MOST_EXAMPLES
    ]
    notes = [name for name in samples if name != FAILURE and not name.endswith(TIMES)]
    return [
        ", ".join(
            f"{name} {samples[name][index]}"
            for name in notes
            if samples[name][index] not in ("", None)
        )
        for index in results
    ]
