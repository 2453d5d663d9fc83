"""Requests that no client sends: answered as the server would, and never with a failure of the simulator."""

import ssl
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.katello.authority import Authority
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.tls import REGISTER, Client, described

ADMIN = f"Basic {b64encode(b'admin:password').decode()}"
OURS = b"Server got itself in trouble"


@pytest.mark.parametrize("value", [None, 7, 1.5, True, "x", [], [[]], {}, {"a": 1}], ids=repr)
def test_no_value_of_a_body_breaks_it(
    stranger: Client, register: Callable[..., Registered], value: Any
) -> None:
    host = register("one.example")
    wanted = [
        ("POST", REGISTER, described("two.example", system__certificate_version=value)),
        ("POST", REGISTER, described("two.example") | {"facts": value}),
        ("POST", REGISTER, value),
        ("POST", REGISTER.replace("rhsm", "candlepin"), described("x") | {"name": value}),
        ("PUT", "/api/v2/hosts/bulk/destroy", {"included": {"search": value, "ids": value}}),
        ("PUT", "/api/v2/hosts/bulk/destroy", {"included": value}),
        ("POST", "/api/v2/registration_commands", {"registration_command": value}),
        (
            "POST",
            "/api/v2/registration_commands",
            {"registration_command": {"smart_proxy_id": value, "activation_keys": value}},
        ),
        ("PUT", "/simulator/settings/puma_workers", value),
    ]

    for method, path, body in wanted:
        assert OURS not in stranger.ask(method, path, body, Authorization=ADMIN).raw
    for what, body in (("/profiles", [value]), ("", {"facts": value}), ("", value)):
        assert OURS not in host.ask("PUT", what, body).raw


@pytest.mark.parametrize("number", ["0", "x", "%C2%B2", "-1"])
def test_a_page_that_is_no_number_is_refused(stranger: Client, number: str) -> None:
    for path in ("/api/v2/hosts", "/api/v2/settings"):
        assert stranger.ask("GET", f"{path}?page={number}", Authorization=ADMIN).status == 400


def test_a_certificate_of_another_ca_is_refused_in_the_handshake(
    connect: Callable[..., Client],
) -> None:
    forged = Authority.new().identify("some-uuid", "ACME", "one.example", "ec")

    with pytest.raises((ssl.SSLError, ConnectionError)):
        connect(forged.pem + forged.key_pem).ask("GET", "/rhsm/")
