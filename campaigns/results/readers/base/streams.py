"""Aggregate single requests into the figures of a run."""

from array import array
from collections.abc import Iterable
from math import ceil, fsum

from campaigns.results.readers.base import metrics
from campaigns.results.readers.base.building import Builder
from campaigns.results.readers.base.texts import instant_at
from campaigns.results.readers.base.values import ReadMetric, Scalar

BEYOND = 5
"""A percentile needs so many samples at and beyond it: p99 at least 400 in all, p50 at least 8."""


STEPS = 30
"""A rate needs a span of so many steps of the clock: with whole seconds, 30 s."""


class Stream:
    """The requests of one cell. Times in seconds; instants in seconds since 1970.

    step: to which the tool rounds instants, in seconds.
    """

    def __init__(self, step: float = 0.0) -> None:
        self.step = step
        self.seconds = array("d")
        self.failed, self.unknown = 0, 0
        self.bytes = 0.0
        self.began, self.ended = float("inf"), float("-inf")

    def add(self, began: float, seconds: float, failed: bool | None, size: float = 0.0) -> None:
        """Add one request, and whether it failed; None if the file does not say. size: bytes received."""
        self.seconds.append(seconds)
        self.failed += failed is True
        self.unknown += failed is None
        self.bytes += size
        self.began, self.ended = min(self.began, began), max(self.ended, began + seconds)

    def into(self, builder: Builder, levels: dict[str, Scalar]) -> None:
        """Add the run of these requests."""
        samples = sorted(self.seconds)
        total, span = len(samples), self.ended - self.began
        values = {metrics.MEAN: fsum(samples) / total}
        for number in metrics.PERCENTILES:
            if (result := nearest_rank(samples, number)) is not None:
                values[metrics.percentile(number)] = result
            else:
                builder.drop(
                    f"Percentile {number} is left out where fewer than {BEYOND} requests are at "
                    "or beyond it."
                )
        if span > STEPS * self.step:
            values[metrics.RATE] = total / span
            if self.bytes:
                values[metrics.TRANSFER] = self.bytes / span
        builder.requests(
            levels,
            values,
            total=total,
            failed=self.failed if self._says_failures(total) else None,
            reason="every request failed",
            started_at=instant_at(self.began),
            finished_at=instant_at(self.ended),
        )

    def _says_failures(self, total: int) -> bool:
        """Return whether the file says which requests failed, apart from a damaged line here and there."""
        return self.unknown < total and self.unknown <= max(1, total // 100)


def stream_metrics() -> Iterable[ReadMetric]:
    """Return the metrics of a run that was gathered from its requests."""
    return (
        *metrics.latency("aggregated"),
        metrics.rate("aggregated"),
        metrics.failed_share("aggregated"),
        metrics.transfer("aggregated"),
    )


def nearest_rank(ordered: list[float], number: float) -> float | None:
    """Return the percentile by nearest rank; None with fewer than BEYOND samples at and beyond it."""
    rank = max(1, ceil(len(ordered) * number / 100))
    return ordered[rank - 1] if len(ordered) - rank + 1 >= BEYOND else None
