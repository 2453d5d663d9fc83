"""script/pulp: what it starts works, what died is repaired, and what it stops leaves nothing."""

import os
import signal
import stat

import psutil
import pytest

from e2e.conftest import wait_for
from perfdash.local.pulp.processes import marked, runs

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(600)]


def processes_of(pulp):
    """Every process of this Pulp; PostgreSQL's sessions write over their environment, so by descent."""
    database = psutil.Process(pulp.state["services"]["database"])
    return [*marked(str(pulp.data)), database, *database.children(recursive=True)]


def kill(pulp, name):
    os.kill(pulp.state["services"][name], signal.SIGKILL)


def test_a_real_pulp_answers_and_only_its_owner_reads_the_password(real_pulp, rest):
    status = rest.get("status/")

    state_file = real_pulp.data / "run" / "state.json"
    assert {part["component"]: part["version"] for part in status["versions"]} == {
        "core": "3.123.1",
        "file": "3.123.1",
        "certguard": "3.123.1",
        "rpm": "3.39.4",
    }
    assert [worker["name"].split("-")[0] for worker in status["online_workers"]] == ["worker1"]
    assert status["redis_connection"]["connected"] is False
    assert rest.get("repositories/")["count"] == 0
    assert stat.S_IMODE(state_file.stat().st_mode) == 0o600
    assert real_pulp.run("status") == 0, real_pulp.said
    assert real_pulp.state["password"] not in real_pulp.said


def test_it_syncs_a_repository_with_the_concurrency_of_the_remote(rest, feed):
    url = feed.manifest(files=40, size=1000, latency=100, label="real-pulp")
    remote, repository = rest.feed("real-pulp", url, download_concurrency=4)

    task = rest.done(rest.sync(remote, repository))

    done = {report["code"]: report["done"] for report in task["progress_reports"]}
    assert task["state"] == "completed", task["error"]
    assert done["sync.downloading.artifacts"] == 40
    assert rest.get("artifacts/?limit=1")["count"] == 40
    assert feed.stats()["labels"]["real-pulp"]["in_flight_max"] == 4
    rest.remove(repository, remote)
    rest.clean_orphans()
    assert rest.get("artifacts/?limit=1")["count"] == 0


def test_a_second_start_changes_nothing(real_pulp):
    before = real_pulp.state

    real_pulp.start()

    assert real_pulp.state == before


def test_a_start_brings_a_killed_worker_back_and_its_task_fails(real_pulp, rest, feed):
    url = feed.manifest(files=10, size=1000, latency=20000, label="killed")
    remote, repository = rest.feed("killed", url)
    answer = rest.sync(remote, repository)
    wait_for(lambda: rest.get(answer["task"])["state"] == "running", "a sync that runs")
    kill(real_pulp, "worker1")
    assert real_pulp.run("status") == 3
    assert "worker1 ended" in real_pulp.said

    real_pulp.start()

    task = rest.done(answer)
    assert (task["state"], task["error"]) == (
        "failed",
        {"reason": "Worker has gone missing."},
    )
    rest.remove(repository, remote)


@pytest.mark.parametrize("names", [("api", "content"), ("database",)])
def test_a_start_brings_back_what_was_killed(real_pulp, names):
    before = real_pulp.state
    for name in names:
        kill(real_pulp, name)

    real_pulp.start()

    after = real_pulp.state
    same = ("base_url", "content_url", "password")
    assert all(after["services"][name] != before["services"][name] for name in names)
    assert [after[key] for key in same] == [before[key] for key in same]
    assert real_pulp.rest().get("repositories/")["count"] == 0


def test_a_stop_after_kills_leaves_no_process_and_the_next_start_the_same_pulp(real_pulp):
    before = real_pulp.state
    kill(real_pulp, "api")
    kill(real_pulp, "worker1")
    everything = processes_of(real_pulp)

    assert real_pulp.run("stop") == 0, real_pulp.said

    assert [process for process in everything if runs(process)] == []
    assert marked(str(real_pulp.data)) == []
    assert real_pulp.run("status") == 3
    real_pulp.start()
    assert real_pulp.state["base_url"] == before["base_url"]
    assert real_pulp.rest().get("repositories/")["count"] == 0
