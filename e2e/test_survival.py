"""Whoever cancels or stops in the middle of a measurement stops the load, and loses no result.

What is killed and broken there is in e2e/faults.
"""

import json

import psutil
import pytest

from campaigns.tests.ports import free_port
from e2e.conftest import FAST, copied, place, served, wait_for
from perfdash.local.serve import SIMULATOR_PORTS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

MEASURING = """
    SELECT attempt.id FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'running' AND attempt.phase = 'measure'
"""
STATE = "SELECT state FROM campaigns_campaign WHERE id = %s"
ATTEMPTS = """
    SELECT run.position, run.state, attempt.number, attempt.state, attempt.claimed_at
    FROM campaigns_run run LEFT JOIN campaigns_attempt attempt ON attempt.run_id = run.id
    WHERE run.campaign_id = %s ORDER BY attempt.claimed_at, attempt.id
"""

REASONS = """
    SELECT attempt.reason FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'lost'
"""


def launch(perfdash, label, files=40, repetitions=2):
    """A campaign of two cells whose runs take about 2 s each, for 40 files."""
    targets = perfdash.api("GET", "targets")["results"]
    sandbox = next(target["id"] for target in targets if target["name"] == "sandbox")
    campaign = perfdash.api(
        "POST",
        "campaigns",
        {
            "question": f"Does it survive {label}?",
            "kind": "downloader",
            "target": sandbox,
            "parameters": {
                "manifest": f"/repo/files={files},size=2000,label={label}/latency=500/PULP_MANIFEST",
                "concurrency": 10,
            },
            "factors": {"engine": ["asyncio", "futures"]},
            "order": "interleaved",
            "repetitions": repetitions,
            "seed": 1,
            "launch": True,
        },
    )
    return campaign["id"]


def until_measuring(perfdash, campaign, label):
    """Wait until an attempt measures and the target feels it."""
    wait_for(lambda: perfdash.rows(MEASURING, campaign), "an attempt that measures")
    wait_for(
        lambda: perfdash.sandbox_stats()["labels"].get(label, {}).get("in_flight"),
        "requests in flight",
    )


def test_cancelling_stops_the_load_for_good(perfdash):
    campaign = launch(perfdash, "cancelled")
    until_measuring(perfdash, campaign, "cancelled")

    perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "enough"})

    def at_the_target():
        return perfdash.sandbox_stats()["labels"]["cancelled"]

    wait_for(lambda: at_the_target()["in_flight"] == 0, "the end of the load")
    requests = at_the_target()["requests"]
    wait_for(lambda: perfdash.rows(STATE, campaign) == [("cancelled",)], "cancelled")
    assert {row[1] for row in perfdash.rows(ATTEMPTS, campaign)} == {"cancelled"}
    assert at_the_target()["requests"] == requests
    assert requests < 40 + 1


@pytest.fixture
def data(first_start):
    """A data directory with ports that no other perfdash begins with: it could take them between two starts."""
    with place() as path:
        copy = copied(first_start, path / "data")
        (copy / "ports.json").write_text(json.dumps([free_port() for _ in SIMULATOR_PORTS]))
        yield copy


def test_after_ctrl_c_the_next_start_goes_on_at_once(data):
    patient = FAST | {"LEASE_SECONDS": "600", "LEASE_GRACE_SECONDS": "600"}
    with served(data, **patient) as perfdash:
        campaign = launch(perfdash, "ctrl-c", files=80, repetitions=1)
        until_measuring(perfdash, campaign, "ctrl-c")
        everything = psutil.Process(perfdash.process.pid).children(recursive=True)

    _gone, alive = psutil.wait_procs(everything, timeout=1)
    assert not alive

    with served(data, **patient) as perfdash:
        perfdash.until(campaign, "finished", seconds=180)
        rows = perfdash.rows(ATTEMPTS, campaign)
        reasons = perfdash.rows(REASONS, campaign)
    assert sorted(row[0] for row in rows if row[3] == "accepted") == [1, 2], rows
    assert reasons == [("the worker was shut down",)]
