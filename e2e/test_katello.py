"""A campaign through a Katello, made and run by a whole perfdash, on the simulator that comes with it."""

import json
import urllib.request

import pytest

from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PROBED = "SELECT 1 FROM campaigns_target WHERE id = %s AND health <> 'unknown'"
FAILED = "SELECT position FROM campaigns_run WHERE campaign_id = %s AND state = 'failed'"
SYNC = {
    "question": "What does skip_metadata_check cost?",
    "kind": "sync",
    "parameters": {"repository_ids": "3, 5", "repeat": "unchanged"},
    "factors": {"optimize": ["on", "off"]},
    "order": "interleaved",
    "repetitions": 2,
    "seed": 1,
    "launch": True,
}


@pytest.fixture(scope="module")
def target(perfdash):
    sent = {
        "name": "simulator of a sync",
        "family": "katello",
        "base_url": perfdash.state["katello_url"],
        "username": "admin",
        "password": "password",
    }
    return perfdash.api("POST", "targets", sent)["id"]


def behave(perfdash, **settings):
    request = urllib.request.Request(  # noqa: S310 - ours
        f"{perfdash.state['katello_url']}/simulator/",
        method="PATCH",
        data=json.dumps(settings).encode(),
        headers={"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=10).close()  # noqa: S310 - ours


def test_a_probe_tells_what_it_is(perfdash, target):
    perfdash.api("POST", f"targets/{target}/probe")
    wait_for(lambda: perfdash.rows(PROBED, target), "an answer")
    told = perfdash.api("GET", f"targets/{target}")

    assert told["health"] == "ready", told["health_message"]
    proofs = {proof["name"]: proof["measured"] for proof in told["proofs"]}
    assert proofs["Katello"].endswith("simulated")


def test_a_campaign_is_run_proved_and_labelled(perfdash, target):
    behave(perfdash, sync_seconds=1.5, skip_seconds=0.5)

    campaign = perfdash.api("POST", "campaigns", SYNC | {"target": target})["id"]

    perfdash.until(campaign, "finished")
    done = perfdash.api("GET", f"campaigns/{campaign}")
    assert done["simulators"] == ["simulated Katello 4.16.0"]
    runs = perfdash.api("GET", f"campaigns/{campaign}/runs")["results"]
    assert [run["state"] for run in runs] == ["done"] * 4
    for run in runs:
        told = perfdash.api("GET", f"campaigns/{campaign}/runs/{run['position']}")
        text = json.dumps(told)
        assert "units of content, repository 5" in text
        assert "simulated Katello" in text


def test_a_sync_that_fails_is_told_in_foremans_words(perfdash, target):
    behave(perfdash, sync_seconds=0.5, outcome="pause", error="the step broke")
    try:
        sent = SYNC | {"target": target, "repetitions": 1, "factors": {"optimize": ["off"]}}
        campaign = perfdash.api("POST", "campaigns", sent)["id"]
        failed = wait_for(lambda: perfdash.rows(FAILED, campaign), "a run that failed", 60)
    finally:
        behave(perfdash, outcome="success")
    assert "the step broke" in json.dumps(
        perfdash.api("GET", f"campaigns/{campaign}/runs/{failed[0][0]}")
    )


def test_what_only_a_pulp_has_is_refused_over_rest(perfdash, target):
    feed = {"feed": "http://127.0.0.1:8099/repo/files=3/PULP_MANIFEST"}

    with pytest.raises(AssertionError, match=r"400: .*Only a pulp target has it"):
        perfdash.api("POST", "campaigns", SYNC | {"target": target, "parameters": feed})
