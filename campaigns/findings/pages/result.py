"""The result page, level by level: answer, evidence, trust, runs, settings.

The template of a level asks its class for each panel that it shows. A panel reads what it needs of `Result`, and is None where
there is nothing to show.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from django.forms import BoundField
from django.http import HttpRequest

from campaigns.findings.answers import PARTS, answer_of
from campaigns.findings.charts.base import Late, Panel, Shown
from campaigns.findings.charts.capacity import CAPACITY, draws_values_of
from campaigns.findings.charts.curve import is_over_load, late_plot, main_plot, pairs_of
from campaigns.findings.charts.heat import HeatTable, heat_table
from campaigns.findings.pages.before import Before, before_of
from campaigns.findings.pages.binding import BindingPanel, binding_panel
from campaigns.findings.pages.capacity_tables import (
    CapacityTable,
    ThresholdTable,
    capacity_table,
    threshold_table,
)
from campaigns.findings.pages.level_tables import LevelTables, levels_of
from campaigns.findings.pages.levels import (
    ANSWER,
    EVIDENCE,
    PRINT,
    RUNS,
    SETTINGS,
    TRUST,
    address_of,
    moved_parts,
    tabs_of,
)
from campaigns.findings.pages.panels import panel_of, panels_of
from campaigns.findings.pages.run_table import run_table
from campaigns.findings.pages.tables import (
    CELLS,
    CellTable,
    ExcludedTable,
    StrataTable,
    cells_of,
    excluded_table,
    strata_table,
)
from campaigns.findings.pages.view import comes_late, selectors, shown_of
from campaigns.findings.store import Findings, findings_of
from campaigns.findings.values import LevelsFinding, Pairs, TargetsTold
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.calibration import CalibrationPanel, calibration_panel
from campaigns.findings.wording.checks import CheckLine, check_lines
from campaigns.findings.wording.failed_parts import failed_parts
from campaigns.findings.wording.sensitivity import SensitivityPanel, sensitivity_panel
from campaigns.findings.wording.sessions import notes_of_changes
from campaigns.findings.wording.targets import TargetTable, target_table
from campaigns.kit.charts.labels import FactorOutline, level_text
from campaigns.kit.charts.svg import can_draw
from campaigns.kit.pages.people import may
from campaigns.models import Campaign, Finding
from campaigns.planning.amendments import AmendmentLine, amendments_of
from campaigns.planning.analyses import failure_of, wait_of
from campaigns.planning.metrics import metric_of
from campaigns.planning.noise import calibrations_on
from campaigns.planning.pages.limits import limits_of, stopped_of
from campaigns.results.environment import ChangedFact, changed_facts, simulators_of
from campaigns.results.pages_data import (
    ImportNotes,
    Outline,
    SettingSeen,
    Surroundings,
    import_notes,
    span_of,
    surroundings_of,
)
from campaigns.results.run_list import RunList
from campaigns.results.run_plots import Plot, labelled

STATEMENTS = "statements"
"""Of an answer: a part of the page that comes after it where they are many."""
MOST_STATEMENTS, MOST_CELLS_AT_ONCE = 40, 20
MOST_CHOICES = 500
EXTENDABLE = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)


@dataclass(frozen=True, slots=True)
class MainChart:
    """The chart of every run. late: where its page requests the figure; several: series; over_load: with what is carried."""

    plot: Plot | None
    late: Late | None
    several: bool
    over_load: bool
    multiples: Sequence[Plot]
    strata: StrataTable | None


@dataclass(frozen=True)
class Result:
    """What the levels of a result are built from; what several of them need is built once."""

    request: HttpRequest
    campaign: Campaign
    outline: Outline
    findings: Findings
    shown: Shown

    @cached_property
    def judged(self) -> Findings:
        """Return the findings without those that judge if there are no verdicts: of another metric, or while the campaign goes on."""
        return self.findings if self.shown.judged else self.findings.without_verdicts()

    @property
    def terms(self) -> Pairs | LevelsFinding | None:
        """Return the finding with the verdicts."""
        return self.judged.pairs or self.judged.levels

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
    def changes(self) -> list[ChangedFact]:
        """Return what changed in the environment during the campaign."""
        return changed_facts(self.surroundings.changes)

    @cached_property
    def amendments(self) -> Sequence[AmendmentLine]:
        """Return what was amended after the launch."""
        return amendments_of(self.campaign)

    @cached_property
    def answer(self) -> AnswerText | None:
        """Return the answer as text; None while it is withheld, and for a metric that is not judged."""
        return answer_of(self.judged)

    @cached_property
    def choices(self) -> list[BoundField]:
        """Return the selectors of the metric and the axes."""
        with_axes = not pairs_of(self.shown)
        return selectors(self.shown.view, self.outline, self.findings, with_axes=with_axes)

    @cached_property
    def carried(self) -> Panel | None:
        """Return the chart of capacity, which stands beside an answer that says what is carried."""
        waits = self.shown.many and CAPACITY not in self.opened
        finding = self.findings.capacity if self.shown.primary else None
        if waits or finding is None or not finding.is_told:
            return None
        return panel_of(self.shown, CAPACITY)

    @cached_property
    def is_drawn_once(self) -> bool:
        """Return whether the chart of every run and that of capacity would draw the same values."""
        return not self.shown.many and draws_values_of(self.shown, self.shown.view)

    @cached_property
    def strata(self) -> StrataTable | None:
        """Return the table of pairs."""
        if (pairs := pairs_of(self.shown)) is None:
            return None
        return strata_table(pairs, self.shown.labels, self.told, withheld=self.shown.is_open)

    @cached_property
    def main(self) -> MainChart:
        """Return the chart of every run: changes of pairs, or runs against the levels."""
        shown, simulators = self.shown, self.simulators
        late = late_plot(shown)
        plot, multiples = main_plot(shown)
        if late and not all(can_draw(each.figure) for each in multiples or [plot] if each):
            plot, multiples = None, ()
        return MainChart(
            plot=labelled(plot, simulators) if plot else None,
            late=late,
            several=plot.several if plot else len(shown.view.in_series(shown.labels.factors)) > 0,
            over_load=is_over_load(self.judged.capacity, shown.view),
            multiples=[labelled(small, simulators) for small in multiples],
            strata=self.strata,
        )


@dataclass(frozen=True)
class Level:
    """A level of a result. reads: the findings that its panels need; "cells" are those of the metric."""

    result: Result
    template: ClassVar[str]
    reads: ClassVar[Collection[str]]

    @property
    def has_filter(self) -> bool:
        """Return whether a script filters a table of it."""
        return False


@dataclass(frozen=True)
class AnswerLevel(Level):
    """The answer, the chart beside it, and the campaign before."""

    template = "findings/levels/answer.html"
    reads = ("answer", "cells", "curves", "surroundings", *PARTS)

    @cached_property
    def carried(self) -> Panel | None:
        """Return the chart of capacity, in the place of that of every run."""
        carried = self.result.carried
        return carried.labelled(self.result.simulators) if carried else None

    @cached_property
    def before(self) -> Before | None:
        """Compare with the campaign before."""
        if not self.result.shown.primary:
            return None
        seen = may(self.result.request).see
        return before_of(self.result.campaign, seen, compared=not self.result.shown.many)


@dataclass(frozen=True)
class EvidenceLevel(Level):
    """Everything that the answer rests on: tables of verdicts and cells, and charts."""

    template = "findings/levels/evidence.html"
    reads = ("answer", "binding", "cells", "curves", "matrix", *PARTS)

    @cached_property
    def late_statements(self) -> str:
        """Return the name of the details of the answer if they come later."""
        answer, shown = self.result.answer, self.result.shown
        many = answer and shown.many and len(answer.statements) > MOST_STATEMENTS
        return late_id(STATEMENTS, many, self.result.opened)

    @cached_property
    def main(self) -> MainChart | None:
        """Return the chart of every run if that of capacity stands beside the answer, and draws other values."""
        result = self.result
        return result.main if result.carried is not None and not result.is_drawn_once else None

    @cached_property
    def calibration(self) -> CalibrationPanel | None:
        """Return what two identical sides show of the noise."""
        if (finding := self.result.judged.calibration) is None:
            return None
        campaign = self.result.campaign
        here = calibrations_on(campaign.kind, campaign.primary_metric, campaign.target)
        return calibration_panel(finding, *((here.comparisons, here.alarms) if here else ()))

    @cached_property
    def binding(self) -> BindingPanel | None:
        """Return which resource of the target binds."""
        finding = self.result.findings.binding
        return binding_panel(self.result.campaign, finding) if finding else None

    @cached_property
    def capacity(self) -> CapacityTable | None:
        """Return the table of what is carried."""
        finding = self.result.judged.capacity
        if finding is None:
            return None
        return capacity_table(finding, self.result.findings.answer, self.result.shown.labels)

    @cached_property
    def thresholds(self) -> ThresholdTable | None:
        """Return the table of a criterion."""
        finding = self.result.judged.thresholds
        return threshold_table(finding) if finding else None

    @cached_property
    def heat(self) -> HeatTable | None:
        """Return the heat map of two factors."""
        return heat_table(self.result.shown)

    @cached_property
    def steps(self) -> LevelTables | None:
        """Return the comparisons of levels."""
        shown = self.result.shown
        return levels_of(shown, self.result.opened if shown.many else None)

    @cached_property
    def late_cells(self) -> str:
        """Return the name of the table of cells if it comes later."""
        shown, cells = self.result.shown, self.result.outline.cells
        many = shown.many and cells > MOST_CELLS_AT_ONCE and shown.findings.summaries
        return late_id(CELLS, many and CELLS not in shown.query, self.result.opened)

    @cached_property
    def cells(self) -> CellTable | None:
        """Return the table of cells, unless it comes later."""
        return None if self.late_cells else cells_of(self.result.shown)

    @cached_property
    def panels(self) -> list[Panel | Late]:
        """Return the charts, without the one that stands beside the answer or would draw the same values again."""
        result = self.result
        once = result.carried is not None or result.is_drawn_once
        # A link of before the levels, and one without JavaScript, open it here.
        left_out = CAPACITY if once and CAPACITY not in result.opened else ""
        found = panels_of(result.shown, result.opened, without=left_out)
        return [panel.labelled(result.simulators) for panel in found]


@dataclass(frozen=True)
class TrustLevel(Level):
    """What speaks against the answer: caveats, checks, and what it depends on."""

    template = "findings/levels/trust.html"
    reads = ("answer", "checks", "sensitivity", "surroundings", "with_excluded", *PARTS)

    @cached_property
    def begun(self) -> Sequence[str]:
        """Return sentences on the sessions that changes of the environment began."""
        return notes_of_changes(self.result.findings.sessions)

    @cached_property
    def _lines(self) -> Sequence[CheckLine]:
        checks = self.result.findings.checks
        return check_lines(checks) if self.result.shown.primary and checks else ()

    @property
    def checks(self) -> Sequence[CheckLine]:
        """Return the checks that were made."""
        return [each for each in self._lines if each.was_made]

    @property
    def impossible(self) -> Sequence[CheckLine]:
        """Return the checks that could not be made."""
        return [each for each in self._lines if not each.was_made]

    @cached_property
    def excluded(self) -> ExcludedTable | None:
        """Return the verdicts without and with the excluded runs."""
        finding, terms = self.result.findings.with_excluded, self.result.terms
        return (
            excluded_table(finding, terms, self.result.shown.labels) if finding and terms else None
        )

    @cached_property
    def robust(self) -> SensitivityPanel | None:
        """Return whether the verdicts depend on a single run."""
        finding, terms = self.result.findings.sensitivity, self.result.terms
        return sensitivity_panel(terms, finding) if finding and terms else None

    @cached_property
    def told(self) -> TargetTable | None:
        """Return what differs between several targets."""
        told = self.result.told if self.result.shown.judged else None
        return target_table(told) if told else None


@dataclass(frozen=True)
class RunsLevel(Level):
    """The table of all runs."""

    template = "findings/levels/runs.html"
    reads = ("cells",)

    @cached_property
    def runs(self) -> dict[str, Any]:
        """Return the page of the table that the query names, and the first failures."""
        result = self.result
        runs = RunList(result.campaign, result.shown.view.metric)
        return run_table(result.request, runs, result.shown.labels, result.findings)

    @property
    def has_filter(self) -> bool:
        """Return whether the whole table is here."""
        return bool(self.runs["table"]["whole"])

    @property
    def can_extend(self) -> bool:
        """Return whether blocks can be added."""
        return self.result.outline.executable and self.result.campaign.state in EXTENDABLE


@dataclass(frozen=True)
class SettingsLevel(Level):
    """The definition, the settings that were read back, and the environment."""

    template = "findings/levels/settings.html"
    reads = ("surroundings",)

    @cached_property
    def import_notes(self) -> ImportNotes:
        """Return what an import left out."""
        return import_notes(self.result.campaign)

    @property
    def settings(self) -> list[tuple[SettingSeen, str, str]]:
        """Return the settings with both levels as text: the requested one, and that in force."""
        return [
            (seen, level_text(seen.asked), level_text(seen.in_force))
            for seen in self.result.surroundings.settings
        ]

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Return label and value of each fixed parameter."""
        return [(label, level_text(value)) for label, value in self.result.outline.parameters]

    @property
    def factors(self) -> list[tuple[FactorOutline, list[str]]]:
        """Return the factors with their levels as text."""
        return [(f, [level_text(level) for level in f.levels]) for f in self.result.outline.factors]

    @property
    def limits(self) -> str:
        """Return a line on the limits of runs and campaign."""
        return limits_of(self.result.campaign) if self.result.outline.executable else ""


LEVELS: Mapping[str, type[Level]] = {
    ANSWER: AnswerLevel,
    EVIDENCE: EvidenceLevel,
    TRUST: TrustLevel,
    RUNS: RunsLevel,
    SETTINGS: SettingsLevel,
}


def context(
    request: HttpRequest, campaign: Campaign, outline: Outline, level: str
) -> dict[str, Any]:
    """Return the context of a level, or of all for `PRINT`, for the metric and axis in the query.

    It is what each level shows: head, tabs, and how the analysis stands. The rest is asked of `levels`.
    """
    chosen = list(LEVELS.values()) if level == PRINT else [LEVELS[level]]
    read = None if level == PRINT else {Finding.FAILED_PARTS, *LEVELS[level].reads}
    late = comes_late(outline) and "open" not in request.GET
    metric = request.GET.get("metric", "")
    findings = findings_of(campaign, metric, brief=late or level == RUNS, only=read)
    shown = shown_of(campaign, outline, findings, request.GET)
    result = Result(request, campaign, outline, findings, shown)
    awaited = campaign.analysis_requested_at is not None and not shown.is_open
    levels = [each(result) for each in chosen]
    tabs = tabs_of(campaign.pk, level, request.GET, is_open=shown.is_open, runs=outline.runs)
    return {
        "campaign": campaign,
        "outline": outline,
        "findings": findings,
        "result": result,
        "levels": levels,
        "has_filter": any(each.has_filter for each in levels),
        "is_printed": level == PRINT,
        "parts": moved_parts(campaign.pk) if level == ANSWER else "",
        "tabs": tabs,
        "trust_address": address_of(campaign.pk, TRUST),
        "metric": metric_of(campaign, shown.view.metric),
        "judged": metric_of(campaign, campaign.primary_metric),
        "primary": shown.primary,
        "measured": _days(*span_of(campaign)),
        "stopped": stopped_of(campaign),
        "is_open": shown.is_open,
        "awaited": awaited,
        "waits_for": wait_of(campaign) if awaited else "",
        "analysis_failed": failure_of(campaign),
        "failed_parts": failed_parts(findings.failed_parts) if findings.failed_parts else [],
        "cancelled": f"Cancelled: {campaign.state_reason}. What had been measured stands below.",
    }


def _days(first: datetime | None, last: datetime | None) -> str:
    """Return the days on which it was measured."""
    days = [f"{each:%Y-%m-%d}" for each in (first, last) if each]
    return " to ".join(dict.fromkeys(days))


def late_id(name: str, waits: object, opened: Collection[str]) -> str:
    """Return the name of a part that the page requests when it comes into sight; nothing where it is in the page."""
    return name if waits and name not in opened else ""
