"""Student's t distribution, without the overhead of scipy's distribution objects.

Pure; the same functions that `scipy.stats.t` rests on.
"""

import scipy


def quantile(share: float, df: float) -> float:
    """Return the t below which a share of the distribution lies; `share` between 0 and 1, df > 0."""
    return float(scipy.special.stdtrit(df, share))


def upper_tail(t: float, df: float) -> float:
    """Return the share of the distribution above t."""
    return float(scipy.special.stdtr(df, -t))
