"""Build the result page: answer, chart, cells, runs, environment."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest

from campaigns.findings.answers import answer_of
from campaigns.findings.charts.base import Late, Shown
from campaigns.findings.charts.capacity import CAPACITY
from campaigns.findings.charts.curve import (
    CURVE,
    has_drawing,
    is_over_load,
    levels_plot,
    levels_title,
)
from campaigns.findings.charts.heat import heat_table
from campaigns.findings.charts.pairs import pairs_plot
from campaigns.findings.pages.binding import binding_panel
from campaigns.findings.pages.capacity_tables import capacity_table, threshold_table
from campaigns.findings.pages.level_tables import LevelTables, level_tables
from campaigns.findings.pages.panels import comes_late, panels_of, shown_of
from campaigns.findings.pages.tables import CellTable, cell_table, excluded_table, strata_table
from campaigns.findings.pages.view import selectors
from campaigns.findings.store import Findings, findings_of
from campaigns.findings.values import CalibrationFinding, Pairs
from campaigns.findings.wording.calibration import CalibrationPanel, calibration_panel
from campaigns.findings.wording.checks import check_lines
from campaigns.findings.wording.failed_parts import failed_parts
from campaigns.findings.wording.sensitivity import sensitivity_panel
from campaigns.findings.wording.sessions import notes_of_changes
from campaigns.findings.wording.targets import target_table
from campaigns.kit.charts.labels import FactorOutline, LevelLabels, level_text
from campaigns.kit.charts.svg import can_draw
from campaigns.kit.marks import RUNS
from campaigns.kit.numbers import MISSING, change
from campaigns.kit.pages.sorting import Sort
from campaigns.models import Campaign
from campaigns.planning.amendments import amendments_of
from campaigns.planning.analyses import failure_of, wait_of
from campaigns.planning.metrics import metric_of
from campaigns.planning.noise import calibrations_on
from campaigns.planning.pages.limits import limits_of, stopped_of
from campaigns.results.environment import simulators_of
from campaigns.results.filters import RunTableFilters
from campaigns.results.pages.changes import changed_facts
from campaigns.results.pages_data import Outline, import_notes, surroundings_of
from campaigns.results.phrases import place, reason_of, value_text
from campaigns.results.rows import RunRow
from campaigns.results.run_list import COLUMNS, NO_PLAIN_VALUE, WITHOUT_VALUE, RunList
from campaigns.results.run_plots import Plot, labelled

CELLS, STATEMENTS = "cells", "statements"
"""Parts of the page that come after it where they are many."""
MOST_STATEMENTS, MOST_CELLS_AT_ONCE = 40, 20
PAGE_SIZE = 100
MOST_CHOICES = 500
MOST_FAILURES = 6
EXTENDABLE = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
KEPT = ("metric", "x", "colour", "by", "view", "sort")
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


def context(request: HttpRequest, campaign: Campaign, outline: Outline) -> dict[str, Any]:
    """Return the context of the page, for the metric and axis in the query."""
    brief = comes_late(outline) and "open" not in request.GET
    findings = findings_of(campaign, request.GET.get("metric", ""), brief=brief)
    shown = shown_of(campaign, outline, findings, request.GET)
    labels, view, metric = shown.labels, shown.view, shown.view.metric
    primary = metric == campaign.primary_metric
    runs = RunList(campaign, metric)
    is_open = campaign.state in Campaign.ACTIVE
    told = findings.answer.targets if findings.answer else None
    pairs = pairs_of(shown)
    opened = request.GET.get("open", "").split(",")
    judged = findings.pairs or findings.levels
    surroundings = surroundings_of(campaign, findings.surroundings)
    simulators = simulators_of(campaign)
    table, failures = _runs(request, runs, labels, findings)
    late = _late(shown)
    plot, multiples = main_plot(shown)
    if late and not all(can_draw(each.figure) for each in multiples or [plot] if each):
        plot, multiples = None, ()
    answer = answer_of(findings) if primary and not is_open else None
    many_cells = shown.many and outline.cells > MOST_CELLS_AT_ONCE and findings.summaries
    late_cells = late_id(CELLS, many_cells and CELLS not in request.GET, opened)
    panels = panels_of(shown, opened)
    carried = next((each for each in panels if each.id == CAPACITY and not each.late), None)
    return {
        "campaign": campaign,
        "outline": outline,
        "findings": findings,
        "answer": answer,
        "late_statements": answer
        and late_id(STATEMENTS, shown.many and len(answer.statements) > MOST_STATEMENTS, opened),
        "metric": metric_of(campaign, metric),
        "primary": primary,
        "choices": selectors(view, outline, findings, with_axes=not pairs),
        "simulators": simulators,
        "plot": labelled(plot, simulators) if plot else None,
        "late": late,
        "several": plot.several if plot else len(view.in_series(labels.factors)) > 0,
        "over_load": shown.judged and is_over_load(findings.capacity, view),
        "multiples": [labelled(small, simulators) for small in multiples],
        "capacity": capacity_table(findings.capacity, findings.answer, labels)
        if primary and not is_open and findings.capacity
        else None,
        "thresholds": threshold_table(findings.thresholds)
        if primary and not is_open and findings.thresholds
        else None,
        "binding": binding_panel(campaign, findings.binding) if findings.binding else None,
        "strata": strata_table(pairs, labels, told, withheld=is_open) if pairs else None,
        "levels": levels_of(shown, opened if shown.many else None),
        "excluded": excluded_table(findings.with_excluded, judged, labels)
        if primary and not is_open and findings.with_excluded and judged
        else None,
        "robust": sensitivity_panel(judged, findings.sensitivity)
        if primary and not is_open and findings.sensitivity and judged
        else None,
        "told": target_table(told) if primary and not is_open and told else None,
        "calibration": _calibration(campaign, findings.calibration)
        if primary and not is_open and findings.calibration
        else None,
        "checks": check_lines(findings.checks) if primary and findings.checks else None,
        "cells": cells_of(shown) if findings.summaries and not late_cells else None,
        "late_cells": late_cells,
        "heat": heat_table(shown),
        "carried": carried.labelled(simulators) if carried else None,
        "panels": [panel.labelled(simulators) for panel in panels if panel is not carried],
        "opened": opened,
        "failures": failures,
        "more_failures": max(0, runs.without_counts.total() - MOST_FAILURES),
        "counts": _text(runs),
        "table": table,
        "facts": surroundings.facts,
        "import_notes": import_notes(campaign),
        "changes": changed_facts(surroundings.changes),
        "begun": notes_of_changes(findings.sessions),
        "unread": surroundings.unread,
        "settings": [
            (seen, level_text(seen.asked), level_text(seen.in_force))
            for seen in surroundings.settings
        ],
        "parameters": [(label, level_text(value)) for label, value in outline.parameters],
        "factors": [(f, [level_text(level) for level in f.levels]) for f in outline.factors],
        "stopped": stopped_of(campaign),
        "limits": limits_of(campaign) if outline.executable else "",
        "amendments": amendments_of(campaign),
        "is_open": is_open,
        "awaited": campaign.analysis_requested_at is not None and not is_open,
        "waits_for": wait_of(campaign) if campaign.analysis_requested_at and not is_open else "",
        "analysis_failed": failure_of(campaign),
        "failed_parts": failed_parts(findings.failed_parts),
        "cancelled": f"Cancelled: {campaign.state_reason}. What had been measured stands below.",
        "can_extend": outline.executable and campaign.state in EXTENDABLE,
    }


def late_id(name: str, waits: object, opened: Collection[str]) -> str:
    """Return the name of a part that the page requests when it comes into sight; nothing where it is in the page."""
    return name if waits and name not in opened else ""


def cells_of(shown: Shown) -> CellTable | None:
    """Return the page of the table of cells that the query names."""
    summaries = shown.findings.summaries
    return cell_table(summaries, shown.labels, shown.query.get(CELLS)) if summaries else None


def levels_of(shown: Shown, only: Collection[str] | None = None) -> LevelTables | None:
    """Write the comparisons of levels; none before the stop rule is met, as for pairs.

    only: the groups whose lines are wanted, where they are many.
    """
    findings = shown.findings
    if not findings.levels or not findings.summaries or not shown.primary or shown.is_open:
        return None
    told = findings.answer.targets if findings.answer else None
    return level_tables(findings.levels, findings.summaries, shown.labels, only, told)


def pairs_of(shown: Shown) -> Pairs | None:
    """Return the finding of pairs, where it is of the metric that is shown."""
    return shown.findings.pairs if shown.primary else None


def _calibration(campaign: Campaign, finding: CalibrationFinding) -> CalibrationPanel:
    here = calibrations_on(campaign.kind, campaign.primary_metric, campaign.target)
    return calibration_panel(finding, *((here.comparisons, here.alarms) if here else ()))


def _text(runs: RunList) -> list[str]:
    """Return how many runs have no accepted value, by state."""
    counts = runs.without_counts
    return [f"{counts[state]} {RUNS[state][0]}" for state in NO_PLAIN_VALUE if counts[state]]


def main_plot(shown: Shown) -> tuple[Plot | None, tuple[Plot, ...]]:
    """Draw the chart next to the answer: changes of pairs, or runs against the levels."""
    findings = shown.findings
    if pairs := pairs_of(shown):
        return pairs_plot(pairs, shown.labels, withheld=shown.is_open), ()
    cells = findings.summaries
    if not cells or not has_drawing(cells):
        return None, ()
    if not shown.judged:
        return levels_plot(cells, shown.labels, shown.view)
    judged = findings.levels, findings.curves, findings.capacity
    return levels_plot(cells, shown.labels, shown.view, *judged)


def _late(shown: Shown) -> Late | None:
    """Return the chart of the runs where they are many: its page has the drawing at most, and requests the figure."""
    if not shown.many or not shown.findings.summaries or pairs_of(shown):
        return None
    return Late(CURVE, levels_title(shown.findings.summaries, shown.labels, shown.view))


def _runs(
    request: HttpRequest, runs: RunList, labels: LevelLabels, findings: Findings
) -> tuple[dict[str, Any], list[RunLine]]:
    """Return one page of the runs that match the filter, with the filter, and the first failures."""
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
    return table, [_line(rows[run], labels, {}) for run in failed]


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
