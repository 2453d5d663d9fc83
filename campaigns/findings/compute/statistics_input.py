"""The runs of a campaign as input of the statistics, and the comparisons within a group of cells."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from campaigns.findings.compute.fidelity import has_ranks, without_ranks
from campaigns.findings.compute.groups import Group, unranked_loads
from campaigns.findings.compute.sameness import compared_work
from campaigns.findings.compute.sessions import confirmation_of, split_sessions
from campaigns.findings.compute.whole_plots import hard_factors, places_of
from campaigns.findings.compute.withheld_verdicts import Reserve, with_reserve
from campaigns.findings.values import (
    Best,
    BreakShare,
    Knee,
    KneeUncertainty,
    LevelComparison,
    LevelGroup,
    LevelRow,
    RankTest,
    WithinShare,
)
from campaigns.kinds.base import Metric
from campaigns.models import Campaign, Cell
from campaigns.results.values import ObservedRun
from campaigns.stats.best import find_best
from campaigns.stats.best_set import best_set
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.compared import Comparison, Comparisons, Pairs
from campaigns.stats.comparison_cells import CellRuns, too_many_failures
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.knee import FEWEST_LEVELS, Uncertainty, find_knee, levels_of
from campaigns.stats.log_means import Fit
from campaigns.stats.mann_whitney import RankSum
from campaigns.stats.ranks import SignedRank
from campaigns.stats.resamples import Resampler, of_blocks, of_levels
from campaigns.stats.rounding import is_too_coarse
from campaigns.stats.stopping import alpha_for

SHARES = (0.02, 0.05, 0.10, 0.20, 0.25, 0.50, 1.00)
"""Shares of the best within which a setting is searched."""


class Family:
    """The runs of a campaign as input of the statistics."""

    def __init__(
        self,
        campaign: Campaign,
        metric: Metric,
        criteria: Criteria,
        cells: Sequence[Cell],
        runs: Sequence[ObservedRun],
        hard: Sequence[str] | None = None,
        *,
        ranks: bool = True,
    ) -> None:
        """Build it from the cells and runs.

        hard: the factors that are costly to change, if they were read before. ranks: no verdict needs them.
        """
        self.ranks = ranks
        self.metric, self.criteria, self.cells = metric, criteria, cells
        self.boards = boards_of(campaign, cells)
        self.hard = hard_factors(campaign) if hard is None else hard
        self.places = places_of(self.hard, cells)
        self.interleaved = campaign.order == Campaign.Order.INTERLEAVED
        self.cancelled = campaign.state == Campaign.State.CANCELLED
        self.place = {cell.pk: place for place, cell in enumerate(cells)}
        self.sessions = split_sessions(runs)
        self.cell_runs = self._runs_of_cells(runs)
        targets = [cell.target_id for cell in cells]
        self.reserve = Reserve(campaign, metric, criteria, self._by_cell(runs), targets)
        self.usable = [not too_many_failures(cell, criteria) for cell in self.cell_runs]

    def compare(
        self,
        wanted: Sequence[tuple[int, int]],
        means: Sequence[Pairs] = (),
        settings: Sequence[int] = (),
    ) -> Comparisons:
        """Judge the wanted pairs by the family of all cells that did the same work; verdicts that the runs cannot show are withheld.

        means, settings: contrasts over several pairs, as those over loads, and among how many settings they are.
        """
        compared = self._compared(self.cell_runs, wanted, means, settings, self.boards)
        return with_reserve(compared, self.reserve, means)

    def compare_alone(self, pairs: Pairs) -> Comparison:
        """Judge one contrast, over one or several pairs, as the only test: nothing is adjusted."""
        compared = self._compared(self.cell_runs, [], [pairs])
        (comparison,) = with_reserve(compared, self.reserve, [pairs]).means
        return comparison

    def measured(self, *places: int) -> bool:
        """Return whether each of these cells has a number: values, and not too many failures."""
        return all(self.usable[place] and self.cell_runs[place].has_logs for place in places)

    def described(
        self,
        group: Group,
        rows: Mapping[tuple[int, int], Comparison],
        compared: Comparisons,
        *,
        ranked: bool = True,
    ) -> LevelGroup:
        """Return the comparisons of one group, its best cell and its knee. ranked: one of its levels may be the best."""
        return LevelGroup(
            levels=dict(group.levels),
            values=list(group.values),
            cells=[self.cells[place].pk for place in group.cells],
            numeric=group.numeric,
            reading=self._readings(group, compared),
            comparisons=[self.row(pair, rows[pair]) for pair in group.pairs if pair in rows],
            best=self.best_of(group, compared) if ranked else None,
            knee=self._knee(group, compared),
        )

    def _runs_of_cells(self, runs: Sequence[ObservedRun]) -> list[CellRuns]:
        return [runs_of_cell(members) for members in self._by_cell(runs)]

    def _by_cell(self, runs: Sequence[ObservedRun]) -> list[list[ObservedRun]]:
        by_cell: list[list[ObservedRun]] = [[] for _ in self.cells]
        for run in runs:
            by_cell[self.place[run.cell]].append(run)
        return by_cell

    def _compared(
        self,
        cell_runs: Sequence[CellRuns],
        wanted: Sequence[tuple[int, int]],
        means: Sequence[Pairs] = (),
        settings: Sequence[int] = (),
        boards: Sequence[Sequence[int]] = (),
    ) -> Comparisons:
        return compare_cells(
            cell_runs,
            wanted,
            interleaved=self.interleaved,
            lower_is_better=self.metric.lower_is_better,
            criteria=self.criteria,
            boards=boards,
            means=means,
            settings=settings,
            places=self.places if len(cell_runs) == len(self.cells) else None,
            ranks=self.ranks,
        )

    def row(self, pair: tuple[int, int], comparison: Comparison) -> LevelRow:
        """Return one comparison; of the mean of several pairs, one of them."""
        ranked = has_ranks(self.metric)
        return LevelRow(
            baseline=self.cells[pair[0]].pk,
            candidate=self.cells[pair[1]].pk,
            comparison=LevelComparison(
                verdict=comparison.verdict if ranked else without_ranks(comparison.verdict),
                model=comparison.model,
                df=comparison.df,
                standard_error=comparison.standard_error,
                effective_n=comparison.effective_n,
                pct_change_of_means=comparison.pct_change_of_means,
                sensitivity=comparison.sensitivity,
                ranks=_rank_test(comparison.ranks) if ranked else None,
                shift=comparison.shift,
            ),
            confirmation=confirmation_of(comparison.sessions, len(self.sessions)),
        )

    def _readings(self, group: Group, compared: Comparisons) -> list[Interval | None]:
        """Return the bounds for comparing levels on the chart, in the unit of the metric."""
        if compared.fit is None:
            return [None for _ in group.cells]
        members = [place for place in group.cells if place in compared.fitted]
        fit = self._fit_of(members, compared)
        bounds: dict[int, Interval] = {}
        for index, place in enumerate(members):
            if fit and (interval := fit.reading_interval(index, self.criteria.alpha)):
                bounds[place] = interval
        return [bounds.get(place) for place in group.cells]

    def _fit_of(self, members: Sequence[int], compared: Comparisons) -> Fit | None:
        """Return the fit of some cells; in a split plot by their own runs, which have one kind of noise.

        From three sessions on it is that of one value a session.
        """
        if compared.fit is None or not members:
            return None
        places = [compared.fitted.index(place) for place in members]
        if compared.between:
            return compared.between.blocks.fit.part(places)
        if self.places is None:
            return compared.fit.part(places)
        blocks = self._compared([self.cell_runs[place] for place in members], []).blocks
        return blocks.fit if blocks else None

    def _members(self, group: Group, compared: Comparisons) -> list[int]:
        """Return the places of the group's cells that have a number, in the order of the levels."""
        return [place for place in group.cells if place in compared.fitted and self.usable[place]]

    def best_of(self, group: Group, compared: Comparisons) -> Best | None:
        """Return which cells of a group may be the best by the verdicts of all pairs, and what each costs at most.

        None where none can be named. Cells in which too much failed are left out, and those of which too little is known
        are told. A cancelled campaign has no best cell: it did not end by its stop rule, and may have been cancelled because
        of what it showed. A step of rounding is added to each bound.
        """
        if self.cancelled:
            return None
        chosen = best_set(group.cells, self.cell_runs, compared, self.criteria)
        members = list(chosen.members)
        if compared.fit is None or len(members) < 2 or self.reserve.confounds(members):
            return None
        fit = self._fit_of(members, compared)
        if fit is None:
            return None
        best = find_best(
            fit, lower_is_better=self.metric.lower_is_better, alpha=self.criteria.alpha
        )
        if best is None:
            return None

        step = 0.0 if self.reserve.exact else max(self.reserve.steps[place] for place in members)
        if not is_too_coarse(step, self.criteria):
            step = 0.0
        upper = [
            bound if chosen.possibly == (place,) else 100 * ((1 + bound / 100) * (1 + step) - 1)
            for place, bound in zip(members, best.upper_pct, strict=True)
        ]

        def within(share: float) -> int | None:
            near = [
                place
                for place, most in zip(members, upper, strict=True)
                if most <= 100 * share * (1 + 1e-12)
            ]
            return self.cells[near[0]].pk if near else None

        return Best(
            cells=[self.cells[place].pk for place in members],
            seen=self.cells[members[best.seen]].pk,
            at_edge=best.at_edge
            and group.numeric
            and members[-1] == group.cells[-1]
            and group.values[-1] != group.unlimited,
            possibly=self._keys(chosen.possibly),
            cost_pct=list(best.cost_pct),
            upper_pct=upper,
            smallest_share=best.smallest_share,
            critical=list(best.critical),
            df=best.df,
            within=[
                WithinShare(share, within(share), best.blocks_needed(share)) for share in SHARES
            ],
            failing=self._keys(chosen.failing),
            unknown=self._keys(chosen.unknown),
            alike=chosen.alike,
        )

    def _keys(self, places: Sequence[int]) -> list[int]:
        return [self.cells[place].pk for place in places]

    def _knee(self, group: Group, compared: Comparisons) -> Knee | None:
        limits = {
            place: value
            for place, value in zip(group.cells, group.values, strict=True)
            if group.unlimited is None or value != group.unlimited
        }
        members = [place for place in self._members(group, compared) if place in limits]
        values = [limits[place] for place in members]
        positive = group.numeric and all(value > 0 for value in values)
        if compared.fit is None or len(members) < FEWEST_LEVELS or not positive:
            return None
        places = [compared.fitted.index(place) for place in members]
        cells = compared.between.cells if compared.between else self.cell_runs
        logs = [np.log(cells[place].array) for place in members]
        fitted = compared.between.blocks if compared.between else compared.blocks
        adjusted = fitted.fit.means[places] if fitted else None
        means = (
            np.exp(adjusted)
            if adjusted is not None
            else np.array([self.cell_runs[place].array.mean() for place in members])
        )
        knee = find_knee(
            levels_of(values, logs, adjusted),
            means,
            resampler=self._resampler([cells[place] for place in members], bool(fitted)),
            seed=self.criteria.seed,
            alpha=self.criteria.alpha,
        )
        if knee is None or not all(math.isfinite(curve.aicc) for curve in knee.curves):
            return None  # too few runs for one of the curves
        return Knee(
            strength=knee.strength,
            at=knee.at,
            below=knee.below,
            above=knee.above,
            delta_aicc=knee.delta_aicc,
            curves=knee.curves,
            methods=knee.methods,
            uncertainty=_uncertainty(knee.uncertainty, values) if knee.uncertainty else None,
        )

    def _resampler(self, cells: Sequence[CellRuns], in_blocks: bool) -> Resampler:
        """Draw from the group's own runs, in whole blocks (or sessions) where there are any."""
        logs = [np.log(cell.array) for cell in cells]
        if not in_blocks:
            return of_levels(logs)
        runs = [
            BlockRun(place, block, value)
            for place, cell in enumerate(cells)
            for block, value in zip(cell.blocks, cell.values, strict=True)
        ]
        fitted = fit_blocks(runs, len(cells))
        return of_blocks(fitted, runs) if fitted else of_levels(logs)


def boards_of(campaign: Campaign, cells: Sequence[Cell]) -> list[list[int]]:
    """Return the places of the cells that did the same work under the same load: settings, which are compared."""
    fixed = (*compared_work(campaign), *unranked_loads(campaign))
    boards: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        key = repr([cell.levels_by_factor.get(name) for name in fixed])
        boards.setdefault(key, []).append(place)
    return [*boards.values()]


def _uncertainty(drawn: Uncertainty, levels: Sequence[float]) -> KneeUncertainty:
    return KneeUncertainty(
        interval=drawn.interval,
        below=drawn.below,
        above=drawn.above,
        l_shares={str(level): share for level, share in drawn.l_shares.items()},
        chord_shares={str(level): share for level, share in drawn.chord_shares.items()},
        rough=drawn.rough,
        between=_between(np.array(drawn.breaks), levels),
    )


def _between(breaks: NDArray[np.float64], levels: Sequence[float]) -> list[BreakShare]:
    """Return the share of resamples whose break lies strictly between two neighbouring levels.

    A break at an end of where it was looked for lies there or beyond: that is between the two levels
    outside of it.
    """
    first, last = levels[1] * (1 + 1e-9), levels[-2] * (1 - 1e-9)
    inner = (breaks > first) & (breaks < last)
    shares = [(levels[0], levels[1], breaks <= first)]
    shares += [
        (low, high, inner & (breaks >= low) & (breaks < high))
        for low, high in pairwise(levels[1:-1])
    ]
    shares.append((levels[-2], levels[-1], breaks >= last))
    return [BreakShare(low, high, float(inside.mean())) for low, high, inside in shares]


def _rank_test(ranks: SignedRank | RankSum | None) -> RankTest | None:
    if ranks is None:
        return None
    if isinstance(ranks, SignedRank):
        return RankTest(ranks.p, ranks.min_attainable_p, v_plus=ranks.v_plus)
    return RankTest(
        ranks.p,
        ranks.min_attainable_p,
        u=ranks.u,
        cles=ranks.cles,
        delta=ranks.delta,
        size=ranks.size,
    )


def failing_cells(runs: Sequence[ObservedRun], criteria: Criteria) -> frozenset[int]:
    """Return the keys of the cells in which too much failed to use the runs that succeeded."""
    by_cell: dict[int, list[ObservedRun]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    return frozenset(
        cell
        for cell, members in by_cell.items()
        if too_many_failures(runs_of_cell(members), criteria)
    )


def runs_of_cell(runs: Sequence[ObservedRun]) -> CellRuns:
    """Return the values of the runs of one cell, with counts of what failed and what was lost."""
    values = [run for run in runs if run.state == "ok" and run.value is not None]
    failed = [run for run in runs if run.state in ("failed", "censored")]
    worked = [run for run in (*values, *failed) if run.units_done + run.units_failed > 1]
    return CellRuns(
        values=[run.value for run in values if run.value is not None],
        blocks=[run.part for run in values],
        failed=len(failed),
        lost=sum(run.state in ("lost", "bound") for run in runs),
        failed_units=[run.units_failed for run in worked],
        timed_out=sum(run.state == "censored" for run in runs),
        units=[run.units_done + run.units_failed for run in worked],
        sessions=[run.session for run in values],
    )


def criteria_of(campaign: Campaign, cells: int, *, adaptive: bool) -> Criteria:
    """Return the criteria locked at the launch of a campaign. adaptive: it could stop by precision."""
    paired = campaign.order == Campaign.Order.PAIRED
    return Criteria(
        # A stop at the first narrow interval is paid for by a wider one, called 95 %.
        alpha=alpha_for(2 if paired else cells) if adaptive else Criteria().alpha,
        delta=campaign.smallest_effect,
        margin=campaign.margin,
        failed_limit=campaign.failed_limit,
        seed=campaign.seed % 2**32,
    )
