"""A campaign over two builds of the simulated Pulp: installed as seldom as possible, read back, put back."""

import json
import urllib.request
from itertools import pairwise

import pytest

from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

OLD, NEW = "3.105.0", "3.123.1"
BUILD = {
    "name": "pulpcore",
    "type": "text",
    "is_build": True,
    "apply": {"way": "http", "method": "PATCH", "url": "/simulator/", "body": {"core": "{value}"}},
    "read_back": {"way": "http", "url": "/pulp/api/v3/status/", "at": "versions.0.version"},
}


@pytest.fixture(scope="module")
def target(perfdash):
    sent = {
        "name": "simulator of two builds",
        "family": "pulp",
        "base_url": perfdash.state["pulp_url"],
        "username": "admin",
        "password": "password",
        "is_dedicated": True,
    }
    key = perfdash.api("POST", "targets", sent)["id"]
    perfdash.api("POST", f"targets/{key}/settings", BUILD)
    return key


def campaign_of(perfdash, target, builds, **others):
    feed = f"{perfdash.state['sandbox_url']}/repo/files=3,size=1000/PULP_MANIFEST"
    sent = {
        "question": "Is the new build faster?",
        "kind": "sync",
        "target": target,
        "parameters": {"feed": feed},
        "factors": {"pulpcore": builds, "download_concurrency": [2, 4]},
        "order": "interleaved",
        "repetitions": 3,
        "seed": 1,
        "launch": True,
        **others,
    }
    return perfdash.api("POST", "campaigns", sent)["id"]


def ended(perfdash, campaign, *states):
    perfdash.until(campaign, *states, seconds=180)
    return perfdash.api("GET", f"campaigns/{campaign}")


def core_of(perfdash):
    """The version that the server says it is."""
    url = f"{perfdash.state['pulp_url']}/pulp/api/v3/status/"
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - ours
        return json.load(answer)["versions"][0]["version"]


def test_builds_are_compared_and_the_one_of_before_is_put_back(perfdash, target):
    campaign = campaign_of(perfdash, target, [OLD, NEW])

    ended(perfdash, campaign, "finished")

    runs = perfdash.api("GET", f"campaigns/{campaign}/runs")["results"]
    assert [run["state"] for run in runs] == ["done"] * 12
    builds = [run["cell"]["levels"]["pulpcore"] for run in runs]
    assert sum(one != other for one, other in pairwise(builds)) <= 5  # two whole plots a block
    read_back = perfdash.rows(
        "SELECT asked #>> '{}', in_force #>> '{}' FROM campaigns_effectivesetting"
        " WHERE name = 'pulpcore' AND attempt_id IN (SELECT attempt.id FROM campaigns_attempt attempt"
        " JOIN campaigns_run run ON run.id = run_id WHERE campaign_id = %s)",
        campaign,
    )
    assert sorted(read_back) == [(OLD, OLD)] * 6 + [(NEW, NEW)] * 6
    wait_for(lambda: core_of(perfdash) == NEW, "the build of before")
    levels = perfdash.api("GET", f"campaigns/{campaign}/findings/levels")["result"]
    assert levels["hard"] == ["pulpcore"]


def test_a_build_that_cannot_be_installed_makes_the_run_void_and_the_server_is_as_before(
    perfdash, target
):
    campaign = campaign_of(
        perfdash, target, [NEW, "3.999.0"], repetitions=1, max_consecutive_failures=2
    )

    paused = ended(perfdash, campaign, "paused")

    runs = perfdash.api("GET", f"campaigns/{campaign}/runs")["results"]
    void = [run for run in runs if run["state"] == "void"]
    assert {run["cell"]["levels"]["pulpcore"] for run in void} == {"3.999.0"}
    assert "3.999.0 cannot be installed" in void[0]["reason"]
    assert "void" in paused["state_reason"]
    perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "there is no such build"})
    wait_for(lambda: core_of(perfdash) == NEW, "the build of before")
