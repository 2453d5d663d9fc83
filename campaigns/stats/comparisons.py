"""Comparisons of the cells of a campaign, judged as one family (`family`). Pure. STATISTICS 2.2, 2.2b, 2.3.

The order of the runs decides the model: `blocks` where they are interleaved, `pooled` where they are
not, and `welch` (each cell its own noise) where the noise may not be pooled. A level that is noisier
than the others is compared by its own noise (`noisy`), whatever the model. From three sessions on
the word rests on what differs between sessions (2.7).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from campaigns.stats import between_campaigns
from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.compared import BetweenSessions, Comparison, Comparisons, Model, Pairs, Reading
from campaigns.stats.comparison_cells import CellRuns, refusal, refusal_of_cell
from campaigns.stats.criteria import Criteria
from campaigns.stats.family import MOST_SETTINGS, adjust
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.mann_whitney import RankSum, rank_sum, shift
from campaigns.stats.mean_of_contrasts import mean_by_fit, mean_of, plan_of
from campaigns.stats.multiplicity import holm
from campaigns.stats.noisy import (
    blocks_apart,
    cells_apart,
    left_of_cells,
    noisy_cells,
    own_of_cells,
    paired,
)
from campaigns.stats.plans import Plan, planned
from campaigns.stats.pooled import equal_noise, fit_pooled, may_be_pooled, welch
from campaigns.stats.power import PAIRS, design_of_blocks, design_of_cells
from campaigns.stats.ranks import HodgesLehmann, SignedRank, hodges_lehmann, signed_rank
from campaigns.stats.sessions import (
    FEWEST_FOR_INTERVAL,
    SessionEstimate,
    SessionFindings,
    between_sessions,
    over_sessions,
)
from campaigns.stats.split_plots import OTHER, Place, Plots
from campaigns.stats.verdict import (
    WITHOUT_NUMBERS,
    Contrast,
    Verdict,
    Word,
    interval_of,
    judge,
    p_value,
    withheld,
)

__all__ = ["Comparison", "Comparisons", "Model", "Reading", "compare_cells"]

DEFAULT = Criteria()
FEWEST_DF = 2
ALONE = {Model.BLOCKS: Model.PAIRED, Model.POOLED: Model.WELCH}
"""The model of two cells' own noise, where the others share one."""


def compare_cells(
    cells: Sequence[CellRuns],
    wanted: Sequence[tuple[int, int]],
    *,
    interleaved: bool,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
    boards: Sequence[Sequence[int]] = (),
    means: Sequence[Pairs] = (),
    settings: Sequence[int] = (),
    alone: bool = False,
    places: Sequence[Place] | None = None,
    ranks: bool = True,
) -> Comparisons:
    """Compare the cells of `wanted`, pairs of baseline and candidate, as one family.

    interleaved: the runs were made in blocks, each with every cell once. All cells that may be used
    take part in estimating the noise, whether they are compared or not. From three sessions on that
    hold a pair its word is that between sessions. boards: places of cells that did the same work; all pairs of
    each are one family, which gives every wanted pair its word. Without boards the wanted pairs are the family (Holm).
    means: contrasts over several pairs, a family of their own over so many settings each (`settings`), as
    those over loads. alone: each cell has its own noise (Welch), as cells of
    different campaigns have. places: where each cell stands in whole plots, if levels are hard to change.
    ranks: no verdict needs them.
    """
    family = _Family(
        cells, interleaved, lower_is_better, criteria, alone=alone, places=places, ranks=ranks
    )
    return family.compare(wanted, boards, means, settings)


@dataclass(frozen=True, slots=True)
class _Test:
    """What is known of one contrast before it is judged. judged: it can have a verdict by its numbers."""

    pairs: Pairs
    refused: Verdict | None
    contrast: Contrast | None
    between: Contrast | None
    estimates: Sequence[SessionEstimate]
    judged: bool

    @property
    def decides(self) -> Contrast:
        """Return the contrast from which the verdict is made."""
        result = self.between or self.contrast
        if result is None:
            raise ValueError("Nothing decides what has no contrast.")
        return result


class _Family:
    """Compares cells by the model of their noise."""

    def __init__(
        self,
        cells: Sequence[CellRuns],
        interleaved: bool,
        lower_is_better: bool,
        criteria: Criteria,
        *,
        alone: bool = False,
        places: Sequence[Place] | None = None,
        ranks: bool = True,
    ) -> None:
        self.cells, self.criteria, self.lower_is_better = cells, criteria, lower_is_better
        self.alone, self.ranks = alone, ranks
        self.fitted = tuple(i for i, cell in enumerate(cells) if cell.has_logs)
        self.place = {cell: place for place, cell in enumerate(self.fitted)}
        self.logs = {i: np.log(cells[i].array) for i in self.fitted}
        self.blocks = self._block_fit() if interleaved else None
        samples = list(self.logs.values())
        self.fit = self.blocks.fit if self.blocks else fit_pooled(samples) if samples else None
        self.whole = self.fit
        self.noisy: frozenset[int] = frozenset()
        self.plots = Plots(places, cells, self.fitted) if places and self.blocks else None
        if self.plots:
            self.model = self.plots.model
        elif self.blocks:
            self.model = self._model_in_blocks(self.blocks)
        else:
            self.model = Model.WELCH if alone else self._model_of_cells(samples)
        self.sessions = self._of_sessions(interleaved, places)

    def compare(
        self,
        wanted: Sequence[tuple[int, int]],
        boards: Sequence[Sequence[int]] = (),
        means: Sequence[Pairs] = (),
        settings: Sequence[int] = (),
    ) -> Comparisons:
        """Judge all pairs; the p values of those that can have a verdict are adjusted together."""
        tests = [self._test((pair,)) for pair in wanted]
        adjusted = self._pairs_of(boards, wanted) if boards else {}
        if not boards:
            judged = [test for test in tests if test.judged]
            p_values = holm([p_value(test.decides) for test in judged])
            adjusted = {
                _ordered(test.pairs[0]): (test, p) for test, p in zip(judged, p_values, strict=True)
            }
        return Comparisons(
            self.model,
            tuple(
                self._judged(
                    test, adjusted[key][1] if (key := _ordered(pair)) in adjusted else None
                )
                for pair, test in zip(wanted, tests, strict=True)
            ),
            self.fit,
            self.fitted,
            self.blocks,
            between=self._between_cells(),
            means=self._means(means, settings),
            pairs={pair: self._verdict(test, p)[0] for pair, (test, p) in adjusted.items()}
            if boards
            else {},
        )

    def _pairs_of(
        self, boards: Sequence[Sequence[int]], wanted: Sequence[tuple[int, int]]
    ) -> Mapping[tuple[int, int], tuple[_Test, float]]:
        """Return the tests of all pairs of the cells that take part, with their adjusted p; the smaller place comes first.

        Of more settings than `MOST_SETTINGS` only those that are wanted, and each against the best measured.
        """
        members = [[place for place in board if self._takes_part(place)] for board in boards]
        sizes = [len(each) for each in members]
        pairs = {_ordered(pair) for each in members for pair in combinations(each, 2)}
        if sum(sizes) > MOST_SETTINGS:
            best = [self._best_measured(each) for each in members if each]
            pairs = {
                pair for pair in pairs if {*pair} & {*best} or pair in {*map(_ordered, wanted)}
            }
        tests = [self._test((pair,)) for pair in sorted(pairs)]
        judged = [test for test in tests if test.judged]
        p_values = [p_value(test.decides) for test in judged]
        shared = (
            self.model in (Model.BLOCKS, Model.POOLED)
            and not self.noisy
            and not any(test.between for test in judged)
        )
        contrasts = [test.decides for test in judged]
        with_noise = bool(contrasts) and all(each.standard_error > 0 for each in contrasts)
        adjusted = adjust(
            p_values,
            sizes,
            largest_t=max(abs(each.estimate) / each.standard_error for each in contrasts)
            if shared and with_noise
            else None,
            df=self.fit.df if self.fit else 0.0,
            models=1 + bool(self.noisy),
        )
        return {test.pairs[0]: (test, p) for test, p in zip(judged, adjusted, strict=True)}

    def _means(self, means: Sequence[Pairs], settings: Sequence[int]) -> tuple[Comparison, ...]:
        """Judge contrasts over several pairs; without `settings` each is a test by itself."""
        tests = [self._test(pairs) for pairs in means]
        judged = [place for place, test in enumerate(tests) if test.judged]
        p_values = [p_value(tests[place].decides) for place in judged]
        if settings:
            p_values = adjust(p_values, settings)
        adjusted = dict(zip(judged, p_values, strict=True))
        return tuple(self._judged(test, adjusted.get(place)) for place, test in enumerate(tests))

    def _takes_part(self, place: int) -> bool:
        """Return whether a cell can be compared with any other."""
        cell = self.cells[place]
        if place not in self.place or refusal_of_cell(cell, self.criteria):
            return False
        enough = len(cell.values) >= self.criteria.minimum_n
        return enough or cell.session_count >= FEWEST_FOR_INTERVAL

    def _best_measured(self, places: Sequence[int]) -> int:
        choose = min if self.lower_is_better else max
        fit = self.fit
        means = {
            place: float(fit.means[self.place[place]] if fit else self.logs[place].mean())
            for place in places
        }
        return choose(means, key=means.__getitem__)

    def _test(self, pairs: Pairs) -> _Test:
        refused = self._refusal(pairs)
        unmeasured = refused and (refused.word in WITHOUT_NUMBERS or not self._is_measured(pairs))
        contrast = None if unmeasured else self.contrast(self._model_of(pairs), pairs)
        estimates = self._estimates(pairs) if contrast else []
        between = self._between(pairs, estimates, contrast)
        judged = bool(contrast and not refused) and (
            between is not None or (contrast is not None and self._can_be_judged(contrast, pairs))
        )
        return _Test(pairs, refused, contrast, between, estimates, judged)

    def contrast(self, model: Model, pairs: Pairs) -> Contrast | None:
        """Estimate the mean difference by one of the models; None where that cannot be done."""
        match model:
            case Model.SPLIT_PLOT:
                return self.plots.contrast(pairs) if self.plots else None
            case Model.PAIRED:
                return paired(self._differences(pairs))
            case Model.WELCH:
                alone = [welch(self.logs[b], self.logs[c]) for b, c in pairs]
                known = [each for each in alone if each]
                return mean_of(known) if len(known) == len(alone) else None
        places = [(self.place[b], self.place[c]) for b, c in pairs]
        fit = self.fit
        if fit and fit.own:
            out = any(fit.out & {*pair} for pair in places)
            fit = self.whole if out else replace(fit, own={}, out=frozenset())
        return mean_by_fit(fit, places) if fit else None

    def _model_in_blocks(self, blocks: BlockFit) -> Model:
        """Set the fit and return its model: one noise for all cells but the noisier ones, or each pair its own."""
        apart = blocks_apart(self._runs(), blocks)
        if apart is None:
            return Model.PAIRED
        self.fit, self.noisy = apart[0].fit, apart[1]
        return Model.BLOCKS if self._equal_noise(blocks) else Model.PAIRED

    def _model_of_cells(self, samples: Sequence[NDArray[np.float64]]) -> Model:
        self.noisy = noisy_cells(left_of_cells(samples), len(samples))
        quiet = [each for place, each in enumerate(samples) if place not in self.noisy]
        if self.whole and self.noisy:
            own = own_of_cells(samples)
            self.fit = cells_apart(self.whole, fit_pooled(quiet), self.noisy, own)
        return Model.POOLED if may_be_pooled(quiet) else Model.WELCH

    def _model_of(self, pairs: Pairs) -> Model:
        """Return the model by which pairs are judged: their own noise, where one of the cells is noisier."""
        own = ALONE.get(self.model)
        if own is None or not self._is_measured(pairs):
            return self.model
        return own if self.noisy & {self.place[i] for pair in pairs for i in pair} else self.model

    def _of_sessions(
        self, interleaved: bool, places: Sequence[Place] | None
    ) -> dict[int, "_Family"]:
        """Estimate each session by itself; empty with one session, and across campaigns."""
        numbers = sorted({number for cell in self.cells for number in cell.sessions})
        if self.alone or len(numbers) < 2:
            return {}
        return {
            number: _Family(
                [cell.part(number) for cell in self.cells],
                interleaved,
                self.lower_is_better,
                self.criteria,
                places=places,
            )
            for number in numbers
        }

    def _estimates(self, pairs: Pairs) -> list[SessionEstimate]:
        """Return the estimate of each session that holds the pairs."""
        if self.alone:
            return []
        own = self.sessions.values() if self.sessions else (self,)
        return [result for each in own if (result := each.estimate(pairs))]

    def estimate(self, pairs: Pairs) -> SessionEstimate | None:
        """Treat all runs as one session, which has an estimate even without noise of its own."""
        if not self._is_measured(pairs):
            return None
        contrast = self.contrast(self._model_of(pairs), pairs)
        if contrast is not None and contrast.df >= 1:
            n = self._plan(pairs, contrast).n
            variance = contrast.standard_error**2 * n
            return SessionEstimate(contrast.estimate, variance, n, max(1, int(contrast.df)))
        if not self.blocks:
            changes = [self.logs[c].mean() - self.logs[b].mean() for b, c in pairs]
            return SessionEstimate(float(np.mean(changes)), 0.0, 1, 0)
        differences = self._differences(pairs)
        if not differences.size:
            return None
        return SessionEstimate(float(differences.mean()), 0.0, differences.size, 0)

    def _between(
        self, pairs: Pairs, estimates: Sequence[SessionEstimate], contrast: Contrast | None
    ) -> Contrast | None:
        """Return the contrast between sessions, where there are enough to estimate how much they differ."""
        if contrast is None:
            return None
        if self.alone:
            (baseline, candidate) = pairs[0]
            return between_campaigns.between(self.cells[baseline], self.cells[candidate])
        return between_sessions(estimates) if len(estimates) >= FEWEST_FOR_INTERVAL else None

    def _between_cells(self) -> BetweenSessions | None:
        """Fit sessions as blocks, with one value per cell and session, if they hold all cells."""
        result: list[list[tuple[int, float]]] = [[] for _ in self.cells]
        for number, session in self.sessions.items():
            if session.fit:
                for cell, log in zip(session.fitted, session.fit.means, strict=True):
                    result[cell].append((number, float(np.exp(log))))
        held = [len(result[cell]) for cell in self.fitted]
        if not self.sessions or min(held, default=0) < FEWEST_FOR_INTERVAL:
            return None
        runs = [
            BlockRun(self.place[cell], number, value)
            for cell in self.fitted
            for number, value in result[cell]
        ]
        blocks = fit_blocks(runs, len(self.fitted))
        if blocks is None or blocks.fit.df < 1 or np.ptp(blocks.fit.groups):
            return None
        apart = blocks_apart(runs, blocks)
        blocks = apart[0] if apart else blocks
        cells = tuple(
            CellRuns(values=[value for _, value in each], blocks=[number for number, _ in each])
            for each in result
        )
        return BetweenSessions(cells, blocks)

    def _is_measured(self, pairs: Pairs) -> bool:
        """Return whether every cell has values; of several pairs another one may be refused first."""
        return all(i in self.place for pair in pairs for i in pair)

    def _refusal(self, pairs: Pairs) -> Verdict | None:
        """Return why one of the pairs may not be compared."""
        result = (refusal(self.cells[b], self.cells[c], self.criteria) for b, c in pairs)
        return next((no for no in result if no), None)

    def _block_fit(self) -> BlockFit | None:
        return fit_blocks(self._runs(), len(self.fitted))

    def _runs(self) -> list[BlockRun]:
        return [
            BlockRun(self.place[i], block, value)
            for i in self.fitted
            for block, value in zip(self.cells[i].blocks, self.cells[i].values, strict=True)
        ]

    def _equal_noise(self, blocks: BlockFit) -> bool:
        """Return whether the cells that are left in the pool differ in noise."""
        ends = np.cumsum([self.logs[i].size for i in self.fitted])[:-1]
        parts = enumerate(np.split(blocks.residuals, ends))
        samples = [part for i, part in parts if part.size > 1 and i not in self.noisy]
        return len(samples) < 3 or equal_noise(samples)

    def _differences(self, pairs: Pairs) -> NDArray[np.float64]:
        """Return mean log ratios within the blocks that have all of these cells."""
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

    def _can_be_judged(self, contrast: Contrast, pairs: Pairs) -> bool:
        """Return whether there are enough degrees of freedom, blocks, and runs of every cell."""
        enough = contrast.df >= FEWEST_DF or self.model != Model.BLOCKS
        n = min(contrast.n, self._fewest(pairs))
        return enough and n >= self.criteria.minimum_n

    def _fewest(self, pairs: Pairs) -> int:
        """Return the number of runs of the cell with the fewest, which limits the information on it."""
        return min(len(self.cells[i].values) for pair in pairs for i in pair)

    def _verdict(
        self, test: _Test, p_adjusted: float | None
    ) -> tuple[Verdict, SessionFindings | None]:
        """Return the verdict of a contrast, and what its sessions say."""
        pairs, refused, between = test.pairs, test.refused, test.between
        sessions = over_sessions(
            test.estimates,
            lower_is_better=self.lower_is_better,
            criteria=self.criteria,
            within=test.contrast,
            p_adjusted=p_adjusted,
        )
        verdict = (
            sessions.verdict
            if sessions
            else judge(
                test.decides,
                lower_is_better=self.lower_is_better,
                criteria=self.criteria,
                p_adjusted=p_adjusted,
            )
        )
        if refused:
            verdict = replace(
                verdict,
                word=refused.word,
                reason=refused.reason,
                side=refused.side,
                share=refused.share,
            )
        elif not test.judged:
            n = min(verdict.n, self._fewest(pairs))
            verdict = withheld(replace(verdict, n=n), "n_below_minimum")
        elif (
            self.alone
            and not between
            and between_campaigns.disagree(*(self.cells[i] for i in pairs[0]))
        ):
            verdict = withheld(verdict, "sessions_disagree")
        return verdict, sessions

    def _judged(self, test: _Test, p_adjusted: float | None) -> Comparison:
        pairs, contrast, between = test.pairs, test.contrast, test.between
        baseline, candidate = pairs[0]
        if contrast is None:
            model = self._model_of(pairs)
            return Comparison(baseline, candidate, model, test.refused or self._unknown(pairs))
        verdict, sessions = self._verdict(test, p_adjusted)
        ranks, moved = self._second_opinion(pairs)
        plan = self._plan(pairs, contrast)
        means = [np.log([self.cells[i].array.mean() for i in pair]) for pair in pairs]
        decides, ahead = contrast, plan
        if between:
            decides, ahead = between, Plan(*plan_of(between), between.n)
        verdict = planned(verdict, decides, ahead, self.criteria)
        model = self._model_of(pairs)
        badges = self._badges(model, verdict, decides, None if between else ranks)
        verdict = replace(verdict, badges=(*verdict.badges, *badges))
        return Comparison(
            baseline=baseline,
            candidate=candidate,
            model=model,
            verdict=verdict,
            pct_change_of_means=pct_of(float(np.mean([c - b for b, c in means]))),
            df=contrast.df,
            standard_error=contrast.standard_error,
            effective_n=plan.n,
            sensitivity=self._sensitivity(pairs),
            ranks=ranks,
            shift=moved,
            sessions=sessions.of(verdict) if sessions else None,
        )

    def _unknown(self, pairs: Pairs) -> Verdict:
        """Return why there is no contrast at all."""
        n = self._fewest(pairs)
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
        if not self.ranks:
            return None, None
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
        self,
        model: Model,
        verdict: Verdict,
        contrast: Contrast,
        ranks: SignedRank | RankSum | None,
    ) -> tuple[str, ...]:
        alpha = self.criteria.alpha
        claims = {
            "unequal_noise": model != self.model or (model == Model.PAIRED and not self.plots),
            "zero_variance": contrast.standard_error == 0,
            "tests_disagree": ranks is not None
            and verdict.p is not None
            and ranks.min_attainable_p < alpha
            and (verdict.p < alpha) != (ranks.p < alpha),
        }
        return tuple(name for name, holds in claims.items() if holds)

    def _sensitivity(self, pairs: Pairs) -> Reading | None:
        """Return the contrast by the other model: the two cells alone, or all cells where those alone decide."""
        model = self._model_of(pairs)
        other = self.plots.other(model) if self.plots else OTHER[model]
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
        """Return the noise that a plan rests on, and how n makes it precise."""
        model = self._model_of(pairs)
        if model == Model.PAIRED:
            sd = contrast.standard_error * contrast.n**0.5
            return Plan(sd, PAIRS, contrast.n)
        if len(pairs) > 1 or self.plots:
            return Plan(*plan_of(contrast), contrast.n)
        if model == Model.WELCH or not self.fit:
            two = fit_pooled([self.logs[i] for i in pairs[0]])
            return Plan(two.sd, design_of_cells(2), two.effective_n(0, 1))
        cells = len(self.fitted) - len(self.noisy)
        design = design_of_blocks(cells) if self.blocks else design_of_cells(cells)
        return Plan(self.fit.sd, design, self.fit.effective_n(*(self.place[i] for i in pairs[0])))


def _ordered(pair: tuple[int, int]) -> tuple[int, int]:
    """Return both places, the smaller one first."""
    return (min(pair), max(pair))
