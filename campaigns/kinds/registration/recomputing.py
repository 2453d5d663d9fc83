"""What the stored samples of a registration run, a row a host, give once more."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Recomputed
from campaigns.kinds.registration.program.profiles import CONSUMER
from campaigns.kinds.registration.summary import PERCENTILES, TIMED_OUT
from campaigns.kit import histogram

WHOLE, START = "total_seconds", "start_seconds"


def recompute(samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]) -> Recomputed:
    """Count hosts and take means and percentiles again; the rate is over the stored window."""
    failures = samples["failure"]
    rows = [row for row, failure in enumerate(failures) if not failure]
    hosts = round(values["passed"] + values["failed"])
    found = {
        "passed": float(len(rows)),
        "failed": float(hosts - len(rows)),
        "first_try": 100.0 * len(rows) / hosts,
    }
    if seconds := values.get("window"):
        found["registration_rate"] = len(rows) / seconds
    times = {
        name.removesuffix("_seconds"): [
            round(each * 1e6) for each in (column[row] for row in rows) if each is not None
        ]
        for name, column in samples.items()
        if name.endswith("_seconds") and name != START
    }
    times = {name: each for name, each in times.items() if each}
    if whole := times.pop("total", []):
        found |= {"registration_time": sum(whole) / len(whole) / 1e6}
        found |= {"registration_time_max": max(whole) / 1e6}
        late = sum(failure == TIMED_OUT for failure in failures) + hosts - len(failures)
        found |= _percentiles(sorted(whole), late)
    if consumers := times.get(CONSUMER):
        found["consumer_time"] = sum(consumers) / len(consumers) / 1e6
    if starts := [round(each * 1e6) for each in samples[START]]:
        found["start_spread"] = (max(starts) - min(starts)) / 1e6
    return Recomputed(found, {"registration_time": whole} | times, units_done=len(rows))


def _percentiles(times: Sequence[int], late: int) -> dict[str, float]:
    """Those that hosts came through at; one that is a limit only is not given again."""
    count = len(times) + late
    ranks = {
        name: max(1, int(count * share + 0.5))
        for name, share in PERCENTILES.items()
        if not histogram.needs(count, share)
    }
    return {name: times[rank - 1] / 1e6 for name, rank in ranks.items() if rank <= len(times)}
