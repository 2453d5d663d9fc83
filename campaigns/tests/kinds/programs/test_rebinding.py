"""A name that resolves differently the second time leads nowhere else."""

import hashlib
import socket

import pytest

from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.programs.rebinding import rebind
from campaigns.tests.kinds.programs.servers import asked, behaving

pytestmark = pytest.mark.system

EMPTY = hashlib.sha256(b"").hexdigest()
NAME = "rebinding.example"
HERE, THERE = "127.0.0.1", "127.0.0.2"


def answering(connection: socket.socket) -> None:
    """Answer one request, so that the next one needs a connection, and a name, of its own."""
    name = asked(connection)
    status = "302 Found\r\nLocation: /end" if name == "redirect" else "200 OK"
    connection.sendall(
        f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
    )


@pytest.fixture
def places():
    """Two servers on one port: the allowed one, and one that counts who connects."""
    with (
        behaving(answering, HERE) as (place, allowed),
        behaving(answering, THERE, int(place.rpartition(":")[2])) as (_, forbidden),
    ):
        yield int(place.rpartition(":")[2]), allowed, forbidden


@pytest.mark.parametrize(
    ("answers", "rules", "comes"),
    [
        ([[HERE], [THERE]], "127.0.0.1:*", 1),  # later files are refused, or use what was checked
        ([[THERE, HERE]], "127.0.0.1:*", 3),
        ([[THERE]], "127.0.0.1:*", 0),
        ([["169.254.169.254"]], f"{NAME}:*", 0),
        ([["::ffff:127.0.0.2"]], "127.0.0.1:*", 0),
    ],
)
def test_no_answer_of_the_name_service_leads_elsewhere(
    places, download, engine, answers, rules, comes
):
    port, allowed, forbidden = places

    outcome = download(
        f"http://{NAME}:{port}/",
        engine="campaigns.tests.kinds.programs.rebinding",
        rebinding={"engine": engine, "name": NAME, "answers": answers},
        files=[[name, EMPTY, 0] for name in "abc"],
        concurrency=1,
        rules=rules,
    )

    told = outcome.samples["failure"]
    assert set(told) <= {"", "address"}
    assert told.count("") >= comes
    assert len(allowed) == told.count("")
    assert forbidden == []


def test_a_rule_by_name_does_not_open_perfdashs_own_services(places, download, engine):
    port, allowed, _ = places
    rules = parse_rules(f"{NAME}:*", [("localhost", port)])

    outcome = download(
        f"http://{NAME}:{port}/",
        engine="campaigns.tests.kinds.programs.rebinding",
        rebinding={"engine": engine, "name": NAME, "answers": [[HERE]]},
        files=[["a", EMPTY, 0]],
        rules=rules,
    )

    assert outcome.samples["failure"] == ["address"]
    assert "a service of perfdash itself" in outcome.result["examples"]["address"]
    assert allowed == []


def test_the_second_answer_is_checked_where_a_manifest_is_fetched(places, monkeypatch):
    port, allowed, forbidden = places
    monkeypatch.setattr(socket, "getaddrinfo", socket.getaddrinfo)  # put back at the end
    rebind(NAME, [[HERE], [THERE]])

    with pytest.raises(FileFailed) as caught:
        fetch(f"http://{NAME}:{port}/redirect", parse_rules("127.0.0.1:*"), lambda: None, Limits())

    assert caught.value.failure == "address"
    assert len(allowed) == 1
    assert forbidden == []
