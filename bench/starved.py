"""Measure how wrong a value is whose generator waited for a CPU: every engine in turn, quiet and beside busy loops.

nginx and PostgreSQL have one half of the cores, the engine and the busy loops the other, as if they were two machines; then all of
them share all cores. Busy loops use a whole core or a share of it, with and without `nice`, at most six at once, and end with each
run. The error of a value is against the median of the quiet runs of the same engine. Exit code 1 if a program is missing.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, NamedTuple

import django
import psutil

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
django.setup()

from bench.downloads import contestants  # noqa: E402
from bench.downloads import server as files_served  # noqa: E402
from bench.generators import own, peers, server  # noqa: E402
from bench.publishing import add_write, publish, written_by  # noqa: E402
from bench.sql import context_of, parameters_of  # noqa: E402
from campaigns.kinds.programs.commands import Command, new_marker  # noqa: E402
from campaigns.kinds.programs.run_here import run_in  # noqa: E402
from campaigns.kinds.programs.starving import STARVED_SHARE, WAITED_WARNS, waited_share  # noqa: E402
from campaigns.kinds.sql.driver import driver as sql_driver  # noqa: E402
from campaigns.kit import histogram, kernel  # noqa: E402
from campaigns.tests.kinds.sql import servers  # noqa: E402

LONGEST_SECONDS = 60.0
TAIL = "p95"
MOST_LOOPS = 6
LIMITS = (0.02, WAITED_WARNS, STARVED_SHARE, 0.2)
WRONG = 0.15
"""Relative error from which on a value counts as wrong here: runs of one engine differ by less than that on a quiet machine."""
LOOP = """
import os, sys, time
os.nice({nice})
ends = time.monotonic() + {seconds}
while (now := time.monotonic()) < ends:
    if now % 0.02 > 0.02 * {share}:
        time.sleep(0.002)
"""
COMMAND = "import hashlib\nfor _ in range(500): hashlib.sha256(b'x' * 1000000).digest()"
BEGUN = monotonic()


@dataclass(frozen=True)
class Beside:
    """Busy loops beside a run: how many, the share of a core that each wants, and how nice they are."""

    loops: int = 0
    share: float = 1.0
    nice: int = 0

    def __str__(self) -> str:
        if not self.loops:
            return "nothing"
        nice = f", nice {self.nice}" if self.nice else ""
        return f"{self.loops} x {self.share:.0%}{nice}"


QUIET = Beside()
BUSY = (
    *(Beside(1, share) for share in (0.05, 0.1, 0.2, 0.4, 1.0)),
    Beside(2),
    Beside(MOST_LOOPS),
    Beside(1, 1.0, 19),
    Beside(MOST_LOOPS, 1.0, 19),
)


@dataclass(frozen=True)
class Value:
    """One run: its value in a unit in which less is better, and the share of the time that its engine waited."""

    beside: Beside
    values: Mapping[str, float]
    waited: float


Found = tuple[dict[str, float], Mapping[str, float]]
"""Values in which less is better, and the figures of the engine's health."""
Engine = Callable[[], Found]


def main() -> int:
    """Measure, and print the page, or write it."""
    options = arguments()
    nginx = peers.find("nginx") or peers.find("/usr/sbin/nginx")
    if nginx is None:
        print("nginx was not found: apt-get install nginx-light.", file=sys.stderr)
        return 1
    kernel.raise_open_files()
    load, cores = os.getloadavg()[0], sorted(os.sched_getaffinity(0))
    pages: dict[str, dict[str, list[Value]]] = {}
    with ExitStack() as stack:
        engines = every_engine(stack, nginx)
        half = len(cores) // 2
        if half:
            divide(cores[:half], cores[half:])
            pages[APART] = measured(engines, options.rounds, BUSY)
            divide(cores, cores)
        pages[TOGETHER] = measured(engines, options.rounds, (Beside(1), Beside(MOST_LOOPS)))
    publish(markdown(pages, options, load, len(cores)), options.write)
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="script/bench starved", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of all engines beside all loads")
    parser.add_argument("--note", default="", help="about the machine, for the page")
    add_write(parser, "starved")
    return parser.parse_args()


def divide(theirs: Sequence[int], ours: Sequence[int]) -> None:
    """Give the servers some cores, and this program with all that it starts from now on others."""
    for process in psutil.Process().children(recursive=True):
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(process.pid, theirs)
    os.sched_setaffinity(0, ours)


@contextmanager
def busy(beside: Beside) -> Iterator[None]:
    """Let loops run beside us; they end with us, or after a minute."""
    text = LOOP.format(nice=beside.nice, seconds=LONGEST_SECONDS, share=beside.share)
    loops = [
        subprocess.Popen([sys.executable, "-I", "-S", "-c", text])  # noqa: S603 - our own
        for _ in range(beside.loops)
    ]
    try:
        if loops:
            threading.Event().wait(0.3)  # until they compute
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measured(
    engines: Mapping[str, Engine], rounds: int, besides: Sequence[Beside]
) -> dict[str, list[Value]]:
    """Let every engine run quiet and beside each load in turn; quiet runs lie between the others."""
    used: dict[str, list[Value]] = {name: [] for name in engines}
    for _ in range(rounds):
        for number, beside in enumerate(besides):
            for each in (QUIET, beside) if number % 2 == 0 else (beside,):
                for name, run in engines.items():
                    with busy(each):
                        values, figures = run()
                    used[name].append(Value(each, values, waited_share(figures) or 0.0))
                    tell(f"{name}, beside {each}: waited {used[name][-1].waited:.1%}, {values}")
    return used


def every_engine(stack: ExitStack, nginx: str) -> dict[str, Engine]:
    """Start the servers; return each engine with a load at which it is itself no limit, and one at which it is."""
    web = stack.enter_context(server.serving(nginx))
    files = stack.enter_context(files_served.serving(nginx))
    place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-starved-")))
    place.chmod(0o755)
    database = stack.enter_context(servers.database(place))
    target = database.target()
    common = {"warm_up_seconds": 0, "duration_seconds": 1, "rows": 1000, "clients": 4}
    offered_sql = common | {"duration_seconds": 3, "loop": "open", "rate": 200}
    sql_driver.reset(target, parameters_of(**common), context_of(place / "reset"))
    return {
        "load, closed, 20 connections": lambda: load(web.url, {"hosts": 20}),
        "load, closed, 20 connections that think 20 ms": lambda: load(
            web.url, {"hosts": 20, "think_seconds": 0.02}
        ),
        "load, open, 1,000/s": lambda: load(web.url, offered(1000.0)),
        "load, open, 20/s": lambda: load(web.url, offered(20.0)),
        **{
            f"downloader, {name}": partial(download, name, files.small, files.place)
            for name in ("asyncio", "futures", "curl")
        },
        "sql, closed, 4 clients": lambda: transact(target, common, place),
        "sql, open, 200/s": lambda: transact(target, offered_sql, place),
        "program": lambda: command(place),
    }


def offered(rate: float) -> dict[str, Any]:
    """Return the schedule of an open loop."""
    return {"hosts": 20, "loop": "open", "rate_per_second": rate}


def load(url: str, schedule: dict[str, Any]) -> Found:
    """Let the load engine repeat a request of 1 KB; of what http and registration are made."""
    closed = "rate_per_second" not in schedule
    seconds = 1.0 if closed or schedule["rate_per_second"] > 100 else 3.0
    result = own.result_of(url, schedule | {"duration_seconds": seconds})
    counts = histogram.counts_of(result["histograms"]["response"].encode())
    p50, p95 = counts.at([0.5, 0.95])
    values = {"p50": float(p50), "p95": float(p95)}
    if closed:
        values["time of a request"] = result["seconds"] / counts.total
    return values, result["figures"]


def download(engine: str, files: files_served.Files, place: Path) -> Found:
    """Let an engine of the downloader fetch and verify 2000 files."""
    with contestants.emptied(place) as directory:
        result = contestants.result_of(engine, files, directory)
    return {"duration": result["seconds"]}, result["figures"]


def transact(target: Any, parameters: dict[str, Any], place: Path) -> Found:
    """Let pgbench read single rows."""
    directory = Path(tempfile.mkdtemp(dir=place))
    measured = sql_driver.measure(target, parameters_of(**parameters), context_of(directory))
    names = {"response_p50": "p50", "response_p95": TAIL, "end_to_end_time": "time of a request"}
    values = {
        name: measured.values[metric] for metric, name in names.items() if metric in measured.values
    }
    return values, measured.health.figures


def command(place: Path) -> Found:
    """Let a program of the kind *program* hash 500 MB."""
    ran = run_in(
        Path(tempfile.mkdtemp(dir=place)),
        Command([sys.executable, "-c", COMMAND], LONGEST_SECONDS, 1000, new_marker()),
        (),
        cancelled=threading.Event(),
        lease_seconds=lambda: LONGEST_SECONDS,
        progress=lambda progress: None,
    )
    return {"duration": ran.seconds}, ran.figures


class Run(NamedTuple):
    """A run beside the quiet ones of its engine: relative errors of its duration, rate or median, and of p95 where it has one."""

    value: Value
    typical: float
    tail: float | None

    @property
    def quiet(self) -> bool:
        """Return whether nothing was beside it."""
        return self.value.beside == QUIET


def runs_of(values: Sequence[Value]) -> list[Run]:
    """Return each run with its errors against the medians of the quiet runs."""
    quiet = [each for each in values if each.beside == QUIET]
    usual = {name: median(each.values[name] for each in quiet) for name in quiet[0].values}
    return [
        Run(
            each,
            max(abs(each.values[name] / usual[name] - 1) for name in usual if name != TAIL),
            abs(each.values[TAIL] / usual[TAIL] - 1) if TAIL in usual else None,
        )
        for each in values
    ]


def markdown(
    pages: Mapping[str, Mapping[str, Sequence[Value]]],
    options: argparse.Namespace,
    load: float,
    cores: int,
) -> str:
    """Write the page."""
    begin = INTRODUCTION.format(
        written_by=written_by("starved"),
        machine=f"{own.processor()}, {platform.machine()}, {cores} cores",
        load=f"load average {load:.1f}",
        note=f" {options.note}" if options.note else "",
        rounds="Once" if options.rounds == 1 else f"{options.rounds} times",
        limit=f"{STARVED_SHARE:.0%}",
        warns=f"{WAITED_WARNS:.0%}",
        most=f"{1 / (1 - STARVED_SHARE) - 1:.0%}",
        wrong=f"{WRONG:.0%}",
    )
    return "\n".join([begin, *(line for each in pages.items() for line in tables(*each))]) + "\n"


def tables(title: str, measured: Mapping[str, Sequence[Value]]) -> Iterator[str]:
    """Yield the tables of one placement."""
    found = {name: runs_of(values) for name, values in measured.items()}
    every = [run for runs in found.values() for run in runs]
    quiet, others = (
        [run for run in every if run.quiet],
        [run for run in every if not run.quiet],
    )
    yield f"\n## {title}\n"
    yield (
        "| limit | quiet runs called starved | busy runs called | not called: wrong by more than "
        f"{WRONG:.0%} | p95 wrong by as much | just below: error of the value, of p95 (medians) |"
    )
    yield "|---|--:|--:|--:|--:|--:|"
    for limit, lower in zip(LIMITS, (0.0, *LIMITS), strict=False):
        passed = [run for run in others if run.value.waited <= limit]
        near = [run for run in passed if run.value.waited > lower]
        yield (
            f"| {limit:.0%} | {called(quiet, limit)} | {called(others, limit)} | "
            f"{wrong(run.typical for run in passed)} | {wrong(tails(passed))} | "
            f"{middle([run.typical for run in near])}, {middle(tails(near))} |"
        )
    yield f"\nEach engine, limit {STARVED_SHARE:.0%}:\n"
    yield (
        "| engine | quiet: called | waited, median and most | busy: called | not called: error, median and worst | "
        "of p95 | called: error, median |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, runs in found.items():
        yield f"| {name} | {' | '.join(cells(runs))} |"


def cells(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the figures of an engine."""
    quiet, others = [run for run in runs if run.quiet], [run for run in runs if not run.quiet]
    waited = [run.value.waited for run in quiet]
    passed = [run for run in others if run.value.waited <= STARVED_SHARE]
    yield called(quiet, STARVED_SHARE)
    yield f"{median(waited):.1%}, {max(waited):.1%}"
    yield called(others, STARVED_SHARE)
    for errors in ([run.typical for run in passed], tails(passed)):
        yield f"{middle(errors)}, {max(errors):.0%}" if errors else ""
    yield middle([run.typical for run in others if run.value.waited > STARVED_SHARE])


def called(runs: Sequence[Run], limit: float) -> str:
    """Count the runs that a limit calls starved."""
    return f"{sum(run.value.waited > limit for run in runs)} of {len(runs)}"


def tails(runs: Iterable[Run]) -> list[float]:
    """Return the errors of p95 of the runs that have one."""
    return [run.tail for run in runs if run.tail is not None]


def wrong(errors: Iterable[float]) -> str:
    """Count the errors that are too large."""
    every = list(errors)
    return f"{sum(error > WRONG for error in every)} of {len(every)}"


def middle(errors: Sequence[float]) -> str:
    """Return the median as text; a dash where there is none."""
    return f"{median(errors):.0%}" if errors else "–"


def tell(what: str) -> None:
    """Say on stderr how far it is."""
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


APART = "The servers on cores of their own"
TOGETHER = "All on one machine"
INTRODUCTION = """# When a generator is starved

{written_by}

A generator that other programs keep waiting for a CPU measures them, and not the server. Its run is *starved* if it waited more than
{limit} of the time: the value is no value of the server, and no comparison uses it. From {warns} on it is warned of. This page says
what the limit is worth.

* A generator with one thread that waits a share w of the time takes at most 1 / (1 - w) as long, which is {most} more at the limit. So
  durations, rates, means and medians are nearly right below it.
* Percentiles are not, and no limit would protect them that a usual machine keeps: some waits are many times as long as a request, and
  few are enough for p95. So a run is warned of from {warns} on, and at any share if the loop of a load engine was late by more than a
  tenth of the median answer (99th percentile).
* The price is the quiet runs that are called starved. Where servers and generator share two cores, each waits for the other: at full
  speed most runs are starved there, however quiet the machine is. At low rates they are not.
* pgbench has one core here together with the engine that reads its log, so the two wait for each other, which they do not elsewhere.

{machine}, {load} when it began.{note}

{rounds} every engine ran beside each number of busy loops (1 x 5 % of a core up to 6 x 100 %, also with nice 19), and quiet in
between. *Wrong* is a value that differs by more than {wrong} from the median of the quiet runs. Where the servers share the cores with the generator, busy loops slow them down, too, so a value can be wrong though its
generator did not wait.
"""


if __name__ == "__main__":
    sys.exit(main())
