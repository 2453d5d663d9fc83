"""Names and values of cells, and notes on them. Pure."""

from collections.abc import Collection, Sequence

from campaigns.findings.values import SummarisedCell
from campaigns.kit.charts.labels import level_text, short_labels, words_of
from campaigns.kit.marks import RUNS
from campaigns.kit.numbers import amount, share

FLAGS = {
    "empty": "not measured",
    "all_failed": "every run failed",
    "single_run": "one run, so no interval",
    "two_runs": "two runs, so a wide interval",
    "zero_variance": "all values are equal: suspect the clock",
    "median_ci_below_confidence": "",
    "not_positive": "a value of 0 or less, so no geometric mean",
    "invalid_values": "a value that is no number",
    "has_censored": "no mean, since runs timed out",
    "has_bounds": "",
    "too_many_failures": "too much failed for a mean of the rest",
}
NO_LOG = ("not_positive", "invalid_values")
"""Flags of cells whose values have no logarithm, and so no ratio."""
WITHOUT_VALUE = ("empty", "all_failed")
"""Flags that repeat the counts of failed and lost runs."""
NOTED_STATES = ("failed", "censored", "bound", "lost", "cancelled")
"""States of runs that are counted in the notes of their cell."""

FEWEST_RUNS = 3
"""A cell with fewer runs gets neither verdict nor rank."""


def names_of(cells: Sequence[SummarisedCell], without: Collection[str] = ()) -> dict[int, str]:
    """Return the levels of each cell as “concurrency 20, engine asyncio”; long levels are shortened.

    without: factors that are named before.
    """
    return {cell: ", ".join(parts) for cell, parts in _parts_of(cells, without).items()}


def in_prose(cells: Sequence[SummarisedCell], without: Collection[str] = ()) -> dict[int, str]:
    """Return the levels of each cell as they can be listed in a sentence: “concurrency 20 with engine asyncio”."""
    return {
        cell: " with ".join(filter(None, (*parts[:1], " and ".join(parts[1:]))))
        for cell, parts in _parts_of(cells, without).items()
    }


def _parts_of(cells: Sequence[SummarisedCell], without: Collection[str]) -> dict[int, list[str]]:
    levels: dict[str, list[str]] = {}
    for cell in cells:
        for factor, level in cell.levels.items():
            if factor not in without:
                levels.setdefault(factor, []).append(level_text(level))
    short = {factor: short_labels(texts) for factor, texts in levels.items()}
    return {
        cell.cell: [
            f"{words_of(factor)} {short[factor][level_text(level)]}"
            for factor, level in cell.levels.items()
            if factor in short
        ]
        for cell in cells
    }


def centre_of(cell: SummarisedCell) -> float | None:
    """Return the geometric mean, or the mean where there is only one run or a value of 0."""
    summary = cell.summary
    return summary.mean if summary.gmean is None else summary.gmean


def value_of(cell: SummarisedCell, unit: str) -> str:
    """Return the mean of a cell, and of how many runs where some failed."""
    summary = cell.summary
    tried = summary.n_ok + summary.n_failed
    of = f" in {summary.n_ok} of {tried} runs" if summary.n_failed else ""
    return f"{amount(centre_of(cell) or 0.0, unit)}{of}"


def bound_of(cell: SummarisedCell, unit: str) -> tuple[str, str]:
    """Return the bound of a cell instead of its mean, and why; both empty where it has a mean."""
    summary, counts = cell.summary, cell.counts
    tried = summary.n_ok + summary.n_failed
    timed_out, failed = summary.n_censored, summary.n_failed - summary.n_censored
    if timed_out:
        low, high = amount(counts.lowest_limit, unit), amount(counts.highest_limit, unit)
        limit = low if low == high else f"{low} to {high}"
        why = f"{timed_out} of {tried} runs timed out at {limit}"
        also = f", {failed} failed" if failed else ""
        return f"at least {amount(counts.at_least, unit)}", f"{why}{also}"
    if failed and counts.too_many_failures:
        return "fails too often", f"{failed} of {tried} runs failed"
    if counts.too_many_failures and counts.units:
        return "fails too often", f"{share(counts.units_failed / counts.units)} of the work failed"
    return "", ""


def cell_notes(cell: SummarisedCell, unit: str) -> tuple[str, ...]:
    """Return the notes on a cell: failures first, then what its numbers do not show."""
    counts = cell.counts
    states, limit = counts.states, counts.lowest_limit
    notes = []
    for state in NOTED_STATES:
        if state in states:
            above = f" above {amount(limit, unit)}" if state == "censored" and limit else ""
            notes.append(f"{states[state]} {RUNS[state][0]}{above}")
    if excluded := states.get("excluded"):
        notes.append(f"{excluded} excluded")
    if explored := states.get("explored"):
        notes.append(f"{explored} to find the loads, not in the numbers")
    if counts.units_failed:
        too_many = "too many failures: " if counts.too_many_failures else ""
        notes.append(f"{too_many}{share(counts.units_failed / counts.units)} of the work failed")
    if "open" not in states:
        flags = [flag for flag in cell.summary.flags if not (notes and flag in WITHOUT_VALUE)]
        notes += [text for flag in flags if (text := FLAGS.get(flag, flag))]
    return tuple(notes)
