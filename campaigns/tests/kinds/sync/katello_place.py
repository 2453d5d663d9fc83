"""A simulated Katello under test, and a keeper of one attempt on it."""

import threading

import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.servers import katello as client_of
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.sync.driver import driver
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import Login
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.sync.suite import RULES, Place
from sandbox.process import running


@pytest.fixture(scope="module")
def simulator():
    with running(katello={"sync_seconds": 0.4, "skip_seconds": 0.1}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def katello(simulator, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    simulator.renew()
    target = Target("simulator", "katello", simulator.base_url, "admin", "password")
    place = KatelloPlace(target, tmp_path)
    yield place
    place.close()
    simulator.renew()


class KatelloPlace(Place):
    def client(self):
        login = Login(self.target.username, self.target.password)
        connection = Connection(self.target.base_url, RULES)
        self.connections.append(connection)
        return Katello(connection, self.target.base_url, login)


def parameters(**changes):
    initial = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    asked = {"repository_ids": "3", "repeat": "unchanged", "optimize": "off"} | changes
    form = driver.parameters(initial | asked)
    assert form.is_valid(), form.errors
    fixed = form.cleaned_data
    assert driver.misfits("katello", fixed, {}) == {}
    return fixed


def begin(katello, **changes):
    """Everything up to where the syncs begin."""
    values = parameters(**changes)
    katello.reset(values)
    katello.apply(values)
    return values


def when_it_runs(simulator, action):
    """Do something as soon as a sync runs."""

    def wait():
        assert until(lambda: simulator.told()["tasks"].get("running"))
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def unfinished(simulator):
    return {s: n for s, n in simulator.told()["tasks"].items() if s != "stopped"}
