"""The supervisor is killed: nothing of it stays, and the next start goes on where it stopped."""

import pytest

from e2e.faults import processes
from e2e.faults.load import again_and_again, loading
from e2e.faults.plant import Plant, place, started

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]


@pytest.fixture
def own():
    with place() as path, started(Plant(path / "data")) as made:
        yield made


def test_the_supervisor_is_killed(own, target, rounds, book):
    def fault(attempt):
        own.forget_connection()
        processes.kill(processes.supervisor(own.pid))
        own.process.wait()
        own.assert_no_orphans(seconds=10)
        own.start()

    with loading(own, target, rounds) as load, book(load):
        again_and_again(load, rounds, fault)
