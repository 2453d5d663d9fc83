"""Content of the simulated Katello over HTTP: right bytes, cold and warm, who may have it, and what goes wrong."""

import gzip
import hashlib
import http.client
import ssl
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from sandbox.katello.authority import Authority
from sandbox.katello.behaviour import BadKatello, KatelloBehaviour
from sandbox.katello.process import SimulatedKatello
from sandbox.process import running
from sandbox.remote import fetch
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.tls import Client

BASE = "/pulp/content/ACME/Library/custom/Bench"
IMMEDIATE, ON_DEMAND, SMALL = f"{BASE}/files20k/", f"{BASE}/files20k_on_demand/", f"{BASE}/bench/"
FIRST = "Packages/sandbox-000000-1.0-1.noarch.rpm"
_COMMON = "{http://linux.duke.edu/metadata/common}"
_REPO = "{http://linux.duke.edu/metadata/repo}"


def get(
    server: SimulatedKatello, path: str, method: str = "GET"
) -> tuple[int, http.client.HTTPMessage, bytes]:
    address = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def packages(server: SimulatedKatello, base: str) -> list[tuple[str, str, int]]:
    """Path, digest and size of each package that the metadata name, which are checked."""
    repomd = ElementTree.fromstring(get(server, f"{base}repodata/repomd.xml")[2])  # noqa: S314 - ours
    lists = {}
    for data in repomd.findall(f"{_REPO}data"):
        location = data.find(f"{_REPO}location")
        assert location is not None
        body = get(server, base + location.attrib["href"])[2]
        assert hashlib.sha256(body).hexdigest() == data.findtext(f"{_REPO}checksum")
        assert len(body) == int(data.findtext(f"{_REPO}size") or 0)
        lists[data.attrib["type"]] = body
    found = []
    for each in ElementTree.fromstring(gzip.decompress(lists["primary"])):  # noqa: S314
        place, size = each.find(f"{_COMMON}location"), each.find(f"{_COMMON}size")
        assert place is not None
        assert size is not None
        digest = each.findtext(f"{_COMMON}checksum") or ""
        found.append((place.attrib["href"], digest, int(size.attrib["package"])))
    return found


def post(server: SimulatedKatello, client: Client, path: str) -> int:
    return client.ask("POST", path, {}, Authorization="Basic YWRtaW46cGFzc3dvcmQ=").status


def test_a_repository_of_2000_packages_has_right_digests_and_sizes(
    server: SimulatedKatello,
) -> None:
    found = packages(server, IMMEDIATE)

    assert len(found) == 2000
    assert {size for *_, size in found} == {20_000}
    for path, digest, size in found[::400]:
        status, headers, body = get(server, IMMEDIATE + path)
        assert (status, len(body), hashlib.sha256(body).hexdigest()) == (200, size, digest)
        assert headers["Content-Length"] == headers["X-PULP-ARTIFACT-SIZE"] == "20000"
        assert headers["Etag"]
        assert headers["Last-Modified"]


def test_a_package_on_demand_is_cold_once(server: SimulatedKatello) -> None:
    _, cold, first = get(server, ON_DEMAND + FIRST)
    _, warm, again = get(server, ON_DEMAND + FIRST)

    assert cold["Transfer-Encoding"] == "chunked"
    assert cold["Content-Length"] is cold["Etag"] is None
    assert cold["X-PULP-ARTIFACT-SIZE"] == "20000"
    assert warm["Content-Length"] == warm["X-PULP-ARTIFACT-SIZE"] == "20000"
    assert first == again
    assert server.told()["content"]["artifacts"]["11"] == 1
    assert server.told()["content"]["artifacts"]["10"] == 2000


def test_a_head_fetches_nothing(server: SimulatedKatello) -> None:
    status, _, body = get(server, ON_DEMAND + FIRST, "HEAD")

    assert (status, body) == (200, b"")
    assert server.told()["content"]["artifacts"]["11"] == 0


def test_reclaiming_makes_a_repository_cold_again(
    server: SimulatedKatello, stranger: Client
) -> None:
    get(server, ON_DEMAND + FIRST)

    assert post(server, stranger, "/katello/api/v2/repositories/11/reclaim_space") == 202
    assert server.told()["content"]["artifacts"]["11"] == 0
    assert get(server, ON_DEMAND + FIRST)[1]["Transfer-Encoding"] == "chunked"


def test_only_what_is_on_demand_is_reclaimed(server: SimulatedKatello, stranger: Client) -> None:
    answer = stranger.ask(
        "POST", "/katello/api/v2/repositories/10/reclaim_space", {},
        Authorization="Basic YWRtaW46cGFzc3dvcmQ=",
    )  # fmt: skip

    assert answer.status == 400
    said = answer.json["displayMessage"]
    assert said == "Only On Demand repositories may have space reclaimed."


def test_a_smart_proxy_holds_packages_of_its_own(
    server: SimulatedKatello, stranger: Client
) -> None:
    get(server, ON_DEMAND + FIRST)
    server.set("proxy_cpus", 4)

    assert get(server, ON_DEMAND + FIRST)[1]["Transfer-Encoding"] == "chunked"
    assert get(server, ON_DEMAND + FIRST)[1]["Transfer-Encoding"] is None
    assert server.told()["content"]["artifacts_of_proxy"]["11"] == 1
    assert post(server, stranger, "/katello/api/v2/capsules/2/content/reclaim_space") == 202
    assert server.told()["content"]["artifacts_of_proxy"]["11"] == 0
    assert server.told()["content"]["artifacts"]["11"] == 1


def test_the_repository_says_where_its_content_is(
    server: SimulatedKatello, stranger: Client
) -> None:
    answer = stranger.ask(
        "GET", "/katello/api/v2/repositories/11", Authorization="Basic YWRtaW46cGFzc3dvcmQ="
    )

    assert answer.json["full_path"] == f"{server.tls_url}{ON_DEMAND}"


def test_requests_are_counted_to_one(server: SimulatedKatello) -> None:
    server.reset_counts()
    for path in ("repodata/repomd.xml", FIRST, FIRST, "Packages/none.rpm"):
        get(server, SMALL + path)

    counts = server.told()["content"]["all"]

    assert counts["requests"] == 4
    assert counts["statuses"] == {"200": 3, "404": 1}
    assert counts["in_flight"] == 0
    assert server.told()["content"]["repositories"][SMALL]["requests"] == 4


@pytest.mark.parametrize("path", ["/pulp/content/", "/pulp/content/ACME/none/", f"{BASE}/none/x"])
def test_what_is_not_there_is_not_found(server: SimulatedKatello, path: str) -> None:
    assert get(server, path)[0] == 404


def test_only_registered_hosts_have_guarded_content(
    server: SimulatedKatello, register: Callable[..., Registered], connect: Callable[..., Client]
) -> None:
    server.behave(content_guard=True)
    host = register()

    assert host.client.ask("GET", SMALL + FIRST).status == 200
    without = connect().ask("GET", SMALL + FIRST)
    assert (without.status, b"A client certificate was not received" in without.raw) == (403, True)
    host.ask("DELETE")
    assert host.client.ask("GET", SMALL + FIRST).status == 403


def test_a_certificate_of_another_ca_is_refused(
    server: SimulatedKatello, connect: Callable[..., Client]
) -> None:
    made = Authority.new().identify("stranger", "ACME", "stranger", "ec")

    with pytest.raises((ssl.SSLError, ConnectionError)):
        connect(made.pem + made.key_pem).ask("GET", SMALL + FIRST)


def test_a_certificate_can_be_required(
    server: SimulatedKatello, register: Callable[..., Registered], connect: Callable[..., Client]
) -> None:
    host = register()
    server.behave(client_certificates="required")

    with pytest.raises((ssl.SSLError, ConnectionError)):
        connect().ask("GET", SMALL + FIRST)
    again = connect(host.consumer["idCert"]["cert"] + host.consumer["idCert"]["key"])
    assert again.ask("GET", SMALL + FIRST).status == 200
    server.behave(client_certificates="optional")
    assert connect().ask("GET", SMALL + FIRST).status == 200


def test_packages_fail_at_the_first_try(server: SimulatedKatello) -> None:
    server.behave(content_faults="flaky=0.5")
    paths = [path for path, *_ in packages(server, SMALL)]

    assert [get(server, SMALL + path)[0] for path in paths].count(500) == 60
    assert {get(server, SMALL + path)[0] for path in paths} == {200}


def test_a_corrupt_package_has_the_right_size(server: SimulatedKatello) -> None:
    found = packages(server, SMALL)
    server.behave(content_faults="corrupt=0.1")

    bodies = [(get(server, SMALL + path)[2], digest, size) for path, digest, size in found]

    assert all(len(body) == size for body, _, size in bodies)
    assert sum(hashlib.sha256(body).hexdigest() != digest for body, digest, _ in bodies) == 12


@pytest.mark.parametrize("fault", ["truncated", "resets"])
def test_a_package_is_cut(server: SimulatedKatello, fault: str) -> None:
    server.behave(content_faults=f"{fault}=1")

    with pytest.raises((http.client.IncompleteRead, ConnectionError)) as caught:
        get(server, SMALL + FIRST)

    if isinstance(caught.value, http.client.IncompleteRead):
        assert len(caught.value.partial) == 10_240
    assert server.told()["content"]["all"]["broken_off"] >= 1


def test_a_package_trickles(server: SimulatedKatello) -> None:
    server.behave(content_faults="bandwidth=40kB")
    began = time.perf_counter()

    _, _, body = get(server, SMALL + FIRST)

    assert len(body) == 20_480
    assert 0.4 < time.perf_counter() - began < 3


def test_a_package_is_elsewhere(server: SimulatedKatello) -> None:
    server.behave(content_faults="redirects=1/to=elsewhere.example:8080")

    status, headers, _ = get(server, SMALL + FIRST)

    assert status == 302
    assert headers["Location"].startswith("http://elsewhere.example:8080/rpm/packages=120/")


@pytest.mark.parametrize(
    ("faults", "words"),
    [("flaky=2", "0 to 1"), ("wheels=1", "unknown setting"), ("redirects=1", "add to=host:port")],
)
def test_faults_that_cannot_be_are_refused(faults: str, words: str) -> None:
    with pytest.raises(BadKatello, match=words):
        KatelloBehaviour.of({"content_faults": faults})


def test_the_model_makes_requests_wait(server: SimulatedKatello) -> None:
    get(server, SMALL + FIRST)
    for name, value in {"cpus": 1, "content_ms": 20, "content_scale": 1}.items():
        server.set(name, value)
    began = time.perf_counter()
    threads = [threading.Thread(target=get, args=(server, IMMEDIATE + FIRST)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 0.35 < time.perf_counter() - began < 3
    assert server.told()["content_app"]["served"] == 20


def test_full_places_are_refused(server: SimulatedKatello) -> None:
    server.set("httpd_limit", 1)
    server.set("content_ms", 60_000)
    server.set("content_scale", 10)
    server.set("cpus", 1)
    assert server.told()["content_app"]["processes"] == 3
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(get(server, IMMEDIATE + FIRST)[0]))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    while server.told()["content_app"]["inside"] < 5:
        time.sleep(0.01)
    server.set("content_workers", 4)  # restarts it
    for thread in threads:
        thread.join()

    assert statuses == [503] * 5


def test_an_exporter_tells_of_the_machine_that_serves_content(server: SimulatedKatello) -> None:
    server.set("content_scale", 0.01)
    get(server, IMMEDIATE + FIRST)
    on_server = fetch(f"{server.base_url}/metrics").decode()
    assert get(server, "/proxy/metrics")[0] == 404
    server.set("proxy_cpus", 4)
    get(server, IMMEDIATE + FIRST)
    on_proxy = fetch(f"{server.base_url}/proxy/metrics").decode()

    content = 'namedprocess_namegroup_num_procs{groupname="pulpcore-content"}'
    assert f"{content} 17.0" in on_server
    assert f"{content} 9.0" in on_proxy
    assert "puma" not in on_proxy
    assert 'node_cpu_seconds_total{cpu="3",mode="idle"}' in on_proxy
    assert 'cpu="4"' not in on_proxy


@pytest.mark.system
def test_content_takes_no_memory_of_its_size() -> None:
    with running(katello={}) as sandbox:
        for base in (IMMEDIATE, ON_DEMAND):
            packages(sandbox.katello, base)
        with open(f"/proc/{sandbox.pid}/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM"))

    assert int(peak.split()[1]) < 160 * 1024
