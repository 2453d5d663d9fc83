"""How sure a percentile of one run is: order statistics by binomial ranks. Pure. STATISTICS 7.

It holds within that run, and says nothing of the next one: each run's percentile is one observation.
"""

from dataclasses import dataclass

from scipy import stats

from campaigns.kit.histogram import value_at_rank


@dataclass(frozen=True, slots=True)
class PercentileBounds:
    """Ranks from 1 to n, and the values there in microseconds."""

    low_rank: int
    high_rank: int
    low: int
    high: int


def ranks_of(count: int, share: float, confidence: float = 0.95) -> tuple[int, int] | None:
    """Give the ranks between which the percentile lies; None where they would be beyond the values."""
    if not 0 < share < 1:
        raise ValueError("A share lies between 0 and 1.")
    tail = (1 - confidence) / 2
    low = int(stats.binom.ppf(tail, count, share))
    high = int(stats.binom.ppf(1 - tail, count, share)) + 1
    return (low, high) if low >= 1 and high <= count else None


def bounds_of(
    encoded: bytes, count: int, share: float, confidence: float = 0.95
) -> PercentileBounds | None:
    """Bound a percentile of the run whose histogram this is; None with too few values for it."""
    ranks = ranks_of(count, share, confidence)
    if ranks is None:
        return None
    low, high = (value_at_rank(encoded, rank, count) for rank in ranks)
    return PercentileBounds(*ranks, low, high)
