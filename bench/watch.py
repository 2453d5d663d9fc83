"""What it costs to watch a machine by SSH: on the machine, on the worker, and for what is measured meanwhile.

The machine is this one, by OpenSSH's own server on loopback. Printed are, for the sampler in Python and in sh: its processor time with the
session's, a sample's and in percent of a core; bytes; frames that were lost; the processor time of the worker; how certain the clock is.
Then: the worker's time for frames of constructed machines, and pairs, in turn, of a command that computes, watched and not.
Exit code 1 where a goal is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import exp, log
from pathlib import Path
from statistics import mean, stdev

from scipy.stats import t as student

from campaigns.kit.network import parse_rules
from campaigns.kit.ssh.access import SshAccess
from campaigns.targets.watches.base import Access, Frame, WatchFailed
from campaigns.targets.watches.groups import default_groups
from campaigns.targets.watches.sources.ssh import sampling, scripts, source
from campaigns.targets.watches.sources.ssh.frames import PythonDecoder, ShellDecoder
from campaigns.targets.watches.sources.ssh.reader import Reader
from campaigns.tests.targets import ssh_server
from campaigns.tests.targets.watches.sources.ssh import machines
from campaigns.tests.targets.watches.sources.ssh.collected import Collected

GOAL_TARGET, GOAL_WORKER = 1.0, 2.0
"""Percent of a core, at a step of 1 s and with at most 400 processes."""
GOAL_LOST = 0.05
GOAL_SAME = 0.01
COMPUTES = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
Row = tuple[str, str, str, bool]


@dataclass
class Timed(Collected):
    """A sink that notes the processor time of its thread with each frame, and the cost on the machine with its instant."""

    worker: list[float] = field(default_factory=list)
    looks: list[tuple[float, float]] = field(default_factory=list)

    def frame(self, frame: Frame) -> None:
        super().frame(frame)
        self.worker.append(time.thread_time())

    def cost(self, cpu_seconds: float) -> None:
        super().cost(cpu_seconds)
        self.looks.append((time.monotonic(), cpu_seconds))


def main() -> int:
    """Run it and print the tables."""
    options = arguments()
    if not ssh_server.SSHD:
        print("OpenSSH's sshd is not installed here (Debian: openssh-server).", file=sys.stderr)
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place, ssh_server.openssh(Path(place)) as machine:
        print(f"{processes()} processes, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
        access = access_to(machine, options.step)
        for choice in ("python3", "sh"):
            rows += watched(access, choice, options.seconds)
        rows += list(parsing())
        if options.pairs:
            rows += list(paired(access, options.pairs, options.loops))
    width = max(len(name) for name, *_ in rows)
    for name, figure, goal, met in rows:
        print(f"{name:{width}}  {figure:>14}  {goal:14}  {('met' if met else 'MISSED') if goal else ''}")  # fmt: skip
    return 0 if all(met for *_, met in rows) else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="to watch, for each way")
    parser.add_argument("--step", type=float, default=1.0, help="seconds between two samples")
    parser.add_argument(
        "--pairs", type=int, default=20, help="of a command watched and not; 0: none"
    )
    parser.add_argument("--loops", type=int, default=1_000_000, help="of the command")
    return parser.parse_args()


def processes() -> int:
    return len(list(Path("/proc").glob("[0-9]*")))


def access_to(machine: ssh_server.Machine, step: float) -> Access:
    login = SshAccess(
        "127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key
    )
    rules = parse_rules(f"127.0.0.1:{machine.port}")
    return Access(
        "127.0.0.1", rules, step, machine.username, ssh=login, groups=default_groups("http")
    )


def watched(access: Access, choice: str, seconds: float) -> Iterator[Row]:
    """Watch for a time and yield what it took."""
    scripts.CHOOSE = f"echo perfdash {choice}"
    decoders: list[PythonDecoder | ShellDecoder] = []

    class Python(PythonDecoder):
        def __init__(self) -> None:
            super().__init__()
            decoders.append(self)

    class Shell(ShellDecoder):
        def __init__(self, token: str) -> None:
            super().__init__(token)
            decoders.append(self)

    sampling.__dict__.update(PythonDecoder=Python, ShellDecoder=Shell)
    sink, ends = Timed(), time.monotonic() + seconds
    try:
        source.sample(access, sink, lambda wait: time.monotonic() > ends)
    except WatchFailed as failure:
        yield f"{choice}: {failure}", "", "to be watched", False
        return
    (began, first), (ended, last) = sink.looks[0], sink.looks[-1]
    samples = max(round((ended - began) / access.step_seconds), 1)
    share = 100 * (last - first) / max(ended - began, 1e-9)
    yield f"{choice}: processor time on the machine, a sample", f"{1000 * (last - first) / samples:.1f} ms", "", True  # fmt: skip
    yield f"{choice}: percent of a core of the machine", f"{share:.2f}", f"at most {GOAL_TARGET:g}", share <= GOAL_TARGET  # fmt: skip
    yield f"{choice}: login and start, on the machine", f"{first:.2f} s", "", True
    yield f"{choice}: bytes a sample", f"{decoders[0].total / len(sink.frames):,.0f}", "", True
    span = sink.frames[-1].at - sink.frames[0].at
    lost = 1 - (len(sink.frames) - 1) / (span / access.step_seconds) if span else 1.0
    yield f"{choice}: percent of frames lost", f"{100 * max(lost, 0):.1f}", f"at most {100 * GOAL_LOST:g}", lost <= GOAL_LOST  # fmt: skip
    share = 100 * (sink.worker[-1] - sink.worker[0]) / span if span else 100.0
    yield f"{choice}: percent of a core of the worker", f"{share:.2f}", f"at most {GOAL_WORKER:g}", share <= GOAL_WORKER  # fmt: skip
    best = min(each.answered - each.asked for each in sink.clocks) / 2
    yield f"{choice}: the clock is uncertain by", f"{1000 * best:.2f} ms", "", True


def parsing() -> Iterator[Row]:
    """Yield the worker's time for a minute of frames of machines that are not here."""
    many = tuple(machines.Program(2000 + n, "worker", "/", 0.0001, 1, start=10.0) for n in range(10_000))  # fmt: skip
    cases = {
        "2 cores": machines.debian12(),
        "64 cores": machines.el9(),
        "64 cores, 10,000 processes every 10 s": replace(
            machines.el9(), programs=(*machines.PROGRAMS, *many)
        ),
    }
    for name, machine in cases.items():
        large = "10,000" in name
        turns = range(0, 60, 10) if large else range(60)
        stream = b"".join(machines.packed(machine.raw(1000.0 + turn, turn)) for turn in turns)
        reader = Reader(Collected(), default_groups("pulp"))
        begun = time.process_time()
        for raw in PythonDecoder().feed(stream, 0.0):
            reader.read(raw)
        share = 100 * (time.process_time() - begun) / 60
        goal = "" if large else f"at most {GOAL_WORKER:g}"
        yield f"frames of {name}: percent of a core of the worker", f"{share:.2f}", goal, not goal or share <= GOAL_WORKER  # fmt: skip


def paired(access: Access, pairs: int, loops: int) -> Iterator[Row]:
    """Yield by how much a command takes longer where the machine is watched."""
    scripts.CHOOSE = "echo perfdash python3"
    command = ["sh", "-c", COMPUTES.format(loops)]
    stop, ratios = threading.Event(), []
    for number in range(pairs):
        seconds = {}
        for is_watched in (number % 2 == 0, number % 2 != 0):
            stop.clear()
            sink = Collected()
            thread = threading.Thread(target=source.sample, args=(access, sink, stop.wait))
            if is_watched:
                thread.start()
                while not sink.frames:
                    time.sleep(0.05)
            begun = time.perf_counter()
            subprocess.run(command, check=True)  # noqa: S603 - of its own
            seconds[is_watched] = time.perf_counter() - begun
            stop.set()
            if is_watched:
                thread.join()
        ratios.append(log(seconds[True] / seconds[False]))
    half = float(student.ppf(0.95, pairs - 1)) * stdev(ratios) / pairs**0.5 if pairs > 1 else 9.0
    low, high = exp(mean(ratios) - half) - 1, exp(mean(ratios) + half) - 1
    met = low > -GOAL_SAME and high < GOAL_SAME
    yield f"{pairs} pairs, watched against not: 90 % interval", f"{100 * low:+.2f} to {100 * high:+.2f} %", f"within {100 * GOAL_SAME:g} %", met  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
