"""Hosts and what else Foreman's API tells."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.tests.conftest import wait_until
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.tls import Client, Said

ADMIN = f"Basic {b64encode(b'admin:password').decode()}"


@pytest.fixture
def admin(stranger: Client) -> Callable[..., Said]:
    def ask(method: str, path: str, body: Any = None) -> Said:
        return stranger.ask(method, path.replace(" ", "%20"), body, Authorization=ADMIN)

    return ask


@pytest.fixture
def three(register: Callable[..., Registered]) -> list[Registered]:
    return [register(f"{name}.example") for name in ("bench-1", "bench-2", "web")]


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("", ["bench-1", "bench-2", "web"]),
        ("name ~ bench-", ["bench-1", "bench-2"]),
        ("name ~ bench-%25", ["bench-1", "bench-2"]),
        ("name = web.example", ["web"]),
        ('name = "web.example"', ["web"]),
        ("name != web.example and organization = ACME", ["bench-1", "bench-2"]),
        ("name = web.example or name ~ 1.ex", ["bench-1", "web"]),
        ("name ^ (web.example, bench-2.example)", ["bench-2", "web"]),
        ("name !~ bench", ["web"]),
        ("organization_id = 3", []),
        ("bench", ["bench-1", "bench-2"]),
    ],
)
def test_hosts_are_searched(
    admin: Callable[..., Said], three: list[Registered], search: str, names: list[str]
) -> None:
    page = admin("GET", f"/api/v2/hosts?search={search}").json

    assert [each["name"].removesuffix(".example") for each in page["results"]] == names
    assert (page["total"], page["subtotal"]) == (3, len(names))


def test_a_search_that_cannot_be_read_is_refused(admin: Callable[..., Said]) -> None:
    assert admin("GET", "/api/v2/hosts?search=colour = red").status == 400


def test_a_host_tells_of_its_registration(
    admin: Callable[..., Said], three: list[Registered]
) -> None:
    uuid = three[0].consumer["uuid"]
    pk = admin("GET", "/api/v2/hosts?search=name ~ bench-1").json["results"][0]["id"]

    data = admin("GET", f"/api/v2/hosts/{pk}").json

    assert data["subscription_facet_attributes"]["uuid"] == uuid
    assert data["organization_name"] == "ACME"
    three[0].ask("DELETE")
    left = admin("GET", "/api/v2/hosts/bench-1.example").json
    assert left["subscription_facet_attributes"] is None


def test_a_host_that_is_deleted_is_gone(
    admin: Callable[..., Said], three: list[Registered]
) -> None:
    assert admin("DELETE", "/api/v2/hosts/web.example").status == 200

    answer = admin("GET", "/api/v2/hosts/web.example")
    assert answer.status == 404
    assert answer.json["error"]["message"] == "Resource host not found by id 'web.example'"
    assert three[2].ask("GET").status == 410


def test_a_change_of_a_host_names_all_of_its_parameters(
    admin: Callable[..., Said], three: list[Registered]
) -> None:
    path = "/api/v2/hosts/bench-1.example"
    first = {"name": "remote_execution_ssh_port", "value": "22001", "parameter_type": "integer"}
    second = {"name": "rack", "value": "7", "parameter_type": "string"}
    rows = [first | {"value": 22001}, second]

    changed = {"ip": "192.0.2.10", "host_parameters_attributes": [first, second]}
    told = admin("PUT", path, {"host": changed}).json
    assert (told["ip"], told["parameters"]) == ("192.0.2.10", rows)
    listed = admin("GET", "/api/v2/hosts?search=bench-1&include=parameters").json["results"]
    assert listed[0]["parameters"] == rows
    admin("PUT", path, {"host": {"host_parameters_attributes": [second]}})
    told = admin("GET", path).json
    assert (told["ip"], told["parameters"]) == ("192.0.2.10", [second])
    assert told["permissions"]["edit_hosts"]


@pytest.mark.parametrize(
    "changed",
    [
        {"ip": "300.0.0.1"},
        {"host_parameters_attributes": [{"name": "", "value": "1"}]},
        {"host_parameters_attributes": [{"name": "a", "value": "x", "parameter_type": "integer"}]},
        {"host_parameters_attributes": [{"name": "a", "value": "x", "parameter_type": "boolean"}]},
    ],
    ids=["address", "name", "integer", "boolean"],
)
def test_a_change_of_a_host_that_is_not_valid_is_refused(
    admin: Callable[..., Said], three: list[Registered], changed: dict[str, Any]
) -> None:
    assert admin("PUT", "/api/v2/hosts/bench-1.example", {"host": changed}).status == 422


def test_who_may_not_change_hosts_is_refused(
    admin: Callable[..., Said], three: list[Registered], server: SimulatedKatello
) -> None:
    server.behave(may_edit_hosts=False, may_view_parameters=False)

    assert admin("PUT", "/api/v2/hosts/bench-1.example", {"host": {}}).status == 403
    assert admin("GET", "/api/v2/hosts/bench-1.example/parameters").status == 403


def test_the_smart_proxy_tells_its_public_key_to_everybody(stranger: Client) -> None:
    told = stranger.ask("GET", "/ssh/pubkey")

    assert told.status == 200
    assert told.raw.startswith(b"ssh-ed25519 ")


def test_hosts_are_deleted_in_bulk_by_a_task(
    server: SimulatedKatello, admin: Callable[..., Said], three: list[Registered]
) -> None:
    body = {"organization_id": 1, "included": {"search": "name ~ bench"}}

    answer = admin("PUT", "/api/v2/hosts/bulk/destroy", body)

    assert answer.status == 202
    task = f"/foreman_tasks/api/tasks/{answer.json['id']}"
    wait_until(lambda: admin("GET", task).json["state"] == "stopped")
    assert admin("GET", task).json["result"] == "success"
    assert [each["name"] for each in admin("GET", "/api/v2/hosts").json["results"]] == [
        "web.example"
    ]
    assert server.told()["consumers"] == 1


def test_a_bulk_deletion_of_nothing_is_refused(admin: Callable[..., Said]) -> None:
    assert admin("PUT", "/api/v2/hosts/bulk/destroy", {"included": {}}).status == 400


def test_the_statuses_tell_all_versions(admin: Callable[..., Said]) -> None:
    results = admin("GET", "/api/v2/statuses").json["results"]

    assert results["foreman"]["version"].endswith("simulated")
    assert {"name": "katello", "version": "4.16.0"} in results["foreman"]["plugins"]
    assert results["foreman"]["smart_proxies"][0]["status"] == "ok"
    assert results["katello"]["version"].endswith("simulated")


@pytest.mark.parametrize(
    "path", ["/api/v2/ping", "/api/ping", "/katello/api/v2/status", "/rhsm/status", "/pulp/api/v3/status/"]
)  # fmt: skip
def test_some_things_are_told_to_everybody(stranger: Client, path: str) -> None:
    assert stranger.ask("GET", path).status == 200


@pytest.mark.parametrize(
    "path",
    ["/api/v2/hosts", "/api/v2/statuses", "/api/v2/settings", "/api/v2/smart_proxies",
     "/foreman_tasks/api/tasks/summary", "/katello/api/v2/ping"],
)  # fmt: skip
def test_other_things_need_a_login(stranger: Client, admin: Callable[..., Said], path: str) -> None:
    assert stranger.ask("GET", path).status == 401
    assert admin("GET", path).status == 200


def test_settings_are_told_as_they_are(
    server: SimulatedKatello, admin: Callable[..., Said]
) -> None:
    server.behave(unregister_delete_host=True)

    data = admin("GET", "/api/v2/settings?per_page=all").json["results"]

    values = {each["name"]: each["value"] for each in data}
    assert values["unregister_delete_host"] is True
    assert values["host_profile_assume"] is True
    assert values["check_services_before_actions"] is True
    assert len(data) > 15


def test_organizations_and_keys_are_listed(
    admin: Callable[..., Said], register: Callable[..., Registered]
) -> None:
    register("one.example", "/rhsm/consumers?owner=ACME&activation_keys=few-ak")

    organizations = admin("GET", "/katello/api/v2/organizations").json["results"]
    keys = admin("GET", "/katello/api/v2/activation_keys?organization_id=1").json["results"]

    assert {"id": 1, "label": "ACME", "name": "ACME", "title": "ACME"} in organizations
    few = next(each for each in keys if each["name"] == "few-ak")
    assert (few["unlimited_hosts"], few["max_hosts"], few["usage_count"]) == (False, 10, 1)
    assert admin("GET", "/katello/api/v2/activation_keys?organization_id=99").status == 404


def test_tasks_are_counted(admin: Callable[..., Said]) -> None:
    admin("POST", "/katello/api/v2/repositories/3/sync", {})

    summary = admin("GET", "/foreman_tasks/api/tasks/summary").json

    assert summary["running"]["total"] + summary["stopped"]["total"] == 1
