"""Read fio's own JSON of the kind `storage`: values to the last digit, and bandwidth over time. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from campaigns.kinds.storage.profiles import Job

PERCENTILES = {"p50": "50.000000", "p95": "95.000000", "p99": "99.000000", "p999": "99.900000"}


class NotFio(ValueError):
    """The output is not fio's, or not whole."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one command reported. error: of fio, 0 for none. bytes_done: read and written. series: bytes/s, a value for each document.

    latencies: by the prefix of the metrics, how often each completion latency (µs) was there, of all operations.
    """

    values: Mapping[str, float]
    error: int
    bytes_done: int
    series: Sequence[float]
    latencies: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def read_report(printed: bytes, job: Job, step_seconds: float) -> Report:
    """Return what a job reported: the last document counts, those before are progress. Raise NotFio."""
    documents = _documents(printed.decode(errors="replace"))
    if not documents:
        raise NotFio("fio printed no JSON.")
    try:
        parts = documents[-1]["jobs"]
        values = _values(parts, job)
        done = sum(_bytes(part) for part in parts)
        error = next((int(part["error"]) for part in parts if part.get("error")), 0)
        latencies = {
            name: found
            for direction, name in job.metrics.items()
            if (found := _latencies(part[direction] for part in parts))
        }
        steps = [sum(_bytes(part) for part in each["jobs"]) for each in documents]
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise NotFio(f"fio's JSON lacks what is read of it ({problem!r}).") from None
    series = [
        (after - before) / step_seconds
        for before, after in zip([0, *steps], steps[:-1], strict=False)
    ]
    return Report(values, error, done, series, latencies)


def _documents(text: str) -> list[Any]:
    """Return all JSON documents; fio writes lines of text before them. An unfinished last one is left out."""
    found, place, decoder = [], text.find("{"), json.JSONDecoder()
    while place != -1:
        try:
            document, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        if isinstance(document, dict):
            found.append(document)
        place = text.find("{", end)
    return found


def _latencies(measured: Iterable[Any]) -> dict[int, int]:
    """Return the counts of json+ by microseconds; empty where fio was not asked for them."""
    counts: dict[int, int] = {}
    for each in measured:
        for nanoseconds, count in each["clat_ns"].get("bins", {}).items():
            microseconds = max(1, round(int(nanoseconds) / 1000))
            counts[microseconds] = counts.get(microseconds, 0) + int(count)
    return counts


def _bytes(part: Any) -> int:
    return sum(int(part[direction]["io_bytes"]) for direction in ("read", "write"))


def _values(parts: Any, job: Job) -> dict[str, float]:
    values: dict[str, float] = {}
    for direction, name in job.metrics.items():
        measured = [part[direction] for part in parts]
        values[f"{name}_throughput"] = fsum(each["bw_bytes"] for each in measured) / 1e6
        values[f"{name}_iops"] = fsum(each["iops"] for each in measured)
        percentiles = measured[0]["clat_ns"].get("percentile") or {}
        if len(measured) == 1:
            values |= {
                f"{name}_clat_{short}": percentiles[long] / 1e3
                for short, long in PERCENTILES.items()
                if long in percentiles
            }
    if len(parts) == 1:
        sync = parts[0].get("sync", {}).get("lat_ns", {})
        if sync.get("N") and "99.000000" in sync.get("percentile", {}):
            values["fsync_p99"] = sync["percentile"]["99.000000"] / 1e6
    values["cpu_user"] = fsum(float(part["usr_cpu"]) for part in parts)
    values["cpu_system"] = fsum(float(part["sys_cpu"]) for part in parts)
    return values
