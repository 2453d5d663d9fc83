"""Rows of the tables of a result page, formatted from findings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator

from campaigns.findings.charts import strips
from campaigns.findings.charts.base import Shown
from campaigns.findings.values import (
    BriefCell,
    BriefCells,
    BriefVerdict,
    Cell,
    Cells,
    ExclusionRow,
    LevelsFinding,
    Pairs,
    Stratum,
    TargetsTold,
    Terms,
    WithExcluded,
)
from campaigns.findings.wording.cells import cell_notes
from campaigns.findings.wording.remarks import (
    confirmation_text,
    order_remark,
    session_remarks,
    verdict_remarks,
)
from campaigns.findings.wording.targets import also_differs
from campaigns.findings.wording.verdicts import (
    NO_VERDICT_YET,
    Display,
    change_briefly,
    label_of,
    span_briefly,
    stratum_advice,
)
from campaigns.kit.charts.labels import LevelLabels, level_text
from campaigns.kit.numbers import MISSING, amount, p_value, share
from campaigns.results.phrases import span
from campaigns.stats.paired import PairedComparison
from campaigns.stats.verdict import Verdict

CELLS = "cells"
"""The name of the table of cells, in addresses."""
CELLS_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class CellLine:
    """One cell. levels: (short, whole) of each factor; notes: on failures and doubts.

    number: its place among all cells.
    """

    number: int
    levels: tuple[tuple[str, str], ...]
    ok: str
    gmean: str
    mean: str
    interval: str
    cv: str
    median: str
    sd: str
    strip: strips.Strip | None
    notes: tuple[str, ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class CellTable:
    """Cells of one metric; the strips of all of them share one scale. page: of the cells."""

    heads: tuple[str, ...]
    lines: tuple[CellLine, ...]
    scale: str
    page: Page[Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class StratumLine:
    """One stratum of a paired campaign with its verdict. also: what else differs between two targets."""

    name: str
    pairs: str
    baseline: str
    baseline_sd: str
    candidate: str
    candidate_sd: str
    change: str
    forest: strips.Forest | None
    tone: str
    interval: str
    p_holm: str
    p_wilcoxon: str
    display: Display
    advice: str
    confirmation: str
    remarks: tuple[str, ...]
    also: str = ""


@dataclass(frozen=True, slots=True)
class StrataTable:
    """The strata, and who is compared with whom."""

    head: str
    baseline: str
    candidate: str
    lines: tuple[StratumLine, ...]
    scale: str
    order: str
    order_tone: str


@dataclass(frozen=True, slots=True)
class ExcludedSide:
    """One comparison, without or with the excluded runs."""

    change: str
    interval: str
    display: Display


@dataclass(frozen=True, slots=True)
class ExcludedLine:
    """One comparison, without and with them."""

    name: str
    sides: tuple[ExcludedSide, ExcludedSide]


@dataclass(frozen=True, slots=True)
class ExcludedTable:
    """The effect of excluded runs. runs: their positions."""

    runs: str
    lines: tuple[ExcludedLine, ...]


def cell_table(
    cells: Cells | BriefCells, labels: LevelLabels, page: str | None = None
) -> CellTable:
    """Return one page of the cells of a metric in their order."""
    every: Sequence[Cell | BriefCell] = cells.cells
    shown = Paginator(every, CELLS_A_PAGE, orphans=CELLS_A_PAGE // 5).get_page(page)
    unit = cells.unit
    values = [value for cell in every for value in _observed(cell)]
    scale = strips.scale_of(values)
    return CellTable(
        heads=tuple(factor.label for factor in labels.factors),
        lines=tuple(
            _cell_line(number, cell, unit, scale, labels)
            for number, cell in enumerate(shown, start=shown.start_index())
        ),
        scale=f"{amount(scale.low, unit)} to {amount(scale.high, unit)}" if values else "",
        page=shown,
    )


def cells_of(shown: Shown) -> CellTable | None:
    """Return the page of the table of cells that the query names."""
    summaries = shown.findings.summaries
    return cell_table(summaries, shown.labels, shown.query.get(CELLS)) if summaries else None


def _cell_line(
    number: int, cell: Cell | BriefCell, unit: str, scale: strips.Scale, labels: LevelLabels
) -> CellLine:
    summary = cell.summary
    observed = _observed(cell)
    geometric = summary.gmean is not None
    interval = summary.gmean_ci if geometric else summary.mean_ci
    return CellLine(
        number=number,
        levels=labels.one_each(cell.levels),
        ok=f"{summary.n_ok}/{cell.counts.runs}",
        gmean=_average(cell, unit),
        mean=amount(summary.mean, unit),
        interval=span(interval, unit),
        cv=share(summary.cv),
        median=amount(summary.median, unit),
        sd=amount(summary.sd, unit),
        strip=strips.strip(
            observed,
            scale,
            unit=unit,
            mean=summary.gmean if geometric else summary.mean,
            interval=interval,
        )
        if observed
        else None,
        notes=cell_notes(cell, unit),
        failed="all_failed" in summary.flags,
    )


def _average(cell: Cell | BriefCell, unit: str) -> str:
    """Return the geometric mean; a lower bound of it where runs timed out."""
    if cell.counts.at_least is not None:
        return f"≥ {amount(cell.counts.at_least, unit)}"
    return amount(cell.summary.mean if cell.summary.n_ok == 1 else cell.summary.gmean, unit)


def _observed(cell: Cell | BriefCell) -> Sequence[float]:
    """Return the accepted values of its runs."""
    if isinstance(cell, BriefCell):
        values = cell.values
    else:
        values = [run.value for run in cell.runs if run.state == "ok"]
    return [value for value in values if value is not None]


def strata_table(
    pairs: Pairs, labels: LevelLabels, told: TargetsTold | None = None, *, withheld: bool = False
) -> StrataTable:
    """Return the strata of a paired campaign in their order. told: of several targets. withheld: without verdicts and advice."""
    verdicts = [stratum.comparison.verdict for stratum in pairs.strata]
    bounds = [bound for verdict in verdicts for bound in verdict.ci_pct or ()]
    scale = strips.scale_of([*(verdict.pct_change for verdict in verdicts), *bounds], zero=True)
    baseline, candidate = level_text(pairs.baseline), level_text(pairs.candidate)
    order, tone = order_remark(pairs, baseline, candidate)
    also = also_differs(told, pairs.factor, pairs.baseline, pairs.candidate)
    return StrataTable(
        head=labels.other_factors(pairs.factor) or "comparison",
        baseline=baseline,
        candidate=candidate,
        lines=tuple(
            _stratum_line(stratum, pairs, scale, labels, also, withheld=withheld)
            for stratum in pairs.strata
        ),
        scale=scale.text if bounds else "",
        order=order,
        order_tone=tone,
    )


def _stratum_line(
    stratum: Stratum,
    pairs: Pairs,
    scale: strips.Scale,
    labels: LevelLabels,
    also: str,
    *,
    withheld: bool,
) -> StratumLine:
    comparison, unit = stratum.comparison, pairs.unit
    verdict = comparison.verdict
    display = NO_VERDICT_YET if withheld else label_of(pairs, verdict.word)
    return StratumLine(
        name=labels.values(stratum.levels, without=pairs.factor) or stratum.name,
        pairs=_pairs(comparison),
        baseline=amount(comparison.mean_baseline, unit),
        baseline_sd=_deviation(comparison.sd_baseline, unit),
        candidate=amount(comparison.mean_candidate, unit),
        candidate_sd=_deviation(comparison.sd_candidate, unit),
        change=change_briefly(pairs, verdict.pct_change),
        forest=forest_of(verdict, scale),
        tone=display.tone,
        interval=interval_text(pairs, verdict),
        p_holm=p_value(verdict.p_adjusted),
        p_wilcoxon=p_value(comparison.wilcoxon_p),
        display=display,
        advice="" if withheld else stratum_advice(pairs, stratum),
        confirmation=confirmation_text(stratum.confirmation),
        remarks=session_remarks(stratum.confirmation) + verdict_remarks(verdict, pairs=True),
        also=also,
    )


def forest_of(verdict: Verdict, scale: strips.Scale) -> strips.Forest | None:
    """Return the graph of a change with its interval; None without a change."""
    if verdict.pct_change is None:
        return None
    return strips.forest(verdict.pct_change, verdict.ci_pct, scale)


def interval_text(terms: Terms, shown: Verdict | BriefVerdict) -> str:
    """Write the interval of a change, on the scale of the change."""
    return span_briefly(terms, shown.ci_pct, shown.pct_change) if shown.ci_pct else MISSING


def _deviation(deviation: float | None, unit: str) -> str:
    return "" if deviation is None else amount(deviation, unit)


def _pairs(comparison: PairedComparison) -> str:
    lost = comparison.incomplete_by_failure + comparison.incomplete_by_loss
    return (
        f"{comparison.n_pairs} of {comparison.n_pairs + lost}" if lost else str(comparison.n_pairs)
    )


def excluded_table(
    finding: WithExcluded, judged: LevelsFinding | Pairs, labels: LevelLabels
) -> ExcludedTable:
    """Return every comparison without and with the excluded runs. judged: the comparisons that stand."""
    return ExcludedTable(
        runs=", ".join(str(position) for position in finding.positions),
        lines=tuple(
            ExcludedLine(
                _name(row, labels), (_side(row.without, judged), _side(row.included, judged))
            )
            for row in finding.rows
        ),
    )


def _name(row: ExclusionRow, labels: LevelLabels) -> str:
    where = labels.sentence(row.name.levels)
    pair = f"{level_text(row.name.candidate)} vs. {level_text(row.name.baseline)}"
    return f"{where}: {pair}" if where else pair


def _side(shown: BriefVerdict, judged: LevelsFinding | Pairs) -> ExcludedSide:
    return ExcludedSide(
        change=change_briefly(judged, shown.pct_change),
        interval=interval_text(judged, shown),
        display=label_of(judged, shown.word),
    )
