"""Measure the time from the end of one measurement to the begin of the next, and the SQL statements of a run.

Campaigns of short downloads without a cool-down, on a perfdash and a target of its own, on loopback: the first one is
only timed, by the stored instants; the statements of the second one are counted, by what they are sent for. What a
measurement takes beyond the measured download (to start the engine, to fetch its result) counts as turnaround, too.
"""

import argparse
import json
import os
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, quantiles
from time import monotonic, sleep

from e2e.conftest import place
from e2e.faults.plant import Plant, started
from sandbox.process import running

CONTENT = "files=2,size=1000"
GOAL_MS, GOAL_STATEMENTS = 50.0, 80.0
DEFAULTS = (
    *("LEASE_SECONDS", "LEASE_GRACE_SECONDS", "LEASE_MARGIN_SECONDS"),
    *("RENEW_SECONDS", "DISPATCH_SECONDS", "PROBE_SECONDS"),
)
RUNS = """
    SELECT run.position, run.block_id,
        extract(epoch FROM attempt.measure_started_at)::float8 AS begun,
        extract(epoch FROM attempt.measure_finished_at)::float8 AS ended,
        extract(epoch FROM attempt.claimed_at)::float8 AS claimed,
        extract(epoch FROM attempt.finished_at)::float8 AS closed,
        (SELECT value FROM campaigns_measurement value JOIN campaigns_storedmetric metric ON metric.id = value.metric_id
            WHERE value.attempt_id = attempt.id AND metric.name = 'duration') AS took
    FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted' ORDER BY run.position
"""
STEPS = """
    SELECT phase.name, percentile_cont(0.5) WITHIN GROUP (ORDER BY phase.seconds) AS seconds
    FROM campaigns_phase phase JOIN campaigns_attempt attempt ON attempt.id = phase.attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND phase.of = 'attempt' GROUP BY 1 ORDER BY min(phase.id)
"""
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"
WORKERS = "SELECT count(*) AS n FROM campaigns_worker WHERE pools ? 'analysis'"
WAITING = "SELECT count(*) AS n FROM campaigns_campaign WHERE analysis_requested_at IS NOT NULL"


def main() -> int:
    """Run it and print the tables."""
    options = arguments()
    with place() as path, running() as target:
        counts = path / "statements"
        counts.mkdir()
        here = Path(__file__).parent / "counted_statements"
        paths = [str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
        plant = Plant(
            path / "data", PYTHONPATH=os.pathsep.join(paths), BENCH_STATEMENTS=str(counts)
        )
        for name in DEFAULTS:
            plant.environment.pop(name, None)
        with started(plant):
            try:
                return int(measure_both(plant, target, counts, options))
            finally:
                if options.keep:
                    options.keep.write_bytes(plant.log.read_bytes())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench turnaround", description=__doc__)
    parser.add_argument("--blocks", type=int, default=30, help="of each campaign")
    parser.add_argument("--levels", type=int, default=4, help="runs of a block")
    parser.add_argument("--engine", default="asyncio")
    parser.add_argument("--engines", type=int, default=1, choices=(1, 2), help="2: it alternates")
    parser.add_argument("--patience", type=float, default=900, help="seconds for each campaign")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the log is kept")
    return parser.parse_args()


def measure_both(plant, target, counts, options):
    """Run both campaigns and print; return 1 where a goal is missed."""
    server = plant.try_api(
        "POST",
        "targets",
        {"name": "stands", "family": "http", "base_url": target.base_url, "confirm_address": True},
    )["id"]
    (counts / "stages").touch()
    rows, campaign = run_campaign(plant, server, options)
    (counts / "stages").unlink()
    missed = print_gaps(rows)
    print_stages([json.loads(line) for f in counts.glob("*.stages") for line in f.open()])
    print("\nmedian milliseconds of a step")
    for row in plant.rows(STEPS, campaign):
        print(f"  {row['name']:26}{row['seconds'] * 1000:9.1f}")
    for file in counts.iterdir():
        file.unlink()
    (counts / "on").touch()
    rows, _ = run_campaign(plant, server, options)
    (counts / "on").unlink()
    by_part = sum((Counter(f.read_text().splitlines()) for f in counts.glob("*.txt")), Counter())
    print(f"\nSQL statements a run, of {len(rows)} runs")
    for part, count in by_part.most_common():
        print(f"  {part:26}{count / len(rows):9.1f}")
    total = sum(by_part.values()) / len(rows)
    print(f"  {'all':26}{total:9.1f}{verdict(total, GOAL_STATEMENTS)}")
    return int(missed or total > GOAL_STATEMENTS)


def print_gaps(rows):
    pairs = list(pairwise(rows))
    within = [(a, b) for a, b in pairs if a["block_id"] == b["block_id"]]
    across = [(a, b) for a, b in pairs if a["block_id"] != b["block_id"]]
    print(f"\n{len(rows)} runs; the download took {median(r['took'] for r in rows) * 1e3:.1f} ms")
    print(f"{'milliseconds':44}{'median':>9}{'mean':>9}{'90 %':>9}{'longest':>9}")
    missed = False
    for name, chosen in (
        ("within a block", within),
        ("between two blocks", across),
        ("all", pairs),
    ):
        gaps = [(b["begun"] - a["ended"]) * 1e3 for a, b in chosen]
        whole = [(b["begun"] - a["begun"] - a["took"]) * 1e3 for a, b in chosen]
        closing = [(b["claimed"] - a["closed"]) * 1e3 for a, b in chosen]
        for what, each in (
            ("end of a measurement to the next", gaps),
            ("all but the download", whole),
            ("close to claim", closing),
        ):
            line = f"{name + ', ' + what:44}{median(each):9.1f}{mean(each):9.1f}"
            line += f"{quantiles(each, n=10)[-1]:9.1f}{max(each):9.1f}"
            if name == "all" and each is not closing:
                missed = missed or median(each) > GOAL_MS
                line += verdict(median(each), GOAL_MS)
            print(line)
    return missed


def print_stages(runs):
    """Print where the time of a run goes: medians of all runs, in milliseconds.

    The rest is what neither runs nor waits for a processor here: the target, the broker, the disk, other processes.
    """
    columns = ("wall", "worker", "SQL", "engine", "no CPU", "rest")
    print(f"\n{'median milliseconds of a run':34}" + "".join(f"{name:>8}" for name in columns))
    names = list(dict.fromkeys(name for run in reversed(runs) for name in run))
    for name in [*names, "all", "all but measure"]:
        parts = []
        for run in runs:
            chosen = [
                run[each]
                for each in run
                if each == name
                or name == "all"
                or (name == "all but measure" and each != "measure")
            ]
            sums = [sum(row[at] for row in chosen) for at in range(6)]
            wall, cpu, queued, backend, backend_queued, programs = sums
            waited = queued + backend_queued
            rest = wall - cpu - backend - programs - waited
            parts.append((wall, cpu, backend, programs, waited, rest))
        medians = [median(part[at] for part in parts) / 1e6 for at in range(len(columns))]
        print(f"{name:34}" + "".join(f"{each:8.1f}" for each in medians))


def verdict(value, goal):
    return f"   goal {goal:g}: {'met' if value <= goal else 'missed'}"


def run_campaign(plant, server, options):
    """Return the accepted attempts of a campaign, in their order, and its key."""
    wait_until(lambda: plant.rows(WORKERS)[0]["n"] > 0, "a worker that computes", 600)
    wait_until(lambda: plant.rows(WAITING)[0]["n"] == 0, "every analysis is done", 600)
    campaign = plant.try_api("POST", "campaigns", definition(server, options))["id"]
    begun = monotonic()
    while (state := plant.rows(STATE, campaign)[0]["state"]) == "running":
        if monotonic() - begun > options.patience:
            plant.try_api("POST", f"campaigns/{campaign}/cancel", {"reason": "time is over"})
            raise SystemExit("The campaign did not end.")
        sleep(0.5)
    rows = plant.rows(RUNS, campaign)
    expected = options.blocks * options.levels * options.engines
    if state != "finished" or len(rows) != expected:
        raise SystemExit(f"The campaign is {state} with {len(rows)} of {expected} runs.")
    return rows, campaign


def definition(server, options):
    engines = ["asyncio", "futures"]
    return {
        "question": "What comes between two runs?",
        "kind": "downloader",
        "target": server,
        "parameters": {"manifest": f"/repo/{CONTENT}/PULP_MANIFEST"}
        | ({"engine": options.engine} if options.engines == 1 else {}),
        "factors": {"concurrency": list(range(1, options.levels + 1))}
        | ({"engine": engines} if options.engines == 2 else {}),
        "order": "interleaved",
        "repetitions": options.blocks,
        "cool_down_seconds": 0,
        "seed": 1,
        "launch": True,
    }


def wait_until(condition, what, seconds):
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            raise SystemExit(f"Not within {seconds:.0f} s: {what}.")
        sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
