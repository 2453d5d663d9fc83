"""Multiple comparisons with the best (Hsu, 1984): what a setting costs at most. Pure.

The best is picked by the data, and so is the recommendation; the bounds here hold nevertheless, all
together, with probability 1 - alpha. STATISTICS 3.5.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.log_means import Fit
from campaigns.stats.logs import pct_of

FEWEST_DF, FEWEST_N = 2, 3
_RHO_DIGITS = 6
UNKNOWN = 100.0
"""The standard error (on logs) of an unknown difference: any ratio is possible."""

HERMITE, LEGENDRE = 80, 120
"""Points of the two Gauss rules; with them the value agrees with simulation in 5 digits."""
LARGEST_RHO = 0.95
"""Above this correlation the rules are too coarse; a smaller correlation is conservative (Slepian, 1962)."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best of J cells, in their order; costs in % above the truly best.

    seen: the cell with the best mean. at_edge: it is the last one, so the best may lie beyond.
    cost_pct: against the best seen; upper_pct: bounds of the true cost, never below 0.
    critical, rho: by the cell taken for the best. Which cells may be the best is the matter of `family.unbeaten`.
    """

    seen: int
    at_edge: bool
    cost_pct: tuple[float, ...]
    upper_pct: tuple[float, ...]
    critical: tuple[float, ...]
    rho: tuple[float, ...]
    df: int
    sd: float
    alpha: float

    def within(self, share: float) -> tuple[int, ...]:
        """Return the cells whose true cost is at most `share` (of 1) with confidence."""
        return tuple(
            cell for cell, upper in enumerate(self.upper_pct) if upper <= 100 * share * (1 + 1e-12)
        )

    def recommended(self, share: float) -> int | None:
        """Return the first cell within `share` of the best; None where no cell can be shown to be."""
        return next(iter(self.within(share)), None)

    @property
    def smallest_share(self) -> float:
        """Return the smallest share within which some cell demonstrably lies."""
        return min(self.upper_pct) / 100

    def blocks_needed(self, share: float) -> int | None:
        """Estimate how many blocks (or runs per cell) would show a cell within `share`; None for 0."""
        if share <= 0:
            return None
        width = math.log1p(share) / 2
        return max(2, math.ceil(2 * (max(self.critical) * self.sd / width) ** 2))


def find_best(fit: Fit, *, lower_is_better: bool, alpha: float = 0.05) -> Best | None:
    """Bound the cost of each cell against the truly best one, whichever that is.

    Cells stand in the order of their cost, the cheapest setting first. None where cells cannot be
    compared (not connected), and with fewer than 2 cells, 2 df or 3 blocks (or runs a cell).
    """
    count = fit.means.size
    enough = fit.df >= FEWEST_DF and int(fit.n.min()) >= FEWEST_N
    if count < 2 or not enough or (fit.groups != fit.groups[0]).any():
        return None
    means = fit.means if lower_is_better else -fit.means
    errors = fit.sd * np.sqrt(np.maximum(_variances(fit), 0))
    if fit.own or fit.out:
        rho, factors, errors = _each_alone(fit, errors, alpha)
    else:
        rho = [_smallest_correlation(fit, control) for control in range(count)]
        critical = [one_sided_dunnett(count - 1, fit.df, alpha, each) for each in rho]
        factors = np.repeat(np.array(critical)[:, None], count, axis=1)
    others = ~np.eye(count, dtype=bool)
    reach = means[:, None] - means[None, :] + factors.T * errors
    upper = np.maximum(0, np.where(others, reach, -np.inf).max(axis=1))
    seen = int(means.argmin())
    return Best(
        seen=seen,
        at_edge=seen == count - 1,
        cost_pct=tuple(pct_of(float(mean - means[seen])) for mean in means),
        upper_pct=tuple(pct_of(float(bound)) for bound in upper),
        critical=tuple(float(row.max()) for row in factors),
        rho=tuple(rho),
        df=fit.df,
        sd=_largest_noise(fit, errors),
        alpha=alpha,
    )


def _each_alone(
    fit: Fit, errors: NDArray[np.float64], alpha: float
) -> tuple[list[float], NDArray[np.float64], NDArray[np.float64]]:
    """Bound each difference by its own noise and df (Bonferroni), since not all cells share one.

    Correlations, which are not used, critical values by control, standard errors: shape (J, J).
    """
    count = fit.means.size
    share = 1 - alpha / (count - 1)
    factors, errors = np.full((count, count), student.quantile(share, fit.df)), errors.copy()
    for cell in fit.out:
        errors[cell, :] = errors[:, cell] = UNKNOWN
    for (one, other), contrast in fit.own.items():
        factor = student.quantile(share, contrast.df)
        factors[one, other] = factors[other, one] = factor
        errors[one, other] = errors[other, one] = contrast.standard_error
    np.fill_diagonal(errors, 0)
    return [0.0] * count, factors, errors


def _largest_noise(fit: Fit, errors: NDArray[np.float64]) -> float:
    """Return the noise for planning: that of the noisiest pair of cells."""
    if not fit.own:
        return fit.sd
    known = [float(errors[pair]) * math.sqrt(each.n / 2) for pair, each in fit.own.items()]
    return max(fit.sd, *known)


def _variances(fit: Fit) -> NDArray[np.float64]:
    """Return the variance of all differences of two cells, shape (J, J), in units of sd ** 2."""
    own = np.diag(fit.covariance)
    return np.asarray(own[:, None] + own[None, :] - 2 * fit.covariance)


def _smallest_correlation(fit: Fit, control: int) -> float:
    """Return the correlations of differences to `control`, at least 0, which is conservative (Slepian, 1962)."""
    count = fit.means.size
    if count == 2:
        return 0.5
    others = [cell for cell in range(count) if cell != control]
    v = fit.covariance
    joint = (
        v[np.ix_(others, others)]
        - v[others, control][:, None]
        - v[control, others][None, :]
        + v[control, control]
    )
    spread = np.sqrt(np.diag(joint))
    correlation = joint / spread[:, None] / spread[None, :]
    smallest = float(correlation[np.triu_indices(len(others), 1)].min())
    scale = 10.0**_RHO_DIGITS
    return max(0.0, math.floor(smallest * scale + 1e-6) / scale)


@lru_cache(maxsize=4096)
def one_sided_dunnett(comparisons: int, df: float, alpha: float = 0.05, rho: float = 0.5) -> float:
    """Find d with P(max T_i <= d) = 1 - alpha for `comparisons` >= 1 against one control.

    T_i = (sqrt(1 - rho) Z_i + sqrt(rho) Z_0) / S with S**2 ~ chi2(df) / df; 0 <= rho <= 1.
    Dunnett 1955; Hsu, Multiple Comparisons, 1996.
    """
    if comparisons < 1 or df < 1:
        raise ValueError("A critical value needs a comparison and a degree of freedom.")
    if comparisons == 1:
        return student.quantile(1 - alpha, df)
    nodes, weights = np.polynomial.hermite_e.hermegauss(HERMITE)
    weights = weights / weights.sum()
    points, measure = np.polynomial.legendre.leggauss(LEGENDRE)
    quantiles = (points + 1) / 2
    scale = np.sqrt(scipy.stats.chi2.ppf(quantiles, df) / df)
    rho = min(rho, LARGEST_RHO)

    def excess(d: float) -> float:
        below = (d * scale[:, None] - math.sqrt(rho) * nodes[None, :]) / math.sqrt(1 - rho)
        inner = scipy.special.ndtr(below) ** comparisons @ weights
        return float(inner @ measure / 2) - (1 - alpha)

    low = student.quantile(1 - alpha, df)
    high = student.quantile(1 - alpha / comparisons, df) + 1e-6
    return float(scipy.optimize.brentq(excess, low - 1e-6, high, xtol=1e-10))
