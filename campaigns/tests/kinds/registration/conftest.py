import pytest

from campaigns.kinds.servers import katello as client_of
from campaigns.tests.kinds.registration.place import Place, target_of
from sandbox.process import running


@pytest.fixture(scope="module")
def running_stand_in():
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def stand_in(running_stand_in, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    running_stand_in.renew()
    yield running_stand_in
    running_stand_in.renew()


@pytest.fixture
def place(stand_in, tmp_path):
    return Place(target_of(stand_in), tmp_path)
