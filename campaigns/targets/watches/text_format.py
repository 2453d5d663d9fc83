"""Prometheus' text format, for the sources that scrape an exporter. Pure."""

from collections.abc import Collection

from prometheus_client.parser import text_string_to_metric_families

from campaigns.targets.watches.base import WatchFailed
from campaigns.targets.watches.node_metrics import Sample

MOST_SAMPLES = 20_000
"""The most samples of one answer: a machine with a thousand cores has half of them. They take a fifth of a second to read."""


def samples_of(text: str, wanted: Collection[str]) -> list[Sample]:
    """Return the samples of the wanted metrics in an answer; lines that are odd are left out.

    Raise WatchFailed where there are so many that reading them would take the processor of the worker, which measures.
    """
    lines = [line for line in text.splitlines() if _name_of(line) in wanted]
    if len(lines) > MOST_SAMPLES:
        raise WatchFailed(
            f"The answer has more than {MOST_SAMPLES:,} samples of a machine, too many to be read each second: switch "
            "collectors off, or watch it by another source."
        )
    try:
        return _parsed("\n".join(lines))
    except (ValueError, IndexError, KeyError):
        samples: list[Sample] = []
        for line in lines:
            try:
                samples += _parsed(line)
            except (ValueError, IndexError, KeyError):
                continue
        return samples


def _name_of(line: str) -> str:
    return line.partition("{")[0].partition(" ")[0]


def _parsed(text: str) -> list[Sample]:
    return [
        (sample.name, sample.labels, float(sample.value))
        for family in text_string_to_metric_families(text + "\n")
        for sample in family.samples
    ]
