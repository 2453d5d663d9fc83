import signal
import threading

import pytest

from campaigns.kinds.load.generator import lacking
from campaigns.tests.kinds.load.conftest import SEQUENCE, request_for
from campaigns.tests.kinds.programs.processes import keeping, lives, until
from campaigns.tests.kinds.programs.servers import asked_head, behaving


@pytest.mark.parametrize(
    ("hosts", "processes", "descriptors"), [(896, 1, 1024), (1792, 2, 1024), (10_000, 1, 65_536)]
)
def test_enough_is_enough(hosts, processes, descriptors):
    assert lacking(hosts, processes, descriptors) == ""


def test_ten_thousand_hosts_need_more_than_a_thousand_descriptors():
    says = lacking(10_000, 2, 1024)

    assert "10,000 hosts in 2 processes need 5,128 file descriptors each" in says
    assert "may have 1,024 here" in says
    assert "use 12 processes or more" in says
    assert lacking(10_000, 12, 1024) == ""


def test_few_descriptors_are_not_helped_by_processes():
    assert "use" not in lacking(10, 1, 100).partition(": ")[2]


@pytest.mark.system
def test_it_is_said_before_anything_is_sent():
    with behaving(lambda connection: None) as (place, accepted):
        asked = request_for(place, {"hosts": 1000, "iterations": 1}, paths=["ok"])
        with keeping(
            module=SEQUENCE, request=asked, lease_seconds=30, limits={"RLIMIT_NOFILE": 1024}
        ) as keeper:
            keeper.wait(30)

    assert keeper.returncode != 0
    assert accepted == []


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGSTOP])
def test_all_processes_end_with_their_keeper(death, tmp_path):
    """A keeper that is stopped renews nothing; the kernel ends what it had started."""
    over = threading.Event()

    def slow(connection) -> None:
        while asked_head(connection):
            over.wait(60)

    with behaving(slow) as (place, _):
        asked = request_for(
            place, {"hosts": 4, "iterations": 1}, paths=["ok"], processes=2, pids=str(tmp_path)
        )
        with keeping(module=SEQUENCE, request=asked, lease_seconds=3.0) as keeper:
            assert until(lambda: len(list(tmp_path.iterdir())) == 3, 20)
            pids = [int(file.name) for file in tmp_path.iterdir()]
            assert all(lives(pid) for pid in pids)

            keeper.send_signal(death)

            gone = until(lambda: not any(lives(pid) for pid in pids), 15)
            keeper.send_signal(signal.SIGCONT)
        over.set()

    assert gone
