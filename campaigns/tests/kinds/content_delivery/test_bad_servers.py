"""Servers that behave badly: each has its class of failure and words for it, and nothing hangs."""

import re
import socket
import time
from itertools import repeat

import pytest

from campaigns.kinds.content_delivery.program.files import OWN_FAILURES
from campaigns.kinds.content_delivery.requests import Document, Package
from campaigns.kinds.content_delivery.summary import Delivered
from campaigns.kinds.load.failures import FAILURES
from campaigns.tests.kinds.load.servers import slowly
from campaigns.tests.kinds.programs.servers import asked_head, behaving

pytestmark = pytest.mark.system

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20_000
CHUNK = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PULP = (
    b"HTTP/1.1 200 OK\r\nX-PULP-ARTIFACT-SIZE: 20000\r\nContent-Length: 20000\r\n\r\n"
    + b"x" * 20_000
)


def redirect(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


ANSWERS = {
    "good": WHOLE,
    "pulp": PULP,
    "cold": CHUNKED + 2 * CHUNK + b"0\r\n\r\n",
    "cold-of-a-pulp": CHUNKED.replace(b"OK\r\n", b"OK\r\nX-PULP-ARTIFACT-SIZE: 20000\r\n")
    + 2 * CHUNK
    + b"0\r\n\r\n",
    "cut": WHOLE[:9000],
    "short": WHOLE.replace(b"20000", b"19999")[:-1],
    "shorter": CHUNKED + CHUNK + b"0\r\n\r\n",
    "404": b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nnot there",
    "here": redirect("/good"),
    "away": redirect("https://elsewhere.example/good"),
    "circle": redirect("/circle"),
    "nowhere": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "garbage": b"\x16\x03\x01 this is no HTTP\r\n\r\n",
    "header": b"HTTP/1.1 200 OK\r\nContent Length: \x00\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "401": b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n",
    "limited": b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n",
    "nothing": b"",
}
CUT = ("cut", "nothing")


def behave(connection: socket.socket) -> None:
    """Answer each request as its path asks for."""
    while head := asked_head(connection):
        name = head.split()[1].decode().rpartition("/")[2].replace("%20", " ")
        match name:
            case "endless":
                connection.sendall(CHUNKED)
                for _ in repeat(None):
                    connection.sendall(CHUNK)
            case "trickle":
                connection.sendall(WHOLE[:100])
                slowly(connection, repeat(b"x"))
            case "silent":
                time.sleep(1)
                return
            case _:
                connection.sendall(ANSWERS[name])
                if name in CUT:
                    return


@pytest.fixture(scope="module")
def place():
    with behaving(behave) as (found, _):
        yield f"http://{found}/"


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("cut", "protocol", "after 8,9.. of 20,000 bytes of the body"),
        ("short", "size", "the server announces 19,999 bytes, and the metadata say 20,000"),
        ("shorter", "size", "has 10,000 bytes, and the metadata say 20,000"),
        ("endless", "size", "more than 20,000 bytes"),
        ("404", "404", "the server answered 404: not there"),
        ("401", "auth", "the server answered 401"),
        ("limited", "429", "the server answered 429"),
        ("304", "protocol", "the server answered 304"),
        ("away", "protocol", "sends hosts on to https://elsewhere.example/good, which is not this"),
        ("circle", "protocol", "more than 6 redirections"),
        ("nowhere", "protocol", "without a location"),
        ("garbage", "protocol", "no HTTP answer"),
        ("header", "protocol", "no HTTP answer"),
        ("two lengths", "protocol", "no HTTP answer"),
        ("nothing", "connect", "closed the connection before any byte"),
        ("trickle", "timeout", "less than 1000 bytes/s came for 0.2 s"),
        ("silent", "timeout", "waited 0.2 s for the first byte"),
    ],
)
def test_a_bad_answer_has_a_class_and_words(deliver, place, path, kind, words):
    outcome = deliver(
        place, packages=[Package(path, 20_000)], retries=0, no_data_seconds=0.2, profile="plain"
    )

    assert kind in FAILURES | OWN_FAILURES
    assert outcome.samples["failure"] == [kind], outcome.samples["words"]
    assert outcome.result["package_failures"] == {kind: 1}
    assert outcome.samples["words"][0].startswith(path)
    assert re.search(words, outcome.samples["words"][0]), outcome.samples["words"]


def test_a_redirection_of_the_same_server_is_followed(deliver, place):
    outcome = deliver(place, packages=[Package("here", 20_000)])

    assert outcome.samples["failure"] == [""]
    assert outcome.result["counts"]["requests"] == 2
    assert outcome.result["counts"]["packages"] == 1


def test_an_endless_first_document_is_given_up(deliver, place):
    outcome = deliver(place, documents=[Document("endless")], packages=[Package("good", 20_000)])

    assert outcome.samples["failure"] == ["size"]
    assert outcome.result["counts"]["packages"] == 0


@pytest.mark.parametrize(
    ("documents", "paths", "cold", "told"),
    [
        (["pulp"], ["cold", "pulp"], 1, 2),
        ([], ["cold-of-a-pulp", "pulp"], 1, 2),
        (["good"], ["cold", "good"], 1, 0),
        ([], ["good"], 0, 0),
    ],
    ids=["a-pulp", "a-pulp-that-knows-the-size", "another-server", "sizes-alone"],
)
def test_what_was_cold_and_whether_the_server_tells_are_counted(
    deliver, place, documents, paths, cold, told
):
    outcome = deliver(
        place,
        documents=[Document(path) for path in documents],
        packages=[Package(path, 20_000) for path in paths],
    )

    counts = outcome.result["counts"]
    assert (counts["cold"], counts["told_size"]) == (cold, told)
    delivered = Delivered(1, len(paths), None, outcome.samples, outcome.result, 60.0)
    assert delivered.values().get("cold_share") == (50.0 if told else None)


def test_a_host_goes_on_after_a_failure_or_stops_as_dnf_does(deliver, place):
    packages = [Package(f"{number}/404", 20_000) for number in range(9)]

    plain, dnf = (
        deliver(place, packages=packages, retries=0, parallel=1, profile=profile, order="same")
        for profile in ("plain", "dnf-4")
    )

    assert plain.result["counts"]["requests"] == 9
    assert dnf.result["counts"]["requests"] == 1


def test_the_time_limit_ends_hosts_with_what_they_have(deliver, place):
    outcome = deliver(
        place,
        packages=[Package("good", 20_000), Package("silent", 20_000)],
        order="same",
        parallel=1,
        limit_seconds=0.5,
    )

    assert not outcome.result["complete"]
    assert outcome.samples["failure"] == ["timeout"]
    assert (outcome.samples["files"], outcome.samples["bytes"]) == ([1], [20_000])
