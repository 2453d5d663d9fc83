import asyncio
import subprocess
import sys
import time
from urllib.parse import urljoin, urlsplit

import aiohttp
import pytest
import requests

from sandbox.process import Sandbox, running
from sandbox.rpm.repodata import Part
from sandbox.tests.conftest import sha256, wait_until_idle
from sandbox.tests.rpm.conftest import Listed, listed
from sandbox.tests.sockets import connected, read_body, read_to_the_end, read_until_reset, request

PACKAGE = "Packages/sandbox-000000-1.0-1.noarch.rpm"


def in_primary(session: requests.Session, url: str) -> list[Listed]:
    return listed(session.get(urljoin(url, Part.PRIMARY.path)).content)


@pytest.mark.parametrize("size", ["3000", "3kB-400kB"])
def test_a_client_gets_what_the_repodata_say(
    sandbox: Sandbox, session: requests.Session, size: str
) -> None:
    url = sandbox.rpm(packages=5, size=size)

    packages = in_primary(session, url)

    assert len(packages) == 5
    for package in packages:
        response = session.get(urljoin(url, package.path))
        assert response.status_code == 200
        assert response.headers["Content-Type"] == "application/x-rpm"
        assert response.headers["Content-Length"] == str(package.size) == str(len(response.content))
        assert sha256(response.content) == package.digest


def test_a_package_can_be_asked_for_before_the_repodata(
    sandbox: Sandbox, session: requests.Session
) -> None:
    url = sandbox.rpm(packages=5, size="40kB", seed=51)

    package = session.get(urljoin(url, PACKAGE)).content

    assert sha256(package) == in_primary(session, url)[0].digest


@pytest.mark.system
def test_another_process_serves_the_same_bytes(session: requests.Session) -> None:
    with running() as one, running() as other:
        urls = [sandbox.rpm(packages=3, size="5kB") for sandbox in (one, other)]

        for name in (PACKAGE, *(part.path for part in Part)):
            answers = [session.get(urljoin(url, name)).content for url in urls]
            assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/rpm", 404, "expected repodata/repomd.xml, repodata/primary.xml.gz"),
        ("/rpm/packages=3/", 404, "sandbox-000002-1.0-1.noarch.rpm"),
        ("/rpm/packages=3/PULP_MANIFEST", 404, "expected repodata/repomd.xml"),
        ("/rpm/packages=3/Packages/sandbox-000003-1.0-1.noarch.rpm", 404, "no file"),
        ("/rpm/packages=3,size=3/repodata/repomd.xml", 400, "bytes to 2GB each"),
        ("/rpmx/packages=3/repodata/repomd.xml", 404, "/rpm/.../repodata/repomd.xml"),
    ],
)
def test_a_bad_path_is_told_what_is_wrong(
    sandbox: Sandbox, session: requests.Session, path: str, status: int, sentence: str
) -> None:
    response = session.get(sandbox.base_url + path)

    assert response.status_code == status
    assert sentence in response.text


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [("missing", [404, 404]), ("errors", [500, 500]), ("flaky", [500, 200])],
)
def test_the_share_of_packages_fails_as_it_should(
    sandbox: Sandbox, session: requests.Session, fault: str, statuses: list[int]
) -> None:
    url = sandbox.rpm(packages=20, size=3000, **{fault: 0.25})
    names = [package.path for package in in_primary(session, url)]

    for _ in range(2):
        session.get(urljoin(url, Part.REPOMD.path))  # tries begin anew
        tries = [[session.get(urljoin(url, name)).status_code for _ in range(2)] for name in names]
        assert tries.count(statuses) == 5
        assert tries.count([200, 200]) == 15


def test_wrong_packages_are_wrong_as_wrong_files_are(
    sandbox: Sandbox, session: requests.Session
) -> None:
    settings = {"corrupt": 0.2, "longer": 0.2, "pages": 0.2}
    url = sandbox.rpm(packages=10, size="300kB", **settings)

    seen = []
    for package in in_primary(session, url):
        received = session.get(urljoin(url, package.path)).content
        good = sha256(received[: package.size]) == package.digest
        seen.append((len(received) - package.size, good))

    assert seen.count((0, True)) == 4
    assert seen.count((0, False)) == 2
    assert seen.count((1, True)) == 2
    assert len([more for more, _ in seen if more < 0]) == 2


def test_a_truncated_package_ends_half_way(sandbox: Sandbox) -> None:
    url = urljoin(sandbox.rpm(size="3MB", packages=1, truncated=1), PACKAGE)

    with connected(sandbox.base_url) as client:
        client.sendall(request(url))
        head, _, body = read_to_the_end(client).partition(b"\r\n\r\n")

    assert b"Content-Length: 3000000" in head
    assert len(body) == 1_500_000


def test_a_package_can_be_reset_or_stall_half_way(sandbox: Sandbox) -> None:
    with connected(sandbox.base_url) as client:
        client.sendall(request(urljoin(sandbox.rpm(packages=1, resets=1), PACKAGE)))
        _, was_reset = read_until_reset(client)
    with connected(sandbox.base_url) as client:
        client.sendall(request(urljoin(sandbox.rpm(packages=1, stalls=1), PACKAGE)))
        read_body(client, 10_240)
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)

    assert was_reset
    wait_until_idle(sandbox)
    assert sandbox.stats()["all"]["broken_off"] == 2


@pytest.mark.system
def test_a_redirect_leads_to_the_same_package_elsewhere(session: requests.Session) -> None:
    with running(host="127.0.0.2") as elsewhere, running() as here:
        address = urlsplit(elsewhere.base_url).netloc
        url = here.rpm(packages=4, size=3000, redirects=0.5, to=address)
        packages = in_primary(session, url)
        answers = [session.get(urljoin(url, package.path)) for package in packages]

        hosts = [urlsplit(answer.url).hostname for answer in answers]
        assert sorted(str(host) for host in hosts) == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
        assert [sha256(answer.content) for answer in answers] == [p.digest for p in packages]


@pytest.mark.parametrize("part", list(Part))
def test_each_file_of_the_repodata_can_fail_alone(
    sandbox: Sandbox, session: requests.Session, part: Part
) -> None:
    address = urlsplit(sandbox.base_url).netloc
    settings = {"packages": 2, "size": 3000, "part": part}
    expected = {"missing": [404], "error": [500], "redirect": [302, 200]}

    for kind, statuses in expected.items():
        url = sandbox.rpm(manifest=kind, to=address, **settings)
        for other in Part:
            answer = session.get(urljoin(url, other.path))
            seen = [step.status_code for step in (*answer.history, answer)]
            assert seen == (statuses if other is part else [200])


def test_repodata_can_hang_or_have_no_end(sandbox: Sandbox) -> None:
    endless = sandbox.rpm(packages=3, manifest="endless", part="primary")
    hanging = sandbox.rpm(packages=3, manifest="hang")

    with connected(sandbox.base_url) as client:
        client.sendall(request(urljoin(endless, Part.PRIMARY.path)))
        assert b"Content-Length" not in read_body(client, 1_000_000)[:300]
    with connected(sandbox.base_url) as client:
        client.settimeout(0.2)
        client.sendall(request(urljoin(hanging, Part.REPOMD.path)))
        with pytest.raises(TimeoutError):
            client.recv(1)

    wait_until_idle(sandbox)


@pytest.mark.parametrize("settings", [{"latency": 200}, {"bandwidth": "100kB"}])
def test_latency_and_bandwidth_slow_packages_down(
    sandbox: Sandbox, session: requests.Session, settings: dict[str, object]
) -> None:
    url = sandbox.rpm(packages=1, size=20_000, **settings)
    digest = in_primary(session, url)[0].digest

    begun = time.perf_counter()
    package = session.get(urljoin(url, PACKAGE)).content

    assert time.perf_counter() - begun > 0.19
    assert sha256(package) == digest


@pytest.mark.parametrize("concurrency", [1, 12])
def test_a_client_of_some_concurrency_has_so_many_in_flight(
    sandbox: Sandbox, concurrency: int
) -> None:
    count = 3 * concurrency
    url = sandbox.rpm(packages=count, size=30_000, latency=60, label="rpm")

    async def sync() -> None:
        connector = aiohttp.TCPConnector(limit=concurrency)
        agent = {"User-Agent": "pulp"}
        async with aiohttp.ClientSession(connector=connector, headers=agent) as session:

            async def read(name: str) -> bytes:
                async with session.get(urljoin(url, name)) as response:
                    return await response.read()

            await read(Part.REPOMD.path)
            packages = listed(await read(Part.PRIMARY.path))
            await asyncio.gather(*(read(package.path) for package in packages))

    asyncio.run(sync())

    counts = sandbox.stats()
    for tally in (counts["labels"]["rpm"], counts["senders"]["pulp"]):
        assert (tally["in_flight"], tally["in_flight_max"]) == (0, concurrency)
        assert (tally["requests"], tally["manifests"]) == (count + 2, 1)
        assert tally["statuses"] == {"200": count + 2}


@pytest.mark.system
def test_repodata_of_many_packages_are_made_in_little_memory() -> None:
    program = """
import re
from sandbox.content import Content
from sandbox.rpm.package import Packages
from sandbox.rpm.repodata import Repodata

def most_kib():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

before = most_kib()
held = len(Repodata(Packages(Content(1000, 0, 0))))
Repodata(Packages(Content(1, 40_000_000, 40_000_000)))
print(held, most_kib() - before)
"""
    output = subprocess.check_output([sys.executable, "-c", program], text=True)

    held, grown_kib = map(int, output.split())
    assert held < 1000 * 300
    assert grown_kib < 5 * 1024
