"""What each container of docker-compose.yml takes: memory at rest and at most, processor time.

Usage: script/bench containers [--engine docker] [--project perfdash] [--seconds 120]

Looks once a second at the containers of a running project, as the engine counts them, while somebody else uses it:
start it (docs/how-to/compose.md), launch a campaign, and run this. The requests and limits of memory in
deploy/kubernetes are of such a table.
"""

import argparse
import re
import subprocess
import time
from dataclasses import dataclass, field

UNITS = {
    "B": 1,
    "kB": 1e3,
    "KB": 1e3,
    "KiB": 2**10,
    "MB": 1e6,
    "MiB": 2**20,
    "GB": 1e9,
    "GiB": 2**30,
}
CPU = ("cat /sys/fs/cgroup/cpuacct/cpuacct.usage 2>/dev/null", "cat /sys/fs/cgroup/cpu.stat")
"""Nanoseconds in the older layout of cgroups; `usage_usec N` in the newer."""


@dataclass
class Seen:
    """What was seen of one container."""

    memory: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="docker")
    parser.add_argument("--project", default="perfdash")
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    names = ask(options.engine, "ps", "--format={{.Names}}").split()
    names = sorted(name for name in names if re.match(f"{options.project}[_-]", name))
    assert names, f"no container of the project {options.project} runs"
    seen = {name: Seen() for name in names}
    begun = time.monotonic()
    for name in names:
        seen[name].cpu.append(cpu_seconds(options.engine, name))
    while time.monotonic() - begun < options.seconds:
        for name, memory in memory_of(options.engine, names).items():
            seen[name].memory.append(memory)
        time.sleep(1)
    took = time.monotonic() - begun
    print(f"In {took:.0f} s:\n")
    print("| container | memory at rest, MiB | at most, MiB | processor time, s | processors |")
    print("|---|--:|--:|--:|--:|")
    for name, one in seen.items():
        used = cpu_seconds(options.engine, name) - one.cpu[0]
        rest, most = (value / 2**20 for value in (min(one.memory), max(one.memory)))
        print(f"| {name} | {rest:.0f} | {most:.0f} | {used:.1f} | {used / took:.2f} |")


def ask(engine: str, *arguments: str) -> str:
    done = subprocess.run([engine, *arguments], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def memory_of(engine: str, names: list[str]) -> dict[str, float]:
    """Give the bytes that each container uses, as the engine counts them."""
    lines = ask(engine, "stats", "--no-stream", "--format={{.Name}} {{.MemUsage}}", *names)
    found = re.findall(r"^(\S+) ([\d.]+)\s*(\w+)", lines, re.MULTILINE)
    return {name: float(number) * UNITS[unit] for name, number, unit in found}


def cpu_seconds(engine: str, name: str) -> float:
    """Give the seconds of processors that a container has used."""
    text = ask(engine, "exec", name, "sh", "-c", " || ".join(CPU))
    number = re.match(r"(usage_usec )?(\d+)", text)
    assert number, text
    return int(number[2]) / (1e6 if number[1] else 1e9)


if __name__ == "__main__":
    main()
