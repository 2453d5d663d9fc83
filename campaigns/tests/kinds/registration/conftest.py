import pytest

from campaigns.kinds.servers import katello as client_of
from campaigns.tests.kinds.registration.place import Place, target_of
from sandbox.process import running


@pytest.fixture(scope="module")
def running_simulator():
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def simulator(running_simulator, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    running_simulator.renew()
    yield running_simulator
    running_simulator.renew()


@pytest.fixture
def place(simulator, tmp_path):
    return Place(target_of(simulator), tmp_path)
