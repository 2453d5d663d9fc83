import time

import pytest
import requests

from sandbox.process import Sandbox
from sandbox.pulp.process import SimulatedPulp
from sandbox.tests.conftest import wait_until
from sandbox.tests.pulp.client import Pulp, progress

CANCELED = {"state": "canceled"}


def hanging(pulp: Pulp) -> str:
    return pulp.remote(pulp.manifest(files=4, stalls=1))


def running(pulp: Pulp) -> str:
    task = pulp.start(pulp.repository(), hanging(pulp))
    pulp.when(task, lambda found: found["state"] == "running")
    return task


def test_it_says_that_it_is_a_simulator(pulp: Pulp) -> None:
    answer = pulp.ask("GET", "status/")

    components = {each["component"] for each in answer.json()["versions"]}
    assert "simulated" in components
    assert answer.headers["Server"].startswith("perfdash-simulated-pulp/")


def test_a_killed_workers_task_stays_running_and_can_only_be_canceling(
    pulp: Pulp, simulator: SimulatedPulp, feed: Sandbox
) -> None:
    task = running(pulp)

    simulator.kill_worker()

    wait_until(lambda: feed.stats()["all"]["in_flight"] == 0)
    assert pulp.get(task)["state"] == "running"
    assert len(pulp.get("status/")["online_workers"]) == 1
    assert pulp.ask("PATCH", task, CANCELED).json()["state"] == "canceling"
    time.sleep(0.15)
    assert pulp.get(task)["state"] == "canceling"


def test_a_killed_worker_is_missed_in_the_end(pulp: Pulp, simulator: SimulatedPulp) -> None:
    task = running(pulp)
    simulator.kill_worker()

    simulator.replace_workers()

    seen = pulp.get(task)
    assert (seen["state"], seen["error"]) == ("failed", {"reason": "Worker has gone missing."})
    synced = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=1)))
    assert synced["state"] == "completed"


def test_what_was_canceled_meanwhile_is_canceled_without_a_reason(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    task = running(pulp)
    simulator.kill_worker()
    pulp.ask("PATCH", task, CANCELED)

    simulator.replace_workers()

    seen = pulp.get(task)
    assert (seen["state"], seen["error"]) == ("canceled", None)


def test_a_killed_worker_is_no_longer_online_after_its_heartbeat(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    simulator.behave(heartbeat_seconds=0.05)

    simulator.kill_worker()

    wait_until(lambda: not pulp.get("status/")["online_workers"])


def test_a_stopped_workers_task_fails(pulp: Pulp, simulator: SimulatedPulp) -> None:
    task = running(pulp)

    simulator.stop_worker()

    seen = pulp.done(task)
    assert seen["state"] == "failed"
    assert seen["error"] == {"reason": "Aborted during worker shutdown."}


def test_without_workers_a_task_waits_and_its_cancellation_too(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    simulator.behave(workers=0)
    task = pulp.start(pulp.repository(), pulp.remote(pulp.manifest(files=1)))

    canceling = pulp.ask("PATCH", task, CANCELED).json()
    assert (canceling["state"], canceling["started_at"]) == ("canceling", None)
    simulator.behave(workers=1)

    assert pulp.done(task)["state"] == "canceled"


def test_as_many_syncs_run_at_once_as_there_are_workers(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    simulator.behave(workers=2)

    tasks = [pulp.start(pulp.repository(), hanging(pulp)) for _ in range(3)]

    pulp.when(tasks[1], lambda found: found["state"] == "running")
    assert [pulp.get(task)["state"] for task in tasks] == ["running", "running", "waiting"]
    assert pulp.get(tasks[2])["unblocked_at"]
    pulp.ask("PATCH", tasks[0], CANCELED)
    pulp.when(tasks[2], lambda found: found["state"] == "running")


def test_sessions_expire_when_told(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.expire_sessions()

    assert pulp.ask("GET", "tasks/").status_code == 401
    assert pulp.log_in().status_code == 201


def test_a_session_ends_with_its_time(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.behave(session_seconds=0.05)
    pulp.log_in()

    wait_until(lambda: pulp.ask("GET", "tasks/").status_code == 401)


@pytest.mark.parametrize(
    ("settings", "status"), [({"unavailable": True}, 503), ({"database": False}, 500)]
)
@pytest.mark.parametrize("path", ["status/", "tasks/", "/"])
def test_a_pulp_that_is_away_answers_with_a_page(
    pulp: Pulp, simulator: SimulatedPulp, settings: dict[str, bool], status: int, path: str
) -> None:
    simulator.behave(**settings)

    answer = pulp.ask("GET", path)

    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")


def test_a_restart_refuses_connections_and_forgets_nothing(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    remote = pulp.remote("u")

    simulator.restart(0.3)

    refused: list[requests.ConnectionError] = []

    def is_back() -> bool:
        try:
            return pulp.ask("GET", remote).status_code == 200 and bool(refused)
        except requests.ConnectionError as error:
            refused.append(error)
            return False

    wait_until(is_back)


def test_an_account_may_be_allowed_to_read_only(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.behave(may_write=False)

    assert pulp.log_in().status_code == 201
    answer = pulp.ask("POST", "remotes/file/file/", {"name": "n", "url": "u"})

    assert answer.status_code == 403
    assert answer.json() == {"detail": "You do not have permission to perform this action."}
    assert pulp.get("remotes/file/file/")["count"] == 0


def test_a_sync_that_does_not_fit_fails_as_on_a_full_disk(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    simulator.behave(storage_total=250)

    fits = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=2, size=100)))
    does_not = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=2, size=100)))

    assert fits["state"] == "completed"
    assert does_not["error"]["description"] == "[Errno 28] No space left on device"
    assert pulp.get("status/")["storage"] == {"total": 250, "used": 200, "free": 50}


def test_a_plugin_that_is_not_installed_is_nowhere(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.behave(plugins=["deb/apt"])

    answer = pulp.ask("POST", "remotes/file/file/", {"name": "n", "url": "u"})

    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "file" not in {each["component"] for each in pulp.get("status/")["versions"]}


def test_a_plugin_that_it_is_told_of_syncs_as_file_does(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    simulator.behave(plugins=["deb/apt"])
    body = {"name": "n", "url": pulp.manifest(files=2), "distributions": "bookworm"}
    remote = pulp.ask("POST", "remotes/deb/apt/", body).json()
    repository = pulp.ask("POST", "repositories/deb/apt/", {"name": "n"}).json()

    task = pulp.sync(repository["pulp_href"], remote["pulp_href"])

    assert remote["distributions"] == "bookworm"
    assert task["name"] == "pulp_deb.app.tasks.synchronizing.synchronize"
    assert progress(task)["sync.downloading.artifacts"] == ("completed", 2, None)


def test_content_of_others_outlives_a_cleanup(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.add_content("theirs", files=3, orphans=2)
    assert pulp.get("artifacts/", limit=1)["count"] == 5

    pulp.done(pulp.task("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))

    assert pulp.get("artifacts/", limit=1)["count"] == 3
    assert pulp.get("content/", limit=1)["count"] == 3
    assert [result["name"] for result in pulp.get("repositories/")["results"]] == ["theirs"]


def test_a_slow_task_takes_its_time(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.behave(task_seconds=0.3)
    begun = time.monotonic()

    pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=1)))

    assert time.monotonic() - begun >= 0.3


def test_a_wrong_clock_is_seen_in_header_and_tasks(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.behave(clock_offset_seconds=-86_400 * 365)

    answer = pulp.ask("GET", "status/")

    heartbeat = answer.json()["online_workers"][0]["last_heartbeat"]
    assert heartbeat[:4] in answer.headers["Date"]
    assert int(heartbeat[:4]) == time.gmtime().tm_year - 1


def test_passwords_are_counted(pulp: Pulp, simulator: SimulatedPulp) -> None:
    simulator.reset_counts()

    pulp.log_in()
    pulp.get("tasks/")

    assert simulator.told()["passwords"] == 1
    assert simulator.told()["requests"] == {"POST login": 1, "GET tasks": 1}
