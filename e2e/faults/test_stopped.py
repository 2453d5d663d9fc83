"""Processes that stand still for longer than their lease, and wake up again."""

import pytest

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.load import ENDED, again_and_again
from e2e.faults.plant import LEASE_SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]


def until_lost(plant, attempt):
    wait_for(lambda: plant.rows(ENDED, attempt), f"attempt {attempt} to be taken as lost")


def test_the_keeper_stands_still(plant, load, rounds):
    def fault(attempt):
        (child,) = processes.worker_child(plant.pid)
        engines = processes.engine(plant.pid)
        child.suspend()
        try:
            wait_for(
                lambda: not any(map(processes.alive, engines)), "the engine's end", LEASE_SECONDS
            )
            assert not load.sender(attempt)["in_flight"]
            until_lost(plant, attempt)
        finally:
            child.resume()

    again_and_again(load, rounds, fault)


@pytest.mark.nightly
def test_the_keeper_and_its_engine_stand_still(plant, load, rounds):
    """As on a machine that sleeps: neither may go on with what it was about to send."""

    def fault(attempt):
        stopped = [*processes.worker_child(plant.pid), *processes.engine(plant.pid)]
        for process in stopped:
            process.suspend()
        try:
            until_lost(plant, attempt)
        finally:
            for process in reversed(stopped):
                process.resume()

    again_and_again(load, rounds, fault)
