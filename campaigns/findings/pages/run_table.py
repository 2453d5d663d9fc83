"""The table of the runs of a result: one page of those that match the filter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest

from campaigns.findings.store import Findings
from campaigns.kit.charts.labels import FactorOutline, LevelLabels
from campaigns.kit.marks import RUNS
from campaigns.kit.numbers import MISSING, change
from campaigns.kit.pages.sorting import Sort
from campaigns.results.filters import RunTableFilters
from campaigns.results.phrases import place, reason_of, value_text
from campaigns.results.rows import RunRow
from campaigns.results.run_list import COLUMNS, NO_PLAIN_VALUE, WITHOUT_VALUE, RunList

PAGE_SIZE = 100
MOST_FAILURES = 6
KEPT = ("metric", "x", "colour", "by", "sort")
"""Parameters of the query that stay while the table of runs is filtered."""
PLAIN = ("done", "bound", "excluded")
"""States of runs whose value is compared with the mean of their cell."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One row of the table of runs. states: values of the filter that match it."""

    row: RunRow
    levels: tuple[tuple[str, str], ...]
    value: str
    from_mean: str
    place: str
    notes: str
    states: str


def run_table(
    request: HttpRequest, runs: RunList, labels: LevelLabels, findings: Findings
) -> dict[str, Any]:
    """Return one page of the runs that match the filter, with the filter, and the first ones without a plain value."""
    filters = RunTableFilters(request.GET, runs)
    page = Paginator(range(filters.count), PAGE_SIZE).get_page(request.GET.get("page"))
    first = (page.number - 1) * PAGE_SIZE
    means = {
        cell.cell: cell.summary.gmean
        for cell in (findings.summaries.cells if findings.summaries else ())
    }
    levels = {f"level-{index}": factor for index, factor in enumerate(labels.factors, start=1)}
    sort = Sort.parse(request.GET.get("sort", ""), (*COLUMNS, *levels, "change"))
    matching = filters.rows.values_list("pk", flat=True)
    ordered = _sorted(matching, sort, runs, levels, means) if sort.by else matching
    shown = list(ordered[first : first + PAGE_SIZE])
    without = runs.all.filter(runs.in_state(WITHOUT_VALUE))
    failed = list(without.values_list("pk", flat=True)[:MOST_FAILURES])
    rows = {row.run: row for row in runs.rows({*shown, *failed})}
    kept = {name: request.GET[name] for name in KEPT if name in request.GET}
    table = {
        "lines": [_line(rows[run], labels, means) for run in shown],
        "page": page,
        "form": filters.form,
        "in_all": len(runs),
        "whole": len(runs) <= PAGE_SIZE and not filters.form.has_changed(),
        "kept": kept,
        "without": urlencode({**kept, "state": WITHOUT_VALUE}),
        "heads": [(name, factor.label) for name, factor in levels.items()],
        "sort": sort,
    }
    return {
        "table": table,
        "failures": [_line(rows[run], labels, {}) for run in failed],
        "more_failures": max(0, runs.without_counts.total() - MOST_FAILURES),
        "counts": _counts(runs),
    }


def _counts(runs: RunList) -> list[str]:
    """Return how many runs have no accepted value, by state."""
    counts = runs.without_counts
    return [f"{counts[state]} {RUNS[state][0]}" for state in NO_PLAIN_VALUE if counts[state]]


def _sorted(
    keys: Iterable[int],
    sort: Sort,
    runs: RunList,
    levels: Mapping[str, FactorOutline],
    means: Mapping[int, float | None],
) -> list[int]:
    """Sort the keys of runs by a column of the table; levels: factors by the names of their columns."""
    if sort.by == "change":
        cells, states = runs.column("cell"), runs.column("state")
        key = {
            run: value / mean
            for run, value in runs.column("value").items()
            if states.get(run) in PLAIN and (mean := means.get(cells[run]))
        }
    elif factor := levels.get(sort.by):
        places = {repr(level): place for place, level in enumerate(factor.levels)}
        of_cells = {
            cell: places.get(repr(by_factor.get(factor.name)))
            for cell, by_factor in runs.levels.items()
        }
        key = {run: of_cells[cell] for run, cell in runs.column("cell").items()}
    else:
        key = runs.column(sort.by)
    return sort.apply(keys, {sort.by: key.get})


def _line(row: RunRow, labels: LevelLabels, means: dict[int, float | None]) -> RunLine:
    mean = means.get(row.cell)
    without = row.state in NO_PLAIN_VALUE and not row.is_warm_up
    plain = row.measured is not None and row.state in PLAIN
    distance = (
        change(100 * (row.measured.value / mean - 1))
        if row.measured is not None and plain and mean
        else MISSING
    )
    return RunLine(
        row=row,
        levels=labels.one_each(row.levels),
        value=value_text(row.measured),
        from_mean=distance,
        place=place(row, labels.block),
        notes=reason_of(row),
        states=f"{row.state} {WITHOUT_VALUE}" if without else row.state,
    )
