"""The runs of a campaign as the statistics take them, and what is said of a group of cells."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from campaigns.analysis.displayed import displayed
from campaigns.analysis.groups import Group
from campaigns.analysis.sessions import split_sessions, standing_of
from campaigns.analysis.taken import taken
from campaigns.analysis.whole_plots import hard_factors, places_of
from campaigns.drivers.base import Metric
from campaigns.models import Campaign, Cell
from campaigns.queries.runs import ObservedRun
from campaigns.stats.best import find_best
from campaigns.stats.blocks import BlockRun
from campaigns.stats.cells import CellRuns, too_many_failures
from campaigns.stats.comparisons import Comparison, Comparisons, Model, compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.fit import Fit
from campaigns.stats.knee import FEWEST_LEVELS, find_knee, levels_of
from campaigns.stats.resamples import Resampler, of_blocks, of_levels
from campaigns.stats.sessions import SessionEstimate
from campaigns.stats.verdict import Word
from campaigns.stats.words import advice

SHARES = (0.02, 0.05, 0.10, 0.20, 0.25, 0.50, 1.00)
"""Within so much of the best a setting is looked for."""


class Family:
    """The runs of a campaign as the statistics take them."""

    def __init__(
        self,
        campaign: Campaign,
        metric: Metric,
        criteria: Criteria,
        cells: Sequence[Cell],
        runs: Sequence[ObservedRun],
    ) -> None:
        self.metric, self.criteria, self.cells = metric, criteria, cells
        self.hard = hard_factors(campaign)
        self.places = places_of(campaign, cells)
        self.interleaved = campaign.order == Campaign.Order.INTERLEAVED
        self.place = {cell.pk: place for place, cell in enumerate(cells)}
        self.sessions = split_sessions(runs)
        self.alone: list[dict[tuple[int, int] | None, Comparison]] = []
        self.taken = self._taken(runs)
        self.usable = [not too_many_failures(cell, criteria) for cell in self.taken]

    def compare(
        self, wanted: Sequence[tuple[int, int]], together: Sequence[tuple[int, int]] = ()
    ) -> Comparisons:
        """Judge the wanted pairs by all runs, and by those of each session; the mean of some, too."""
        compared = self._compared(self.taken, wanted, together)
        only = len(self.sessions) == 1
        self.alone = []
        for session in self.sessions:
            found = compared if only else self._compared(self._taken(session), wanted, together)
            alone: dict[tuple[int, int] | None, Comparison] = {}
            alone.update(zip(wanted, found.comparisons, strict=True))
            if found.together:
                alone[None] = found.together
            self.alone.append(alone)
        return compared

    def described(
        self,
        group: Group,
        rows: Mapping[tuple[int, int], Comparison],
        compared: Comparisons,
    ) -> dict[str, Any]:
        """Write one group as JSON holds it."""
        return {
            "levels": dict(group.levels),
            "values": list(group.values),
            "cells": [self.cells[place].pk for place in group.cells],
            "numeric": group.numeric,
            "reading": self._readings(group, compared),
            "comparisons": [self.row(pair, rows[pair]) for pair in group.pairs],
            "best": self.best_of(group, compared),
            "knee": self._knee(group, compared),
        }

    def display(self, word: Word) -> dict[str, Any]:
        """Write a word of the closed list as this metric says it."""
        return asdict(displayed(word, self.metric, self.criteria))

    def _taken(self, runs: Sequence[ObservedRun]) -> list[CellRuns]:
        by_cell: list[list[ObservedRun]] = [[] for _ in self.cells]
        for run in runs:
            by_cell[self.place[run.cell]].append(run)
        return [taken(members) for members in by_cell]

    def _compared(
        self,
        taken: Sequence[CellRuns],
        wanted: Sequence[tuple[int, int]],
        together: Sequence[tuple[int, int]] = (),
    ) -> Comparisons:
        return compare_cells(
            taken,
            wanted,
            interleaved=self.interleaved,
            lower_is_better=self.metric.lower_is_better,
            criteria=self.criteria,
            together=together,
            places=self.places if len(taken) == len(self.cells) else None,
        )

    def row(
        self, pair: tuple[int, int], comparison: Comparison, *, over_all: bool = False
    ) -> dict[str, Any]:
        """Write one comparison as JSON holds it. over_all: the mean of several pairs, of which one."""
        in_blocks = comparison.model in (Model.BLOCKS, Model.PAIRED, Model.SPLIT_PLOT)
        noun, where = ("block", "") if in_blocks else ("run", " of each level")
        return {
            "baseline": self.cells[pair[0]].pk,
            "candidate": self.cells[pair[1]].pk,
            "comparison": asdict(comparison),
            "display": self.display(comparison.verdict.word),
            "advice": advice(comparison.verdict, self.criteria, noun, where),
            "standing": self._standing(None if over_all else pair),
        }

    def _standing(self, pair: tuple[int, int] | None) -> dict[str, Any]:
        """Say whether sessions agree; those that hold nothing of the pair are left aside."""
        estimates = [found for session in self.alone if (found := _estimate(session[pair]))]
        return standing_of(
            estimates,
            len(self.sessions),
            lower_is_better=self.metric.lower_is_better,
            criteria=self.criteria,
        )

    def _readings(self, group: Group, compared: Comparisons) -> list[list[float] | None]:
        """Bounds for comparing levels on the chart, in the unit of the metric."""
        if compared.fit is None:
            return [None for _ in group.cells]
        members = [place for place in group.cells if place in compared.fitted]
        fit = self._fit_of(members, compared)
        bounds: dict[int, list[float]] = {}
        for index, place in enumerate(members):
            if fit and (interval := fit.reading_interval(index, self.criteria.alpha)):
                bounds[place] = list(interval)
        return [bounds.get(place) for place in group.cells]

    def _fit_of(self, members: Sequence[int], compared: Comparisons) -> Fit | None:
        """The fit of some cells; in a split plot by their own runs, which have one kind of noise."""
        if compared.fit is None or not members:
            return None
        if self.places is None:
            return _part(compared.fit, [compared.fitted.index(place) for place in members])
        blocks = self._compared([self.taken[place] for place in members], []).blocks
        return blocks.fit if blocks else None

    def _members(self, group: Group, compared: Comparisons) -> list[int]:
        """The places of the group's cells that have a number, in the order of the levels."""
        return [place for place in group.cells if place in compared.fitted and self.usable[place]]

    def best_of(self, group: Group, compared: Comparisons) -> dict[str, Any] | None:
        """What each cell of a group costs against the best; None where none can be the best."""
        members = self._members(group, compared)
        if compared.fit is None or len(members) < 2:
            return None
        fit = self._fit_of(members, compared)
        if fit is None:
            return None
        best = find_best(
            fit, lower_is_better=self.metric.lower_is_better, alpha=self.criteria.alpha
        )
        if best is None:
            return None

        def cells(found: Sequence[int]) -> list[int]:
            return [self.cells[members[cell]].pk for cell in found]

        return {
            "cells": cells(range(len(members))),
            "seen": self.cells[members[best.seen]].pk,
            "at_edge": best.at_edge and group.numeric,
            "possibly": cells(best.possibly),
            "cost_pct": list(best.cost_pct),
            "upper_pct": list(best.upper_pct),
            "smallest_share": best.smallest_share,
            "critical": list(best.critical),
            "df": best.df,
            "within": [
                {
                    "share": share,
                    "cell": next(iter(cells(best.within(share))), None),
                    "blocks_needed": best.blocks_needed(share),
                }
                for share in SHARES
            ],
        }

    def _knee(self, group: Group, compared: Comparisons) -> dict[str, Any] | None:
        members = self._members(group, compared)
        values = [group.values[group.cells.index(place)] for place in members]
        positive = group.numeric and all(value > 0 for value in values)
        if compared.fit is None or len(members) < FEWEST_LEVELS or not positive:
            return None
        places = [compared.fitted.index(place) for place in members]
        logs = [np.log(self.taken[place].array) for place in members]
        adjusted = compared.fit.means[places] if compared.blocks else None
        means = (
            np.exp(adjusted)
            if adjusted is not None
            else np.array([self.taken[place].array.mean() for place in members])
        )
        knee = find_knee(
            levels_of(values, logs, adjusted),
            means,
            resampler=self._resampler(members, logs),
            seed=self.criteria.seed,
            alpha=self.criteria.alpha,
        )
        if knee is None:
            return None
        found = asdict(knee)
        if found["uncertainty"]:
            breaks = np.array(found["uncertainty"].pop("breaks"))
            found["uncertainty"]["between"] = _between(breaks, values)
        return found

    def _resampler(self, members: Sequence[int], logs: Sequence[NDArray[np.float64]]) -> Resampler:
        """Draw from the group's own runs, in whole blocks where there are any."""
        if not self.interleaved:
            return of_levels(logs)
        runs = [
            BlockRun(cell, block, value)
            for cell, place in enumerate(members)
            for block, value in zip(self.taken[place].blocks, self.taken[place].values, strict=True)
        ]
        fitted = self._compared([self.taken[place] for place in members], []).blocks
        return of_blocks(fitted, runs) if fitted else of_levels(logs)


def _part(fit: Fit, places: Sequence[int]) -> Fit:
    """The same fit, of some of its cells."""
    return Fit(
        means=fit.means[places],
        covariance=fit.covariance[np.ix_(places, places)],
        sd=fit.sd,
        df=fit.df,
        groups=fit.groups[places],
        n=fit.n[places],
        complete=fit.complete,
    )


def _between(breaks: NDArray[np.float64], levels: Sequence[float]) -> list[dict[str, float]]:
    """The share of resamples whose break lies strictly between two neighbouring levels.

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
    return [
        {"low": low, "high": high, "share": float(inside.mean())} for low, high, inside in shares
    ]


def _estimate(alone: Comparison) -> SessionEstimate | None:
    """Turn the comparison of one session into its estimate; None where it says nothing."""
    ratio = alone.verdict.ratio
    if alone.standard_error is None or not alone.df or not alone.effective_n or not ratio:
        return None
    return SessionEstimate(
        estimate=math.log(ratio),
        variance=alone.standard_error**2 * alone.effective_n,
        n=alone.effective_n,
        df=max(1, int(alone.df)),
    )
