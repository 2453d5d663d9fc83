"""Comparisons of the cells of a campaign, judged as one family. Pure. STATISTICS 2.2, 2.2b, 2.3.

The order of the runs decides the model: `blocks` where they are interleaved, `pooled` where they are
not, and `welch` (each cell its own noise) where the noise may not be pooled.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.cells import CellRuns, refusal
from campaigns.stats.compared import Comparison, Comparisons, Model, Pairs, Reading
from campaigns.stats.criteria import Criteria
from campaigns.stats.fit import NO_NOISE
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.mann_whitney import RankSum, rank_sum, shift
from campaigns.stats.multiplicity import holm
from campaigns.stats.plans import Plan, planned
from campaigns.stats.plots import OTHER, Place, Plots
from campaigns.stats.pooled import equal_noise, fit_pooled, may_be_pooled, welch
from campaigns.stats.power import PAIRS, design_of_blocks, design_of_cells
from campaigns.stats.ranks import HodgesLehmann, SignedRank, hodges_lehmann, signed_rank
from campaigns.stats.together import mean_by_fit, mean_of, plan_of
from campaigns.stats.verdict import Contrast, Verdict, Word, interval_of, judge, p_value

__all__ = ["Comparison", "Comparisons", "Model", "Reading", "compare_cells"]

DEFAULT = Criteria()
WITHOUT_NUMBERS = frozenset({Word.NOT_COMPARABLE, Word.INVALID_VALUES, Word.TOO_MANY_FAILURES})
"""Refusals that no number stands beside: survivors of a failing cell look better than they are."""
FEWEST_DF = 2


def compare_cells(
    cells: Sequence[CellRuns],
    wanted: Sequence[tuple[int, int]],
    *,
    interleaved: bool,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
    together: Sequence[tuple[int, int]] = (),
    alone: bool = False,
    places: Sequence[Place] | None = None,
) -> Comparisons:
    """Compare the cells of `wanted`, pairs of baseline and candidate, as one family (Holm).

    interleaved: the runs were made in blocks, each with every cell once. All cells that may be used
    take part in estimating the noise, whether they are compared or not. together: pairs whose mean
    is one more comparison of the family. alone: each cell has its own noise (Welch), as cells of
    different campaigns have. places: where each cell stands in whole plots, if levels are hard to change.
    """
    family = _Family(cells, interleaved, lower_is_better, criteria, alone=alone, places=places)
    asked = [*((pair,) for pair in wanted), *([tuple(together)] if together else [])]
    found = family.compare(asked)
    if not together:
        return found
    return replace(found, comparisons=found.comparisons[:-1], together=found.comparisons[-1])


class _Family:
    """The cells, the model of their noise, and each comparison by it."""

    def __init__(
        self,
        cells: Sequence[CellRuns],
        interleaved: bool,
        lower_is_better: bool,
        criteria: Criteria,
        *,
        alone: bool = False,
        places: Sequence[Place] | None = None,
    ) -> None:
        self.cells, self.criteria, self.lower_is_better = cells, criteria, lower_is_better
        self.fitted = tuple(i for i, cell in enumerate(cells) if cell.has_logs)
        self.place = {cell: place for place, cell in enumerate(self.fitted)}
        self.logs = {i: np.log(cells[i].array) for i in self.fitted}
        self.blocks = self._block_fit() if interleaved else None
        samples = list(self.logs.values())
        self.fit = self.blocks.fit if self.blocks else fit_pooled(samples) if samples else None
        self.plots = Plots(places, cells, self.fitted) if places and self.blocks else None
        if self.plots:
            self.model = self.plots.model
        elif self.blocks:
            self.model = Model.BLOCKS if self._equal_noise(self.blocks) else Model.PAIRED
        else:
            pooled = not alone and may_be_pooled(samples)
            self.model = Model.POOLED if pooled else Model.WELCH

    def compare(self, asked: Sequence[Pairs]) -> Comparisons:
        """Judge all of them; the p values of those that can get a word are adjusted together."""
        refused = [self._refusal(pairs) for pairs in asked]
        contrasts = [
            None
            if no and (no.word in WITHOUT_NUMBERS or not self._is_measured(pairs))
            else self.contrast(self.model, pairs)
            for no, pairs in zip(refused, asked, strict=True)
        ]
        family = {
            index: p_value(contrast)
            for index, (no, contrast) in enumerate(zip(refused, contrasts, strict=True))
            if contrast and not no and self._can_be_judged(contrast)
        }
        adjusted = dict(zip(family, holm(list(family.values())), strict=True))
        comparisons = tuple(
            self._judged(pairs, contrast, no, adjusted.get(index))
            for index, (pairs, contrast, no) in enumerate(
                zip(asked, contrasts, refused, strict=True)
            )
        )
        return Comparisons(self.model, comparisons, self.fit, self.fitted, self.blocks)

    def contrast(self, model: Model, pairs: Pairs) -> Contrast | None:
        """Estimate the mean difference by one of the models; None where that cannot be done."""
        match model:
            case Model.SPLIT_PLOT:
                return self.plots.contrast(pairs) if self.plots else None
            case Model.PAIRED:
                return _paired(self._differences(pairs))
            case Model.WELCH:
                alone = [welch(self.logs[b], self.logs[c]) for b, c in pairs]
                known = [each for each in alone if each]
                return mean_of(known) if len(known) == len(alone) else None
        if not self.fit:
            return None
        return mean_by_fit(self.fit, [(self.place[b], self.place[c]) for b, c in pairs])

    def _is_measured(self, pairs: Pairs) -> bool:
        """Say whether every cell has values; of several pairs another one may be refused first."""
        return all(i in self.place for pair in pairs for i in pair)

    def _refusal(self, pairs: Pairs) -> Verdict | None:
        """Say why one of the pairs may not be compared."""
        found = (refusal(self.cells[b], self.cells[c], self.criteria) for b, c in pairs)
        return next((no for no in found if no), None)

    def _block_fit(self) -> BlockFit | None:
        runs = [
            BlockRun(self.place[i], block, value)
            for i in self.fitted
            for block, value in zip(self.cells[i].blocks, self.cells[i].values, strict=True)
        ]
        return fit_blocks(runs, len(self.fitted))

    def _equal_noise(self, blocks: BlockFit) -> bool:
        ends = np.cumsum([self.logs[i].size for i in self.fitted])[:-1]
        samples = [part for part in np.split(blocks.residuals, ends) if part.size > 1]
        return len(samples) < 3 or equal_noise(samples)

    def _differences(self, pairs: Pairs) -> NDArray[np.float64]:
        """Mean log ratios within the blocks that have all of these cells."""
        logs = {
            i: dict(zip(self.cells[i].blocks, self.logs[i], strict=True))
            for pair in pairs
            for i in pair
        }
        common = set.intersection(*(set(each) for each in logs.values()))
        return np.array(
            [
                np.mean([logs[c][block] - logs[b][block] for b, c in pairs])
                for block in sorted(common)
            ]
        )

    def _can_be_judged(self, contrast: Contrast) -> bool:
        enough = contrast.df >= FEWEST_DF or self.model != Model.BLOCKS
        return enough and contrast.n >= self.criteria.minimum_n

    def _judged(
        self,
        pairs: Pairs,
        contrast: Contrast | None,
        refused: Verdict | None,
        p_adjusted: float | None,
    ) -> Comparison:
        baseline, candidate = pairs[0]
        if contrast is None:
            return Comparison(baseline, candidate, self.model, refused or self._unknown(pairs))
        verdict = judge(
            contrast,
            lower_is_better=self.lower_is_better,
            criteria=self.criteria,
            p_adjusted=p_adjusted,
        )
        if refused:
            verdict = replace(
                verdict,
                word=refused.word,
                reason=refused.reason,
                side=refused.side,
                share=refused.share,
            )
        elif not self._can_be_judged(contrast):
            verdict = replace(verdict, word=Word.NOT_ENOUGH_DATA, reason="n_below_minimum")
        ranks, moved = self._second_opinion(pairs)
        plan = self._plan(pairs, contrast)
        means = [np.log([self.cells[i].array.mean() for i in pair]) for pair in pairs]
        verdict = planned(verdict, contrast, plan, self.criteria)
        return Comparison(
            baseline=baseline,
            candidate=candidate,
            model=self.model,
            verdict=replace(
                verdict, badges=(*verdict.badges, *self._badges(verdict, contrast, ranks))
            ),
            pct_change_of_means=pct_of(float(np.mean([c - b for b, c in means]))),
            df=contrast.df,
            standard_error=contrast.standard_error,
            effective_n=plan.n,
            sensitivity=self._sensitivity(pairs),
            ranks=ranks,
            shift=moved,
        )

    def _unknown(self, pairs: Pairs) -> Verdict:
        """Say why there is no contrast at all."""
        n = min(len(self.cells[i].values) for pair in pairs for i in pair)
        places = [(self.place[b], self.place[c]) for b, c in pairs]
        if self.plots and (why := self.plots.unknown(pairs, n)):
            return why
        if self.blocks and not all(self.blocks.fit.connected(*pair) for pair in places):
            return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="not_connected")
        return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="n_below_minimum")

    def _second_opinion(
        self, pairs: Pairs
    ) -> tuple[SignedRank | RankSum | None, HodgesLehmann | None]:
        confidence = 1 - self.criteria.alpha
        if not self.blocks:
            if len(pairs) > 1:
                return None, None
            base, cand = (self.logs[i] for i in pairs[0])
            return rank_sum(base, cand), shift(base, cand, confidence)
        differences = self._differences(pairs)
        if not differences.size:
            return None, None
        return signed_rank(differences), hodges_lehmann(differences, confidence)

    def _badges(
        self, verdict: Verdict, contrast: Contrast, ranks: SignedRank | RankSum | None
    ) -> tuple[str, ...]:
        alpha = self.criteria.alpha
        claims = {
            "unequal_noise": self.model == Model.PAIRED and not self.plots,
            "zero_variance": contrast.standard_error == 0,
            "tests_disagree": ranks is not None
            and verdict.p is not None
            and ranks.min_attainable_p < alpha
            and (verdict.p < alpha) != (ranks.p < alpha),
        }
        return tuple(name for name, holds in claims.items() if holds)

    def _sensitivity(self, pairs: Pairs) -> Reading | None:
        """Read it once more: by the two cells alone, or, where that decides, by all of them."""
        other = self.plots.other(self.model) if self.plots else OTHER[self.model]
        contrast = self.contrast(other, pairs) if other else None
        if contrast is None or other is None or (other == Model.POOLED and len(self.fitted) < 3):
            return None
        interval = interval_of(contrast, self.criteria.alpha)
        return Reading(
            model=other,
            pct_change=pct_of(contrast.estimate),
            ci_pct=Interval(pct_of(interval.low), pct_of(interval.high)),
            df=contrast.df,
            p=p_value(contrast),
        )

    def _plan(self, pairs: Pairs, contrast: Contrast) -> Plan:
        """Give the noise that a plan rests on, and how n makes it precise."""
        if self.model == Model.PAIRED:
            sd = contrast.standard_error * contrast.n**0.5
            return Plan(sd, PAIRS, contrast.n)
        if len(pairs) > 1 or self.plots:
            return Plan(*plan_of(contrast), contrast.n)
        if self.model == Model.WELCH or not self.fit:
            two = fit_pooled([self.logs[i] for i in pairs[0]])
            return Plan(two.sd, design_of_cells(2), two.effective_n(0, 1))
        cells = len(self.fitted)
        design = design_of_blocks(cells) if self.blocks else design_of_cells(cells)
        return Plan(self.fit.sd, design, self.fit.effective_n(*(self.place[i] for i in pairs[0])))


def _paired(differences: NDArray[np.float64]) -> Contrast | None:
    """The paired t test of the two cells alone; None with fewer than two common blocks."""
    n = differences.size
    if n < 2:
        return None
    sd = float(differences.std(ddof=1))
    return Contrast(float(differences.mean()), (sd if sd >= NO_NOISE else 0.0) / n**0.5, n - 1, n)
