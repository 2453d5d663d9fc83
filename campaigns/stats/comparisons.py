"""Comparisons of the cells of a campaign, judged as one family. Pure. STATISTICS 2.2, 2.2b, 2.3.

The order of the runs decides the model: `blocks` where they are interleaved, `pooled` where they are
not, and `welch` (each cell its own noise) where the noise may not be pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.cells import CellRuns, refusal
from campaigns.stats.criteria import Criteria
from campaigns.stats.fit import NO_NOISE, Fit
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.mann_whitney import RankSum, rank_sum, shift
from campaigns.stats.multiplicity import holm
from campaigns.stats.plans import Plan, planned
from campaigns.stats.pooled import equal_noise, fit_pooled, may_be_pooled, welch
from campaigns.stats.power import PAIRS, design_of_blocks, design_of_cells
from campaigns.stats.ranks import HodgesLehmann, SignedRank, hodges_lehmann, signed_rank
from campaigns.stats.verdict import Contrast, Verdict, Word, interval_of, judge, p_value


class Model(StrEnum):
    """What the noise of a comparison was estimated by."""

    BLOCKS = "blocks"
    POOLED = "pooled"
    WELCH = "welch"
    PAIRED = "paired"


@dataclass(frozen=True, slots=True)
class Reading:
    """A contrast by another model than the one that decides."""

    model: Model
    pct_change: float
    ci_pct: Interval
    df: float
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline, both by their place in the list of cells.

    verdict: of the primary model; n counts blocks, or runs a cell. effective_n: complete blocks, or
    runs a cell, that would tell as much. sensitivity: the other reading. ranks, shift: the second
    opinion, of differences within blocks or of the two samples.
    """

    baseline: int
    candidate: int
    model: Model
    verdict: Verdict
    pct_change_of_means: float | None = None
    df: float | None = None
    standard_error: float | None = None
    effective_n: float | None = None
    sensitivity: Reading | None = None
    ranks: SignedRank | RankSum | None = None
    shift: HodgesLehmann | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """All comparisons that are shown together. fit: of the cells in `fitted`, None without any."""

    model: Model
    comparisons: tuple[Comparison, ...]
    fit: Fit | None
    fitted: tuple[int, ...]
    blocks: BlockFit | None = None


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
) -> Comparisons:
    """Compare the cells of `wanted`, pairs of baseline and candidate, as one family (Holm).

    interleaved: the runs were made in blocks, each with every cell once. All cells that may be used
    take part in estimating the noise, whether they are compared or not.
    """
    return _Family(cells, interleaved, lower_is_better, criteria).compare(wanted)


class _Family:
    """The cells, the model of their noise, and each comparison by it."""

    def __init__(
        self,
        cells: Sequence[CellRuns],
        interleaved: bool,
        lower_is_better: bool,
        criteria: Criteria,
    ) -> None:
        self.cells, self.criteria, self.lower_is_better = cells, criteria, lower_is_better
        self.fitted = tuple(i for i, cell in enumerate(cells) if cell.has_logs)
        self.place = {cell: place for place, cell in enumerate(self.fitted)}
        self.logs = {i: np.log(cells[i].array) for i in self.fitted}
        self.blocks = self._block_fit() if interleaved else None
        samples = list(self.logs.values())
        self.fit = self.blocks.fit if self.blocks else fit_pooled(samples) if samples else None
        if self.blocks:
            self.model = Model.BLOCKS if self._equal_noise(self.blocks) else Model.PAIRED
        else:
            self.model = Model.POOLED if may_be_pooled(samples) else Model.WELCH

    def compare(self, wanted: Sequence[tuple[int, int]]) -> Comparisons:
        """Judge all of them; the p values of those that can get a word are adjusted together."""
        refused = [refusal(self.cells[b], self.cells[c], self.criteria) for b, c in wanted]
        contrasts = [
            None
            if no and (no.word in WITHOUT_NUMBERS or not no.n)
            else self.contrast(self.model, *pair)
            for no, pair in zip(refused, wanted, strict=True)
        ]
        family = {
            index: p_value(contrast)
            for index, (no, contrast) in enumerate(zip(refused, contrasts, strict=True))
            if contrast and not no and self._can_be_judged(contrast)
        }
        adjusted = dict(zip(family, holm(list(family.values())), strict=True))
        comparisons = tuple(
            self._judged(pair, contrast, no, adjusted.get(index))
            for index, (pair, contrast, no) in enumerate(
                zip(wanted, contrasts, refused, strict=True)
            )
        )
        return Comparisons(self.model, comparisons, self.fit, self.fitted, self.blocks)

    def contrast(self, model: Model, baseline: int, candidate: int) -> Contrast | None:
        """Estimate a difference by one of the models; None where that cannot be done."""
        match model:
            case Model.PAIRED:
                return _paired(self._differences(baseline, candidate))
            case Model.WELCH:
                return welch(self.logs[baseline], self.logs[candidate])
        if not self.fit:
            return None
        return self.fit.contrast(self.place[baseline], self.place[candidate])

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

    def _differences(self, baseline: int, candidate: int) -> NDArray[np.float64]:
        """Log ratios within the blocks that have both cells."""
        base, cand = (
            dict(zip(self.cells[i].blocks, self.logs[i], strict=True))
            for i in (baseline, candidate)
        )
        return np.array([cand[block] - base[block] for block in sorted(base.keys() & cand.keys())])

    def _can_be_judged(self, contrast: Contrast) -> bool:
        enough = contrast.df >= FEWEST_DF or self.model != Model.BLOCKS
        return enough and contrast.n >= self.criteria.minimum_n

    def _judged(
        self,
        pair: tuple[int, int],
        contrast: Contrast | None,
        refused: Verdict | None,
        p_adjusted: float | None,
    ) -> Comparison:
        baseline, candidate = pair
        if contrast is None:
            return Comparison(baseline, candidate, self.model, refused or self._unknown(pair))
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
        ranks, moved = self._second_opinion(baseline, candidate)
        plan = self._plan(baseline, candidate, contrast)
        means = [self.cells[i].array.mean() for i in pair]
        verdict = planned(verdict, contrast, plan, self.criteria)
        return Comparison(
            baseline=baseline,
            candidate=candidate,
            model=self.model,
            verdict=replace(
                verdict, badges=(*verdict.badges, *self._badges(verdict, contrast, ranks))
            ),
            pct_change_of_means=pct_of(float(np.log(means[1]) - np.log(means[0]))),
            df=contrast.df,
            standard_error=contrast.standard_error,
            effective_n=plan.n,
            sensitivity=self._sensitivity(baseline, candidate),
            ranks=ranks,
            shift=moved,
        )

    def _unknown(self, pair: tuple[int, int]) -> Verdict:
        """Say why there is no contrast at all."""
        n = min(len(self.cells[i].values) for i in pair)
        if self.blocks and not self.blocks.fit.connected(*(self.place[i] for i in pair)):
            return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="not_connected")
        return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="n_below_minimum")

    def _second_opinion(
        self, baseline: int, candidate: int
    ) -> tuple[SignedRank | RankSum | None, HodgesLehmann | None]:
        confidence = 1 - self.criteria.alpha
        if not self.blocks:
            base, cand = self.logs[baseline], self.logs[candidate]
            return rank_sum(base, cand), shift(base, cand, confidence)
        differences = self._differences(baseline, candidate)
        if not differences.size:
            return None, None
        return signed_rank(differences), hodges_lehmann(differences, confidence)

    def _badges(
        self, verdict: Verdict, contrast: Contrast, ranks: SignedRank | RankSum | None
    ) -> tuple[str, ...]:
        alpha = self.criteria.alpha
        claims = {
            "unequal_noise": self.model == Model.PAIRED,
            "zero_variance": contrast.standard_error == 0,
            "tests_disagree": ranks is not None
            and verdict.p is not None
            and ranks.min_attainable_p < alpha
            and (verdict.p < alpha) != (ranks.p < alpha),
        }
        return tuple(name for name, holds in claims.items() if holds)

    def _sensitivity(self, baseline: int, candidate: int) -> Reading | None:
        """Read it once more: by the two cells alone, or, where that decides, by all of them."""
        other = {
            Model.BLOCKS: Model.PAIRED,
            Model.PAIRED: Model.BLOCKS,
            Model.POOLED: Model.WELCH,
            Model.WELCH: Model.POOLED,
        }[self.model]
        contrast = self.contrast(other, baseline, candidate)
        if contrast is None or (other == Model.POOLED and len(self.fitted) < 3):
            return None
        interval = interval_of(contrast, self.criteria.alpha)
        return Reading(
            model=other,
            pct_change=pct_of(contrast.estimate),
            ci_pct=Interval(pct_of(interval.low), pct_of(interval.high)),
            df=contrast.df,
            p=p_value(contrast),
        )

    def _plan(self, baseline: int, candidate: int, contrast: Contrast) -> Plan:
        """Give the noise that a plan rests on, and how n makes it precise."""
        if self.model == Model.PAIRED:
            sd = contrast.standard_error * contrast.n**0.5
            return Plan(sd, PAIRS, contrast.n)
        if self.model == Model.WELCH or not self.fit:
            two = fit_pooled([self.logs[baseline], self.logs[candidate]])
            return Plan(two.sd, design_of_cells(2), two.effective_n(0, 1))
        cells = len(self.fitted)
        design = design_of_blocks(cells) if self.blocks else design_of_cells(cells)
        places = self.place[baseline], self.place[candidate]
        return Plan(self.fit.sd, design, self.fit.effective_n(*places))


def _paired(differences: NDArray[np.float64]) -> Contrast | None:
    """The paired t test of the two cells alone; None with fewer than two common blocks."""
    n = differences.size
    if n < 2:
        return None
    sd = float(differences.std(ddof=1))
    return Contrast(float(differences.mean()), (sd if sd >= NO_NOISE else 0.0) / n**0.5, n - 1, n)
