"""The supervisor is killed: nothing of it stays, and the next start goes on where it stopped."""

import pytest

from e2e.faults import processes
from e2e.faults.load import again_and_again

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]


def test_the_supervisor_is_killed(plant, load, rounds):
    def fault(attempt):
        plant.forget_connection()
        processes.kill(processes.supervisor(plant.pid))
        plant.process.wait()
        plant.assert_no_orphans(seconds=10)
        plant.start()

    again_and_again(load, rounds, fault)
