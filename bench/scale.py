"""Measure what a run costs each service, and compute the machines for 10, 100 and 1,000 campaigns a day.

A campaign of short runs is executed on a perfdash and a target of their own, on loopback. CPU seconds of each service and
bytes of the database are differences over its runs, between the first and the last, without what an idle installation takes.
One long run tells what each second of a measurement adds; memory is the proportional share (PSS) then. The table of machines follows from them and from --runs and --run-seconds of the campaigns that you plan.

It prints Markdown. `script/bench scale --write` puts that into docs/how-to/scale.md: run it on a machine with nothing
else to do, as the load average in its first line shows.
"""

import argparse
import os
import sys
from collections import defaultdict
from contextlib import suppress
from math import ceil
from time import monotonic, sleep

import psutil

from bench.publishing import add_write, written_by
from e2e.conftest import place, wait_for
from e2e.faults import processes
from e2e.faults.plant import Plant, started
from sandbox.process import running

DEFAULTS = (
    *("LEASE_SECONDS", "LEASE_GRACE_SECONDS", "LEASE_MARGIN_SECONDS"),
    *("RENEW_SECONDS", "DISPATCH_SECONDS", "PROBE_SECONDS"),
)
DONE = "SELECT count(*) AS n FROM campaigns_run WHERE campaign_id = %s AND state = 'done'"
TIMES = """
    SELECT count(*) AS n, extract(epoch FROM max(attempt.finished_at) - min(attempt.claimed_at))::float8 AS seconds,
        avg(extract(epoch FROM attempt.finished_at - attempt.claimed_at))::float8 AS took,
        avg(extract(epoch FROM attempt.measure_finished_at - attempt.measure_started_at))::float8 AS measured
    FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"
WAITING = "SELECT count(*) AS n FROM campaigns_campaign WHERE analysis_requested_at IS NOT NULL"
MEASURING = """
    SELECT count(*) AS n FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'running' AND attempt.phase = 'measure'
"""
BYTES = "SELECT pg_database_size(current_database())::bigint AS n"
STATEMENTS = (
    "SELECT sum(xact_commit)::bigint AS n FROM pg_stat_database WHERE datname = current_database()"
)
CONNECTIONS = "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend'"
SERVICES = ("web", "control", "analysis", "beat", "broker", "database", "measure", "generate")
CENTRAL = ("web", "control", "analysis", "beat", "broker", "database")
ALONE = ("database", "control")
"""Of these there is one, however many workers there are."""
PER_DAY = (10, 100, 1000)
SETTLE_SECONDS, WINDOW_SECONDS, LONG_SECONDS = 3, 20, 40
"""What is seen is counted for WINDOW_SECONDS; the run that is looked at takes LONG_SECONDS."""
DAY = 86_400
USE = 0.7
"""The share of a machine that is planned to be busy; the rest is for nights, failures and bursts."""
BEGIN, END = "## Figures\n", "### How to read them\n"
"""Headings of the page: what is between them is replaced."""


def main() -> int:
    """Run it, and print both tables or put them into a page."""
    options = arguments()
    load = os.getloadavg()[0]
    with place() as path, running() as target:
        plant = Plant(path / "data")
        for name in DEFAULTS:
            plant.environment.pop(name, None)
        with started(plant):
            measured = measure(plant, target, options) | {"load": load}
    text = "\n".join([*costs(measured, options), "", *machines(measured, options)]) + "\n"
    print(text)
    if options.write:
        write(options.write, text)
    return 0


def write(path, text):
    """Replace what an earlier run has put into a page."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path} has no place for it, between the lines {BEGIN.strip()} and {END.strip()}")
    path.write_text(f"{before}{BEGIN}\n{written_by('scale')}\n\n{text.strip()}\n\n{END}{after}")


def measure(plant, target, options):
    """Return CPU and bytes a run, CPU a second of a run, memory by service, and seconds a run."""
    row = plant.try_api(
        "POST",
        "targets",
        {
            "name": "scale",
            "family": "http",
            "base_url": target.base_url,
            "confirm_address": True,
        },
    )
    content = f"files={options.files},size=2000"
    campaign = launch(
        plant, row, content, {"engine": ["asyncio", "futures"]}, ceil(options.measured / 2) + 2
    )
    done = wait_for(
        lambda: count(plant, DONE, campaign) >= 3 and count(plant, DONE, campaign), "3 runs", 300
    )
    cpu, size, commits = cpu_of(plant), count(plant, BYTES), count(plant, STATEMENTS)
    begin = monotonic()
    last = min(done + options.measured, 2 * ceil(options.measured / 2) + 4)
    wait_for(lambda: count(plant, DONE, campaign) >= last, "the end", 3600)
    seconds, after = monotonic() - begin, cpu_of(plant)
    runs = count(plant, DONE, campaign) - done
    size, commits = count(plant, BYTES) - size, count(plant, STATEMENTS) - commits
    (times,) = plant.rows(TIMES, campaign)
    wait_for(lambda: plant.rows(STATE, campaign) == [{"state": "finished"}], "its end", 300)
    wait_for(lambda: not count(plant, WAITING), "its analysis", 300)
    idle = rate(plant)
    long = launch(
        plant, row, f"files={2 * LONG_SECONDS},size=2000/latency=500", {"engine": ["asyncio"]}, 1,
        concurrency=1,
    )  # fmt: skip
    wait_for(lambda: count(plant, MEASURING, long), "a long run", 300)
    running = rate(plant)
    return {
        "runs": runs,
        "cpu": {
            name: max(0.0, after[name] - cpu[name] - idle[name] * seconds) / runs
            for name in SERVICES
        },
        "running": {name: max(0.0, running[name] - idle[name]) for name in SERVICES},
        "idle": idle,
        "memory": memory_of(plant),
        "bytes": size / runs,
        "transactions": commits / runs,
        "connections": count(plant, CONNECTIONS) - 1,
        "took": times["took"],
        "measured": times["measured"],
        "each": times["seconds"] / times["n"],
    }


def launch(plant, target, content, factors, repetitions, **parameters):
    """Launch a campaign; return its number."""
    return plant.try_api(
        "POST",
        "campaigns",
        {
            "question": "What does a run cost?",
            "kind": "downloader",
            "target": target["id"],
            "parameters": {"manifest": f"/repo/{content}/PULP_MANIFEST"} | parameters,
            "factors": factors,
            "order": "interleaved",
            "repetitions": repetitions,
            "launch": True,
        },
    )["id"]


def rate(plant):
    """Return the CPU seconds that each service uses in a second from now on."""
    sleep(SETTLE_SECONDS)
    begin, before = monotonic(), cpu_of(plant)
    sleep(WINDOW_SECONDS)
    seconds, after = monotonic() - begin, cpu_of(plant)
    return {name: max(0.0, after[name] - before[name]) / seconds for name in SERVICES}


def count(plant, query, *arguments):
    """Return the only number of a query."""
    return int(plant.rows(query, *arguments)[0]["n"])


def groups(plant):
    """Return the processes of each service."""
    pid = plant.pid
    by_name = {
        "web": processes.web(pid),
        "control": processes.control(pid),
        "analysis": processes.analysis(pid),
        "beat": processes.beat(pid),
        "broker": processes.broker(pid),
        "database": processes.postmaster(pid),
        "measure": processes.worker(pid),
        "generate": processes.worker(pid, "generate"),
    }
    return {
        name: [p for top in tops for p in processes.tree(top.pid)] for name, tops in by_name.items()
    }


def cpu_of(plant):
    """Return the CPU seconds that each service has used, those of ended children included."""
    result: defaultdict[str, float] = defaultdict(float)
    for name, found in groups(plant).items():
        for process in found:
            with suppress(psutil.Error):
                result[name] += sum(process.cpu_times()[:4])
    return result


def memory_of(plant):
    """Return the proportional set size of each service, in MB."""
    result: defaultdict[str, float] = defaultdict(float)
    for name, found in groups(plant).items():
        for process in found:
            with suppress(psutil.Error):
                result[name] += process.memory_full_info().pss / 1e6
    return result


def costs(measured, options):
    """Give the lines of what was measured."""
    yield (
        f"{measured['runs']} runs of {options.files} files, {os.cpu_count()} processors, load average"
        f" {measured['load']:.1f} before:"
    )
    yield ""
    yield "| service | CPU ms a run | and for each second that it measures | CPU ms a second, idle | memory, MB |"
    yield "|---|--:|--:|--:|--:|"
    for name in SERVICES:
        cpu, on, still = (measured[what][name] * 1e3 for what in ("cpu", "running", "idle"))
        yield f"| {name} | {cpu:.0f} | {on:.1f} | {still:.1f} | {measured['memory'][name]:.0f} |"
    cpu, on, still = (
        sum(measured[what][name] for name in CENTRAL) * 1e3 for what in ("cpu", "running", "idle")
    )
    yield f"| all but *measure* and *generate* | {cpu:.0f} | {on:.1f} | {still:.1f} | |"
    yield ""
    yield (
        f"A run takes {measured['took']:.2f} s, of which {measured['measured']:.2f} s are measured, and one begins every"
        f" {measured['each']:.2f} s. It adds {measured['bytes'] / 1e3:.1f} kB to the database, in"
        f" {measured['transactions']:.0f} transactions. {measured['connections']} connections to the database were open."
    )


def machines(measured, options):
    """Give the lines of the machines that follow, for campaigns of the size that was asked for."""
    cost = {
        name: measured["cpu"][name] + measured["running"][name] * options.run_seconds
        for name in CENTRAL
    }
    central = sum(cost.values())
    overhead = max(0.0, measured["each"] - measured["measured"])
    runs = [campaigns * options.runs for campaigns in PER_DAY]
    workers = [ceil(each * (options.run_seconds + overhead) / DAY / USE) for each in runs]
    yield (
        f"Campaigns of {options.runs} runs of {options.run_seconds:g} s, with {overhead:.2f} s between two measurements, and"
        f" machines that are busy {USE:.0%} of the day:"
    )
    yield ""
    yield f"| | {PER_DAY[0]} campaigns a day | " + " | ".join(f"{n:,}" for n in PER_DAY[1:]) + " |"
    yield "|---" + "|--:" * len(PER_DAY) + "|"
    for what, values in (
        ("runs a day", [f"{each:,}" for each in runs]),
        ("measuring workers, and targets that are measured at the same time", workers),
        ("processors of the central services", [f"{n * central / DAY / USE:.2f}" for n in runs]),
        (
            "growth of the database in a month, GB",
            [f"{n * 30 * measured['bytes'] / 1e9:.1f}" for n in runs],
        ),
    ):
        yield f"| {what} | " + " | ".join(map(str, values)) + " |"
    yield ""
    yield f"Where it ends, by the processor time of what there is one of, for runs of {options.run_seconds:g} s:"
    yield ""
    for name in ALONE:
        a_second = (1 - measured["idle"][name]) / max(cost[name], 1e-6)
        yield (
            f"* one processor for *{name}* is full at {a_second:.1f} runs a second; busy {USE:.0%} of the day it carries"
            f" {a_second * USE * DAY:,.0f} runs, or {a_second * USE * DAY / options.runs:,.0f} campaigns"
        )


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="script/bench scale", description=__doc__)
    add_write(parser, "scale")
    parser.add_argument("--measured", type=int, default=40, help="runs to measure")
    parser.add_argument("--files", type=int, default=100, help="files that a run downloads")
    parser.add_argument("--runs", type=int, default=60, help="runs of a campaign that you plan")
    parser.add_argument(
        "--run-seconds", type=float, default=30.0, help="how long each of them measures"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
