"""A search for capacity on the simulated Katello: its worker is killed, and the owner takes the permission back."""

import os
import signal
import time

import psutil
import pytest

from campaigns.results.importing.simulated_katello import KATELLO
from e2e.conftest import wait_for
from e2e.faults.processes import tree, words

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

LIMIT = 60.0
"""Seconds that no registration takes: all loads hold, up to the largest one."""
SEARCH = {
    "question": "How many hosts can register at once?",
    "kind": "registration",
    "parameters": {"packages": 0},
    "search": {"load": "hosts", "first": 8, "largest": 16},
    "criterion": {"conditions": [{"metric": "registration_time", "at_most": LIMIT}]},
    "order": "interleaved",
    "repetitions": 3,
    "seed": 1,
    "launch": True,
}


RUNS = "SELECT state FROM campaigns_run WHERE campaign_id = %s ORDER BY position"


@pytest.fixture
def target(perfdash):
    """The simulated Katello, which nobody may overload."""
    every = perfdash.api("GET", "targets")["results"]
    key = next(each["id"] for each in every if each["name"] == KATELLO)
    perfdash.api("PATCH", f"targets/{key}", {"overload_until": None})
    return key


def kill_measuring(perfdash):
    """Kill the worker that measures, with its children."""
    worker = psutil.Process(perfdash.state["services"]["measure"])
    for process in [*worker.children(recursive=True), worker]:
        os.kill(process.pid, signal.SIGKILL)


def runs_of(perfdash, campaign):
    return perfdash.api("GET", f"campaigns/{campaign}/runs?limit=100")["results"]


def test_a_search_is_refused_until_the_owner_allows_it_and_survives_a_kill(perfdash, target):
    with pytest.raises(AssertionError, match=r"409: .*its owner has not allowed that"):
        perfdash.api("POST", "campaigns", SEARCH | {"target": target})
    perfdash.api("PATCH", f"targets/{target}", {"overload_until": "2099-01-01T00:00:00Z"})

    campaign = perfdash.api("POST", "campaigns", SEARCH | {"target": target})["id"]
    wait_for(lambda: len(perfdash.rows(RUNS, campaign)) >= 2, "the second run")
    kill_measuring(perfdash)
    perfdash.until(campaign, "finished", seconds=200)

    runs = runs_of(perfdash, campaign)
    assert [run["state"] for run in runs] == ["done"] * len(runs)
    loads = [run["cell"]["levels"]["hosts"] for run in runs]
    assert loads[:2] == [8, 16]
    assert max(loads) == 16
    found = perfdash.api("GET", f"campaigns/{campaign}/findings/capacity")["result"]
    (setting,) = found["settings"]
    assert setting["capacity"]["blocks"] == 3
    assert (setting["capacity"]["word"], setting["capacity"]["low"]) == ("at_least", 16)
    measured = sum(run["purpose"] == "measured" for run in runs)
    confirmed = sum(cell["runs"] for cell in setting["cells"])
    assert len(found["explored"]) + confirmed == measured  # none twice, none lost


def load_programs(perfdash):
    """Return the command lines of the processes below the worker that measures that load the target."""
    lines = [" ".join(words(process)) for process in tree(perfdash.state["services"]["measure"])]
    return [line for line in lines if "campaigns.kinds.registration.program" in line]


def test_the_load_stops_within_two_seconds_when_the_owner_takes_the_permission_back(
    perfdash, target
):
    allowed = {"overload_until": "2099-01-01T00:00:00Z"}
    perfdash.api("PATCH", f"targets/{target}", allowed)
    slow = SEARCH | {
        "target": target,
        "parameters": {"packages": 0, "start": "ramp", "ramp_seconds": 120},
        "search": {"load": "hosts", "first": 30, "largest": 60},
    }
    campaign = perfdash.api("POST", "campaigns", slow)["id"]
    wait_for(lambda: load_programs(perfdash), "the load")

    perfdash.api("PATCH", f"targets/{target}", {"overload_until": None})
    began_at = time.monotonic()
    wait_for(lambda: not load_programs(perfdash), "the end of the load")

    assert time.monotonic() - began_at < 2.5  # it is looked for every half second
    perfdash.until(campaign, "paused")
    assert (
        "may not be overloaded any more, so the run that was on is stopped"
        in (perfdash.api("GET", f"campaigns/{campaign}")["state_reason"])
    )
    wait_for(lambda: perfdash.rows(RUNS, campaign) == [("planned",)], "the run given back")
    with pytest.raises(AssertionError, match=r"409: .*its owner has not allowed that"):
        perfdash.api("POST", f"campaigns/{campaign}/resume")
    perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "tried"})
