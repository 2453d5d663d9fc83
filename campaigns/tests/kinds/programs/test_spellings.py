# ruff: noqa: RUF001 - digits that only look like digits are what is tried here
"""The rules of addresses under attack: every spelling of a place, for fetch and both engines."""

import asyncio
import hashlib
import socket
import ssl
from contextlib import suppress

import pytest

from campaigns.kinds.downloader.engines import checked_aiohttp
from campaigns.kinds.programs.downloading import file_url
from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kinds.programs.manifest import BadManifest, parse
from campaigns.kit.http import guarded
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import NetworkError, Rules, parse_rules, parse_url
from campaigns.tests.kinds.programs.servers import asked_head, behaving

EMPTY = hashlib.sha256(b"").hexdigest()


def spellings(port: int) -> dict[str, str]:
    """Give ways to write `127.0.0.2:port`, and tricks that lead there, by what they are."""
    return {
        "plain": f"http://127.0.0.2:{port}/",
        "upper case": f"HTTP://127.0.0.2:{port}/",
        "protocol-relative": f"//127.0.0.2:{port}/",
        "three slashes": f"///127.0.0.2:{port}/",
        "one slash": f"http:/127.0.0.2:{port}/",
        "no slash": f"http:127.0.0.2:{port}/",
        "decimal": f"http://2130706434:{port}/",
        "octal": f"http://0177.0.0.2:{port}/",
        "octal whole": f"http://017700000002:{port}/",
        "hexadecimal": f"http://0x7f000002:{port}/",
        "hexadecimal parts": f"http://0x7f.0.0.0x2:{port}/",
        "short": f"http://127.2:{port}/",
        "three parts": f"http://127.0.2:{port}/",
        "leading zeros": f"http://127.000.000.002:{port}/",
        "trailing dot": f"http://127.0.0.2.:{port}/",
        "full-width digits": f"http://１２７.0.0.2:{port}/",
        "ideographic dots": f"http://127。0。0。2:{port}/",
        "circled digits": f"http://①②⑦.0.0.2:{port}/",
        "escaped": f"http://127%2e0%2e0%2e2:{port}/",
        "escaped digits": f"http://%31%32%37.0.0.2:{port}/",
        "mapped": f"http://[::ffff:127.0.0.2]:{port}/",
        "mapped in hexadecimal": f"http://[::ffff:7f00:2]:{port}/",
        "mapped long": f"http://[0:0:0:0:0:ffff:127.0.0.2]:{port}/",
        "compatible": f"http://[::127.0.0.2]:{port}/",
        "NAT64": f"http://[64:ff9b::7f00:2]:{port}/",
        "local NAT64": f"http://[64:ff9b:1::7f00:2]:{port}/",
        "6to4": f"http://[2002:7f00:2::1]:{port}/",
        "zone": f"http://[::ffff:127.0.0.2%25lo]:{port}/",
        "userinfo": f"http://127.0.0.1@127.0.0.2:{port}/",
        "userinfo with port": f"http://127.0.0.1:80@127.0.0.2:{port}/",
        "escaped userinfo": f"http://127.0.0.1%40127.0.0.2:{port}/",
        "backslash before": f"http://127.0.0.1\\@127.0.0.2:{port}/",
        "backslashes": f"http:\\\\127.0.0.2:{port}/",
        "backslash behind": f"http://127.0.0.2:{port}\\@127.0.0.1/",
        "fragment": f"http://127.0.0.2:{port}#@127.0.0.1/",
        "query": f"http://127.0.0.2:{port}?@127.0.0.1/",
        "blank": f"http://127.0.0.2 :{port}/",
        "tabs": f"ht\ttp://127.0.0.2:{port}/",
        "leading blank": f" http://127.0.0.2:{port}/",
        "leading control": f"\x01http://127.0.0.2:{port}/",
        "semicolon": f"http://127.0.0.2:{port};@127.0.0.1/",
        "other scheme": f"https://127.0.0.2:{port}/",
        "ftp": f"ftp://127.0.0.2:{port}/",
        "gopher": f"gopher://127.0.0.2:{port}/_GET%20/",
        "file": "file:///etc/passwd",
        "file with host": "file://127.0.0.2/etc/passwd",
        "data": "data:text/plain,abc",
        "unix socket": "http+unix://%2Frun%2Fsocket/",
        "unix": "unix:///run/socket",
        "javascript": "javascript:alert(1)",
        "websocket": f"ws://127.0.0.2:{port}/",
        "no port": "http://127.0.0.2:/",
        "port 0": "http://127.0.0.2:0/",
        "port 65536": "http://127.0.0.2:65536/",
        "port with sign": f"http://127.0.0.2:+{port}/",
        "no host": f"http://:{port}/",
        "broken brackets": f"http://[127.0.0.2:{port}/",
        "bracketed": f"http://[127.0.0.2]:{port}/",
        "metadata": "http://169.254.169.254/latest/meta-data/",
        "metadata mapped": "http://[::ffff:a9fe:a9fe]/",
    }


PATHS = {"three slashes", "one slash", "no slash", "tabs", "leading control"}
"""What may be read as a path on the server that it comes from."""
NAMES = sorted(spellings(1))
LOOPS = {
    "loop": "/loop",
    "chain-0": "/chain-1",
    "chain-1": "/chain-2",
    "chain-2": "/chain-3",
    "chain-3": "/chain-4",
    "chain-4": "/chain-5",
    "chain-5": "/chain-6",
    "chain-6": "/end",
}


class Places:
    """A server that is allowed and leads away, and one that must never be connected to."""

    def __init__(self) -> None:
        self.leads: dict[str, str] = dict(LOOPS)
        self.asked: list[str] = []
        self.heads = b""

    def __call__(self, connection: socket.socket) -> None:
        while head := asked_head(connection):
            self.heads += head
            name = head.split()[1].decode().removeprefix("/")
            self.asked.append(name)
            location = self.leads.get(name)
            headers = [] if location is None else [f"Location: {location}"]
            status = "200 OK" if location is None else "302 Found"
            lines = [f"HTTP/1.1 {status}", "Content-Length: 0", *headers, "", ""]
            connection.sendall("\r\n".join(lines).encode())


def silent(connection: socket.socket) -> None:
    connection.recv(65536)


@pytest.fixture
def places():
    """The allowed place, its server, a forbidden port, and its connections."""
    server = Places()
    with (
        behaving(server) as (place, _),
        behaving(silent, "127.0.0.2") as (forbidden, connections),
    ):
        port = int(forbidden.rpartition(":")[2])
        server.leads |= {f"to-{number}": spellings(port)[name] for number, name in enumerate(NAMES)}
        yield place, server, port, connections


TLS = ssl.create_default_context()
RULES = "127.0.0.1:*"


@pytest.mark.system
def test_no_spelling_leads_a_file_elsewhere(places, download, engine):
    place, _, _, connections = places
    files = [[f"to-{number}", EMPTY, 0] for number in range(len(NAMES))]

    outcome = download(f"http://{place}/", files=files, rules=RULES)

    told = dict(zip(outcome.samples["file"], outcome.samples["failure"], strict=True))
    harmless = {name for number, name in enumerate(NAMES) if not told[number]}
    assert harmless <= PATHS
    assert set(told.values()) <= {"address", "protocol", ""}
    assert connections == []


def test_no_spelling_leads_a_manifest_elsewhere(places):
    place, _, _, connections = places
    told: set[str] = set()

    for number in range(len(NAMES)):
        try:
            answered = fetch(f"http://{place}/to-{number}", parse_rules(RULES), pass_, Limits())
        except FileFailed as failed:
            told.add(failed.failure)
        else:
            assert answered.url.startswith(f"http://{place}/")

    assert told == {"address", "protocol"}
    assert connections == []


@pytest.mark.parametrize("name", NAMES)
def test_no_spelling_can_be_asked_for_at_once(places, name):
    _, _, port, connections = places

    with pytest.raises(NetworkError):
        fetch(spellings(port)[name], parse_rules(RULES), pass_, Limits())

    assert connections == []


def with_requests(url: str, rules: Rules) -> None:
    """Ask for a URL without any check but that of the connection."""
    with guarded.checked_session(rules, TLS) as session:
        session.get(url, timeout=1, allow_redirects=False).close()


def with_aiohttp(url: str, rules: Rules) -> None:
    """Ask for a URL without any check but that of the connection."""

    async def main() -> None:
        async with (
            checked_aiohttp.checked_session(rules, TLS, 1, 1.0, 1.0) as session,
            session.get(url, allow_redirects=False),
        ):
            pass

    asyncio.run(main())


BOTH = pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (with_requests, guarded.EXPECTED),
        (with_aiohttp, checked_aiohttp.EXPECTED),
    ],
)


@BOTH
@pytest.mark.parametrize("allowing", ["an allow-list", "all but perfdash's own services"])
def test_no_spelling_gets_past_the_connection_itself(places, ask, expected, allowing):
    _, _, port, connections = places
    rules = parse_rules(RULES)
    if allowing != "an allow-list":
        rules = parse_rules("*:*", [("127.0.0.2", port)])

    for url in spellings(port).values():
        with suppress(*expected):
            ask(url, rules)

    assert connections == []


@BOTH
def test_the_places_of_these_tests_can_be_reached_where_the_rules_allow(places, ask, expected):
    _, _, port, connections = places

    with suppress(*expected):
        ask(f"http://127.0.0.2:{port}/", parse_rules("127.0.0.2:*"))

    assert connections


@BOTH
def test_nothing_of_the_environment_leads_elsewhere(places, ask, expected, monkeypatch, tmp_path):
    place, server, port, connections = places
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.2:{port}")
        monkeypatch.setenv(name.upper(), f"http://127.0.0.2:{port}")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password planted-secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    ask(f"http://{place}/asked", parse_rules(RULES))
    fetch(f"http://{place}/fetched", parse_rules(RULES), pass_, Limits())

    assert server.asked == ["asked", "fetched"]
    assert b"planted-secret" not in server.heads
    assert b"authorization" not in server.heads.lower()
    assert connections == []


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a b",
        "data:x",
        "x@127.0.0.2",
        "\\\\127.0.0.2\\x",
        "%2e%2e/x",
        "?x",
        "#x",
        "；",
        ":80",
        "a//b",
    ],
)
def test_no_name_of_a_file_is_an_address(name):
    base = "http://127.0.0.1:80/repo/"

    url = file_url(base, name)

    assert url.startswith(base)
    assert str(parse_url(url).address) == "127.0.0.1"


@pytest.mark.parametrize(
    "name",
    ["http://127.0.0.2/x", "//127.0.0.2/x", "/x", "../x", "a/../../x", "a//x", "file:///x", "."],
)
def test_no_line_of_a_manifest_names_a_place_elsewhere(name):
    with pytest.raises(BadManifest):
        parse(f"{name},{EMPTY},0\n".encode())


def pass_() -> None:
    pass
