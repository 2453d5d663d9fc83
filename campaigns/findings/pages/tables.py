"""Rows of the tables of a result page, formatted from findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator

from campaigns.findings.charts import strips
from campaigns.kit import numbers
from campaigns.kit.marks import RUNS
from campaigns.kit.numbers import MISSING, amount, p_value, percent, share
from campaigns.results.phrases import (
    BADGES,
    FLAGS,
    Levels,
    confirmation_text,
    level_text,
    session_remarks,
    span,
)

CELLS_A_PAGE = 50
WITHOUT_VALUE = ("empty", "all_failed")
"""Flags that repeat the counts of failed and lost runs."""
NOTED_STATES = ("failed", "censored", "bound", "lost", "cancelled")
"""States of runs that are counted in the notes of their cell."""


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
    """One stratum of a paired campaign with its verdict."""

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
    display: Mapping[str, str]
    advice: str
    confirmation: str
    remarks: tuple[str, ...]


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


def cell_table(finding: Mapping[str, Any], labels: Levels, page: str | None = None) -> CellTable:
    """Return one page of the cells of a finding in their order."""
    pages = Paginator(finding["cells"], CELLS_A_PAGE, orphans=CELLS_A_PAGE // 5)
    shown = pages.get_page(page)
    unit = finding["unit"]
    values = [value for cell in finding["cells"] for value in _observed(cell)]
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


def _cell_line(
    number: int, cell: Mapping[str, Any], unit: str, scale: strips.Scale, labels: Levels
) -> CellLine:
    summary = cell["summary"]
    observed = _observed(cell)
    geometric = summary["gmean"] is not None
    interval = summary["gmean_ci"] if geometric else summary["mean_ci"]
    return CellLine(
        number=number,
        levels=labels.one_each(cell["levels"]),
        ok=f"{summary['n_ok']}/{cell['counts']['runs']}",
        gmean=_average(cell, unit),
        mean=amount(summary["mean"], unit),
        interval=span(interval, unit),
        cv=MISSING if summary["cv"] is None else f"{share(summary['cv'])}",
        median=amount(summary["median"], unit),
        sd=amount(summary["sd"], unit),
        strip=strips.strip(
            observed,
            scale,
            unit=unit,
            mean=summary["gmean"] if geometric else summary["mean"],
            interval=interval,
        )
        if observed
        else None,
        notes=tuple(_notes(cell, unit)),
        failed="all_failed" in summary["flags"],
    )


def _average(cell: Mapping[str, Any], unit: str) -> str:
    """Return the geometric mean; a lower bound of it where runs timed out."""
    summary, at_least = cell["summary"], cell["counts"].get("at_least")
    if at_least is not None:
        return f"≥ {amount(at_least, unit)}"
    return amount(summary["mean"] if summary["n_ok"] == 1 else summary["gmean"], unit)


def _observed(cell: Mapping[str, Any]) -> Sequence[float]:
    """Return the accepted values of its runs."""
    if "values" in cell:
        values: Sequence[float] = cell["values"]
        return values
    return [run["value"] for run in cell["runs"] if run["state"] == "ok"]


def _notes(cell: Mapping[str, Any], unit: str) -> list[str]:
    """Return the notes on a cell: failures first, then what its numbers do not show."""
    counts = cell["counts"]
    states, limit = counts["states"], counts["lowest_limit"]
    notes = []
    for state in NOTED_STATES:
        if state in states:
            above = f" above {amount(limit, unit)}" if state == "censored" and limit else ""
            notes.append(f"{states[state]} {RUNS[state][0]}{above}")
    if excluded := states.get("excluded"):
        notes.append(f"{excluded} excluded")
    if counts["units_failed"]:
        share = 100 * counts["units_failed"] / counts["units"]
        too_many = "too many failures: " if counts["too_many_failures"] else ""
        notes.append(f"{too_many}{share:.3g} % of the work failed")
    if "open" not in states:
        flags = [flag for flag in cell["summary"]["flags"] if not (notes and flag in WITHOUT_VALUE)]
        notes += [text for flag in flags if (text := FLAGS.get(flag, flag))]
    return notes


def strata_table(finding: Mapping[str, Any], labels: Levels) -> StrataTable:
    """Return the strata of a paired campaign in their order."""
    intervals = [stratum["comparison"]["verdict"]["ci_pct"] for stratum in finding["strata"]]
    changes = [stratum["comparison"]["verdict"]["pct_change"] for stratum in finding["strata"]]
    bounds = [bound for interval in intervals if interval for bound in interval]
    scale = strips.scale_of([*changes, *bounds], zero=True)
    order, tone = _order(finding["order_effect"], finding)
    return StrataTable(
        head=" and ".join(f.label for f in labels.factors if f.name != finding["factor"])
        or "comparison",
        baseline=level_text(finding["baseline"]),
        candidate=level_text(finding["candidate"]),
        lines=tuple(
            _stratum_line(stratum, finding, scale, labels) for stratum in finding["strata"]
        ),
        scale=f"{percent(scale.low, 0)} to {percent(scale.high, 0)}" if bounds else "",
        order=order,
        order_tone=tone,
    )


def _stratum_line(
    stratum: Mapping[str, Any], finding: Mapping[str, Any], scale: strips.Scale, labels: Levels
) -> StratumLine:
    comparison, unit = stratum["comparison"], finding["unit"]
    verdict = comparison["verdict"]
    shown = verdict["pct_change"] is not None
    return StratumLine(
        name=labels.values(stratum["levels"], without=finding["factor"]) or stratum["name"],
        pairs=_pairs(comparison),
        baseline=amount(comparison["mean_baseline"], unit),
        baseline_sd=_deviation(comparison["sd_baseline"], unit),
        candidate=amount(comparison["mean_candidate"], unit),
        candidate_sd=_deviation(comparison["sd_candidate"], unit),
        change=percent(verdict["pct_change"]),
        forest=strips.forest(verdict["pct_change"], verdict["ci_pct"], scale) if shown else None,
        tone=stratum["display"]["tone"],
        interval=numbers.span_pct(verdict["ci_pct"]) if verdict["ci_pct"] else MISSING,
        p_holm=p_value(verdict["p_adjusted"]),
        p_wilcoxon=p_value(comparison["wilcoxon_p"]),
        display=stratum["display"],
        advice=stratum["advice"],
        confirmation=confirmation_text(stratum["standing"]),
        remarks=(*session_remarks(stratum["standing"]), *_remarks(verdict)),
    )


def _deviation(deviation: float | None, unit: str) -> str:
    return "" if deviation is None else amount(deviation, unit)


def _pairs(comparison: Mapping[str, Any]) -> str:
    lost = comparison["incomplete_by_failure"] + comparison["incomplete_by_loss"]
    return (
        f"{comparison['n_pairs']} of {comparison['n_pairs'] + lost}"
        if lost
        else str(comparison["n_pairs"])
    )


def _remarks(verdict: Mapping[str, Any]) -> list[str]:
    remarks = [BADGES.get(badge, badge) for badge in verdict["badges"]]
    if verdict["fields"]:
        remarks.append(f"differs in {', '.join(verdict['fields'])}")
    if verdict["share"] is not None:
        side = f" of {verdict['side']}" if verdict["side"] else ""
        remarks.append(f"{share(verdict['share'], 0)}{side} affected")
    return remarks


def _order(effect: Mapping[str, Any] | None, finding: Mapping[str, Any]) -> tuple[str, str]:
    if effect is None:
        return "", ""
    difference = f"{percent(effect['difference_pct'])}, p {p_value(effect['p'])}"
    firsts = (
        f"{level_text(finding['candidate'])} ran first in {effect['candidate_first']} pairs, "
        f"{level_text(finding['baseline'])} in {effect['baseline_first']}"
    )
    if effect["flagged"]:
        return f"{firsts}; the order matters ({difference}): read the change with care.", "warn"
    return f"{firsts}; no effect of the order was found ({difference}).", "pass"
