"""The mean of several contrasts, such as one change at every level of the other factors. Pure."""

import math
from collections.abc import Sequence

import numpy as np

from campaigns.stats.log_means import Fit
from campaigns.stats.power import Design
from campaigns.stats.verdict import Contrast


def mean_by_fit(fit: Fit, pairs: Sequence[tuple[int, int]]) -> Contrast | None:
    """Average ln(candidate / baseline) over pairs of cells, by the one noise of a fit.

    pairs: baseline and candidate, by their place in the fit. None where one of them is not connected.
    """
    if fit.df < 1 or not pairs or not all(fit.connected(*pair) for pair in pairs):
        return None
    if len(pairs) == 1:
        return fit.contrast(*pairs[0])
    weights = np.zeros(fit.means.size)
    for baseline, candidate in pairs:
        weights[baseline] -= 1 / len(pairs)
        weights[candidate] += 1 / len(pairs)
    variance = float(weights @ fit.covariance @ weights)
    return Contrast(
        estimate=float(weights @ fit.means),
        standard_error=fit.sd * math.sqrt(max(0.0, variance)),
        df=fit.df,
        n=int(min(fit.n[list(pair)].min() for pair in pairs)),
    )


def mean_of(contrasts: Sequence[Contrast], shared_df: float | None = None) -> Contrast | None:
    """Average independent contrasts, each with a noise of its own (Satterthwaite 1946).

    shared_df: of the one noise that all of them were made with, where there is one.
    """
    if len(contrasts) < 2:
        return next(iter(contrasts), None)
    parts = np.array([each.standard_error**2 for each in contrasts])
    freedom = np.array([each.df for each in contrasts], dtype=float)
    total, rest = float(parts.sum()), float((parts**2 / freedom).sum())
    df = total**2 / rest if rest else float(freedom.sum())
    return Contrast(
        estimate=float(np.mean([each.estimate for each in contrasts])),
        standard_error=math.sqrt(total) / len(contrasts),
        df=df if shared_df is None else shared_df,
        n=min(each.n for each in contrasts),
    )


def plan_of(contrast: Contrast) -> tuple[float, Design]:
    """Return the noise and the design that make n as precise as this contrast is, for plans."""
    slope = round(contrast.df / (contrast.n - 1)) if contrast.n > 1 else 1
    return contrast.standard_error * math.sqrt(contrast.n), Design(1, max(1, slope))
