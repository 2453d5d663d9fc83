"""The kind `sync` against a real Pulp: the same tests as against the simulated one, and its workers killed."""

import os
import signal
import threading

import pytest

from campaigns.kinds.base import Target, TargetUnavailable
from campaigns.kinds.sync import cleaning, syncing
from campaigns.tests.kinds.sync.suite import *  # noqa: F403 - the tests of every Pulp
from campaigns.tests.kinds.sync.suite import Place, parameters
from campaigns.tests.kinds.sync.suite_feeds import *  # noqa: F403
from campaigns.tests.kinds.sync.suite_rpm import *  # noqa: F403
from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def pulp(real_pulp, tmp_path, monkeypatch):
    monkeypatch.setattr(
        cleaning, "CLEAN_SECONDS", 60.0
    )  # a broken Pulp is told within a test's time
    state = real_pulp.state
    target = Target(
        "real", "pulp", state["base_url"], state["user"], state["password"], dedicated=True
    )
    place = Place(target, tmp_path)
    yield place
    place.close()
    Place(target, tmp_path, attempt=99).reset({})


@pytest.mark.parametrize("victim", ["worker1", "api"])
def test_what_is_killed_in_the_middle_makes_the_run_void_and_the_next_one_is_good(
    pulp, real_pulp, feed, monkeypatch, victim
):
    monkeypatch.setattr(syncing, "AWAY_SECONDS", 2.0)
    url = feed.manifest(files=40, size=1000, latency=500, label=f"killed-{victim}")
    values = parameters(url, download_concurrency=1)
    pulp.reset(values)
    pulp.apply(values)

    def kill():
        wait_for(lambda: in_flight(feed, f"killed-{victim}"), "a download")
        os.kill(real_pulp.state["services"][victim], signal.SIGKILL)
        if victim == "worker1":
            real_pulp.run("start")

    thread = threading.Thread(target=kill)
    thread.start()

    with pytest.raises(TargetUnavailable, match=r"worker gone|away for more than"):
        pulp.measure(values)

    thread.join()
    real_pulp.start()
    pulp.attempt = 2
    measured, proofs = pulp.run(parameters(feed.manifest(files=3, size=1000)))
    assert not measured.failure
    assert all(proof.ok for proof in proofs), proofs


def in_flight(feed, label):
    return feed.stats()["labels"].get(label, {}).get("in_flight")
