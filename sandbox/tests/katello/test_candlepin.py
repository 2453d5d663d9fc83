"""A Candlepin alone: its prefix, its words, its admin."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.tests.katello.tls import Client, Said, described

ADMIN = f"Basic {b64encode(b'admin:password').decode()}"
REGISTER = "/candlepin/consumers?owner=ACME&activation_keys=bench-ak"


@pytest.fixture
def admin(stranger: Client) -> Callable[..., Said]:
    def ask(method: str, path: str, body: Any = None) -> Said:
        return stranger.ask(method, path, body, Authorization=ADMIN)

    return ask


def test_a_host_registers_and_asks_as_in_katello(
    stranger: Client, connect: Callable[..., Client]
) -> None:
    rels = {each["rel"] for each in stranger.ask("GET", "/candlepin/").json}
    assert "consumers" in rels
    assert "packages" not in rels
    capabilities = stranger.ask("GET", "/candlepin/status").json["managerCapabilities"]
    assert "org_level_content_access" in capabilities
    assert "combined_reporting" not in capabilities

    consumer = stranger.ask("POST", REGISTER, described("host1.example")).json

    host = connect(consumer["idCert"]["cert"] + consumer["idCert"]["key"])
    own = f"/candlepin/consumers/{consumer['uuid']}"
    for what in ("", "/certificates/serials", "/certificates", "/accessible_content",
                 "/content_overrides", "/compliance", "/owner"):  # fmt: skip
        assert host.ask("GET", own + what).status == 200
    assert host.ask("PUT", own, {"facts": {}}).status == 204
    assert host.ask("PUT", f"{own}/profiles", []).status == 404
    assert host.ask("DELETE", own).status == 204
    assert host.ask("GET", own).status == 410


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("owner=NOPE&activation_keys=bench-ak", "Organization NOPE does not exist."),
        (
            "owner=ACME&activation_keys=nope",
            "None of the activation keys specified exist for this org.",
        ),
        ("owner=ACME", "Invalid Credentials"),
    ],
)
def test_what_katello_does_not_find_candlepin_does_not_let_in(
    stranger: Client, query: str, words: str
) -> None:
    answer = stranger.ask("POST", f"/candlepin/consumers?{query}", described("host1.example"))

    assert answer.status == 401
    assert answer.json["displayMessage"] == words
    assert "requestUuid" in answer.json


def test_an_admin_lists_and_deletes_consumers(
    stranger: Client, admin: Callable[..., Said], server: SimulatedKatello
) -> None:
    for number in range(5):
        stranger.ask("POST", REGISTER, described(f"host{number}.example"))

    pages = [
        admin("GET", f"/candlepin/owners/ACME/consumers?page={page}&per_page=3").json
        for page in (1, 2)
    ]

    assert [len(page) for page in pages] == [3, 2]
    names = [each["name"] for page in pages for each in page]
    assert names == [f"host{number}.example" for number in range(5)]
    assert admin("GET", "/candlepin/owners/ACME/consumers").json == pages[0] + pages[1]
    uuid = pages[0][0]["uuid"]
    assert admin("DELETE", f"/candlepin/consumers/{uuid}").status == 204
    assert admin("DELETE", f"/candlepin/consumers/{uuid}").status == 410
    assert server.told()["consumers"] == 4


def test_an_admin_sees_owners_and_keys(stranger: Client, admin: Callable[..., Said]) -> None:
    assert admin("GET", "/candlepin/owners/ACME").json["key"] == "ACME"
    assert admin("GET", "/candlepin/owners/NOPE").status == 404
    names = [each["name"] for each in admin("GET", "/candlepin/owners/ACME/activation_keys").json]
    assert names == ["bench-ak", "more-ak", "few-ak"]
    assert stranger.ask("GET", "/candlepin/owners").status == 401
