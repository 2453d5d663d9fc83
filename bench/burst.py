"""Send 300 small submissions in a minute during a campaign, and measure the delays that they cause.

Two campaigns of equal runs, with one seed, on a perfdash and a target of their own, on loopback: the first one
is undisturbed. What is compared is scheduling: from the end of a run, or the launch, to the claim of the
next one, cool-downs not counted. Exit code 1: some run was delayed by more than --most seconds.
"""

import argparse
import json
import os
import sys
import threading
import urllib.request
from pathlib import Path
from statistics import mean, median
from time import monotonic, sleep

import redis

from e2e.conftest import place
from e2e.faults.plant import Plant, started
from perfdash.addresses import redis_url
from sandbox.process import running

CONTENT = "files=100,size=2000/latency=40"
QUEUES = ("measure", "control", "analysis", "generate", "celery")
DEFAULTS = (
    *("LEASE_SECONDS", "LEASE_GRACE_SECONDS", "LEASE_MARGIN_SECONDS"),
    *("RENEW_SECONDS", "DISPATCH_SECONDS", "PROBE_SECONDS"),
)
RUNS = """
    SELECT run.position, extract(epoch FROM attempt.claimed_at - coalesce(
        lag(attempt.finished_at) OVER (ORDER BY run.position), campaign.launched_at))::float8 AS gap,
        extract(epoch FROM attempt.finished_at - attempt.claimed_at)::float8 AS took
    FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = attempt.run_id
    JOIN campaigns_campaign campaign ON campaign.id = run.campaign_id
    WHERE campaign.id = %s AND attempt.state = 'accepted' ORDER BY run.position
"""
WORKERS = "SELECT count(*) AS n FROM campaigns_worker WHERE pools ? 'analysis'"
WAITING = "SELECT count(*) AS n FROM campaigns_campaign WHERE analysis_requested_at IS NOT NULL"


def main() -> int:
    """Run it and print the table."""
    options = arguments()
    environment = {}
    if options.analysis_seconds:
        here = Path(__file__).parent / "slow_analyses"
        paths = [str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            "PYTHONPATH": os.pathsep.join(paths),
            "BENCH_ANALYSIS_SECONDS": str(options.analysis_seconds),
        }
    with place() as path, running() as target:
        plant = Plant(path / "data", **environment)
        for name in DEFAULTS:
            plant.environment.pop(name, None)
        with started(plant):
            try:
                return int(compare(plant, target, options) > options.most)
            finally:
                if options.keep:
                    options.keep.write_bytes(plant.log.read_bytes())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench burst", description=__doc__)
    parser.add_argument("--submissions", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60, help="in which they are sent")
    parser.add_argument("--runs", type=int, default=120, help="of each campaign")
    parser.add_argument(
        "--analysis-seconds",
        type=float,
        default=0,
        help="let each analysis of a submission take so much processor time more",
    )
    parser.add_argument("--most", type=float, default=2.0, help="seconds that a run may be delayed")
    parser.add_argument("--patience", type=float, default=1800, help="seconds for each campaign")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the log is kept")
    return parser.parse_args()


def compare(plant, target, options):
    """Run both campaigns, report the differences, and return the longest delay in seconds."""
    server = plant.try_api(
        "POST",
        "targets",
        {"name": "stands", "family": "http", "base_url": target.base_url, "confirm_address": True},
    )["id"]
    alone, _ = measured(plant, server, options, burst=False)
    beside, seen = measured(plant, server, options, burst=True)
    delays = sorted(b["gap"] - a["gap"] for a, b in zip(alone, beside, strict=True))
    print(f"\n{'seconds':>28}{'undisturbed':>14}{'burst':>10}{'ratio':>8}")
    for name, of in (
        ("scheduling, median", lambda rows: median(row["gap"] for row in rows)),
        ("scheduling, longest", lambda rows: max(row["gap"] for row in rows)),
        ("scheduling, all", lambda rows: sum(row["gap"] for row in rows)),
        ("a run, mean", lambda rows: mean(row["took"] for row in rows)),
    ):
        first, second = of(alone), of(beside)
        print(f"{name:>28}{first:>14.3f}{second:>10.3f}{second / first:>8.2f}")
    print(
        f"\nruns: {len(beside)}; delays: median {median(delays):.3f} s, longest {delays[-1]:.3f} s"
    )
    print(f"messages that waited at once, at most: {seen.most_messages()}")
    print(f"submissions: {seen.sent} sent in {seen.took:.0f} s, {seen.refused} refused")
    print(f"analyses that waited at the end of the campaign: {plant.rows(WAITING)[0]['n']}")
    return delays[-1]


def measured(plant, server, options, *, burst):
    """Return the accepted attempts of a campaign, which runs during the burst, if there is one."""
    wait_until(lambda: plant.rows(WORKERS)[0]["n"] > 0, "a worker that computes", 600)
    wait_until(lambda: plant.rows(WAITING)[0]["n"] == 0, "every analysis is done", 600)
    campaign = plant.try_api("POST", "campaigns", definition(server, options))["id"]
    seen = Seen(plant, options)
    if burst:
        wait_until(lambda: len(plant.rows(RUNS, campaign)) >= 4, "four runs", 600)
        seen.start()
    begun = monotonic()
    while (state := plant.rows(STATE, campaign)[0]["state"]) == "running":
        if monotonic() - begun > options.patience:
            plant.try_api("POST", f"campaigns/{campaign}/cancel", {"reason": "time is over"})
            raise SystemExit(f"The campaign did not end; messages: {seen.most}.")
        seen.look()
        sleep(0.5)
    seen.finish()
    rows = plant.rows(RUNS, campaign)
    if state != "finished" or len(rows) != options.runs:
        raise SystemExit(f"The campaign is {state} with {len(rows)} of {options.runs} runs.")
    return rows, seen


STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"


def definition(server, options):
    return {
        "question": "What delays a run?",
        "kind": "downloader",
        "target": server,
        "parameters": {"manifest": f"/repo/{CONTENT}/PULP_MANIFEST"},
        "factors": {"concurrency": [4, 8]},
        "order": "interleaved",
        "repetitions": options.runs // 2,
        "seed": 1,
        "launch": True,
    }


class Seen(threading.Thread):
    """Sends the submissions, evenly; notes how long the queues become."""

    def __init__(self, plant, options):
        super().__init__(name="burst", daemon=True)
        self.url, self.token = plant.state["base_url"], plant.token
        self.number, self.seconds = options.submissions, options.seconds
        self.sent = self.refused = 0
        self.took = 0.0
        self.most = dict.fromkeys(QUEUES, 0)
        broker = plant.environment_of_commands["BROKER_URL"]
        self.redis = redis.Redis.from_url(redis_url(broker), socket_timeout=5)

    def run(self):
        begun = monotonic()
        for number in range(self.number):
            sleep(max(0.0, begun + number * self.seconds / self.number - monotonic()))
            try:
                self.submit(number)
                self.sent += 1
            except OSError as error:
                self.refused += 1
                print(f"submission {number}: {error}")
        self.took = monotonic() - begun

    def submit(self, number):
        body = {
            "id": f"burst-{number}",
            "campaign": {"question": f"Is build {number} slower?"},
            "metrics": {"seconds": {"unit": "s", "lower_is_better": True}},
            "runs": [
                {"tags": {"build": build}, "values": {"seconds": 1 + (number * 7 + n) % 13 / 100}}
                for n in range(6)
                for build in ("old", "new")
            ],
        }
        request = urllib.request.Request(  # noqa: S310  loopback
            f"{self.url}/api/v1/submissions",
            data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            answer.read()

    def look(self):
        for queue in QUEUES:
            self.most[queue] = max(self.most[queue], self.redis.llen(queue))

    def finish(self):
        """Wait until all were sent."""
        if self.is_alive():
            self.join()
        self.redis.close()

    def most_messages(self):
        return ", ".join(f"{queue} {most}" for queue, most in self.most.items() if most) or "none"


def wait_until(condition, what, seconds):
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            raise SystemExit(f"Not within {seconds:.0f} s: {what}.")
        sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
