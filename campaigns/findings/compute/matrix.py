"""Findings of several factors as a matrix: the improvement of each cell over the first of its row."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from campaigns.findings.compute.groups import (
    Group,
    comparable_factors,
    groups_of,
    instruments_of,
    is_numeric,
    unlimited_of,
    unranked_loads,
)
from campaigns.findings.compute.primary import compare_with_primary
from campaigns.findings.compute.sessions import judged_cells
from campaigns.findings.compute.statistics_input import Family
from campaigns.findings.compute.terms import terms_of
from campaigns.findings.compute.whole_plots import fit_for_interaction
from campaigns.findings.values import Best, FactorMatrix, Matrix, MatrixCell, MatrixRow
from campaigns.kinds.base import Metric
from campaigns.kit.numbers import ascending
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.cell_states import CellState
from campaigns.stats.compared import Comparison, Comparisons
from campaigns.stats.criteria import MOST_CELLS, Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.matrix import (
    TIE_POINTS,
    Interaction,
    find_interaction,
    improvement_pct,
    state_of,
)
from campaigns.stats.verdict import Verdict

MOST_FACTORS = 3
"""The most factors that may be the columns of a matrix."""


def matrix(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> Matrix | None:
    """Return a matrix for each factor that can be its columns; None for one row, and for pairs."""
    cells, runs = judged_cells(campaign, runs)
    if campaign.order == Campaign.Order.PAIRED or not 1 < len(cells) <= MOST_CELLS:
        return None
    comparable = comparable_factors(campaign)
    instruments = instruments_of(campaign)
    rows = {*comparable, *unranked_loads(campaign)}
    by_factor = {name: groups_of(name, cells, unlimited_of(campaign, name)) for name in comparable}
    by_factor = {name: groups for name, groups in by_factor.items() if len(groups) > 1}
    if not by_factor:
        return None
    family = Family(campaign, metric, criteria, cells, runs)
    return Matrix(
        **terms_of(campaign, metric, criteria),
        tie_points=TIE_POINTS,
        factors={
            name: _of_factor(
                name,
                groups,
                family,
                campaign,
                comparable=set(groups[0].levels) <= rows,
                ranked=name not in instruments,
            )
            for name, groups in list(by_factor.items())[:MOST_FACTORS]
        },
    )


def _of_factor(
    name: str,
    groups: Sequence[Group],
    family: Family,
    campaign: Campaign,
    *,
    comparable: bool,
    ranked: bool,
) -> FactorMatrix:
    wanted = [pair for group in groups for pair in group.against_first]
    compared, _ = compare_with_primary(campaign, family, wanted)
    rows = dict(zip(wanted, compared.comparisons, strict=True))
    columns = list(dict.fromkeys(value for group in groups for value in group.values))
    numeric = is_numeric(columns)
    unlimited = groups[0].unlimited
    return FactorMatrix(
        factor=name,
        columns=ascending(columns, unlimited) if numeric else columns,
        numeric=numeric,
        unlimited=unlimited,
        rows=[_row(group, rows, compared, family, ranked=ranked) for group in groups],
        interaction=_interaction(name, groups, compared, family) if comparable else None,
    )


def _row(
    group: Group,
    rows: Mapping[tuple[int, int], Comparison],
    compared: Comparisons,
    family: Family,
    *,
    ranked: bool,
) -> MatrixRow:
    """Return one row; it has no numbers where its first cell failed: there is nothing to improve on."""
    first = group.cells[0]
    no_baseline = not family.usable[first] or not family.cell_runs[first].values
    cells = [
        _cell(place, value, None if place == first else rows[first, place], family)
        for place, value in zip(group.cells, group.values, strict=True)
    ]
    if no_baseline:
        cells = [replace(cell, improvement_pct=None, ci_pct=None) for cell in cells]
    best = family.best_of(group, compared) if ranked and not no_baseline else None
    ties = ties_of(best) if best else []
    return MatrixRow(
        levels=dict(group.levels),
        cells=cells,
        no_baseline=no_baseline,
        best=best.winner if best else None,
        ties=ties,
        recommended=best.recommended(100 * family.criteria.delta)
        if best and group.numeric
        else None,
    )


def _cell(place: int, value: Any, comparison: Comparison | None, family: Family) -> MatrixCell:
    runs = family.cell_runs[place]
    state = state_of(runs, family.criteria, is_baseline=comparison is None)
    verdict = comparison.verdict if comparison else None
    shown = verdict is not None and verdict.pct_change is not None
    improvement, interval = _improved(verdict, family.metric) if verdict and shown else (None, None)
    return MatrixCell(
        cell=family.cells[place].pk,
        level=value,
        state=state,
        improvement_pct=0.0 if state == CellState.BASELINE else improvement,
        ci_pct=interval,
        word=verdict.word if verdict else None,
        n=len(runs.values),
        failed=runs.failed,
        lost=runs.lost,
        failed_units=sum(runs.failed_units),
    )


def _improved(verdict: Verdict, metric: Metric) -> tuple[float | None, Interval | None]:
    """Convert a change and its interval to an improvement: of durations, less is better."""

    def improved(change: float) -> float:
        return improvement_pct(1 + change / 100, lower_is_better=metric.lower_is_better)

    change, interval = verdict.pct_change, verdict.ci_pct
    return (
        None if change is None else improved(change),
        Interval(*sorted(map(improved, interval))) if interval else None,
    )


def ties_of(best: Best) -> list[int]:
    """Return the cells that could be the best, and those demonstrably within the tolerance of it; none where an unknown one may be it."""
    if best.unknown:
        return []
    rows = zip(best.cells, best.upper_pct, strict=True)
    return [cell for cell, upper in rows if cell in best.possibly or upper <= TIE_POINTS]


def _interaction(
    name: str, groups: Sequence[Group], compared: Comparisons, family: Family
) -> Interaction | None:
    """Return whether the rows differ in more than one ratio; by cells that may be used only."""
    fit = fit_for_interaction(name, family, compared)
    if fit is None:
        return None
    results = [
        (row, value, compared.fitted.index(place))
        for row, group in enumerate(groups)
        for place, value in zip(group.cells, group.values, strict=True)
        if family.usable[place] and place in compared.fitted
    ]
    values = list(dict.fromkeys(value for _, value, _ in results))
    return find_interaction(
        fit,
        [row for row, _, _ in results],
        [values.index(value) for _, value, _ in results],
        places=[place for _, _, place in results],
    )
