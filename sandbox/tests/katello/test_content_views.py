"""Content views: made, published, promoted and removed, with the time that Dynflow's workers take for them."""

import base64
import json
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sandbox.katello.dynflow import RUBY, SPREAD, Dynflow, Plan
from sandbox.katello.machine import Machine
from sandbox.katello.process import SimulatedKatello
from sandbox.tests.conftest import wait_until

LOGIN = base64.b64encode(b"admin:password").decode()
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.at = BEGAN

    def __call__(self) -> datetime:
        return self.at

    def seconds(self, plan: Plan) -> float:
        assert plan.ended is not None
        return (plan.ended - BEGAN).total_seconds()


def ended(machine: Machine, plans: int, seconds: float = 10.0) -> float:
    """Return the seconds until the last of some plans that begin at once has ended."""
    clock = Clock()
    flow = Dynflow(clock, lambda: machine)
    made = [flow.add(seconds) for _ in range(plans)]
    clock.at += timedelta(hours=1)
    flow.advance()
    return max(clock.seconds(plan) for plan in made) / seconds


def test_a_plan_alone_takes_its_time() -> None:
    assert ended(Machine(), 1) == pytest.approx(1.0, abs=4 * SPREAD)


def test_the_ruby_of_plans_on_one_worker_is_one_after_another() -> None:
    assert ended(Machine(), 4) == pytest.approx(1 - RUBY + 4 * RUBY, rel=0.1)


def test_more_workers_get_through_sooner() -> None:
    one, three = ended(Machine(), 4), ended(Machine(dynflow_workers=3), 4)

    assert one / three == pytest.approx(2.8 / 1.6, rel=0.15)


def test_plans_wait_for_a_thread_and_workers_for_a_cpu() -> None:
    assert ended(Machine(dynflow_threads=1), 3) == pytest.approx(3.0, rel=0.1)
    one = Machine(dynflow_workers=8, cpus=1)
    assert ended(one, 8) == pytest.approx(1 - RUBY + RUBY * 8 * RUBY, rel=0.2)


def test_a_plan_that_is_dropped_leaves_its_place() -> None:
    clock = Clock()
    flow = Dynflow(clock, lambda: Machine(dynflow_threads=1))
    first, second = flow.add(10.0), flow.add(10.0)
    clock.at += timedelta(seconds=2)

    flow.drop(first)
    clock.at += timedelta(seconds=20)
    flow.advance()

    assert first.ended is None
    assert clock.seconds(second) == pytest.approx(12.0, abs=2.0)


def ask(
    server: SimulatedKatello, method: str, path: str, body: object = None
) -> tuple[int, dict[str, Any]]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Basic {LOGIN}", "X-Request-Id": "perfdash-1"}
    request = urllib.request.Request(  # noqa: S310 - ours
        f"{server.base_url}{path}", data, headers, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


VIEWS, VERSIONS = "/katello/api/v2/content_views", "/katello/api/v2/content_view_versions"


def made(server: SimulatedKatello, name: str, *repositories: int) -> int:
    body = {"name": name, "repository_ids": list(repositories)}
    status, view = ask(server, "POST", "/katello/api/v2/organizations/1/content_views", body)
    assert status == 201
    return int(view["id"])


def at_rest(server: SimulatedKatello, task: dict[str, Any]) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        return ask(server, "GET", f"/foreman_tasks/api/tasks/{task['id']}")[1]

    wait_until(lambda: look()["state"] == "stopped")
    return look()


def test_a_view_is_published_promoted_and_removed(server: SimulatedKatello) -> None:
    server.behave(publish_seconds=0.05, promote_seconds=0.05)
    view = made(server, "bench", 3, 5)

    status, task = ask(server, "POST", f"{VIEWS}/{view}/publish", {})
    assert status == 202
    assert task["label"] == "Actions::Katello::ContentView::Publish"
    assert task["input"]["content_view"] == {"id": view, "name": "bench"}
    assert task["input"]["current_request_id"] == "perfdash-1"
    refused, said = ask(server, "POST", f"{VIEWS}/{view}/publish", {})
    assert refused == 422
    assert "Required lock is already taken" in said["displayMessage"]
    assert at_rest(server, task)["result"] == "success"

    (version,) = ask(server, "GET", f"{VIEWS}/{view}")[1]["versions"]
    assert version["environment_ids"] == [1]
    path = f"{VERSIONS}/{version['id']}/promote"
    assert ask(server, "POST", path, {"environment_ids": [3]})[0] == 400
    status, task = ask(server, "POST", path, {"environment_ids": [2]})
    assert status == 202
    assert at_rest(server, task)["result"] == "success"
    assert ask(server, "GET", f"{VIEWS}/{view}")[1]["versions"][0]["environment_ids"] == [1, 2]

    status, task = ask(server, "PUT", f"{VIEWS}/{view}/remove", {"destroy_content_view": True})
    assert at_rest(server, task)["result"] == "success"
    assert ask(server, "GET", f"{VIEWS}/{view}")[0] == 404


def test_views_are_found_by_their_names(server: SimulatedKatello) -> None:
    first, second = made(server, "perfdash-1", 3), made(server, "other", 3)

    found = ask(server, "GET", f"{VIEWS}?search=name%20~%20perfdash-")[1]["results"]
    named = ask(server, "GET", f"{VIEWS}?name=other")[1]["results"]

    assert [each["id"] for each in found] == [first]
    assert [each["id"] for each in named] == [second]
    assert ask(server, "GET", f"{VIEWS}?search=colour%20%3D%20red")[0] == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"name": "bench"}, 422),
        ({"name": "of nothing", "repository_ids": [99]}, 404),
        ({"name": "not of the library", "repository_ids": [9]}, 422),
    ],
)
def test_a_view_that_cannot_be_is_refused(
    server: SimulatedKatello, body: dict[str, Any], status: int
) -> None:
    made(server, "bench", 3)

    assert ask(server, "POST", VIEWS, body)[0] == status


def test_a_publication_is_cancelled(server: SimulatedKatello) -> None:
    server.behave(publish_seconds=60)
    _, task = ask(server, "POST", f"{VIEWS}/{made(server, 'bench', 3)}/publish", {})

    ask(server, "POST", "/foreman_tasks/api/tasks/bulk_cancel", {"task_ids": [task["id"]]})

    assert at_rest(server, task)["result"] == "cancelled"


def test_workers_of_dynflow_are_a_setting_that_interrupts_nobody(server: SimulatedKatello) -> None:
    server.set("restart_seconds", 60)

    server.set("dynflow_workers", 3)

    assert ask(server, "GET", "/simulator/ready")[0] == 200
