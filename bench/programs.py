"""What it costs to run a command that is not perfdash's own, and how soon nothing of it is left.

Commands run on this machine, and by SSH on OpenSSH's own server on loopback. Printed are: the seconds from a cancel, a killed worker or a
lost connection until no process has the command's mark; the processor time of everything beside a command that sleeps; and pairs, in turn,
of a command that computes, and of fio, by hand and under the driver. Exit code 1 where a goal is missed.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from math import exp, log
from pathlib import Path
from statistics import mean, median, stdev

import django
from scipy.stats import t as student

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
django.setup()

from campaigns.kinds.base import Cancelled, Context, Target  # noqa: E402
from campaigns.kinds.base.commanding import run_here, run_there  # noqa: E402
from campaigns.kinds.programs import run_remotely  # noqa: E402
from campaigns.kinds.programs.commands import MARK, Command, Ran, new_marker  # noqa: E402
from campaigns.kinds.storage.driver import driver as storage  # noqa: E402
from campaigns.kinds.storage.profiles import own_profile  # noqa: E402
from campaigns.kinds.storage.report import read_report  # noqa: E402
from campaigns.kit.network import parse_rules  # noqa: E402
from campaigns.kit.ssh.access import SshAccess  # noqa: E402
from campaigns.tests.targets import ssh_server  # noqa: E402

GOAL_SECONDS = 2.0
"""From a cancel until no process is left; after a lost connection, whose end nobody tells, the lease of the guard is added."""
GOAL_CPU = 1.0
"""Percent of a core, of all that runs on the target beside the command."""
GOAL_SAME = 0.03
HOLDS = "setsid sleep 300 & sleep 300"
COMPUTES = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
KILLED_WORKER = (
    "import json, sys; from campaigns.kinds.programs import run_remotely;"
    "from campaigns.kinds.programs.commands import Command; from campaigns.kit.network import parse_rules;"
    "from campaigns.kit.ssh.access import SshAccess; command, access = json.loads(sys.stdin.read());"
    "run_remotely.run(Command(**command), SshAccess(**access), parse_rules('127.0.0.1:*'), lambda: None)"
)


def main() -> int:
    """Run it and print the tables."""
    options = arguments()
    if not ssh_server.SSHD:
        print("OpenSSH's sshd is not installed here (Debian: openssh-server).", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="bench-programs-") as name:
        world = World(Path(name))
        with ssh_server.openssh(world.place) as machine:
            key = (machine.username, machine.key, "", machine.host_key)
            world.target = Target(
                "here",
                "machine",
                "http://127.0.0.1:22/",
                ssh=SshAccess("127.0.0.1", machine.port, *key),
            )
            results = [*ends(world, options.times), *costs(world, options.seconds)]
            results += computing(world, options.pairs, options.loops)
            if options.fio:
                results += fios(world, options.pairs, options.fio)
    table(results)
    return 0 if all(ok for *_, ok in results) else 1


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="of each way to end a command")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the command that sleeps")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--loops", type=int, default=1_000_000, help="of the command that computes")
    parser.add_argument("--fio", type=int, default=256, help="MiB of fio's file; 0: without fio")
    return parser.parse_args()


class World:
    """A place to work in, and a target by SSH."""

    def __init__(self, place: Path) -> None:
        self.place, self.number = place, 0
        self.target = Target("here", "machine", "http://127.0.0.1:22/")

    def context(self) -> Context:
        """Return what an attempt would have."""
        self.number += 1
        return Context(
            cancelled=threading.Event(),
            lease_seconds=lambda: 15.0,
            progress=lambda values: None,
            say=lambda line: None,
            clock=time.perf_counter_ns,
            directory=self.place / f"attempt-{self.number}",
            rules=parse_rules("127.0.0.1:*"),
            deadline_seconds=600.0,
        )

    def run(self, command: Command, context: Context, where: str) -> Ran:
        """Run a command here, or by SSH."""
        if where == "worker":
            return run_here(command, context)
        return run_there(command, self.target, context)


def shell(text: str) -> Command:
    """Return the command of a text for a shell."""
    return Command(["sh", "-c", text], 600.0, 100_000, new_marker())


def living(marker: str) -> int:
    """Return how many processes have the mark of a command."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            count += f"{MARK}={marker}".encode() in path.read_bytes().split(b"\0")
    return count


def until(done: Callable[[], bool]) -> float:
    """Wait until it is done; return how long that took."""
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > 60:
            raise SystemExit("A process was left for more than a minute.")
        time.sleep(0.01)
    return time.monotonic() - begun


def ends(world: World, times: int) -> Iterator[tuple[str, str, str, bool]]:
    """Measure how soon nothing is left."""
    ways: dict[str, Callable[[], float]] = {
        "cancel, on a worker": lambda: cancelled(world, "worker"),
        "cancel, by SSH": lambda: cancelled(world, "target"),
        "killed worker, by SSH": lambda: killed(world),
    }
    for name, once in ways.items():
        found = [once() for _ in range(times)]
        yield (
            f"{name}: seconds until no process is left",
            f"{median(found):.2f} (most {max(found):.2f}, {times} times)",
            f"at most {GOAL_SECONDS:g}",
            max(found) <= GOAL_SECONDS,
        )


def cancelled(world: World, where: str) -> float:
    """Cancel a command with a process in another session; return the seconds until both are gone."""
    command, context = shell(HOLDS), world.context()

    def go() -> None:
        with suppress(Cancelled):
            world.run(command, context, where)

    thread = threading.Thread(target=go)
    thread.start()
    until(lambda: living(command.marker) >= 2)
    context.cancelled.set()
    seconds = until(lambda: not living(command.marker))
    thread.join()
    return seconds


def killed(world: World) -> float:
    """Kill the process that runs a command by SSH; return the seconds until nothing of it is left."""
    command = shell(HOLDS)
    worker = subprocess.Popen([sys.executable, "-c", KILLED_WORKER], stdin=subprocess.PIPE)  # noqa: S603 - of its own
    assert worker.stdin
    assert world.target.ssh
    worker.stdin.write(json.dumps([asdict(command), asdict(world.target.ssh)]).encode())
    worker.stdin.close()
    until(lambda: living(command.marker) >= 2)
    worker.kill()
    seconds = until(
        lambda: not living(command.marker) and not Path(run_remotely.directory_of(command)).exists()
    )
    worker.wait()
    return seconds


def costs(world: World, seconds: float) -> Iterator[tuple[str, str, str, bool]]:
    """Measure the processor time of everything beside a command that does nothing."""
    short, long = (spent(world, f"sleep {each:g}", "worker") for each in (1.0, 1.0 + seconds))
    share = 100 * (long - short) / seconds
    yield ("on a worker: percent of a core beside the command", f"{share:.2f}", "", True)
    short, long = (spent(world, f"sleep {each:g}", "target") for each in (1.0, 1.0 + seconds))
    share = 100 * (long - short) / seconds
    yield (
        "by SSH: percent of the target's core, guard and sshd",
        f"{share:.2f}",
        f"at most {GOAL_CPU:g}",
        share <= GOAL_CPU,
    )
    yield (
        "by SSH: processor time on the target of the login and the start",
        f"{short:.2f} s",
        "",
        True,
    )


def spent(world: World, text: str, where: str) -> float:
    """Return the processor time that a command takes with all that runs it: here the engine program, on the target sshd."""
    before = of_children() if where == "worker" else of_sshd(world)
    world.run(shell(text), world.context(), where)
    time.sleep(0.5)  # sshd waits for its children
    return (of_children() if where == "worker" else of_sshd(world)) - before


def of_children() -> float:
    """Return the processor time of all programs of this process that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def of_sshd(world: World) -> float:
    """Return the processor time of sshd with all that it has waited for."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            if b"sshd" in words.split(b"\0")[0] and str(world.place).encode() in words:
                fields = (path.parent / "stat").read_bytes().rpartition(b")")[2].split()
                return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    raise SystemExit("sshd is gone.")


def computing(world: World, pairs: int, loops: int) -> Iterator[tuple[str, str, str, bool]]:
    """Compare a command that computes by hand and under the driver."""
    text = COMPUTES.format(loops)

    def by_hand() -> float:
        before = of_children()
        subprocess.run(["/bin/sh", "-c", text], check=True)  # noqa: S603
        return of_children() - before

    for where in ("worker", "target"):
        yield compared(
            f"a command that computes, {where}: its processor time, of that by hand",
            pairs,
            by_hand,
            lambda where=where: world.run(shell(text), world.context(), where).cpu_seconds or 0.0,  # type: ignore[misc]
        )


def fios(world: World, pairs: int, mib: int) -> Iterator[tuple[str, str, str, bool]]:
    """Compare fio's random reads, past the cache, by hand and under the driver."""
    place = world.place / "fio"
    place.mkdir()
    initial = {name: field.initial for name, field in storage.parameters.base_fields.items()}
    form = storage.parameters(
        initial
        | {"directory": str(place), "profile": "own", "rw": "read", "size_gib": mib / 1024}
        | {"block_size": "64k", "direct": "1"}
    )
    assert form.is_valid(), form.errors
    lines: list[str] = []

    def by_driver() -> float:
        measured = storage.measure(world.target, form.cleaned_data, world.context())
        assert not measured.failure, measured.failure
        commands = next(each.content for each in measured.outputs if each.name == "commands")
        lines[:] = commands.decode().splitlines()
        return measured.values["read_throughput"]

    by_driver()

    def by_hand() -> float:
        own = place / "by-hand"
        own.mkdir(exist_ok=True)
        words = [
            f"--directory={own}" if w.startswith("--directory=") else w for w in lines[-1].split()
        ]
        done = subprocess.run(words, capture_output=True, check=True)  # noqa: S603
        return read_report(done.stdout, own_profile("read").jobs[0], 5.0).values["read_throughput"]

    yield compared(
        f"fio, {mib} MiB read past the cache: MB/s of the driver, of those by hand",
        pairs,
        by_hand,
        by_driver,
        goal=False,
    )
    before = sorted(path.name for path in place.iterdir())
    by_driver()
    left = sorted(path.name for path in place.iterdir())
    yield (
        "files that a run leaves in the measured directory",
        str(len(left) - len(before)),
        "0",
        left == before,
    )


def compared(
    name: str,
    pairs: int,
    by_hand: Callable[[], float],
    by_driver: Callable[[], float],
    *,
    goal: bool = True,
) -> tuple[str, str, str, bool]:
    """Run pairs in turn, and return the ratio of the driver's value."""
    logs = []
    for number in range(pairs):
        row = {}
        for which in ("hand", "driver")[:: -1 if number % 2 else 1]:
            row[which] = by_hand() if which == "hand" else by_driver()
        logs.append(log(row["driver"] / row["hand"]))
    half = float(student.ppf(0.975, pairs - 1)) * stdev(logs) / pairs**0.5 if pairs > 1 else 0.0
    low, high = exp(mean(logs) - half), exp(mean(logs) + half)
    same = low <= 1 + GOAL_SAME if goal else low <= 1 <= high
    text = f"{exp(mean(logs)):.3f} ({low:.3f} to {high:.3f}, 95 %, {pairs} pairs)"
    return (
        name,
        text,
        f"no more than {100 * GOAL_SAME:g} % above" if goal else "no difference",
        same,
    )


def table(rows: list[tuple[str, str, str, bool]]) -> None:
    """Print results with their goals."""
    print("| | | goal | |\n|---|--:|---|---|")
    for name, text, goal, ok in rows:
        print(f"| {name} | {text} | {goal} | {'' if not goal else 'kept' if ok else 'missed'} |")


if __name__ == "__main__":
    sys.exit(main())
