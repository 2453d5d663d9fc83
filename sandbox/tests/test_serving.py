from urllib.parse import quote, urljoin

import pytest
import requests

from sandbox.process import Sandbox
from sandbox.tests.conftest import parsed, sha256
from sandbox.tests.sockets import bodies, connected, read_to_the_end, request


@pytest.mark.parametrize("size", ["0", "5", "20480", "3MB", "0-300kB"])
@pytest.mark.parametrize("names", ["plain", "commas", "nested"])
def test_a_client_gets_what_the_manifest_says(
    sandbox: Sandbox, session: requests.Session, size: str, names: str
) -> None:
    url = sandbox.manifest(files=5, size=size, names=names)

    lines = parsed(session.get(url).content)

    assert len(lines) == 5
    for line in lines:
        response = session.get(urljoin(url, quote(line.name)))
        assert response.status_code == 200
        assert response.headers["Content-Length"] == str(line.size) == str(len(response.content))
        assert sha256(response.content) == line.digest


def test_a_slash_in_a_name_may_be_escaped(sandbox: Sandbox, session: requests.Session) -> None:
    url = sandbox.manifest(files=1, size=5, names="nested")

    response = session.get(urljoin(url, "part-000%2Ffile-000000.bin"))

    assert sha256(response.content) == parsed(session.get(url).content)[0].digest


def test_escaped_settings_are_the_same_repository(sandbox: Sandbox) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(b"GET /repo/files%3D3%2Csize%3D4/PULP_MANIFEST HTTP/1.0\r\n\r\n")
        [(status, body)] = bodies(read_to_the_end(client))

    assert status == 200
    assert len(parsed(body)) == 3
    assert list(sandbox.stats()["repositories"]) == ["/repo/files=3,size=4"]


def test_a_connection_serves_many_requests(sandbox: Sandbox, session: requests.Session) -> None:
    for index in range(20):
        session.get(urljoin(sandbox.manifest(size=100), f"file-{index:06}.bin"))

    connections = sandbox.stats()["connections"]
    assert connections["max"] <= 2  # the session's, and the one that asks for the counts


def test_pipelined_requests_are_answered_in_order(sandbox: Sandbox) -> None:
    sizes = [7, 3_000_000, 0, 20_480]
    urls = [urljoin(sandbox.manifest(size=size, latency=5), "file-000003.bin") for size in sizes]
    close = request(urls[-1], "GET", "Connection: close")

    with connected(sandbox.base_url) as client:
        client.sendall(b"".join(map(request, urls)) + request(urls[0], "HEAD") + close)
        received = read_to_the_end(client)

    head_begins = received.rindex(b"HTTP/1.1", 0, received.rindex(b"HTTP/1.1"))
    assert [len(body) for _, body in bodies(received[:head_begins])] == sizes
    assert received[head_begins:].count(b"Content-Length: 7") == 1


def test_thousands_of_pipelined_requests_are_all_answered(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.manifest(size=3, latency=0.1), "file-000003.bin")
    last = request(url, "GET", "Connection: close")

    with connected(sandbox.base_url) as client:
        client.sendall(request(url) * 500 + last)
        received = bodies(read_to_the_end(client))

    assert [status for status, _ in received] == [200] * 501
    assert sandbox.stats()["all"]["in_flight"] == 0


def test_head_tells_the_size_and_sends_no_body(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.manifest(size="4MB"), "file-000003.bin")

    with connected(sandbox.base_url) as client:
        client.sendall(request(url, "HEAD", "Connection: close"))
        received = read_to_the_end(client)

    assert b"Content-Length: 4000000\r\n" in received
    assert received.endswith(b"\r\n\r\n")


def test_a_request_may_come_byte_by_byte(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.manifest(size=3), "file-000003.bin")

    with connected(sandbox.base_url) as client:
        for byte in request(url, "GET", "Connection: close"):
            client.sendall(bytes([byte]))
        [(status, body)] = bodies(read_to_the_end(client))

    assert (status, len(body)) == (200, 3)


def test_an_upgrade_is_ignored(sandbox: Sandbox) -> None:
    url = f"{sandbox.base_url}/health"
    upgrade = request(url, "GET", "Connection: Upgrade", "Upgrade: h2c")

    with connected(sandbox.base_url) as client:
        client.sendall(upgrade + request(url, "GET", "Connection: close"))
        received = bodies(read_to_the_end(client))

    assert received == [(200, b"ok\n")] * 2


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/other", 404, "expected /, /health"),
        ("/repository/x", 404, "expected /, /health"),
        ("/repo", 404, "expected PULP_MANIFEST"),
        ("/repo/files=3/", 404, "'file-000000.bin' to 'file-000002.bin'"),
        ("/repo/files=3/file-000003.bin", 404, "'file-000000.bin' to 'file-000002.bin'"),
        ("/repo/files=0/file-000000.bin", 404, "expected PULP_MANIFEST\n"),
        ("/repo/files=x/PULP_MANIFEST", 400, "files='x': expected 0 to 1000000"),
        ("/repo/pace=3/PULP_MANIFEST", 400, "unknown setting 'pace'"),
        ("/repo/files=3/PULP_MANIFEST?label=x", 400, "settings stand in the path"),
        ("/repo/files=%FF/PULP_MANIFEST", 400, "not UTF-8"),
    ],
)
def test_a_bad_path_is_told_what_is_wrong(
    sandbox: Sandbox, session: requests.Session, path: str, status: int, sentence: str
) -> None:
    for _ in range(2):  # the second time the repository is known
        response = session.get(sandbox.base_url + path)

        assert response.status_code == status
        assert sentence in response.text


def test_the_first_page_explains_and_health_is_ok(
    sandbox: Sandbox, session: requests.Session
) -> None:
    page = session.get(f"{sandbox.base_url}/").text

    example = next(word for word in page.split() if word.startswith(sandbox.base_url))
    assert session.get(example).status_code == 200
    assert session.get(f"{sandbox.base_url}/health").text == "ok\n"


def test_other_methods_are_refused(sandbox: Sandbox, session: requests.Session) -> None:
    put = session.put(sandbox.manifest(files=3), data=b"x" * 1000)
    get = session.get(f"{sandbox.base_url}/stats/reset")

    assert (put.status_code, put.headers["Allow"]) == (405, "GET, HEAD")
    assert (get.status_code, get.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"rubbish\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET /" + b"x" * 70_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 12_000, 431),
    ],
)
def test_what_is_no_request_gets_a_refusal_and_the_end(
    sandbox: Sandbox, sent: bytes, status: int
) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(sent)
        received = read_to_the_end(client)

    assert bodies(received)[0][0] == status
