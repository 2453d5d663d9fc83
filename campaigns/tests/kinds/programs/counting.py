"""A load program without a target: its requests take as long as it is told. Run with -m.

What it gives is what `campaigns.kinds.load` gives, so it can be merged.
"""

import time
from pathlib import Path

from campaigns.kinds.programs import lifeline
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    request = keeper.request
    keeper.report("hello", {"libraries": {"python": "3"}})
    number, _ = request.get("shard", (0, 1))
    ways = request.get("ways", {}).get(str(number), request.get("way", ""))
    if ways == "broken":
        raise RuntimeError(f"no such luck, {request.get('name')}")
    if ways == "slow":
        time.sleep(60)
    started = monotonic()
    if request.get("wait_for_start") and ways != "hasty":
        keeper.report("ready", {})
        told = keeper.start_at()
        assert told is not None
        time.sleep(max(0.0, told - monotonic()))
        started = told
    began = monotonic()
    ends = began + (0 if ways == "hasty" else request["seconds"])
    while monotonic() < ends:
        time.sleep(0.02)
        if ways == "dying" and monotonic() > began + 0.3:
            raise RuntimeError("it fell over")
        counts = request.get("counts", {})
        keeper.report("progress", {"seconds": monotonic() - began, **counts})
    if place := request.get("directory"):
        (Path(place) / f"of-{number}").write_text("secret")
    times = [1000 * (number + 1)] * (number + 1)
    keeper.report(
        "samples", {"time_us": times, "late_us": [int((began - started) * 1e6)] * len(times)}
    )
    return {
        "complete": True,
        "seconds": request["seconds"],
        "window": [0.0, request["seconds"]],
        "examples": {},
        "failures": {"5xx": number},
        "histograms": {"service": histogram.encode(times).encoded.decode("ascii")},
        "per_second": {"done": [number + 1]},
        "processes": [],
        "figures": {"cpu_cores": 0.1, "busiest_process_cores": request.get("busy", 0.1)},
    }


if __name__ == "__main__":
    lifeline.run(main)
