"""A host of the profile `dnf-4` sends what dnf sent when it was recorded: see `relay`, `real_dnf`."""

import json
import socket
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from campaigns.kinds.content_delivery.requests import Document, Package
from campaigns.tests.kinds.content_delivery import real_dnf
from campaigns.tests.kinds.content_delivery.conftest import offered
from campaigns.tests.kinds.content_delivery.relay import Recording, recording
from campaigns.tests.kinds.programs.servers import asked_head, behaving

DNF = json.loads((Path(__file__).parent / "recordings/dnf-4.14.json").read_text())
PORT = DNF["host"].partition(":")[2]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def group(path: str) -> str:
    """Say which requests may be under way at the same time."""
    return "first" if path.endswith("repomd.xml") else path.split("/")[-2]


def summary(requests: list[dict[str, Any]], port: str | int) -> dict[str, Any]:
    """Give what does not depend on how soon each answer came: by group, its connections and its requests."""
    found = {}
    for name, every in groupby(requests, lambda each: group(each["path"])):
        asked = list(every)
        assert name not in found, "the groups are mixed"
        found[name] = {
            "connections": sorted({each["connection"] for each in asked}),
            "requests": Counter(
                (
                    each["method"],
                    each["path"],
                    tuple(
                        (header, value.replace(f":{port}", ":PORT"))
                        for header, value in each["headers"]
                    ),
                )
                for each in asked
            ),
        }
    return found


def on(connection: int, requests: list[dict[str, Any]]) -> list[str]:
    return [each["path"] for each in requests if each["connection"] == connection]


@pytest.mark.system
def test_a_host_sends_what_dnf_sent(deliver):
    def serve(connection: socket.socket) -> None:
        while asked_head(connection):
            connection.sendall(OK)

    paths = [each["path"].removeprefix("/") for each in DNF["requests"]]
    documents = [Document(path) for path in paths if "repodata" in path]
    packages = [Package(path) for path in sorted(paths) if "Packages" in path]
    with behaving(serve) as (place, _), recording(*address(f"//{place}")) as found:
        outcome = deliver(
            f"http://127.0.0.1:{found.port}/", documents=documents, packages=packages, order="dnf"
        )

    assert outcome.samples["failure"] == [""]
    assert summary(found.requests, found.port) == summary(DNF["requests"], PORT)
    for connection in (4, 5, 6):
        assert on(connection, found.requests) == sorted(on(connection, found.requests))


@pytest.mark.nightly
@pytest.mark.skipif(not real_dnf.is_installed(), reason="dnf is not installed (Debian: dnf)")
@pytest.mark.parametrize(
    ("faults", "requests"),
    [
        ({}, (23,)),
        ({"flaky": 0.2}, (26,)),
        ({"errors": 0.2}, (21, 22)),
        ({"corrupt": 0.2}, (21, 22)),
    ],
    ids=["none", "flaky", "errors", "corrupt"],
)
def test_a_host_sends_what_the_dnf_of_this_machine_sends(
    deliver, sandbox, tmp_path, faults, requests
):
    url = sandbox.rpm(packages=20, size="20kB", **faults)
    documents, packages = offered(url)
    found: list[Recording] = []
    why = []
    for client in ("dnf", "host"):
        sandbox.reset()
        with recording(*address(url)) as recorded:
            through = url.replace(f":{address(url)[1]}", f":{recorded.port}")
            if client == "dnf":
                why.append(real_dnf.fetch(through, tmp_path / "dnf"))
            else:
                outcome = deliver(
                    through, documents=documents, packages=packages, order="dnf", verify="all"
                )
                why.append(outcome.samples["words"][0])
        found.append(recorded)
        assert len(recorded.requests) in requests, (client, why)

    assert bool(why[0]) == bool(why[1])
    if not faults:
        dnf, host = found
        assert summary(dnf.requests, dnf.port) == summary(host.requests, host.port)


def address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 80)
