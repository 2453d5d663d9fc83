"""Log means of cells with their uncertainty, the input of every comparison of levels. Pure.

`blocks.fit` (interleaved and paired orders) and `pooled.fit` (blocked and random) make one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.interval import Interval
from campaigns.stats.logs import ratio_of
from campaigns.stats.verdict import Contrast

NO_NOISE = 1e-12
"""A smaller sd of logs is due to rounding: all values of a cell are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The log means of J cells, in the order of the input.

    means: adjusted log means, shape (J,). covariance: theirs, shape (J, J), to be multiplied by
    sd ** 2. sd: of the logs, within blocks or within cells; 0 where there is no noise at all.
    df: of sd. groups: shape (J,); only cells of one group can be compared. n: shape (J,), what a
    verdict counts: the blocks of the cell's group, or the cell's runs.
    complete: every block has one run of every cell, or all cells have as many runs.
    out: cells that are too noisy for `sd`, which is that of the others. own: contrasts of pairs, the
    smaller place first, that rest on the noise of their own cells (`noisy.cells_apart`).
    """

    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    sd: float
    df: int
    groups: NDArray[np.int64]
    n: NDArray[np.int64]
    complete: bool
    own: Mapping[tuple[int, int], Contrast] = field(default_factory=dict)
    out: frozenset[int] = frozenset()

    def part(self, places: Sequence[int]) -> "Fit":
        """Return the same fit, of some of its cells."""
        number = {place: index for index, place in enumerate(places)}
        own = {}
        for (one, other), contrast in self.own.items():
            if one in number and other in number:
                turned = number[one] > number[other]
                pair = (number[other], number[one]) if turned else (number[one], number[other])
                own[pair] = _turned(contrast) if turned else contrast
        chosen = list(places)
        return replace(
            self,
            means=self.means[chosen],
            covariance=self.covariance[np.ix_(chosen, chosen)],
            groups=self.groups[chosen],
            n=self.n[chosen],
            own=own,
            out=frozenset(number[place] for place in self.out if place in number),
        )

    def connected(self, baseline: int, candidate: int) -> bool:
        """Return whether the data hold anything about the difference of two cells."""
        return bool(self.groups[baseline] == self.groups[candidate])

    def variance(self, baseline: int, candidate: int) -> float:
        """Return the variance of the difference of two cells, in units of sd ** 2: 2 / n where nothing is missing."""
        v = self.covariance
        return float(v[baseline, baseline] + v[candidate, candidate] - 2 * v[baseline, candidate])

    def contrast(self, baseline: int, candidate: int) -> Contrast | None:
        """Estimate ln(candidate / baseline); None where nothing connects them, or df is 0."""
        if alone := self.own.get((baseline, candidate)):
            return alone
        if alone := self.own.get((candidate, baseline)):
            return _turned(alone)
        if self.out & {baseline, candidate}:
            return None
        if self.df < 1 or not self.connected(baseline, candidate):
            return None
        return Contrast(
            estimate=float(self.means[candidate] - self.means[baseline]),
            standard_error=self.sd * math.sqrt(max(0.0, self.variance(baseline, candidate))),
            df=self.df,
            n=int(min(self.n[baseline], self.n[candidate])),
        )

    def effective_n(self, baseline: int, candidate: int) -> float:
        """Return how many complete blocks (or runs per cell) would be as informative on this difference."""
        return 2 / self.variance(baseline, candidate)

    def reading_interval(self, cell: int, alpha: float) -> Interval | None:
        """Return bounds for comparing levels on a chart, in the unit of the values.

        Not the range of the next run, and without the noise between blocks; None where df is 0, and
        for a cell that is too noisy: its own interval is what there is.
        """
        if self.df < 1 or cell in self.out:
            return None
        half = student.quantile(1 - alpha / 2, self.df) * self.sd
        half *= math.sqrt(float(self.covariance[cell, cell]))
        mean = float(self.means[cell])
        return Interval(ratio_of(mean - half), ratio_of(mean + half))


def _turned(contrast: Contrast) -> Contrast:
    """Return the contrast of the baseline against the candidate."""
    return replace(contrast, estimate=-contrast.estimate)
