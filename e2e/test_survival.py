"""Kill things in the middle of a measurement: no result is lost, none is doubled.

Each test looks at the *target*: when the next attempt begins, nobody loads it any more.
"""

import os
import signal

import psutil
import pytest
import redis

from e2e.conftest import FAST, served, wait_for

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


def launch(perfdash, label, repetitions=2):
    """A campaign of two cells whose runs take about 2 s each."""
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
                "manifest": f"/repo/files=40,size=2000,label={label}/latency=500/PULP_MANIFEST",
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


def until_finished(perfdash, campaign):
    wait_for(
        lambda: perfdash.rows(STATE, campaign) == [("finished",)],
        "the end of the campaign",
        seconds=180,
    )


def check_the_books(perfdash, campaign, samples, *, repeated):
    rows = perfdash.rows(ATTEMPTS, campaign)
    accepted = [row for row in rows if row[3] == "accepted"]
    assert sorted(row[0] for row in accepted) == [1, 2, 3, 4]
    assert {row[1] for row in rows} == {"done"}
    lost = [row for row in rows if row[3] == "lost"]
    assert len(lost) == len(rows) - len(accepted)
    assert bool(lost) == repeated
    for row in rows:
        before = [in_flight for instant, in_flight in samples if instant < row[4]]
        assert not before or before[-1] == 0, f"the target was loaded when {row} began"


def measure_worker(perfdash):
    return psutil.Process(perfdash.state["services"]["measure"])


def test_the_worker_is_killed(perfdash):
    campaign = launch(perfdash, "worker")
    with perfdash.watching("worker") as samples:
        until_measuring(perfdash, campaign, "worker")
        parent = measure_worker(perfdash)
        engines = parent.children(recursive=True)

        parent.kill()

        _gone, alive = psutil.wait_procs(engines, timeout=5)
        assert not alive
        until_finished(perfdash, campaign)
    check_the_books(perfdash, campaign, samples, repeated=True)


def test_the_workers_child_is_killed(perfdash):
    campaign = launch(perfdash, "child")
    with perfdash.watching("child") as samples:
        until_measuring(perfdash, campaign, "child")
        child = measure_worker(perfdash).children()[0]
        engines = child.children(recursive=True)
        assert engines

        child.kill()

        _gone, alive = psutil.wait_procs(engines, timeout=5)
        assert not alive
        until_finished(perfdash, campaign)
    check_the_books(perfdash, campaign, samples, repeated=True)


def test_the_workers_child_is_stopped_for_longer_than_its_lease(perfdash):
    campaign = launch(perfdash, "stopped")
    with perfdash.watching("stopped") as samples:
        until_measuring(perfdash, campaign, "stopped")
        child = measure_worker(perfdash).children()[0]
        engines = child.children(recursive=True)
        assert engines

        child.suspend()
        try:
            wait_for(lambda: perfdash.rows(REASONS, campaign), "an attempt that is taken as lost")
            assert all(each.status() == psutil.STATUS_ZOMBIE for each in engines)
        finally:
            child.resume()
        until_finished(perfdash, campaign)
    check_the_books(perfdash, campaign, samples, repeated=True)


def test_the_broker_is_emptied(perfdash):
    campaign = launch(perfdash, "emptied")
    with perfdash.watching("emptied") as samples:
        until_measuring(perfdash, campaign, "emptied")
        broker = redis.Redis.from_url(_redis_url(perfdash))

        for _ in range(20):
            broker.flushall()

        until_finished(perfdash, campaign)
    check_the_books(perfdash, campaign, samples, repeated=False)


def test_postgresql_is_killed(perfdash):
    campaign = launch(perfdash, "database")
    with perfdash.watching("database") as samples:
        until_measuring(perfdash, campaign, "database")
        before = perfdash.state["services"]["database"]

        os.kill(before, signal.SIGKILL)

        wait_for(lambda: perfdash.state["services"]["database"] != before, "a new PostgreSQL")
        until_finished(perfdash, campaign)
    rows = perfdash.rows(ATTEMPTS, campaign)
    check_the_books(perfdash, campaign, samples, repeated=any(row[3] == "lost" for row in rows))


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


def test_after_ctrl_c_the_next_start_goes_on_at_once(tmp_path):
    data = tmp_path / "data"
    patient = FAST | {"LEASE_SECONDS": "600", "LEASE_GRACE_SECONDS": "600"}
    with served(data, **patient) as perfdash:
        campaign = launch(perfdash, "ctrl-c")
        until_measuring(perfdash, campaign, "ctrl-c")
        everything = psutil.Process(perfdash.process.pid).children(recursive=True)

    _gone, alive = psutil.wait_procs(everything, timeout=1)
    assert not alive

    with served(data, **patient) as perfdash:
        until_finished(perfdash, campaign)
        rows = perfdash.rows(ATTEMPTS, campaign)
        reasons = perfdash.rows(REASONS, campaign)
    assert sorted(row[0] for row in rows if row[3] == "accepted") == [1, 2, 3, 4]
    assert reasons == [("the worker was shut down",)]


def _redis_url(perfdash):
    from perfdash.addresses import redis_url

    return redis_url(perfdash.state["environment"]["BROKER_URL"])
