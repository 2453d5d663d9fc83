"""Our load engine, run as a measurement runs it: a program of the keeper."""

import threading
from pathlib import Path
from typing import Any

from bench.generators.peers import Found, Load
from campaigns.kinds.programs.program import run_program
from campaigns.kit import histogram
from campaigns.kit.mappings import ProgramResult
from campaigns.kit.network import parse_rules

NAME = "perfdash"


def run(load: Load) -> tuple[Found, Found]:
    """Load; give what it measured from the intended start, and its own service time.

    cpu_seconds are of the measured time: a campaign starts the program before that.
    """
    schedule: dict[str, Any] = {"hosts": load.connections, "duration_seconds": load.seconds}
    if load.rate:
        schedule |= {"loop": "open", "rate_per_second": load.rate}
    result = result_of(load.url, schedule)
    results = []
    for name in ("response", "service"):
        counts = histogram.counts_of(result["histograms"][name].encode())
        p50, p99 = (value / 1000 for value in counts.at([0.5, 0.99]))
        cpu, seconds = result["cpu_seconds"], result["seconds"]
        results.append(Found(counts.total, counts.total / seconds, cpu, p50, p99))
    return results[0], results[1]


def result_of(url: str, schedule: dict[str, Any]) -> ProgramResult:
    """Run the load engine by a schedule with a duration. Raise RuntimeError where a request failed."""
    request = {
        "url": url,
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "schedule": schedule,
        "timeout_seconds": 10.0,
        "time_limit_seconds": schedule["duration_seconds"] + 20,
    }
    result = run_program(
        "campaigns.kinds.load",
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=schedule["duration_seconds"] + 60,
    ).result
    if result["failures"]:
        raise RuntimeError(f"The load engine failed: {result['failures']} {result['examples']}")
    return result


def processor() -> str:
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "an unknown processor"
