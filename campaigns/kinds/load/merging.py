"""Merge what several processes or generators have measured in one run. Pure.

Counts and histograms are added. Percentiles are never averaged: they are read from the added histograms.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from campaigns.kinds.load import reservoir
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult

ADDED = (
    *("failures", "retry_failures", "statuses", "host_failures", "dropped", "answering"),
    *("counts", "package_failures"),
    *(
        "steps_sent",
        "steps_answered",
        "steps_unanswered",
        "steps_failed",
        "steps_left_out",
        "steps_lacking",
    ),
)
SUMS = (
    "cpu_seconds",
    "peak_memory_bytes",
    "bytes",
    "hosts",
    "hosts_done",
    "hosts_failed",
    "warm_up",
    "rounds",
    "resends",
    "not_begun",
    "offered",
    "sent",
)
MOST = ("seconds",)
FIGURES_ADDED = (
    *("cpu_cores", "exhausted", "offered", "sent", "not_begun"),
    "requests_allowed_per_second",  # a generator's share of the owner's limit
)
FIGURES_LEAST = ("descriptor_limit",)
NOTHING = histogram.encode(()).encoded.decode("ascii")
Result = Mapping[str, Any]


def merge(results: Sequence[Result]) -> ProgramResult:
    """Return the result of the whole run. Raise ValueError where there is nothing to add."""
    if not results:
        raise ValueError("There is no result to merge.")
    merged: ProgramResult = dict(results[0])
    merged["complete"] = all(result["complete"] for result in results)
    merged["histograms"] = _histograms(results)
    merged["per_second"] = _per_second(results)
    for name in ADDED:
        if parts := [result[name] for result in results if name in result]:
            total = Counter[str]()
            for part in parts:  # unlike a sum this keeps what is 0: a step that was never left out
                total.update(part)
            merged[name] = dict(total)
    for name in SUMS:
        merged[name] = sum(result.get(name, 0) for result in results)
    if samples := [result["sampled"] for result in results if "sampled" in result]:
        merged["sampled"] = {
            name: reservoir.merged([each[name] for each in samples]) for name in samples[0]
        }
    for name in MOST:
        merged[name] = max(result[name] for result in results)
    merged["examples"] = {
        kind: text for result in reversed(results) for kind, text in result["examples"].items()
    }
    merged["processes"] = [figures for result in results for figures in result["processes"]]
    merged["figures"] = _figures([result["figures"] for result in results], merged)
    merged["window"] = (
        [
            min((r["window"][0] for r in results if r["window"]), default=0.0),
            max((r["window"][1] for r in results if r["window"]), default=0.0),
        ]
        if any(r["window"] for r in results)
        else []
    )
    return merged


def _histograms(results: Iterable[Result]) -> dict[str, str]:
    shards: dict[str, list[bytes]] = {}
    for result in results:
        for name, encoded in result["histograms"].items():
            shards.setdefault(name, []).append(encoded.encode("ascii"))
    return {
        name: (parts[0] if len(parts) == 1 else histogram.merge(parts)).decode("ascii")
        for name, parts in sorted(shards.items())
    }


def _per_second(results: Iterable[Result]) -> dict[str, list[int]]:
    columns: dict[str, list[list[int]]] = {}
    for result in results:
        for name, steps in result["per_second"].items():
            columns.setdefault(name, []).append(steps)
    return {
        name: [sum(step) for step in zip_longest(*parts, fillvalue=0)]
        for name, parts in columns.items()
    }


def _figures(parts: Sequence[Mapping[str, float]], merged: Result) -> dict[str, float]:
    """Add the additive figures; of the rest take the largest, since the worst process decides."""
    figures: dict[str, float] = {}
    for name in {name for part in parts for name in part}:
        values = [part[name] for part in parts if name in part]
        if name in FIGURES_ADDED:
            figures[name] = sum(values)
        else:
            figures[name] = min(values) if name in FIGURES_LEAST else max(values)
    service = histogram.counts_of(merged["histograms"].get("service", NOTHING).encode("ascii"))
    if service.total:
        figures["service_p50_seconds"] = service.at([0.5])[0] / 1e6
    return figures
