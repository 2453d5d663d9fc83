import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import aiohttp
import pytest
import requests

from sandbox.process import Sandbox, running
from sandbox.tests.conftest import parsed, sha256, wait_until_idle
from sandbox.tests.sockets import connected, read_body, read_to_the_end, read_until_reset, request

FILE = "file-000000.bin"


def seconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [("missing", [404, 404]), ("errors", [500, 500]), ("flaky", [500, 200])],
)
def test_the_share_of_files_fails_as_it_should(
    sandbox: Sandbox, session: requests.Session, fault: str, statuses: list[int]
) -> None:
    url = sandbox.manifest(files=20, size=10, **{fault: 0.25})
    names = [line.name for line in parsed(session.get(url).content)]

    tries = [[session.get(urljoin(url, name)).status_code for _ in range(2)] for name in names]

    assert tries.count(statuses) == 5
    assert tries.count([200, 200]) == 15


def test_flaky_files_fail_again_after_the_manifest_was_read(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = sandbox.manifest(flaky=1)
    rounds = []

    for _ in range(2):
        session.get(url)
        rounds += [session.get(urljoin(url, FILE)).status_code for _ in range(3)]

    assert rounds == [500, 200, 200] * 2


def test_a_corrupt_file_has_the_right_size_and_another_digest(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = sandbox.manifest(files=10, size="0-500kB", corrupt=0.3)

    lines = parsed(session.get(url).content)
    received = [session.get(urljoin(url, line.name)).content for line in lines]

    assert [len(body) for body in received] == [line.size for line in lines]
    right = [sha256(body) == line.digest for body, line in zip(received, lines, strict=True)]
    assert right.count(False) == 3


@pytest.mark.parametrize("size", [20_000, 4_000_000])
def test_a_truncated_body_ends_half_way(sandbox: Sandbox, size: int) -> None:
    url = urljoin(sandbox.manifest(size=size, truncated=1), FILE)

    with connected(sandbox.base_url) as client:
        client.sendall(request(url))
        head, _, body = read_to_the_end(client).partition(b"\r\n\r\n")

    assert f"Content-Length: {size}".encode() in head
    assert len(body) == size // 2


@pytest.mark.parametrize("size", [20_000, 4_000_000])
def test_a_reset_comes_half_way(sandbox: Sandbox, size: int) -> None:
    url = urljoin(sandbox.manifest(size=size, resets=1), FILE)

    with connected(sandbox.base_url) as client:
        client.sendall(request(url))
        received, was_reset = read_until_reset(client)

    assert was_reset
    assert len(received.partition(b"\r\n\r\n")[2]) <= size // 2
    counts = sandbox.stats()["all"]
    assert (counts["bytes"], counts["broken_off"]) == (size // 2, 1)


@pytest.mark.parametrize("size", [20_000, 4_000_000])
def test_a_stall_begins_half_way_and_ends_in_time(
    sandbox: Sandbox, session: requests.Session, size: int
) -> None:
    url = sandbox.manifest(size=size, stalls=1, stall=200)
    digest = parsed(session.get(url).content)[0].digest

    with connected(sandbox.base_url) as client:
        client.sendall(request(urljoin(url, FILE), "GET", "Connection: close"))
        half = read_body(client, size // 2)
        waited = seconds(lambda: client.recv(1, socket.MSG_PEEK))
        rest = read_to_the_end(client)

    assert waited > 0.15
    assert sha256((half + rest).partition(b"\r\n\r\n")[2]) == digest


def test_a_stall_for_ever_lasts_until_the_client_leaves(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.manifest(stalls=1), FILE)

    with connected(sandbox.base_url) as client:
        client.sendall(request(url))
        read_body(client, 10_000)
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
        during = sandbox.stats()["all"]

    assert during["in_flight"] == 1
    wait_until_idle(sandbox)
    assert sandbox.stats()["all"]["broken_off"] == 1


def test_latency_and_jitter_delay_each_answer(sandbox: Sandbox, session: requests.Session) -> None:
    quick, slow = sandbox.manifest(size=10), sandbox.manifest(size=10, latency=50, jitter=50)
    for url in (quick, slow):
        session.get(url)

    waits = [seconds(lambda: session.get(urljoin(slow, FILE))) for _ in range(6)]

    assert min(waits) >= 0.049
    assert min(seconds(lambda: session.get(urljoin(quick, FILE))) for _ in range(6)) < min(waits)
    assert max(waits) - min(waits) > 0.005


def test_a_name_that_does_not_exist_is_as_slow_as_one_that_does(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = urljoin(sandbox.manifest(latency=100), "other")

    assert seconds(lambda: session.get(url)) >= 0.099


def test_bandwidth_limits_each_answer(sandbox: Sandbox, session: requests.Session) -> None:
    fast = urljoin(sandbox.manifest(size="200kB"), FILE)
    slow = urljoin(sandbox.manifest(size="200kB", bandwidth="1MB"), FILE)
    session.get(fast)

    duration = seconds(lambda: session.get(slow))

    assert duration > 0.19
    assert sha256(session.get(slow).content) == sha256(session.get(fast).content)


def test_more_than_the_allowed_connections_are_told_to_come_later(sandbox: Sandbox) -> None:
    url = sandbox.manifest(files=20, size=10, latency=100, connections=4)

    async def statuses() -> list[int]:
        async with aiohttp.ClientSession(trust_env=False) as session:

            async def status(index: int) -> int:
                async with session.get(urljoin(url, f"file-{index:06}.bin")) as response:
                    assert (response.status == 429) == (response.headers.get("Retry-After") == "1")
                    return response.status

            return list(await asyncio.gather(*(status(index) for index in range(10))))

    result = asyncio.run(statuses())

    assert sorted(result) == [200] * 4 + [429] * 6
    assert sandbox.stats()["all"]["in_flight_max"] == 4


@pytest.mark.system
def test_a_redirect_leads_to_the_same_file_elsewhere(session: requests.Session) -> None:
    with running(host="127.0.0.2") as elsewhere, running() as here:
        address = urlsplit(elsewhere.base_url).netloc
        url = here.manifest(files=4, size=99, redirects=0.5, to=address, label="moved")
        lines = parsed(session.get(url).content)
        answers = [session.get(urljoin(url, line.name)) for line in lines]

        hosts = [urlsplit(answer.url).hostname for answer in answers]
        assert sorted(str(host) for host in hosts) == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
        assert [sha256(answer.content) for answer in answers] == [line.digest for line in lines]
        assert elsewhere.stats()["labels"]["moved"]["requests"] == 2


def test_a_manifest_can_be_redirected_too(sandbox: Sandbox, session: requests.Session) -> None:
    address = urlsplit(sandbox.base_url).netloc
    url = sandbox.manifest(files=4, manifest="redirect", to=address)

    answer = session.get(url)

    assert [step.status_code for step in answer.history] == [302]
    assert len(parsed(answer.content)) == 4


@pytest.mark.parametrize(("kind", "status"), [("missing", 404), ("error", 500), ("empty", 200)])
def test_a_manifest_can_fail(
    sandbox: Sandbox, session: requests.Session, kind: str, status: int
) -> None:
    response = session.get(sandbox.manifest(manifest=kind))

    assert response.status_code == status
    assert (response.content == b"") == (kind == "empty")


def test_files_beside_a_broken_manifest_are_good(
    sandbox: Sandbox, session: requests.Session
) -> None:
    bad = sandbox.manifest(files=3, manifest="wrongsize")
    good = parsed(session.get(sandbox.manifest(files=3)).content)

    listed = parsed(session.get(bad).content)

    assert listed[0].size == good[0].size - 1
    assert sha256(session.get(urljoin(bad, FILE)).content) == good[0].digest


def test_a_manifest_can_have_no_end(sandbox: Sandbox) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(files=3, manifest="endless")))
        received = read_body(client, 5_000_000)

    assert b"Content-Length" not in received[:300]
    assert received.count(b"file-000000.bin") > 10_000
    wait_until_idle(sandbox)


def test_a_manifest_can_hang(sandbox: Sandbox) -> None:
    with connected(sandbox.base_url) as client:
        client.settimeout(0.2)
        client.sendall(request(sandbox.manifest(manifest="hang")))
        with pytest.raises(TimeoutError):
            client.recv(1)

    wait_until_idle(sandbox)
    assert sandbox.stats()["all"]["statuses"] == {}


def test_a_manifest_can_be_reset(sandbox: Sandbox) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(manifest="reset")))
        _, was_reset = read_until_reset(client)

    assert was_reset


@pytest.mark.system
def test_faults_come_through_tls(certificate: tuple[Path, Path]) -> None:
    with running(tls=certificate) as sandbox, requests.Session() as session:
        session.trust_env = False
        session.verify = str(certificate[0])
        url = sandbox.manifest(files=4, size="1MB", truncated=0.25, resets=0.25)
        lines = parsed(session.get(url).content)
        broken = 0
        for line in lines:
            try:
                assert sha256(session.get(urljoin(url, line.name)).content) == line.digest
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                broken += 1

    assert broken == 2


def test_a_longer_file_is_the_file_and_one_byte(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = sandbox.manifest(files=4, size="0-300kB", longer=1)

    for line in parsed(session.get(url).content):
        received = session.get(urljoin(url, line.name)).content
        assert len(received) == line.size + 1
        assert sha256(received[:-1]) == line.digest


def test_a_page_instead_of_a_file_is_a_success_to_whoever_looks_at_the_status_only(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = sandbox.manifest(files=4, size=1000, pages=0.5)

    answers = [session.get(urljoin(url, f"file-{index:06}.bin")) for index in range(4)]

    assert {answer.status_code for answer in answers} == {200}
    pages = [answer for answer in answers if answer.content.startswith(b"<!doctype html>")]
    assert len(pages) == 2
    assert {page.headers["Content-Type"] for page in pages} == {"text/html"}
