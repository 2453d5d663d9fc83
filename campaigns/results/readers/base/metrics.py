"""Metrics that several tools have, under one name each."""

from collections.abc import Iterable

from campaigns.results.readers.base.values import Fidelity, ReadMetric

DURATION = ReadMetric("duration", "Duration", "s", lower_is_better=True, fidelity="raw")
MEAN = "latency_mean"
RATE = "request_rate"
FAILED_SHARE = "failed_share"
TRANSFER = "transfer_rate"
PERCENTILES = (50, 90, 95, 99)


def percentile(number: float) -> str:
    """Return the name of the metric of a percentile of latency."""
    return f"latency_p{number:g}".replace(".", "_")


def latency(
    fidelity: Fidelity, percentiles: Iterable[float] = PERCENTILES, of_percentiles: Fidelity = "raw"
) -> list[ReadMetric]:
    """Return the mean and percentiles of latency, in seconds."""
    kind = fidelity if of_percentiles == "raw" else of_percentiles
    mean = ReadMetric(MEAN, "Mean latency", "s", True, fidelity, latency=True)
    return [
        mean,
        *(
            ReadMetric(percentile(each), f"Latency, p{each:g}", "s", True, kind, True)
            for each in percentiles
        ),
    ]


def rate(fidelity: Fidelity) -> ReadMetric:
    """Return requests per second."""
    return ReadMetric(RATE, "Requests per second", "1/s", False, fidelity)


def failed_share(fidelity: Fidelity) -> ReadMetric:
    """Return failed requests, as a share of all."""
    return ReadMetric(FAILED_SHARE, "Failed requests", "share", True, fidelity)


def transfer(fidelity: Fidelity) -> ReadMetric:
    """Return bytes per second."""
    return ReadMetric(TRANSFER, "Transfer rate", "B/s", False, fidelity)
