"""Contrasts of cells where some factors are costly to change (split plots). Pure.

A whole plot is what was made of a block at one level of the hard factor: it is set once per whole plot,
while the others vary inside. STATISTICS 2.2b; Montgomery, Design and Analysis of Experiments, split
plots. Incomplete plans are served by `blocks.fit_blocks` on the means of the whole plots.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.compared import Model, Pairs
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.verdict import Contrast, Verdict, Word

Place = tuple[int, int]
"""Level of the hard factor, or combination of several; combination of the others. Both from 0."""

OTHER: Mapping[Model, Model | None] = {
    Model.BLOCKS: Model.PAIRED,
    Model.PAIRED: Model.BLOCKS,
    Model.POOLED: Model.WELCH,
    Model.WELCH: Model.POOLED,
    Model.SPLIT_PLOT: Model.PAIRED,
}
"""The model of the alternative analysis."""

FEWEST_BLOCKS = 3


class Plots:
    """The places of cells, and the noise of both kinds; `fit` is None where the plan has holes."""

    def __init__(
        self, places: Sequence[Place], cells: Sequence[CellRuns], fitted: Sequence[int]
    ) -> None:
        self.places = tuple(places)
        whole = len(fitted) == len(cells)
        runs = [
            PlotRun(block, *self.places[cell], value)
            for cell in fitted
            for block, value in zip(cells[cell].blocks, cells[cell].values, strict=True)
        ]
        self.fit: SplitPlot | None = fit_split_plot(runs) if whole and runs else None

    @property
    def model(self) -> Model:
        """Return the model that judges contrasts: where runs are missing, each by its own blocks."""
        return Model.SPLIT_PLOT if self.fit else Model.PAIRED

    def contrast(self, pairs: Pairs) -> Contrast | None:
        """Estimate the mean of pairs of baseline and candidate; None below three whole plots a level."""
        if self.fit is None:
            return None
        return self.fit.of([(self.places[b], self.places[c]) for b, c in pairs])

    def unknown(self, pairs: Pairs, n: int) -> Verdict | None:
        """Return why there is none: a hard level that was set too seldom; None for another reason."""
        across = any(self.places[b][0] != self.places[c][0] for b, c in pairs)
        if across and n < FEWEST_BLOCKS:
            return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="whole_plots")
        return None

    def other(self, model: Model) -> Model | None:
        """Return the model of the alternative analysis; that of blocks alone would be wrong here."""
        return Model.PAIRED if model == Model.SPLIT_PLOT else None


@dataclass(frozen=True, slots=True)
class PlotRun:
    """One run: block, level of the hard factor, combination of the others, and a value above 0."""

    block: int
    hard: int
    easy: int
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlot:
    """logs: shape (r, a, b). whole, sub: mean squares of both kinds of noise, with their df."""

    logs: NDArray[np.float64]
    whole: float
    whole_df: int
    sub: float
    sub_df: int

    @property
    def blocks(self) -> int:
        """Return how often each level of the hard factor was set; below 3 it is not judged."""
        return int(self.logs.shape[0])

    def of(self, pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> Contrast | None:
        """Average over pairs of baseline and candidate, each a hard level and a combination of the others.

        What differs in hard levels has the noise of whole plots, the rest that within them
        (Satterthwaite); None below three blocks where a hard level takes part.
        """
        r, _, b = self.logs.shape
        weights = np.zeros(self.logs.shape[1:])
        for baseline, candidate in pairs:
            weights[baseline] -= 1 / len(pairs)
            weights[candidate] += 1 / len(pairs)
        across = float(np.square(weights.sum(axis=1)).sum()) / b
        within = max(0.0, float(np.square(weights).sum()) - across)
        is_across, is_within = across > NO_NOISE, within > NO_NOISE
        if (is_across and r < FEWEST_BLOCKS) or (is_within and self.sub_df < 1):
            return None
        parts = [
            (size * square / r, df)
            for size, square, df, counts in (
                (across, self.whole, self.whole_df, is_across),
                (within, self.sub, self.sub_df, is_within),
            )
            if counts
        ]
        variance = sum(part for part, _ in parts)
        rest = sum(part**2 / df for part, df in parts)
        df = variance**2 / rest if rest else float(min((df for _, df in parts), default=1))
        levels = 1 if is_across else len({hard for pair in pairs for hard, _ in pair})
        estimate = float((self.logs.mean(axis=0) * weights).sum())
        return Contrast(estimate, math.sqrt(variance), df, r * levels)

    def of_hard(self, baseline: int, candidate: int) -> Contrast | None:
        """Compare two levels of the hard factor; None below three blocks."""
        r, _, b = self.logs.shape
        if r < FEWEST_BLOCKS:
            return None
        means = self.logs.mean(axis=(0, 2))
        error = math.sqrt(2 * self.whole / (r * b))
        return Contrast(float(means[candidate] - means[baseline]), error, self.whole_df, r)

    def of_easy(self, baseline: int, candidate: int) -> Contrast | None:
        """Compare two combinations of the others, over all levels of the hard factor."""
        r, a, _ = self.logs.shape
        if self.sub_df < 1:
            return None
        means = self.logs.mean(axis=(0, 1))
        error = math.sqrt(2 * self.sub / (r * a))
        return Contrast(float(means[candidate] - means[baseline]), error, self.sub_df, r * a)

    def of_hard_at(self, easy: int, baseline: int, candidate: int) -> Contrast | None:
        """Compare two levels of the hard factor at one combination of the others (Satterthwaite)."""
        r, _, b = self.logs.shape
        if r < FEWEST_BLOCKS:
            return None
        means = self.logs[:, :, easy].mean(axis=0)
        inner = (b - 1) * self.sub
        mixed = inner + self.whole
        rest = self.whole**2 / self.whole_df
        rest += inner**2 / self.sub_df if self.sub_df else 0.0
        df = mixed**2 / rest if rest else float(self.whole_df)
        error = math.sqrt(2 * mixed / (b * r))
        return Contrast(float(means[candidate] - means[baseline]), error, df, r)


def fit_split_plot(runs: Sequence[PlotRun]) -> SplitPlot | None:
    """Estimate both kinds of noise; None where the plan is not complete, or has no noise to estimate.

    Raise ValueError for values without a log.
    """
    if not all(math.isfinite(run.value) and run.value > 0 for run in runs):
        raise ValueError("Every value has to be a number above 0.")
    blocks = sorted({run.block for run in runs})
    a, b = (len({getattr(run, name) for run in runs}) for name in ("hard", "easy"))
    if len(blocks) < 2 or a < 2 or len(runs) != len(blocks) * a * b:
        return None
    logs = np.full((len(blocks), a, b), np.nan)
    for run in runs:
        logs[blocks.index(run.block), run.hard, run.easy] = math.log(run.value)
    if np.isnan(logs).any():
        return None
    r, grand = len(blocks), logs.mean()
    plots, hard = logs.mean(axis=2), logs.mean(axis=(0, 2))
    by_block, cells = logs.mean(axis=(1, 2)), logs.mean(axis=0)
    whole_errors = plots - by_block[:, None] - hard[None, :] + grand
    sub_errors = logs - plots[:, :, None] - cells[None] + hard[None, :, None]
    whole_df, sub_df = (a - 1) * (r - 1), a * (r - 1) * (b - 1)
    return SplitPlot(
        logs=logs,
        whole=_mean_square(b * float(np.square(whole_errors).sum()), whole_df),
        whole_df=whole_df,
        sub=_mean_square(float(np.square(sub_errors).sum()), sub_df),
        sub_df=sub_df,
    )


def _mean_square(total: float, df: int) -> float:
    square = total / df if df else 0.0
    return square if square >= NO_NOISE**2 else 0.0
