"""Build the result page, level by level: answer, evidence, trust, runs, settings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import HttpRequest

from campaigns.findings.answers import PARTS, answer_of
from campaigns.findings.charts.base import Late, Panel, Shown
from campaigns.findings.charts.capacity import CAPACITY, draws_values_of, tells_capacity
from campaigns.findings.charts.curve import (
    CURVE,
    has_drawing,
    is_over_load,
    levels_plot,
    levels_title,
)
from campaigns.findings.charts.heat import heat_table
from campaigns.findings.charts.pairs import pairs_plot
from campaigns.findings.pages.before import before_of
from campaigns.findings.pages.binding import binding_panel
from campaigns.findings.pages.capacity_tables import capacity_table, threshold_table
from campaigns.findings.pages.level_tables import LevelTables, level_tables
from campaigns.findings.pages.levels import (
    ANSWER,
    EVIDENCE,
    LABELS,
    PRINT,
    RUNS,
    SETTINGS,
    TRUST,
    address_of,
    moved_parts,
    tabs_of,
)
from campaigns.findings.pages.panels import comes_late, panel_of, panels_of, shown_of
from campaigns.findings.pages.run_table import run_table
from campaigns.findings.pages.tables import CellTable, cell_table, excluded_table, strata_table
from campaigns.findings.pages.view import selectors
from campaigns.findings.store import Findings, findings_of
from campaigns.findings.values import CalibrationFinding, LevelsFinding, Pairs, TargetsTold
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.calibration import CalibrationPanel, calibration_panel
from campaigns.findings.wording.checks import check_lines
from campaigns.findings.wording.failed_parts import failed_parts
from campaigns.findings.wording.sensitivity import sensitivity_panel
from campaigns.findings.wording.sessions import notes_of_changes
from campaigns.findings.wording.targets import target_table
from campaigns.kit.charts.labels import level_text
from campaigns.kit.charts.svg import can_draw
from campaigns.kit.pages.people import may
from campaigns.models import Campaign, Finding
from campaigns.planning.amendments import amendments_of
from campaigns.planning.analyses import failure_of, wait_of
from campaigns.planning.metrics import metric_of
from campaigns.planning.noise import calibrations_on
from campaigns.planning.pages.limits import limits_of, stopped_of
from campaigns.results.chart_pages import span_of
from campaigns.results.environment import simulators_of
from campaigns.results.pages.changes import changed_facts
from campaigns.results.pages_data import Outline, Surroundings, import_notes, surroundings_of
from campaigns.results.run_list import RunList
from campaigns.results.run_plots import Plot, labelled

CELLS, STATEMENTS = "cells", "statements"
"""Parts of the page that come after it where they are many."""
MOST_STATEMENTS, MOST_CELLS_AT_ONCE = 40, 20
MOST_CHOICES = 500
EXTENDABLE = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)


@dataclass(frozen=True)
class Result:
    """What the levels of a result are built from; what several of them need is built once."""

    request: HttpRequest
    campaign: Campaign
    outline: Outline
    findings: Findings
    shown: Shown

    @property
    def judged(self) -> bool:
        """Return whether there are verdicts: of the primary metric, when the campaign has ended."""
        return self.shown.judged

    @property
    def terms(self) -> Pairs | LevelsFinding | None:
        """Return the finding with the verdicts."""
        return self.findings.pairs or self.findings.levels

    @property
    def told(self) -> TargetsTold | None:
        """Return what differs between several targets."""
        return self.findings.answer.targets if self.findings.answer else None

    @property
    def opened(self) -> list[str]:
        """Return the parts that the address unfolds."""
        return self.request.GET.get("open", "").split(",")

    @cached_property
    def simulators(self) -> list[str]:
        """Return the simulators among the targets, as sentences."""
        return simulators_of(self.campaign)

    @cached_property
    def surroundings(self) -> Surroundings:
        """Return facts and settings as they were read back."""
        return surroundings_of(self.campaign, self.findings.surroundings)

    @cached_property
    def answer(self) -> AnswerText | None:
        """Return the answer as text; None while it is withheld, and for a metric that is not judged."""
        return answer_of(self.findings) if self.judged else None

    @cached_property
    def carried(self) -> Panel | None:
        """Return the chart of capacity, which stands beside an answer that says what is carried."""
        waits = self.shown.many and CAPACITY not in self.opened
        if waits or not self.shown.primary or not tells_capacity(self.findings.capacity):
            return None
        return panel_of(self.shown, CAPACITY)

    @cached_property
    def is_drawn_once(self) -> bool:
        """Return whether the chart of every run and that of capacity would draw the same values."""
        return not self.shown.many and draws_values_of(self.shown, self.shown.view)


def context(
    request: HttpRequest, campaign: Campaign, outline: Outline, level: str
) -> dict[str, Any]:
    """Return the context of a level, or of all for `PRINT`, for the metric and axis in the query."""
    chosen = BUILT if level == PRINT else {level: BUILT[level]}
    read = None if level == PRINT else {Finding.FAILED_PARTS, *FINDINGS[level]}
    late = comes_late(outline) and "open" not in request.GET
    findings = findings_of(
        campaign, request.GET.get("metric", ""), brief=late or level == RUNS, only=read
    )
    result = Result(
        request, campaign, outline, findings, shown_of(campaign, outline, findings, request.GET)
    )
    built = _frame(result, level)
    for build in chosen.values():
        built |= build(result)
    return built


def _frame(result: Result, level: str) -> dict[str, Any]:
    """Return what each level shows: head, tabs, and how the analysis stands."""
    campaign, outline, findings = result.campaign, result.outline, result.findings
    is_open = result.shown.is_open
    awaited = campaign.analysis_requested_at is not None and not is_open
    first, last = span_of(campaign)
    return {
        "campaign": campaign,
        "outline": outline,
        "findings": findings,
        "level": level,
        "sections": [f"findings/levels/{name}.html" for name in LABELS if level in (name, PRINT)],
        "is_printed": level == PRINT,
        "parts": moved_parts(campaign.pk) if level == ANSWER else "",
        "tabs": tabs_of(campaign.pk, level, result.request.GET, is_open=is_open, runs=outline.runs),
        "evidence_address": address_of(campaign.pk, EVIDENCE),
        "trust_address": address_of(campaign.pk, TRUST),
        "metric": metric_of(campaign, result.shown.view.metric),
        "judged": metric_of(campaign, campaign.primary_metric),
        "primary": result.shown.primary,
        "measured": _days(first, last),
        "opened": result.opened,
        "stopped": stopped_of(campaign),
        "is_open": is_open,
        "awaited": awaited,
        "waits_for": wait_of(campaign) if awaited else "",
        "analysis_failed": failure_of(campaign),
        "failed_parts": failed_parts(findings.failed_parts),
        "cancelled": f"Cancelled: {campaign.state_reason}. What had been measured stands below.",
        "answer": None,
    }


def _days(first: datetime | None, last: datetime | None) -> str:
    """Return the days on which it was measured."""
    days = [f"{each:%Y-%m-%d}" for each in (first, last) if each]
    return " to ".join(dict.fromkeys(days))


def _answer(result: Result) -> dict[str, Any]:
    carried = result.carried
    built = {} if carried else _main(result)
    return {
        "answer": result.answer,
        "choices": selectors(
            result.shown.view,
            result.outline,
            result.findings,
            with_axes=not pairs_of(result.shown),
        ),
        "simulators": result.simulators,
        "carried": carried.labelled(result.simulators) if carried else None,
        "before": before_of(
            result.campaign, may(result.request).see, compared=not result.shown.many
        )
        if result.shown.primary
        else None,
        "amendments": amendments_of(result.campaign),
        **_changes(result),
        **built,
    }


def _changes(result: Result) -> dict[str, Any]:
    return {
        "changes": changed_facts(result.surroundings.changes),
        "begun": notes_of_changes(result.findings.sessions),
    }


def _main(result: Result) -> dict[str, Any]:
    """Return the chart of every run: changes of pairs, or runs against the levels."""
    shown, simulators = result.shown, result.simulators
    late = _late(shown)
    plot, multiples = main_plot(shown)
    if late and not all(can_draw(each.figure) for each in multiples or [plot] if each):
        plot, multiples = None, ()
    pairs = pairs_of(shown)
    view = shown.view
    return {
        "plot": labelled(plot, simulators) if plot else None,
        "late": late,
        "several": plot.several if plot else len(view.in_series(shown.labels.factors)) > 0,
        "over_load": shown.judged and is_over_load(result.findings.capacity, view),
        "multiples": [labelled(small, simulators) for small in multiples],
        "strata": strata_table(pairs, shown.labels, result.told, withheld=shown.is_open)
        if pairs
        else None,
    }


def _evidence(result: Result) -> dict[str, Any]:
    shown, findings, opened = result.shown, result.findings, result.opened
    labels, answer, pairs = shown.labels, result.answer, pairs_of(shown)
    many_cells = shown.many and result.outline.cells > MOST_CELLS_AT_ONCE and findings.summaries
    late_cells = late_id(CELLS, many_cells and CELLS not in shown.query, opened)
    once = result.carried is not None or result.is_drawn_once
    # A link of before the levels, and one without JavaScript, open it here.
    is_asked = CAPACITY in opened
    panels = panels_of(shown, opened, without=CAPACITY if once and not is_asked else "")
    strata = strata_table(pairs, labels, result.told, withheld=shown.is_open) if pairs else None
    beside = result.carried is not None and not result.is_drawn_once
    return {
        "answer": answer,
        "strata": strata,
        "beside": beside,
        "late_statements": answer
        and late_id(STATEMENTS, shown.many and len(answer.statements) > MOST_STATEMENTS, opened),
        "choices": selectors(shown.view, result.outline, findings, with_axes=not pairs),
        "capacity": capacity_table(findings.capacity, findings.answer, labels)
        if result.judged and findings.capacity
        else None,
        "thresholds": threshold_table(findings.thresholds)
        if result.judged and findings.thresholds
        else None,
        "binding": binding_panel(result.campaign, findings.binding) if findings.binding else None,
        "levels": levels_of(shown, opened if shown.many else None),
        "calibration": _calibration(result.campaign, findings.calibration)
        if result.judged and findings.calibration
        else None,
        "cells": cells_of(shown) if findings.summaries and not late_cells else None,
        "late_cells": late_cells,
        "heat": heat_table(shown),
        "panels": [panel.labelled(result.simulators) for panel in panels],
        **(_main(result) if beside else {}),
    }


def _trust(result: Result) -> dict[str, Any]:
    findings, labels = result.findings, result.shown.labels
    judged = result.terms if result.judged else None
    checks = check_lines(findings.checks) if result.shown.primary and findings.checks else []
    return {
        "answer": result.answer,
        "checks": [each for each in checks if each.was_made],
        "impossible": [each for each in checks if not each.was_made],
        "excluded": excluded_table(findings.with_excluded, judged, labels)
        if findings.with_excluded and judged
        else None,
        "robust": sensitivity_panel(judged, findings.sensitivity)
        if findings.sensitivity and judged
        else None,
        "told": target_table(result.told) if result.judged and result.told else None,
        "unread": result.surroundings.unread,
        **_changes(result),
    }


def _runs(result: Result) -> dict[str, Any]:
    runs = RunList(result.campaign, result.shown.view.metric)
    outline, campaign = result.outline, result.campaign
    return {
        **run_table(result.request, runs, result.shown.labels, result.findings),
        "can_extend": outline.executable and campaign.state in EXTENDABLE,
    }


def _settings(result: Result) -> dict[str, Any]:
    campaign, outline, surroundings = result.campaign, result.outline, result.surroundings
    return {
        "facts": surroundings.facts,
        "import_notes": import_notes(campaign),
        "settings": [
            (seen, level_text(seen.asked), level_text(seen.in_force))
            for seen in surroundings.settings
        ],
        "parameters": [(label, level_text(value)) for label, value in outline.parameters],
        "factors": [(f, [level_text(level) for level in f.levels]) for f in outline.factors],
        "limits": limits_of(campaign) if outline.executable else "",
        "amendments": amendments_of(campaign),
    }


BUILT: Mapping[str, Callable[[Result], dict[str, Any]]] = {
    ANSWER: _answer,
    EVIDENCE: _evidence,
    TRUST: _trust,
    RUNS: _runs,
    SETTINGS: _settings,
}
FINDINGS: Mapping[str, Collection[str]] = {
    ANSWER: ("answer", "cells", "curves", "surroundings", *PARTS),
    EVIDENCE: ("answer", "binding", "cells", "curves", "matrix", *PARTS),
    TRUST: ("answer", "checks", "sensitivity", "surroundings", "with_excluded", *PARTS),
    RUNS: ("cells",),
    SETTINGS: ("surroundings",),
}
"""The findings that each level reads; "cells" are those of the metric."""


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


def main_plot(shown: Shown) -> tuple[Plot | None, tuple[Plot, ...]]:
    """Draw the chart of every run: changes of pairs, or runs against the levels."""
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
