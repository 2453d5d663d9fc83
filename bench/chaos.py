"""Kill a process about every second during a campaign of short runs, and then reconcile the counts.

The pauses between two strikes are random, with that mean: so some runs come through and some do not.
A perfdash and a target of its own, on loopback; both end with this program. Exit code 1: the books
do not balance, and it says where.
"""

import argparse
import math
import random
import re
import signal
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep

from e2e.conftest import place
from e2e.faults.books import Books
from e2e.faults.chaos import Chaos
from e2e.faults.plant import Plant, started
from sandbox.process import running

CONTENT = "files=12,size=2000/latency=40"
CELLS = 8
ENDED = ("finished", "cancelled")
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"
EXPECTED = {
    "AdminShutdown", "BrokenPipeError", "BusyLoadingError", "CannotConnectNow", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "EOFError", "FileNotFoundError",
    "InterfaceError", "OperationalError", "TimeoutError", "WorkerLostError",
}  # fmt: skip
"""Errors that say that somebody was killed whom one talked to."""
TRACEBACK = "Traceback (most recent call last):"
WRAPPER = "ExceptionWithTraceback"  # it tells a traceback of another process
EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(:|$)")


class BooksDoNotBalance(Exception):
    """What is on record is not what happened."""


def main() -> int:
    """Run it and print the table."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # all that was started is stopped
    with place() as path, running() as target, started(Plant(path / "data")) as plant:
        campaign = launch(plant, target, options)
        begun = monotonic()
        try:
            print_table("killed or broken", break_things(plant, campaign, options))
            state = let_it_end(plant, campaign, options.patience)
            print_table(f"runs of the campaign, {state}", count(plant, campaign, "run"))
            print_table("attempts", count(plant, campaign, "attempt"))
            print_table("of accepted attempts", prove(plant, target, campaign))
            Books(plant, target, campaign).check(final=True)
            plant.assert_no_orphans()
            print_table("tracebacks in the log", look_at_the_log(plant.log))
        except (AssertionError, BooksDoNotBalance) as difference:
            print(f"\nThe books do not balance (--seed {options.seed}):\n{difference}")
            return 1
        finally:
            keep(plant.log, options.keep)
    print(f"\nThe books balance. {monotonic() - begun:.0f} s, seed {options.seed}.")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long things are broken")
    parser.add_argument(
        "--every", type=float, default=1.0, help="seconds from one to the next, on average"
    )
    parser.add_argument("--runs", type=int, default=300, help="of the campaign, at least")
    parser.add_argument("--seed", type=int, default=1, help="of what is broken, and of the order")
    parser.add_argument(
        "--patience", type=float, default=900, help="seconds for the rest; then it is cancelled"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the log is kept")
    return parser.parse_args()


def launch(plant, target, options):
    """Launch a campaign whose runs load the target for well under a second each."""
    server = plant.try_api(
        "POST",
        "targets",
        {"name": "stands", "family": "http", "base_url": target.base_url, "confirm_address": True},
    )
    campaign = plant.try_api(
        "POST",
        "campaigns",
        {
            "question": "Do the books balance?",
            "kind": "downloader",
            "target": server["id"],
            "parameters": {"manifest": f"/repo/{CONTENT}/PULP_MANIFEST"},
            "factors": {"engine": ["asyncio", "futures"], "concurrency": [3, 4, 5, 6]},
            "order": "random",
            "repetitions": min(200, math.ceil(options.runs / CELLS)),
            "seed": options.seed,
            "max_failed_percent": 100,
            "max_consecutive_failures": 1000,
            "launch": True,
        },
    )
    return campaign["id"]


def break_things(plant, campaign, options):
    """Break one thing after the other until the time is over. Give how often each was.

    A campaign that is through before is extended.
    """
    pauses = random.Random(options.seed)
    end = monotonic() + options.seconds
    with closing(Chaos(plant, options.seed)) as chaos:
        while monotonic() < end:
            chaos.strike()
            sleep(min(pauses.expovariate(1 / options.every), max(0.0, end - monotonic())))
            if state_of(plant, campaign) in ENDED:
                plant.try_api("POST", f"campaigns/{campaign}/extend", {"repetitions": 10})
        return chaos.struck


def let_it_end(plant, campaign, patience):
    """Wait for the end of the campaign; cancel what is left when patience ends. Give its state."""
    end = monotonic() + patience
    while (state := state_of(plant, campaign)) not in ENDED and monotonic() < end:
        sleep(0.2)
    if state not in ENDED:
        plant.try_api("POST", f"campaigns/{campaign}/cancel", {"reason": "time is over"})
    end = monotonic() + 60
    while (state := state_of(plant, campaign)) not in ENDED:
        if monotonic() > end:
            raise BooksDoNotBalance(f"the campaign does not end; it is {state}")
        sleep(0.2)
    return state


def state_of(plant, campaign):
    rows = plant.rows(STATE, campaign)
    return rows[0]["state"] if rows else ""


def count(plant, campaign, what):
    """Rows by state."""
    of_run = "" if what == "run" else "JOIN campaigns_run run ON run.id = this.run_id"
    owner = "this" if what == "run" else "run"
    rows = plant.rows(
        f"SELECT this.state, count(*) AS n FROM campaigns_{what} this {of_run}"  # noqa: S608
        f" WHERE {owner}.campaign_id = %s GROUP BY this.state ORDER BY this.state",
        campaign,
    )
    return {row["state"]: row["n"] for row in rows}


def prove(plant, target, campaign):
    """Compare what was planned with what became of it, and the target's sums with ours."""
    runs = count(plant, campaign, "run")
    planned = plant.rows(
        "SELECT repetitions FROM campaigns_campaign WHERE id = %s", campaign
    )[0]["repetitions"] * CELLS  # fmt: skip
    closed = sum(runs.get(state, 0) for state in ("done", "failed", "void", "cancelled"))
    if planned != closed or closed != sum(runs.values()):
        raise BooksDoNotBalance(f"{planned} runs were planned, there are {runs}")
    accepted = plant.rows(
        "SELECT attempt.id, units_done + units_failed AS units FROM campaigns_attempt attempt"
        " JOIN campaigns_run run ON run.id = run_id"
        " WHERE campaign_id = %s AND attempt.state = 'accepted'",
        campaign,
    )
    if not accepted:
        raise BooksDoNotBalance(f"no run came through, so nothing is proved: {runs}")
    if len(accepted) != runs.get("done", 0):
        raise BooksDoNotBalance(f"{len(accepted)} accepted attempts, runs are {runs}")
    senders = target.stats()["senders"]
    counted = [senders[f"perfdash attempt/{row['id']}"] for row in accepted]
    sums = {
        "requests on the target": sum(each["requests"] for each in counted),
        "units in the database": sum(row["units"] for row in accepted),
        "manifests on the target": sum(each["manifests"] for each in counted),
        "accepted attempts": len(accepted),
    }
    if sums["requests on the target"] != sums["units in the database"] + len(accepted):
        raise BooksDoNotBalance(f"the sums differ: {sums}")
    return sums


def look_at_the_log(log):
    """Count tracebacks by the class of their error. Raise where one is not of what was killed."""
    ends: Counter[str] = Counter()
    open_tracebacks: set[str] = set()
    for line in log.read_text(errors="replace").splitlines():
        service, separator, text = line.partition("| ")
        if not separator:
            continue
        if text.strip() == TRACEBACK:
            open_tracebacks.add(service)
        elif service in open_tracebacks and (result := EXCEPTION.match(text)):
            name = result[1].rpartition(".")[2]
            if name != WRAPPER:
                ends[name] += 1
                open_tracebacks.discard(service)
    if unexpected := {name: n for name, n in ends.items() if name not in EXPECTED}:
        raise BooksDoNotBalance(f"the log tells of errors that nobody caused: {unexpected}")
    return ends


def keep(log, where):
    if where is not None:
        where.write_bytes(log.read_bytes())


def print_table(title, numbers):
    print(f"\n{title}", flush=True)
    for name, number in sorted(numbers.items(), key=lambda item: -item[1]):
        print(f"  {number:>8}  {name}")


if __name__ == "__main__":
    sys.exit(main())
