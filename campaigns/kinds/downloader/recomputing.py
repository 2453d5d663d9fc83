"""What the stored samples of a download give once more."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Recomputed
from campaigns.kinds.downloader.engines.summary import PERCENTILES
from campaigns.kinds.programs.health import percentile
from campaigns.kit import histogram

COLUMNS = {"file_time": "total_seconds", "first_byte": "first_byte_seconds"}


def recompute(samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]) -> Recomputed:
    """Count files and take percentiles again; rates are over the stored duration."""
    rows = [row for row, failure in enumerate(samples["failure"]) if not failure]
    found = {"failed_files": float(len(samples["failure"]) - len(rows))}
    seconds = values.get("duration")
    if seconds and rows:
        found["file_rate"] = len(rows) / seconds
        found["throughput"] = sum(samples["bytes"][row] for row in rows) / 1e6 / seconds
    seen = {name: [samples[column][row] for row in rows] for name, column in COLUMNS.items()}
    times = {
        name: [round(each * 1e6) for each in column]
        for name, column in seen.items()
        if None not in column
    }
    of_files = times.get("file_time", [])
    for name, share in PERCENTILES.items():
        if not histogram.needs(len(of_files), share):
            found[name] = percentile(of_files, share) / 1000
    return Recomputed(found, times, units_done=len(rows))
