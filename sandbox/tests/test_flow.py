import select
from pathlib import Path
from urllib.parse import urljoin

import psutil
import pytest
import requests

from sandbox.process import Sandbox, running
from sandbox.tests.sockets import connected, read_body, request

MEGABYTE = 1_000_000


def test_a_slow_reader_grows_no_memory(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.manifest(files=1, size="10GB"), "file-000000.bin")
    server = psutil.Process(sandbox.pid)
    before = server.memory_info().rss

    with connected(sandbox.base_url, receive_buffer=8192) as client:
        client.sendall(request(url))
        read_body(client, 30 * MEGABYTE)
        after = server.memory_info().rss
        sent = sandbox.stats()["all"]["in_flight"]

    assert sent == 1
    assert after - before < 8 * MEGABYTE


@pytest.mark.system
def test_slow_readers_over_tls_grow_little_memory(certificate: tuple[Path, Path]) -> None:
    with running(tls=certificate) as sandbox, requests.Session() as session:
        session.trust_env = False
        session.verify = str(certificate[0])
        url = urljoin(sandbox.manifest(files=10, size="1GB"), "file-000000.bin")
        server = psutil.Process(sandbox.pid)
        session.get(f"{sandbox.base_url}/health")
        before = server.memory_info().rss
        responses = [session.get(url, stream=True) for _ in range(5)]
        for response in responses:
            assert len(response.raw.read(5 * MEGABYTE)) == 5 * MEGABYTE
        after = server.memory_info().rss
        for response in responses:
            response.close()

    assert after - before < 5 * 4 * MEGABYTE


def test_a_fast_reader_of_a_large_file_leaves_turns_to_others(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = urljoin(sandbox.manifest(files=1, size="300MB"), "file-000000.bin")

    with session.get(url, stream=True) as response:
        received = 0
        for piece in response.iter_content(MEGABYTE):
            if not received:
                assert sandbox.stats()["all"]["in_flight"] == 1
            received += len(piece)

    assert received == 300 * MEGABYTE


@pytest.mark.parametrize("settings", [{"files": 100_000}, {"files": 50_000, "size": "1-50000"}])
def test_a_large_manifest_does_not_stop_the_others(
    sandbox: Sandbox, session: requests.Session, settings: dict[str, object]
) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(**settings, seed=settings["files"])))
        answered = 0
        while not select.select([client], [], [], 0)[0]:
            sandbox.stats()
            answered += 1
        received = read_body(client, 4 * MEGABYTE)

    assert answered >= 3
    assert received.startswith(b"HTTP/1.1 200 OK")
