"""Histograms of latencies: encoding, addition, percentiles. Pure: integer microseconds, no clock.

One form everywhere (HDR V2, base64 text, 1 µs to 1 h, three digits), since histograms of different
forms add with loss. Histograms of one run are added; percentiles are never averaged, so nothing
here takes two of them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import repeat

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from campaigns.kit.numbers import plain

LOWEST_MICROSECONDS = 1
HIGHEST_MICROSECONDS = 3_600_000_000
DIGITS = 3
SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)
VALUES_ABOVE = 10
"""A percentile is shown if at least so many values lie above it."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded histogram; `dropped`: the number of values out of range, which it does not contain."""

    encoded: bytes
    count: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Percentile:
    """One percentile within a run; without enough values only `needs` ("needs 1000")."""

    share: float
    label: str
    microseconds: int | None
    needs: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a histogram in microseconds; of an empty one None, never 0."""

    count: int
    minimum: int | None
    maximum: int | None
    mean: float | None
    percentiles: tuple[Percentile, ...]


def encode(microseconds: Iterable[int], counts: Iterable[int] = repeat(1)) -> Encoded:
    """Encode values; those below 0 or above an hour are dropped. counts: how often each value is there; by default once."""
    histogram, dropped = _empty(), 0
    for value, count in zip(microseconds, counts, strict=False):
        if 0 <= value <= HIGHEST_MICROSECONDS:
            histogram.record_value(value, count)
        else:
            dropped += count
    return Encoded(bytes(histogram.encode()), int(histogram.get_total_count()), dropped)


def merge(encoded: Iterable[bytes]) -> bytes:
    """Add the histograms of one run. Those of different runs are not merged: each run is one observation."""
    merged = _empty()
    for shard in encoded:
        merged.decode_and_add(shard)
    return bytes(merged.encode())


def value_at_rank(encoded: bytes, rank: int, count: int) -> int:
    """Return the `rank`-th smallest of `count` values, in microseconds."""
    return int(HdrHistogram.decode(encoded).get_value_at_percentile(100 * rank / count))


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """A decoded histogram, for many percentiles at once: the number of values in each non-empty step."""

    steps: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def total(self) -> int:
        """The number of values."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float | None:
        """Mean in microseconds, with each value at the middle of its step; None without values."""
        if not self.counts.size:
            return None
        low, high = _bounds_of_steps()
        middle = low[self.steps] + (high[self.steps] + 1 - low[self.steps]) // 2
        return float((middle * self.counts).sum() / self.total)

    def above(self, microseconds: float) -> int:
        """Return how many values lie above a bound, each taken as the middle of its step."""
        low, high = _bounds_of_steps()
        middle = low[self.steps] + (high[self.steps] + 1 - low[self.steps]) // 2
        return int(self.counts[middle > microseconds].sum())

    def at(self, shares: Sequence[float]) -> list[int]:
        """Return percentiles in microseconds, the highest value of their steps, as `value_at_rank`. Needs a value."""
        ranks = (100 * np.array(shares) * self.total / 100 + 0.5).astype(np.int64)
        places = np.searchsorted(np.cumsum(self.counts), np.maximum(ranks, 1))
        _, high = _bounds_of_steps()
        values: list[int] = high[self.steps[places]].tolist()
        return values


def counts_of(encoded: bytes) -> Counts:
    """Decode one histogram."""
    return _counts_in(HdrHistogram.decode(encoded))


def _counts_in(histogram: HdrHistogram) -> Counts:
    return of_counts(np.frombuffer(histogram.counts, dtype=np.uint64).astype(np.int64))


def of_counts(counts: NDArray[np.int64]) -> Counts:
    """Return `Counts` from the counts of all steps."""
    steps = np.flatnonzero(counts)
    return Counts(steps, counts[steps])


def no_counts() -> NDArray[np.int64]:
    """Return the counts of an empty histogram, one for each step."""
    return np.zeros(_empty().counts_len, dtype=np.int64)


def add_nanoseconds(counts: NDArray[np.int64], nanoseconds: NDArray[np.int64]) -> int:
    """Add values to `counts` (of all steps) in place; return how many were out of range.

    Rounded to whole microseconds; a value below 0 counts as 0, one above an hour is dropped.
    """
    values = np.maximum(nanoseconds + 500, 0) // 1000
    fits = values <= HIGHEST_MICROSECONDS
    dropped = int(values.size - np.count_nonzero(fits))
    if dropped:
        values = values[fits]
    form = _empty_form()
    magnitude = form.sub_bucket_half_count_magnitude
    # The exponent of a number of less than 2^53 is exact: how many bits it has.
    bits = np.frexp((values | form.sub_bucket_mask).astype(np.float64))[1].astype(np.int64)
    bucket = bits - (magnitude + 1)
    steps = ((bucket + 1) << magnitude) + (values >> bucket) - form.sub_bucket_half_count
    new = np.bincount(steps)  # as long as the largest value needs, which is far from an hour
    counts[: new.size] += new
    return dropped


def encode_counts(counts: NDArray[np.int64]) -> bytes:
    """Encode the counts of all steps."""
    whole, steps = _empty(), np.flatnonzero(counts)
    if steps.size:
        low, high = _bounds_of_steps()
        np.frombuffer(whole.counts, dtype=np.uint64)[:] = counts
        whole.total_count = int(counts.sum())
        whole.min_value, whole.max_value = int(low[steps[0]]), int(high[steps[-1]])
        if steps[0] == 0:  # the library marks a histogram without values above 0 so
            whole.min_value = int(low[steps[1]]) if steps.size > 1 else 0
    return bytes(whole.encode())


def added(parts: Iterable[Counts]) -> Counts:
    """Add decoded histograms, as `merge` does."""
    whole = no_counts()
    for part in parts:
        whole[part.steps] += part.counts
    return of_counts(whole)


def summarise(encoded: bytes, shares: Sequence[float] = SHARES) -> Summary:
    """Return extremes, mean, and the percentiles for which there are enough values."""
    histogram = HdrHistogram.decode(encoded)
    count = int(histogram.get_total_count())
    shown = [100 * share for share in shares if not needs(count, share)]
    values = histogram.get_percentile_to_value_dict(shown) if shown else {}
    return Summary(
        count=count,
        minimum=int(histogram.get_min_value()) if count else None,
        maximum=int(histogram.get_max_value()) if count else None,
        mean=_counts_in(histogram).mean,  # the library looks at each step, in a second
        percentiles=tuple(
            Percentile(
                share, f"p{plain(100 * share)}", values.get(100 * share), needs(count, share)
            )
            for share in shares
        ),
    )


def needed(share: float) -> int:
    """Return the number of values that the percentile of a share (0.99 is p99) needs: 10 / (1 - share)."""
    # Through its text, since 1 - 0.99 in binary would ask for one value too many or too few.
    return math.ceil(VALUES_ABOVE / (1 - Fraction(str(share))))


def needs(count: int, share: float) -> str:
    """Return "needs 1000" where there are too few values for a percentile; else an empty text."""
    return "" if count >= needed(share) else f"needs {needed(share)}"


@lru_cache(maxsize=1)
def _empty_form() -> HdrHistogram:
    """Return an empty histogram that is used for its constants only."""
    return _empty()


@lru_cache(maxsize=1)
def _bounds_of_steps() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and highest value of each step, in microseconds."""
    form = _empty()
    step = np.arange(form.counts_len, dtype=np.int64)
    half = form.sub_bucket_half_count
    bucket = (step >> form.sub_bucket_half_count_magnitude) - 1
    place = (step & (half - 1)) + np.where(bucket < 0, 0, half)
    bucket = np.maximum(bucket, 0)
    low = place << bucket
    return low, low + (1 << bucket) - 1


def _empty() -> HdrHistogram:
    return HdrHistogram(LOWEST_MICROSECONDS, HIGHEST_MICROSECONDS, DIGITS)
