"""Ten million latencies through histograms, with the memory that it takes."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from time import process_time

from campaigns.kit import histogram

VALUES, SHARDS = 10_000_000, 100


@dataclass(frozen=True, slots=True)
class Recorded:
    """What it took. Bytes are the peak over what was there before."""

    values: int
    encode_seconds: float
    merge_seconds: float
    peak_bytes: int
    encoded_bytes: int
    p99_microseconds: int | None


def ten_million(values: int = VALUES) -> Recorded:
    """Record shard by shard from a generator, add the shards, read percentiles."""
    tracemalloc.start()
    begun = process_time()
    shards = [
        histogram.encode(_latencies(values // SHARDS, seed)).encoded for seed in range(SHARDS)
    ]
    encoded = process_time()
    merged = histogram.merge(shards)
    summary = histogram.summarise(merged)
    ended = process_time()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    if summary.count != values:
        raise ValueError(f"{summary.count} of {values} values are in the histogram.")
    p99 = next(each.microseconds for each in summary.percentiles if each.share == 0.99)
    return Recorded(values, encoded - begun, ended - encoded, peak, len(merged), p99)


def _latencies(count: int, seed: int) -> Iterator[int]:
    """Log-normal around 20 ms, in microseconds; one after the other."""
    random = Random(seed)
    draws = [int(20_000 * random.lognormvariate(0, 0.5)) for _ in range(count // SHARDS)]
    return (draws[index % len(draws)] for index in range(count))
