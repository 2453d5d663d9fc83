"""Foreman's global registration: command, script, host, built; and errors as text for a shell."""

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sandbox.katello.process import SimulatedKatello
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.tls import Client, Said

ADMIN = f"Basic {b64encode(b'admin:password').decode()}"
COMMAND = {"organization_id": 1, "location_id": 2, "activation_keys": ["bench-ak"], "force": True}


def command(client: Client, **changes: Any) -> Said:
    body = {"registration_command": COMMAND | changes}
    return client.ask("POST", "/api/v2/registration_commands", body, Authorization=ADMIN)


def fetched(client: Client, **changes: Any) -> tuple[str, str]:
    """The path of the script, and the header of the token."""
    line = command(client, insecure=True, **changes).json["registration_command"]
    match = re.fullmatch(
        r"set -o pipefail && curl --silent --show-error  --insecure '(\S+)' "
        r"--header 'Authorization: (Bearer \S+)' \| bash",
        line,
    )
    assert match, line
    url = urlsplit(match[1])
    return f"{url.path}?{url.query}", match[2]


def posted(client: Client, token: str, form: str, kind: str = "") -> Said:
    kind = kind or "application/x-www-form-urlencoded"
    connection = client.connected()
    headers = {"Authorization": token, "Content-Type": kind}
    connection.request("POST", "/register", form, headers)
    answer = connection.getresponse()
    output = Said(answer.status, answer.headers, answer.read())
    connection.close()
    return output


def in_a_shell(text: bytes) -> tuple[int, str]:
    done = subprocess.run(["/bin/bash"], input=text, capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


def test_the_command_names_the_script_with_its_token(
    server: SimulatedKatello, stranger: Client
) -> None:
    answer = command(stranger, jwt_expiration=0, setup_insights=False)

    assert answer.status == 200
    url = urlsplit(re.findall(r"'(https://\S+)'", answer.json["registration_command"])[0])
    assert f"{url.scheme}://{url.netloc}" == server.tls_url
    assert parse_qs(url.query) == {
        "activation_keys": ["bench-ak"], "force": ["true"], "location_id": ["2"],
        "organization_id": ["1"], "setup_insights": ["false"],
    }  # fmt: skip


def test_a_host_goes_through_all_steps(
    stranger: Client, register: Callable[..., Registered]
) -> None:
    path, token = fetched(stranger)
    script = stranger.ask("GET", path, Authorization=token)
    assert script.status == 200
    assert script.headers["Content-Type"].startswith("text/plain")
    text = script.raw.decode()
    assert "subscription-manager register --force --org=ACME --activationkey=bench-ak" in text
    assert "-----BEGIN CERTIFICATE-----" in text
    new = re.findall(r"Authorization: (Bearer [^']+)", text)[0]
    host = register("host1.example")

    init = posted(stranger, new, f"uuid={host.consumer['uuid']}&host[build]=false")

    assert init.status == 200
    assert init.headers["Content-Type"].startswith("text/plain")
    assert b"subscription-manager refresh" in init.raw
    built = re.findall(r"https://[^/]+(/unattended/built\?token=[\w-]+)", init.raw.decode())[0]
    answer = stranger.ask("GET", built)
    assert (answer.status, answer.raw) == (201, b"")
    assert stranger.ask("GET", built).status == 404


def test_both_scripts_are_shell(stranger: Client, register: Callable[..., Registered]) -> None:
    path, token = fetched(stranger)
    host = register("host1.example")
    scripts = [
        stranger.ask("GET", path, Authorization=token).raw,
        posted(stranger, token, f"uuid={host.consumer['uuid']}").raw,
    ]

    for script in scripts:
        done = subprocess.run(["/bin/bash", "-n"], input=script, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


def test_one_token_serves_any_number_of_hosts_and_json_too(
    stranger: Client, register: Callable[..., Registered]
) -> None:
    _, token = fetched(stranger)

    for number in range(3):
        host = register(f"host{number}.example")
        body = json.dumps({"uuid": host.consumer["uuid"], "host": {"build": False}})
        assert posted(stranger, token, body, "application/json").status == 200


def test_a_host_without_katello_is_posted_by_its_name(
    server: SimulatedKatello, stranger: Client
) -> None:
    _, token = fetched(stranger)

    answer = posted(
        stranger, token, "host[name]=plain.example&host[build]=false&host[managed]=false"
    )

    assert answer.status == 200
    assert server.told()["hosts"] == 1


@pytest.mark.parametrize(
    ("form", "kind", "status", "title"),
    [
        ("uuid=nothing", "", 404, "not_found"),
        ("host[build]=false", "", 422, "unprocessable_entity"),
        ("uuid=1", "text/plain", 415, "unsupported_media_type"),
    ],
)
def test_errors_end_the_shell_that_they_are_piped_into(
    stranger: Client, form: str, kind: str, status: int, title: str
) -> None:
    _, token = fetched(stranger)

    answer = posted(stranger, token, form, kind)

    assert answer.status == status
    code, output = in_a_shell(answer.raw)
    assert (code, output.splitlines()[0]) == (1, f"ERROR: {title}")


def test_a_token_that_has_expired_or_is_forged_is_refused(
    server: SimulatedKatello, stranger: Client
) -> None:
    path, token = fetched(stranger, jwt_expiration=1)
    assert stranger.ask("GET", path, Authorization=token).status == 200
    server.behave(clock_offset_seconds=3600)

    expired = stranger.ask("GET", path, Authorization=token)

    server.behave(clock_offset_seconds=0)
    assert expired.status == 401
    assert in_a_shell(expired.raw)[1].startswith("ERROR: unauthorized\nUnable to authenticate user")
    assert stranger.ask("GET", path, Authorization=token[:-4] + "AAAA").status == 401
    assert stranger.ask("GET", path).status == 401


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"activation_keys": []}, 422, "Missing activation key!"),
        ({"organization_id": 99}, 404, "organization not found by id '99'"),
        ({"smart_proxy_id": 99}, 404, "smart_proxy not found by id '99'"),
        ({"smart_proxy_id": 4}, 422, "Proxy lacks one of the following features: 'Registration'"),
        ({"jwt_expiration": "soon"}, 422, "Invalid value 'soon'"),
    ],
)
def test_a_command_that_cannot_be_is_refused(
    stranger: Client, changes: dict[str, Any], status: int, words: str
) -> None:
    answer = command(stranger, **changes)

    assert answer.status == status
    assert words in answer.json["error"]["message"]


def test_a_command_is_for_users(stranger: Client) -> None:
    answer = stranger.ask(
        "POST", "/api/v2/registration_commands", {"registration_command": COMMAND}
    )

    assert answer.status == 401
