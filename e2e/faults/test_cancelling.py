"""Cancelled means that load has stopped, within 2 s: held here, where nothing else is to do."""

from time import monotonic, sleep

import pytest

from campaigns.tests.kinds.programs.conftest import ENGINES
from e2e.conftest import wait_for
from e2e.faults.load import loading, telling
from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]

PROMISED_SECONDS = 2.0
RUNNING = """
    SELECT attempt.id FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'running'
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_load_of_an_engine_stops_in_time(plant, rounds, engine):
    cancel(plant, rounds, "files=24,size=2000/latency=30000", engine)


def test_a_manifest_that_does_not_come_is_let_go_in_time(plant, rounds):
    cancel(plant, rounds, "files=1/manifest=hang", "asyncio")


def cancel(plant, rounds, content, engine):
    """Cancel while the target is loaded, and look at it when the time is over: nothing is open or comes."""
    for number in range(1, rounds + 1):
        with running() as sandbox, telling(plant, number):
            with loading(plant, sandbox, 1, content=content, engines=[engine]) as load:
                attempt = wait_for(lambda load=load: loaded_by(load), "a target that is loaded")
                ends_at = monotonic() + PROMISED_SECONDS
                load.cancel()
                sleep(max(0.0, ends_at - monotonic()))
                seen = load.sender(attempt)
            assert seen["in_flight"] == 0
            assert load.sender(attempt)["requests"] == seen["requests"]


def loaded_by(load):
    """The attempt by which the target is loaded now."""
    for row in load.plant.rows(RUNNING, load.campaign):
        if load.sender(row["id"]).get("in_flight"):
            return row["id"]
    return None
