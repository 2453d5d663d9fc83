"""Jobs on hosts: how a smart proxy gets through them, and what Foreman tells of it."""

import urllib.parse
from typing import Any

import pytest

from sandbox.katello.machine import Machine
from sandbox.katello.process import SimulatedKatello
from sandbox.katello.remote_execution import ANSIBLE, SCRIPT, Backend, course, most_hosts
from sandbox.tests.conftest import wait_until
from sandbox.tests.katello.test_content_views import ask


def seconds(
    machine: Machine, hosts: int, backend: Backend = SCRIPT, at_once: int | None = None
) -> float:
    """Return the seconds until all hosts of a job have ended."""
    spans = course(machine, backend, hosts, at_once, 0.001, 1)
    assert all(span.ended is not None for span in spans)
    return max(span.ended or 0.0 for span in spans)


def test_more_cpus_get_through_a_job_sooner() -> None:
    four, eight = (seconds(Machine(cpus=cpus, memory_gib=64), 4000) for cpus in (4, 8))

    assert four == pytest.approx(4000 * 0.2 / 4, rel=0.05)  # as long as the CPUs take for it
    assert four / eight == pytest.approx(2.0, rel=0.05)


def test_a_host_alone_takes_its_own_time() -> None:
    assert seconds(Machine(), 1) == pytest.approx(1.0, rel=0.7)


def test_hosts_at_once_are_limited_by_the_proxy_and_by_the_job() -> None:
    many, few = Machine(cpus=64, rex_slots=100), Machine(cpus=64, rex_slots=10)

    assert seconds(few, 100) == pytest.approx(10 * seconds(many, 100) / 1.9, rel=0.3)
    assert seconds(many, 100, at_once=10) == pytest.approx(seconds(few, 100), rel=0.05)


def test_ansible_works_on_five_hosts_of_a_batch() -> None:
    machine = Machine(cpus=256)

    assert seconds(machine, 100, ANSIBLE) > 5 * seconds(machine, 100, SCRIPT)


@pytest.mark.parametrize(("gib", "done"), [(12, 3846), (24, 4000)])
def test_the_smallest_proxy_does_not_finish_four_thousand_hosts(gib: int, done: int) -> None:
    machine = Machine(cpus=4, memory_gib=gib)
    spans = course(machine, SCRIPT, 4000, None, 0.001, 1)

    assert sum(span.ended is not None for span in spans) == done
    assert most_hosts(machine, ANSIBLE) > 2000


def test_shares_of_hosts_fail_and_hang() -> None:
    spans = course(Machine(rex_fail_share=0.25, rex_hang_share=0.1), SCRIPT, 40, None, 0.001, 1)

    assert sum(bool(span.failure) for span in spans) == 10
    assert sum(span.ended is None for span in spans) == 4


JOBS = "/api/v2/job_invocations"


def begin(server: SimulatedKatello, **changes: Any) -> tuple[int, dict[str, Any]]:
    job = {
        "job_template_id": 101, "targeting_type": "static_query", "search_query": "name ~ container",
        "inputs": {"command": "date"},
    }  # fmt: skip
    return ask(server, "POST", f"{JOBS}?include_hosts=false", {"job_invocation": job | changes})


def has_ended(server: SimulatedKatello, pk: int) -> bool:
    return bool(
        ask(server, "GET", f"{JOBS}/{pk}?include_hosts=false")[1]["status_label"] != "running"
    )


def test_a_job_runs_on_the_hosts_that_a_query_finds(server: SimulatedKatello) -> None:
    server.behave(hosts=30, job_plan_seconds=0.0)
    server.set("rex_seconds", 0.01)

    status, job = begin(server)
    wait_until(lambda: has_ended(server, job["id"]))

    assert status == 201
    assert job["total"] == job["total_hosts"] == 30
    assert "hosts" not in job["targeting"]
    parent = ask(server, "GET", f"/foreman_tasks/api/tasks/{job['dynflow_task']['id']}")[1]
    assert parent["output"] | {"host_count": 30} == {
        "host_count": 30, "total_count": 30, "planned_count": 30, "success_count": 30, "failed_count": 0,
        "cancelled_count": 0, "pending_count": 0,
    }  # fmt: skip
    assert (parent["state"], parent["result"]) == ("stopped", "success")
    rows = parts(server, parent["id"])
    assert [row["result"] for row in rows] == ["success"] * 30
    assert rows[0]["humanized"]["output"].endswith("Exit status: 0")
    assert len({row["input"]["host"]["id"] for row in rows}) == 30


def parts(server: SimulatedKatello, parent: str) -> list[dict[str, Any]]:
    search = urllib.parse.quote(f"parent_task_id = {parent}")
    order = urllib.parse.quote("started_at ASC")
    found = ask(
        server, "GET", f"/foreman_tasks/api/tasks?search={search}&per_page=200&order={order}"
    )[1]
    return list(found["results"])


def test_a_host_that_failed_makes_a_job_failed(server: SimulatedKatello) -> None:
    server.behave(hosts=10, job_plan_seconds=0.0, job_failure="connect")
    server.set("rex_seconds", 0.01)
    server.set("rex_fail_share", 0.1)

    job = begin(server)[1]
    wait_until(lambda: has_ended(server, job["id"]))

    told = ask(server, "GET", f"{JOBS}/{job['id']}?include_hosts=false")[1]
    assert (told["status"], told["succeeded"], told["failed"]) == (1, 9, 1)
    failed = urllib.parse.quote("job_invocation.result = failed")
    [host] = ask(server, "GET", f"{JOBS}/{job['id']}/hosts?search={failed}")[1]["results"]
    assert (host["job_status"], host["smart_proxy_name"]) == ("failed", "runner.example")
    outputs = [row["humanized"]["output"] for row in parts(server, job["dynflow_task"]["id"])]
    assert sum("authentication method" in each for each in outputs) == 1


def test_a_host_that_hangs_is_ended_by_force_only_where_the_cancellation_is_lost(
    server: SimulatedKatello,
) -> None:
    server.behave(hosts=4, job_plan_seconds=0.0, cancel_seconds=0, lost_cancels=1)
    server.set("rex_seconds", 0.01)
    server.set("rex_hang_share", 0.25)
    job = begin(server)[1]

    assert ask(server, "POST", f"{JOBS}/{job['id']}/cancel")[0] == 200
    assert not has_ended(server, job["id"])
    assert ask(server, "POST", f"{JOBS}/{job['id']}/cancel", {"force": True})[0] == 200
    assert has_ended(server, job["id"])
    assert ask(server, "POST", f"{JOBS}/{job['id']}/cancel")[0] == 422


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"job_template_id": 999}, 404, "Template with id '999' was not found"),
        ({"inputs": {"comand": "date"}}, 422, "Unknown input comand for template Run Command - Script Default"),
        ({"inputs": {}}, 422, "Validation failed: Input command can't be blank"),
        ({"search_query": ""}, 422, "Validation failed: Search query Must select a bookmark or enter a search query"),
        ({"concurrency_control": {"concurrency_level": 0}}, 422, "Validation failed: Concurrency level must be greater than 0"),
    ],
    ids=["template", "unknown input", "missing input", "search", "concurrency"],
)  # fmt: skip
def test_a_job_is_refused(
    server: SimulatedKatello, changes: dict[str, Any], status: int, words: str
) -> None:
    answered, body = begin(server, **changes)

    assert (answered, body["error"]["message"]) == (status, words)


def test_lists_that_are_asked_for_while_a_job_runs_are_counted(server: SimulatedKatello) -> None:
    server.behave(hosts=5)
    server.set("rex_seconds", 600)
    job = begin(server)[1]

    ask(server, "GET", f"/foreman_tasks/api/tasks/{job['dynflow_task']['id']}")
    ask(server, "GET", f"{JOBS}/{job['id']}?include_hosts=false")
    assert server.told()["jobs"]["listings_while_running"] == 0
    ask(server, "GET", f"{JOBS}/{job['id']}")
    parts(server, job["dynflow_task"]["id"])
    assert server.told()["jobs"] == {
        "all": 1, "running": 1, "host_collections": 0, "requests_while_running": 4, "listings_while_running": 2,
    }  # fmt: skip


def test_a_collection_holds_the_hosts_that_a_job_runs_on(server: SimulatedKatello) -> None:
    server.behave(hosts=5)
    ids = [host["id"] for host in ask(server, "GET", "/api/v2/hosts")[1]["results"]]
    body = {"name": "perfdash-1", "organization_id": 1, "host_ids": ids[:2]}
    pk = ask(server, "POST", "/katello/api/v2/host_collections", body)[1]["id"]

    assert begin(server, search_query=f"host_collection_id = {pk}")[1]["total"] == 2
    assert begin(server, search_query=f"id ^ ({ids[0]}, {ids[2]}, {ids[4]})")[1]["total"] == 3


def test_there_are_as_many_hosts_as_a_test_wants(server: SimulatedKatello) -> None:
    server.behave(hosts=5)
    server.behave(hosts=3)

    assert server.told()["hosts"] == 3
    server.behave(hosts=0)
    assert server.told()["hosts"] == 0
