"""What the simulator answers, held against section by section of what is known of Katello's API."""

import json
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.process import running

FIELDS = {
    "id", "label", "pending", "action", "username", "started_at", "ended_at", "state", "result",
    "progress", "duration", "input", "output", "humanized", "cli_example", "start_at",
    "available_actions",
}  # fmt: skip


@pytest.fixture(scope="module")
def process() -> Iterator[SimulatedKatello]:
    with running(katello={"sync_seconds": 0.2}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def katello(process: SimulatedKatello) -> Iterator[SimulatedKatello]:
    process.renew()
    yield process
    process.renew()


def ask(
    katello: SimulatedKatello, method: str, path: str, body: Any = None, user: str = "admin"
) -> tuple[int, dict[str, Any]]:
    """Send JSON with the password; give status and body."""
    request = urllib.request.Request(  # noqa: S310 - ours
        f"{katello.base_url}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Basic {b64encode(f'{user}:password'.encode()).decode()}",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_a_sync_is_begun_with_202_and_a_task_of_whole_seconds(katello: SimulatedKatello) -> None:
    status, task = ask(katello, "POST", "/katello/api/v2/repositories/3/sync", {})

    assert status == 202
    assert set(task) == FIELDS
    assert (task["label"], task["result"]) == ("Actions::Katello::Repository::Sync", "pending")
    assert len(task["start_at"]) == len("2026-11-21 09:00:00 UTC")
    assert task["start_at"].endswith(" UTC")
    assert isinstance(task["duration"], str)


def test_older_versions_tell_no_duration(katello: SimulatedKatello) -> None:
    katello.behave(duration=False)

    _, task = ask(katello, "POST", "/katello/api/v2/repositories/3/sync", {})

    assert set(task) == FIELDS - {"duration"}


@pytest.mark.parametrize(
    ("repository", "body", "status", "words"),
    [
        (7, {}, 400, "attempted to sync without a feed URL"),
        (9, {}, 400, "attempted to sync a non-library repository."),
        (6, {"skip_metadata_check": True}, 400, "Cannot skip metadata check"),
        (99, {}, 404, "Couldn't find Katello::Repository with 'id'=99"),
    ],
)
@pytest.mark.parametrize("key", ["displayMessage", "message"])
def test_what_is_refused_is_said_in_the_words_of_both_versions(
    katello: SimulatedKatello, repository: int, body: Any, status: int, words: str, key: str
) -> None:
    katello.behave(old_errors=key == "displayMessage")

    output, answer = ask(katello, "POST", f"/katello/api/v2/repositories/{repository}/sync", body)

    assert output == status
    assert answer[key].startswith(words)
    assert answer["errors"] == [answer[key]]


def test_a_repository_is_locked_while_it_is_synced_and_a_proxy_is_not(
    katello: SimulatedKatello,
) -> None:
    katello.behave(sync_seconds=30)
    sync = "/katello/api/v2/repositories/3/sync"
    _, task = ask(katello, "POST", sync, {"skip_metadata_check": True})

    status, answer = ask(katello, "POST", sync, {})

    assert status == 422
    assert answer["displayMessage"].startswith(
        "Required lock is already taken by other running tasks."
    )
    assert answer["displayMessage"].endswith(f"/foreman_tasks/tasks/{task['id']}")
    for _ in range(2):
        assert ask(katello, "POST", "/katello/api/v2/capsules/2/content/sync", {})[0] == 202


def test_a_list_of_tasks_has_the_form_of_foremans(katello: SimulatedKatello) -> None:
    for pk in (3, 5):
        ask(katello, "POST", f"/katello/api/v2/repositories/{pk}/sync", {})

    status, page = ask(katello, "GET", "/foreman_tasks/api/tasks?per_page=1&page=2&search=")

    assert status == 200
    assert (page["total"], page["subtotal"], page["page"], page["per_page"]) == (2, 2, 2, 1)
    assert page["results"][0]["input"]["repository"]["id"] == 3


def test_a_login_that_is_wrong_is_refused_as_foreman_does(katello: SimulatedKatello) -> None:
    status, answer = ask(katello, "GET", "/api/v2/status", user="nobody")

    assert status == 401
    assert answer == {"error": {"message": "Unable to authenticate user nobody"}}


@pytest.mark.parametrize(
    "path", ["/katello/api/v2/nothing", "/api/v2/smart_proxies/77", "/foreman_tasks/api/tasks/77"]
)
def test_what_is_not_there_is_a_404(katello: SimulatedKatello, path: str) -> None:
    status, answer = ask(katello, "GET", path)

    assert status == 404
    assert "not found by id" in answer["message"]


def test_a_page_that_cannot_be_is_a_400(katello: SimulatedKatello) -> None:
    assert ask(katello, "GET", "/foreman_tasks/api/tasks?per_page=0")[0] == 400
    assert ask(katello, "POST", "/foreman_tasks/api/tasks/bulk_cancel", {})[0] == 400


def test_what_a_test_may_not_do_is_told(katello: SimulatedKatello) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        katello.behave(nonsense=1)

    with refused.value as answer:
        assert answer.code == 400
        assert "no such setting: nonsense" in json.load(answer)["message"]
