"""Compare pgbench under the engine of the kind sql, which reads its log, with pgbench by hand, in turn.

A PostgreSQL of the project's own wheel on loopback; built-in script kv-read, prepared, without a warm-up. The server has one half of the
cores, pgbench and the engine the other, as they would on two machines; with `--one-machine` all of them share all cores. The log is the
sample of which a campaign's would be, once the rate is known from a pair that does not count; with `--all-lines` it has every transaction.
Printed are the ratio of transactions a second of each pair, and the processor time of pgbench and of the engine beside it. `--stalls` stops
the server for 200 ms every 5 s, and prints p99 of an offered rate and of a closed loop at the same rate. Exit code 1 where a goal is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from math import exp, log
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import django
import psutil
from scipy.stats import t as student

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
django.setup()

from campaigns.kinds.base import Context  # noqa: E402
from campaigns.kinds.sql.driver import driver, request_of, run_engine, sampling_of  # noqa: E402
from campaigns.kinds.sql.engine import pgbench  # noqa: E402
from campaigns.kinds.sql.engine.output import summary_of  # noqa: E402
from campaigns.kit.mappings import ProgramRequest  # noqa: E402
from campaigns.kit.network import parse_rules  # noqa: E402
from campaigns.tests.kinds.sql import servers  # noqa: E402

GOAL_RATIO, GOAL_CPU = 0.98, 25.0
STALL_SECONDS, STALL_EVERY_SECONDS = 0.2, 5.0
RATE, CLIENTS = 1000.0, 50
CLOSED_CLIENTS, THINK_MS = 25, 25
"""Of the closed loop at this rate. A stall holds each of its clients once: half a percent of the transactions; with 50 it would be the 1 % of p99."""
EXPECTED_MS = 150.0
"""Of a stall of 200 ms in 5 s, 4 % of the arrivals wait up to 200 ms, evenly: the worst 1 % waits 150 ms or more."""


def main() -> int:
    """Run it and print the table."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="bench-sql-") as name:
        place = Path(name)
        place.chmod(0o755)
        with servers.database(place) as database:
            if options.stalls:
                return stalls(options, place, database)
            if not options.one_machine:
                divide_cores(database)
            return compare(options, place, database)


def divide_cores(database: servers.Database) -> None:
    """Give the server one half of the cores, and this program with all that it starts the other."""
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if not half:
        return
    parent = psutil.Process(database.process.pid)
    for process in (parent, *parent.children(recursive=True)):
        with suppress(ProcessLookupError):  # one of a connection that is over
            os.sched_setaffinity(process.pid, cores[:half])
    os.sched_setaffinity(0, cores[half:])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5, help="of each run; with --stalls 20")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--script", default="kv-read")
    parser.add_argument("--one-machine", action="store_true")
    parser.add_argument("--all-lines", action="store_true", help="every transaction in the log")
    parser.add_argument("--stalls", action="store_true")
    return parser.parse_args()


def parameters_of(**values: Any) -> dict[str, Any]:
    """Return cleaned parameters."""
    initial = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    known = {name: value for name, value in (initial | values).items() if value is not None}
    form = driver.parameters(known)
    assert form.is_valid(), form.errors
    return form.cleaned_data


def context_of(directory: Path) -> Context:
    """Return what an attempt would have."""
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 60.0,
        progress=lambda values: None,
        say=lambda line: None,
        clock=time.perf_counter_ns,
        directory=directory,
        rules=parse_rules("127.0.0.1:*"),
        deadline_seconds=600.0,
        sender="perfdash attempt/1",
    )


def compare(options: argparse.Namespace, place: Path, database: servers.Database) -> int:
    """Run all pairs, each in the other order than the one before; return the exit code."""
    parameters = parameters_of(
        script=options.script,
        clients=options.clients,
        duration_seconds=options.seconds,
        warm_up_seconds=0,
    )
    target, context = database.target(), context_of(place / "attempt-0")
    driver.reset(target, parameters, context)
    program = pgbench.find()
    rows: list[dict[str, float]] = []
    sampling = None  # nothing is known of the rate at the first pair
    for number in range(options.pairs + 1):
        context = context_of(place / f"attempt-{number + 1}")
        request = request_of(target, parameters, context, "measure")
        request["sampling_rate"] = None if options.all_lines else sampling
        row: dict[str, float] = {}
        for which in ("hand", "engine")[:: -1 if number % 2 else 1]:
            if which == "hand":
                row |= by_hand(program, request, place, database)
            else:
                row |= by_engine(request, context)
        if number:
            rows.append(row)
        else:
            sampling = sampling_of(row["engine"])
        print(
            f"pair {number}: by hand {row['hand']:,.0f}/s, with the engine {row['engine']:,.0f}/s, "
            f"ratio {row['engine'] / row['hand']:.3f}; a transaction costs pgbench {row['hand_us']:.1f} and "
            f"{row['engine_us']:.1f} µs, the engine {row['own_us']:.2f} µs",
            flush=True,
        )
    return told(rows, options, program.version)


def by_hand(
    program: pgbench.Program, request: ProgramRequest, place: Path, database: servers.Database
) -> dict[str, float]:
    """Run pgbench as a person does, without a log."""
    files = []
    for number, (_, text, weight) in enumerate(request["scripts"]):
        path = place / f"by-hand-{number}.sql"
        path.write_text(text)
        files.append(f"{path}@{weight}")
    threads = min(4, len(os.sched_getaffinity(0)), request["clients"])
    load = pgbench.Load(request["clients"], threads, request["seconds"])
    before = os.times()
    done = subprocess.run(  # noqa: S603 - pgbench, found in fixed places
        pgbench.arguments(program, request, files, load, ""),
        env={"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": database.password},
        capture_output=True,
        text=True,
        check=True,
    )
    after = os.times()
    summary = summary_of(done.stdout)
    assert summary, done.stdout
    seconds = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return {"hand": summary.tps, "hand_us": seconds / summary.processed * 1e6}


def by_engine(request: ProgramRequest, context: Context) -> dict[str, float]:
    """Run it under the engine, which reads the log."""
    result = run_engine(request, context, 600.0).result
    assert request["sampling_rate"] or result["processed"] == result["log"]["lines"], result
    figures = result["figures"]
    return {
        "engine": result["tps"],
        "engine_us": figures["pgbench_cpu_seconds"] / result["processed"] * 1e6,
        "own_us": figures["own_cpu_seconds"] / result["processed"] * 1e6,
        "share": 100 * figures["own_cpu_seconds"] / figures["pgbench_cpu_seconds"],
    }


def told(rows: list[dict[str, float]], options: argparse.Namespace, version: str) -> int:
    """Print the means and the goals; return the exit code."""
    logs = [log(row["engine"] / row["hand"]) for row in rows]
    half = 0.0
    if len(logs) > 1:
        half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / len(logs) ** 0.5
    ratio, low, high = exp(mean(logs)), exp(mean(logs) - half), exp(mean(logs) + half)
    cost = mean(row["share"] for row in rows)
    print(
        f"\npgbench {version}, {options.script}, {options.clients} clients, {len(rows)} pairs of {options.seconds} s, "
        f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores for pgbench and the engine"
    )
    results = (
        (
            "transactions a second, of those by hand",
            f"{ratio:.3f} ({low:.3f} to {high:.3f}, 95 %)",
            f"at least {GOAL_RATIO}",
            ratio >= GOAL_RATIO,
        ),
        (
            "processor time of the engine, of pgbench's",
            f"{cost:.1f} %",
            f"at most {GOAL_CPU:g} %",
            cost <= GOAL_CPU,
        ),
    )
    table(results)
    print("\n| processor time of a transaction | µs |\n|---|--:|")
    for name, label in (
        ("hand_us", "pgbench by hand"),
        ("engine_us", "pgbench that writes its log into the pipe"),
        ("own_us", "the engine"),
    ):
        print(f"| {label} | {mean(row[name] for row in rows):.2f} |")
    return 0 if all(ok for *_, ok in results) else 1


def table(results: Any) -> None:
    """Print what was measured beside its goals."""
    print("\n| | measured | goal | |\n|---|---|---|---|")
    for name, found, goal, ok in results:
        print(f"| {name} | {found} | {goal} | {'kept' if ok else 'missed'} |")


def stalls(options: argparse.Namespace, place: Path, database: servers.Database) -> int:
    """Stop the server now and then, under an offered rate and under a closed loop of the same rate."""
    seconds = max(20, options.seconds)
    think = f"\\sleep {THINK_MS} ms\n"
    read = "\\set key random(1, :rows)\nSELECT k, v FROM perfdash_bench.kv WHERE k = :key;\n"
    common = {"clients": CLIENTS, "duration_seconds": seconds, "warm_up_seconds": 2, "rows": 1000}
    loops = {
        "open": {"loop": "open", "rate": RATE},
        "closed": {"script": "own", "own_script": f"{think}{read}", "clients": CLOSED_CLIENTS},
    }
    found: dict[str, dict[str, float]] = {}
    for name, loop in loops.items():
        parameters = parameters_of(**(common | loop))
        target, context = database.target(), context_of(place / name)
        driver.reset(target, parameters, context)
        over = threading.Event()
        stopping = threading.Thread(target=stop_now_and_then, args=(database, over), daemon=True)
        stopping.start()
        try:
            measured = driver.measure(target, parameters, context)
        finally:
            over.set()
            stopping.join()
        assert not measured.failure, measured.failure
        found[name] = dict(measured.values)
        print(f"{name}: {dict(measured.values)}", flush=True)
    # The time of a transaction has its think time in it.
    opened, closed = found["open"]["response_p99"], found["closed"]["response_p99"] - THINK_MS
    results = (
        (
            f"p99 of {RATE:g} offered transactions a second",
            f"{opened:.0f} ms",
            f"{EXPECTED_MS:g} ms, within a third",
            abs(opened - EXPECTED_MS) < EXPECTED_MS / 3,
        ),
        (
            f"p99 of a closed loop of {CLOSED_CLIENTS} clients, {found['closed']['tps']:.0f}/s",
            f"{closed:.0f} ms",
            "does not show it",
            closed < EXPECTED_MS / 3,
        ),
    )
    table(results)
    return 0 if all(ok for *_, ok in results) else 1


def stop_now_and_then(database: servers.Database, over: threading.Event) -> None:
    """Stop the server with all its processes for a moment, until the flag is set."""
    while not over.wait(STALL_EVERY_SECONDS - STALL_SECONDS):
        with servers.stopped(database):
            time.sleep(STALL_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
