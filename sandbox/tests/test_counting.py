import asyncio
from datetime import datetime
from urllib.parse import urljoin

import aiohttp
import pytest
import requests

from sandbox.process import Sandbox
from sandbox.tests.conftest import parsed, wait_until, wait_until_idle
from sandbox.tests.sockets import connected, request


def download(url: str, concurrency: int) -> None:
    async def all_files() -> None:
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:

            async def read(url: str) -> bytes:
                async with session.get(url) as response:
                    return await response.read()

            lines = parsed(await read(url))
            await asyncio.gather(*(read(urljoin(url, line.name)) for line in lines))

    asyncio.run(all_files())


@pytest.mark.parametrize("concurrency", [1, 7, 40])
def test_a_client_of_some_concurrency_has_so_many_in_flight(
    sandbox: Sandbox, concurrency: int
) -> None:
    url = sandbox.manifest(files=3 * concurrency, size=30_000, latency=60, label="client")

    download(url, concurrency)

    counts = sandbox.stats()["labels"]["client"]
    assert counts["in_flight_max"] == concurrency
    assert counts["in_flight"] == 0
    assert (counts["requests"], counts["manifests"]) == (3 * concurrency + 1, 1)
    assert counts["statuses"] == {"200": 3 * concurrency + 1}


def test_repositories_and_labels_are_counted_apart_and_in_all(
    sandbox: Sandbox, session: requests.Session
) -> None:
    for settings in ({"files": 1, "label": "a"}, {"files": 2, "label": "a"}, {"files": 3}):
        session.get(sandbox.manifest(**settings))

    counts = sandbox.stats()
    assert counts["all"]["requests"] == 3
    assert {label: count["requests"] for label, count in counts["labels"].items()} == {"a": 2}
    assert {path: count["requests"] for path, count in counts["repositories"].items()} == {
        "/repo/files=1,label=a": 1,
        "/repo/files=2,label=a": 1,
        "/repo/files=3": 1,
    }


def test_each_sender_is_counted_apart(sandbox: Sandbox, session: requests.Session) -> None:
    url = sandbox.manifest(files=1)
    for sender, times in (("one", 2), ("two", 1)):
        for _ in range(times):
            session.get(url, headers={"User-Agent": sender})

    counts = sandbox.stats()["senders"]
    assert {sender: count["requests"] for sender, count in counts.items()} == {"one": 2, "two": 1}
    first, last = (
        datetime.fromisoformat(counts["one"][f"{which}_request"]) for which in ("first", "last")
    )
    assert first <= last <= datetime.fromisoformat(counts["two"]["first_request"])


def test_pages_and_mistakes_are_not_counted(sandbox: Sandbox, session: requests.Session) -> None:
    for path in ("/", "/health", "/stats", "/other", "/repo/files=x/PULP_MANIFEST"):
        session.get(sandbox.base_url + path)

    counts = sandbox.stats()
    assert counts["all"]["requests"] == 0
    assert counts["all"]["last_request"] is None


def test_the_last_request_has_an_instant(sandbox: Sandbox, session: requests.Session) -> None:
    session.get(sandbox.manifest(files=1))

    counts = sandbox.stats()

    instant = datetime.fromisoformat(counts["all"]["last_request"])
    assert instant.tzinfo is not None
    assert datetime.fromisoformat(counts["since"]) <= instant


@pytest.mark.parametrize("settings", [{"latency": 60_000}, {"bandwidth": 1}, {"manifest": "hang"}])
def test_a_client_that_leaves_is_no_longer_in_flight(
    sandbox: Sandbox, settings: dict[str, object]
) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(**settings)))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

    wait_until_idle(sandbox)
    assert sandbox.stats()["all"]["broken_off"] == 1


def test_pipelined_requests_are_all_in_flight(sandbox: Sandbox) -> None:
    url = sandbox.manifest(latency=60_000)

    with connected(sandbox.base_url) as client:
        client.sendall(request(url) * 5)
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 5)

    wait_until_idle(sandbox)


def test_a_reset_keeps_what_is_under_way(sandbox: Sandbox, session: requests.Session) -> None:
    session.get(sandbox.manifest(files=1))
    with connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(files=2, latency=60_000, label="slow")))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

        sandbox.reset()
        counts = sandbox.stats()

    assert list(counts["repositories"]) == ["/repo/files=2,latency=60000,label=slow"]
    for count in (counts["all"], counts["labels"]["slow"]):
        assert (count["in_flight"], count["in_flight_max"], count["requests"]) == (1, 1, 0)
    wait_until_idle(sandbox)


def test_thousands_of_repositories_leave_only_the_latest(
    sandbox: Sandbox, session: requests.Session
) -> None:
    last = urljoin(sandbox.manifest(files=1, seed=5000, label="x"), "file-000000.bin")
    urls = [last.replace("seed=5000", f"seed={seed}") for seed in range(5001)]

    with connected(sandbox.base_url) as client:
        client.sendall(b"".join(request(url, "HEAD") for url in urls[:-1]))
        client.sendall(request(last, "HEAD", "Connection: close"))
        while client.recv(1 << 20):
            pass

    counts = sandbox.stats()
    assert counts["labels"]["x"]["requests"] == counts["all"]["requests"] == 5001
    assert counts["forgotten"] > 0
    assert len(counts["repositories"]) <= 4096
