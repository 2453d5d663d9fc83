"""Cells without blocks: one noise for all of them, or Welch's where theirs differ. Pure.

For the orders `blocked` and `random`, and for imports that know no blocks. STATISTICS 2.2.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.log_means import NO_NOISE, Fit
from campaigns.stats.verdict import Contrast

LEVENE_LIMIT = 0.01
FEWEST_CELLS, FEWEST_DF = 3, 6
"""With fewer degrees of freedom one cell's noise is as informative as that of all cells."""


def fit_pooled(logs: Sequence[NDArray[np.float64]]) -> Fit:
    """Pool the noise of cells; `logs`: the logs of each cell's values, one at least."""
    sizes = np.array([values.size for values in logs])
    if not sizes.size or not sizes.all():
        raise ValueError("Every cell needs a value.")
    within = sum(float(np.square(values - values.mean()).sum()) for values in logs)
    df = int((sizes - 1).sum())
    sd = math.sqrt(within / df) if df else 0.0
    return Fit(
        means=np.array([values.mean() for values in logs]),
        covariance=np.diag(1 / sizes),
        sd=sd if sd >= NO_NOISE else 0.0,
        df=df,
        groups=np.zeros(sizes.size, dtype=np.int64),
        n=sizes,
        complete=bool((sizes == sizes[0]).all()),
    )


def may_be_pooled(logs: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether the cells' noise may be taken for one: enough of it, and Levene's p over .01."""
    repeated = [values for values in logs if values.size > 1]
    if len(repeated) < FEWEST_CELLS or sum(values.size - 1 for values in repeated) < FEWEST_DF:
        return False
    return equal_noise(repeated)


def equal_noise(samples: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether Levene's test finds no difference in spread; where it has no answer there is one.

    Samples without any spread at all are equal.
    """
    if all(values.std() < NO_NOISE for values in samples):
        return True
    return levene(samples) > LEVENE_LIMIT


def levene(samples: Sequence[NDArray[np.float64]]) -> float:
    """Return the p value of Levene's test around medians (Brown and Forsythe, 1974); NaN without any spread.

    `scipy.stats.levene` in the same order of operations, without what it looks at first.
    """
    sizes = [values.size for values in samples]
    total, between = sum(sizes), len(samples) - 1.0
    spreads = [np.abs(values - _median(values)) for values in samples]
    means = [each.mean() for each in spreads]
    mean = sum(size * each for size, each in zip(sizes, means, strict=True)) / total
    within = total - len(samples)
    above = within * sum(
        size * np.square(each - mean) for size, each in zip(sizes, means, strict=True)
    )
    below = between * sum(
        np.square(each - own).sum() for each, own in zip(spreads, means, strict=True)
    )
    with np.errstate(all="ignore"):
        return float(scipy.special.fdtrc(between, within, above / below))


def _median(values: NDArray[np.float64]) -> np.float64:
    ordered, half = np.sort(values), values.size // 2
    median: np.float64 = ordered[half - (values.size % 2 == 0) : half + 1].mean()
    return median


def welch(baseline: NDArray[np.float64], candidate: NDArray[np.float64]) -> Contrast | None:
    """Compare the means of two cells' logs, each with its own noise (Welch, 1947).

    None with fewer than two values in one of them.
    """
    if min(baseline.size, candidate.size) < 2:
        return None
    parts = [_variance(values) / values.size for values in (baseline, candidate)]
    total = sum(parts)
    rest = sum(
        part**2 / (values.size - 1)
        for part, values in zip(parts, (baseline, candidate), strict=True)
    )
    return Contrast(
        estimate=float(candidate.mean() - baseline.mean()),
        standard_error=math.sqrt(total),
        df=total**2 / rest if rest else float(baseline.size + candidate.size - 2),
        n=min(baseline.size, candidate.size),
    )


def _variance(values: NDArray[np.float64]) -> float:
    sd = float(values.std(ddof=1))
    return sd**2 if sd >= NO_NOISE else 0.0
