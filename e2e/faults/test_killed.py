"""Processes that are killed in the middle of `measure`: no result is lost, none is doubled."""

import random

import psutil
import pytest

from e2e.conftest import wait_for
from e2e.faults import processes
from e2e.faults.conftest import SEED
from e2e.faults.load import PLAYED, again_and_again, loading

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

ROLES = {
    "worker parent": processes.worker,
    "worker child": processes.worker_child,
    "engine program": processes.engine,
    "loaded engine": processes.loaded,
    "broker": processes.broker,
    "postmaster": processes.postmaster,
    "beat": processes.beat,
    "web": processes.web,
    "web child": processes.web_child,
    "control worker": processes.control,
    "analysis worker": processes.analysis,
}
LOAD_DIES_WITH = ("worker parent", "worker child", "engine program")
AT_NIGHT = ("loaded engine", "beat", "web", "web child", "analysis worker")


@pytest.mark.parametrize(
    "role",
    [pytest.param(role, marks=[pytest.mark.nightly] * (role in AT_NIGHT)) for role in ROLES],
)
def test_killed(plant, load, rounds, role):
    def fault(attempt):
        found = ROLES[role](plant.pid)
        assert found, f"no {role}"
        processes.kill(found)
        psutil.wait_procs(found, timeout=5)
        if role in LOAD_DIES_WITH:
            wait_for(lambda: not load.sender(attempt)["in_flight"], "the end of the load", 3)

    again_and_again(
        load, rounds, fault, settle=lambda: wait_for(lambda: ROLES[role](plant.pid), role)
    )
    load.assert_nothing_is_said_of_the_target()


@pytest.mark.nightly
@pytest.mark.parametrize("role", LOAD_DIES_WITH)
def test_killed_while_a_scenario_is_played(plant, target, rounds, role):
    def fault(attempt):
        found = ROLES[role](plant.pid)
        assert found, f"no {role}"
        processes.kill(found)
        psutil.wait_procs(found, timeout=5)
        wait_for(lambda: not load.sender(attempt)["in_flight"], "the end of the load", 3)

    with loading(plant, target, rounds, definition=PLAYED) as load:
        again_and_again(
            load, rounds, fault, settle=lambda: wait_for(lambda: ROLES[role](plant.pid), role)
        )
        load.assert_nothing_is_said_of_the_target()


@pytest.mark.nightly
def test_the_keepers_backend_is_killed(plant, load, rounds):
    def fault(attempt):
        found = wait_for(plant.keepers_backend, "the keeper's connection", 5)
        processes.kill(found)

    again_and_again(load, rounds, fault)


@pytest.mark.nightly
def test_a_random_backend_is_killed(plant, load, rounds):
    chance = random.Random(SEED)

    def fault(attempt):
        own = plant.own_backend()
        found = [p for p in processes.backends(plant.pid) if p.pid != own]
        processes.kill([chance.choice(found)])

    again_and_again(load, rounds, fault)


@pytest.mark.nightly
def test_several_are_killed_at_once(plant, load, rounds):
    chance = random.Random(SEED)

    def fault(attempt):
        chosen = chance.sample(list(ROLES), k=chance.randint(2, 4))
        processes.kill([process for role in chosen for process in ROLES[role](plant.pid)])

    again_and_again(load, rounds, fault, settle=lambda: wait_for_all(plant))


def wait_for_all(plant):
    for role, find in ROLES.items():
        if role not in ("engine program", "loaded engine"):
            wait_for(lambda find=find: find(plant.pid), role)
