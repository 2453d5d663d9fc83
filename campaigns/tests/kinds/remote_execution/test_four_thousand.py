"""A job on 4000 hosts of the simulated Katello, looked at as a worker does: nothing lists hosts while it runs."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.remote_execution import driver as kind
from campaigns.tests.kinds.remote_execution.place import Place, parameters
from sandbox.process import running

pytestmark = pytest.mark.nightly
HOSTS = 4000
MOST_A_MINUTE = 60


@pytest.fixture(scope="module")
def simulator():
    settings = {"hosts": HOSTS, "job_plan_seconds": 0.001, "cancel_seconds": 0, "rex_seconds": 0.1}
    with running(katello={**settings, "cpus": 8, "memory_gib": 64}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def place(simulator, tmp_path, monkeypatch):
    monkeypatch.setattr(kind, "PAGE_REST_SECONDS", 0.0)
    simulator.renew()
    target = Target("simulator", "katello", simulator.base_url, "admin", "password")
    yield Place(kind.driver, replace(target, installation="0a1b2c3d"), tmp_path)
    simulator.renew()


@pytest.mark.parametrize(
    ("setting", "success", "failure"),
    [("", 100.0, ""), ("rex_fail_share", 99.975, ""), ("rex_hang_share", 99.975, "did not finish")],
    ids=["all succeed", "one fails", "one hangs"],
)
def test_four_thousand_hosts_are_counted_to_one(place, simulator, setting, success, failure):
    if setting:
        simulator.set(setting, 1 / HOSTS)
    values = parameters(hosts=HOSTS) | {"give_up_seconds": 5}

    place.begin(values)
    measured = place.measure(values)

    told = simulator.told()["jobs"]
    seconds = measured.values["job_duration"]
    assert failure in measured.failure
    assert measured.values["success"] == success
    assert len(measured.samples["host"]) == HOSTS
    assert told["running"] == told["listings_while_running"] == 0
    assert told["requests_while_running"] <= MOST_A_MINUTE * seconds / 60 + 2
