"""Measure what a run costs each service, and compute the machines for 10, 100 and 1,000 campaigns a day.

A campaign of short runs is executed on a perfdash and a target of their own, on loopback. CPU seconds of each service and
bytes of the database are differences over its runs, between the first and the last; memory is the proportional share
(PSS) afterwards. The table of machines follows from them and from --runs and --run-seconds of the campaigns that you plan.
"""

import argparse
import os
import sys
from collections import defaultdict
from contextlib import suppress
from math import ceil
from time import monotonic, sleep

import psutil

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.plant import Plant, place, started
from sandbox.process import running

DEFAULTS = (
    *("LEASE_SECONDS", "LEASE_GRACE_SECONDS", "LEASE_MARGIN_SECONDS"),
    *("RENEW_SECONDS", "DISPATCH_SECONDS", "PROBE_SECONDS"),
)
DONE = "SELECT count(*) AS n FROM campaigns_run WHERE campaign_id = %s AND state = 'done'"
TIMES = """
    SELECT extract(epoch FROM max(attempt.finished_at) - min(attempt.claimed_at))::float8 AS seconds,
        avg(extract(epoch FROM attempt.finished_at - attempt.claimed_at))::float8 AS took
    FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""
BYTES = "SELECT pg_database_size(current_database())::bigint AS n"
STATEMENTS = (
    "SELECT sum(xact_commit)::bigint AS n FROM pg_stat_database WHERE datname = current_database()"
)
CONNECTIONS = "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend'"
SERVICES = ("web", "control", "analysis", "beat", "broker", "database", "measure", "generate")
CENTRAL = ("web", "control", "analysis", "beat", "broker", "database")
PER_DAY = (10, 100, 1000)
DAY = 86_400
USE = 0.7
"""The share of a machine that is planned to be busy; the rest is for nights, failures and bursts."""


def main() -> int:
    """Run it and print both tables."""
    options = arguments()
    with place() as path, running() as target:
        plant = Plant(path / "data")
        for name in DEFAULTS:
            plant.environment.pop(name, None)
        with started(plant):
            measured = measure(plant, target, options)
    tell(measured, options)
    return 0


def measure(plant, target, options):
    """Return CPU and bytes a run, memory by service, and seconds a run."""
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
    campaign = plant.try_api(
        "POST",
        "campaigns",
        {
            "question": "What does a run cost?",
            "kind": "downloader",
            "target": row["id"],
            "parameters": {"manifest": f"/repo/files={options.files},size=2000/PULP_MANIFEST"},
            "factors": {"engine": ["asyncio", "futures"]},
            "order": "interleaved",
            "repetitions": ceil(options.measured / 2) + 2,
            "launch": True,
        },
    )["id"]
    done = wait_for(
        lambda: count(plant, DONE, campaign) >= 3 and count(plant, DONE, campaign), "3 runs", 300
    )
    cpu, size, commits = cpu_of(plant), count(plant, BYTES), count(plant, STATEMENTS)
    last = done + options.measured
    wait_for(
        lambda: count(plant, DONE, campaign) >= min(last, 2 * ceil(options.measured / 2) + 4),
        "the end",
        3600,
    )
    runs = count(plant, DONE, campaign) - done
    after = cpu_of(plant)
    (times,) = plant.rows(TIMES, campaign)
    idle_cpu, idle_seconds = idle(plant)
    return {
        "runs": runs,
        "cpu": {name: max(0.0, after[name] - cpu[name]) / runs for name in SERVICES},
        "idle": {name: idle_cpu[name] / idle_seconds for name in SERVICES},
        "memory": memory_of(plant),
        "bytes": (count(plant, BYTES) - size) / runs,
        "transactions": (count(plant, STATEMENTS) - commits) / runs,
        "connections": count(plant, CONNECTIONS) - 1,
        "took": times["took"],
        "each": times["seconds"] / (done + runs),
    }


def idle(plant, seconds=20):
    """Return the CPU seconds of each service while nothing is measured, and of how many seconds."""
    begin, before = monotonic(), cpu_of(plant)
    sleep(seconds)
    after = cpu_of(plant)
    return {name: max(0.0, after[name] - before[name]) for name in SERVICES}, monotonic() - begin


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


def tell(measured, options):
    """Print what was measured, and the machines that follow."""
    print(f"{measured['runs']} runs of {options.files} files, {os.cpu_count()} processors")
    print(f"{'service':10}{'CPU ms a run':>14}{'CPU ms a s, idle':>18}{'memory MB':>11}")
    for name in SERVICES:
        print(
            f"{name:10}{measured['cpu'][name] * 1e3:>14.0f}{measured['idle'][name] * 1e3:>18.1f}{measured['memory'][name]:>11.0f}"
        )
    central = sum(measured["cpu"][name] for name in CENTRAL)
    print(f"the central services together: {central * 1e3:.0f} ms of CPU a run")
    print(
        f"database: {measured['bytes'] / 1e3:.1f} kB and {measured['transactions']:.0f} transactions a run"
    )
    print(f"connections to the database: {measured['connections']}")
    print(f"a run takes {measured['took']:.2f} s, begins every {measured['each']:.2f} s")
    print(
        f"\nCampaigns of {options.runs} runs of {options.run_seconds:g} s each, busy at most {USE:.0%}:"
    )
    print(f"{'a day':>6}{'runs':>9}{'measuring':>11}{'central CPU':>13}{'GB a month':>12}")
    overhead = max(0.0, measured["each"] - measured["took"])
    for campaigns in PER_DAY:
        runs = campaigns * options.runs
        workers = ceil(runs * (options.run_seconds + overhead) / DAY / USE)
        processors = runs * central / DAY / USE
        size = runs * 30 * measured["bytes"] / 1e9
        print(f"{campaigns:>6}{runs:>9,}{workers:>11}{processors:>13.2f}{size:>12.2f}")
    most = USE * DAY / central / options.runs
    print(f"one processor for the central services carries {most:,.0f} such campaigns a day")


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--measured", type=int, default=40, help="runs to measure")
    parser.add_argument("--files", type=int, default=100, help="files that a run downloads")
    parser.add_argument("--runs", type=int, default=60, help="runs of a campaign that you plan")
    parser.add_argument(
        "--run-seconds", type=float, default=30.0, help="how long each of them takes"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
