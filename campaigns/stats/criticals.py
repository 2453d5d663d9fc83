"""Critical values of families of comparisons. Pure."""

import math
from functools import lru_cache

import numpy as np
from scipy import optimize, special, stats

from campaigns.stats import student

HERMITE, LEGENDRE = 80, 120
"""Points of the two Gauss rules; the value then agrees with simulation in 5 digits."""
LARGEST_RHO = 0.95
"""Above it the rules are too coarse; a smaller correlation is conservative (Slepian, 1962)."""


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
    scale = np.sqrt(stats.chi2.ppf(quantiles, df) / df)
    rho = min(rho, LARGEST_RHO)

    def excess(d: float) -> float:
        below = (d * scale[:, None] - math.sqrt(rho) * nodes[None, :]) / math.sqrt(1 - rho)
        inner = special.ndtr(below) ** comparisons @ weights
        return float(inner @ measure / 2) - (1 - alpha)

    low = student.quantile(1 - alpha, df)
    high = student.quantile(1 - alpha / comparisons, df) + 1e-6
    return float(optimize.brentq(excess, low - 1e-6, high, xtol=1e-10))
