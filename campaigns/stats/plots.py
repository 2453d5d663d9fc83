"""Cells of a plan in which some levels are hard to change, and contrasts of them. Pure.

A whole plot is what was made of a block at one level of the hard factor. STATISTICS 2.2b.
"""

from collections.abc import Mapping, Sequence

from campaigns.stats.cells import CellRuns
from campaigns.stats.compared import Model, Pairs
from campaigns.stats.split_plot import FEWEST_BLOCKS, PlotRun, SplitPlot, fit_split_plot
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
"""By which model a comparison is read once more."""


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
        """By which model contrasts are judged: where runs are missing, each by its own blocks."""
        return Model.SPLIT_PLOT if self.fit else Model.PAIRED

    def contrast(self, pairs: Pairs) -> Contrast | None:
        """Estimate the mean of pairs of baseline and candidate; None below three whole plots a level."""
        if self.fit is None:
            return None
        return self.fit.of([(self.places[b], self.places[c]) for b, c in pairs])

    def unknown(self, pairs: Pairs, n: int) -> Verdict | None:
        """Say why there is none: a hard level that was set too seldom; None for another reason."""
        across = any(self.places[b][0] != self.places[c][0] for b, c in pairs)
        if across and n < FEWEST_BLOCKS:
            return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="whole_plots")
        return None

    def other(self, model: Model) -> Model | None:
        """By which model it is read once more; the one of blocks alone would be wrong here."""
        return Model.PAIRED if model == Model.SPLIT_PLOT else None
