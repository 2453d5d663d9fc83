import pytest

from e2e.pulp.contract.test_syncing import digests
from sandbox.tests.pulp.client import Pulp, progress

NOWHERE = "tasks/00000000-0000-7000-8000-000000000000/"
CANCELED = {"state": "canceled"}


def slow(pulp: Pulp) -> str:
    """A remote whose files stop half way."""
    return pulp.remote(pulp.manifest(files=6, stalls=1), download_concurrency=2)


def downloading(task: dict) -> bool:
    return "sync.parsing.metadata" in progress(task)


def test_a_running_sync_tells_of_its_progress(pulp: Pulp) -> None:
    task = pulp.start(pulp.repository(), slow(pulp))

    seen = pulp.when(task, downloading)

    assert (seen["state"], seen["finished_at"], seen["error"]) == ("running", None, None)
    assert progress(seen)["sync.downloading.metadata"] == ("completed", 1, None)
    assert progress(seen)["sync.downloading.artifacts"][0] == "running"
    pulp.ask("PATCH", task, CANCELED)
    pulp.done(task)


def test_a_canceled_sync_is_first_canceling_and_leaves_nothing(pulp: Pulp) -> None:
    repository = pulp.repository()
    task = pulp.start(repository, slow(pulp))
    pulp.when(task, downloading)

    answer = pulp.ask("PATCH", task, CANCELED)
    seen = pulp.done(task)

    assert (answer.status_code, answer.json()["state"]) == (200, "canceling")
    assert (seen["state"], seen["error"], seen["created_resources"]) == ("canceled", None, [])
    assert seen["finished_at"]
    assert progress(seen)["sync.downloading.artifacts"][0] == "canceled"
    assert pulp.get(repository)["latest_version_href"] == f"{repository}versions/0/"


def test_a_canceled_task_may_be_canceled_again(pulp: Pulp) -> None:
    task = pulp.start(pulp.repository(), slow(pulp))
    pulp.ask("PATCH", task, CANCELED)
    pulp.done(task)

    answer = pulp.ask("PATCH", task, CANCELED)

    assert (answer.status_code, answer.json()["state"]) == (200, "canceled")


def test_a_completed_task_cannot_be_canceled(pulp: Pulp) -> None:
    task = pulp.start(pulp.repository(), pulp.remote(pulp.manifest(files=1)))
    pulp.done(task)

    answer = pulp.ask("PATCH", task, CANCELED)

    assert (answer.status_code, answer.json()["state"]) == (409, "completed")


def test_a_task_that_is_not_there_cannot_be_canceled(pulp: Pulp) -> None:
    answer = pulp.ask("PATCH", NOWHERE, CANCELED)

    assert answer.status_code == 404
    assert answer.json() == {"detail": "No Task matches the given query."}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"state": "x"}, "The only acceptable value for 'state' is 'canceled'."),
        ({}, "This field is required."),
    ],
)
def test_a_task_can_be_told_nothing_else(pulp: Pulp, body: dict[str, str], problem: str) -> None:
    answer = pulp.ask("PATCH", NOWHERE, body)

    assert (answer.status_code, answer.json()) == (400, {"state": [problem]})


def test_a_second_sync_of_a_repository_waits_for_the_first(pulp: Pulp) -> None:
    repository = pulp.repository()
    first = pulp.start(repository, slow(pulp))
    pulp.when(first, downloading)

    second = pulp.start(repository, pulp.remote(pulp.manifest(files=1)))

    waiting = pulp.get(second)
    assert (waiting["state"], waiting["unblocked_at"]) == ("waiting", None)
    assert f"/{second.split('/')[-2]}/" in str(pulp.get("tasks/", state="waiting")["results"])
    pulp.ask("PATCH", first, CANCELED)
    assert pulp.done(second)["state"] == "completed"


def test_a_task_that_runs_cannot_be_deleted(pulp: Pulp) -> None:
    task = pulp.start(pulp.repository(), slow(pulp))
    pulp.when(task, downloading)

    assert pulp.ask("DELETE", task).status_code == 409
    pulp.ask("PATCH", task, CANCELED)
    pulp.done(task)
    assert pulp.ask("DELETE", task).status_code == 204
    assert pulp.ask("GET", task).status_code == 404


def test_orphans_are_cleaned_up_and_the_rest_stays(pulp: Pulp) -> None:
    kept, gone = pulp.manifest(files=2), pulp.manifest(files=3)
    pulp.sync(pulp.repository(), pulp.remote(kept))
    pulp.sync(orphaned := pulp.repository(), pulp.remote(gone))
    pulp.done(pulp.task("DELETE", orphaned))

    task = pulp.done(pulp.task("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))

    reports = progress(task)
    assert task["state"] == "completed"
    for code in ("clean-up.content", "clean-up.artifacts"):
        state, done, total = reports[code]
        assert (state, done) == ("completed", total)
        assert done >= 3
    assert [pulp.artifact(digest) for digest in digests(pulp, gone)] == [0] * 3
    assert [pulp.artifact(digest) for digest in digests(pulp, kept)] == [1] * 2


def test_young_orphans_are_protected(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=2)
    pulp.sync(repository := pulp.repository(), pulp.remote(manifest))
    pulp.done(pulp.task("DELETE", repository))

    pulp.done(pulp.task("POST", "orphans/cleanup/", {"orphan_protection_time": 1440}))

    assert [pulp.artifact(digest) for digest in digests(pulp, manifest)] == [1] * 2


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("x", "A valid integer is required."),
        (-1, "Ensure this value is greater than or equal to 0."),
    ],
)
def test_a_bad_protection_time_is_refused(pulp: Pulp, value: object, problem: str) -> None:
    answer = pulp.ask("POST", "orphans/cleanup/", {"orphan_protection_time": value})

    assert (answer.status_code, answer.json()) == (400, {"orphan_protection_time": [problem]})


def test_tasks_are_purged_up_to_an_instant(pulp: Pulp) -> None:
    body = {"finished_before": "2020-01-01T00:00:00Z", "states": ["completed"]}

    task = pulp.done(pulp.task("POST", "tasks/purge/", body))

    assert task["state"] == "completed"
    assert progress(task)["purge.tasks.total"] == ("completed", 0, 0)


def test_a_bad_purge_is_refused(pulp: Pulp) -> None:
    answer = pulp.ask("POST", "tasks/purge/", {"finished_before": "x", "states": ["running"]})

    assert answer.status_code == 400
    assert answer.json()["states"] == ['"running" is not a valid choice.']
    assert answer.json()["finished_before"][0].startswith("Datetime has wrong format.")
