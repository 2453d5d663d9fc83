"""Every way in which TLS goes wrong is of class `tls`, for fetch and both engines."""

import hashlib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest

from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.programs.certificates import DAY, NOW, Authority
from campaigns.tests.kinds.programs.servers import asked, behaving

pytestmark = pytest.mark.system

EMPTY = hashlib.sha256(b"").hexdigest()
RULES = parse_rules("127.0.0.1:*")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def serving(context: ssl.SSLContext) -> Callable[[socket.socket], None]:
    """Answer over TLS."""

    def serve(connection: socket.socket) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as tls:
            asked(tls)
            tls.sendall(ANSWER)

    return serve


def plain(connection: socket.socket) -> None:
    """Speak plain HTTP, whatever was said."""
    connection.recv(65536)
    connection.sendall(ANSWER)


def hanging(connection: socket.socket) -> None:
    """Take what comes, and say nothing."""
    while connection.recv(65536):
        pass


def old(authority: Authority) -> ssl.SSLContext:
    """Speak TLS 1.1 at most."""
    context = authority.context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


@pytest.fixture
def urls(tmp_path, monkeypatch) -> Iterator[dict[str, tuple[str, str]]]:
    """The servers: a URL and the class of its failure, by what is wrong."""
    ours, others = Authority(tmp_path, "ours"), Authority(tmp_path, "others")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.file))
    tls = {
        "good": (serving(ours.context()), ""),
        "of nobody we trust": (serving(others.context()), "tls"),
        "another name": (serving(ours.context("127.0.0.2")), "tls"),
        "expired": (serving(ours.context(since=NOW - 3 * DAY, until=NOW - DAY)), "tls"),
        "not yet valid": (serving(ours.context(since=NOW + DAY, until=NOW + 3 * DAY)), "tls"),
        "old protocol": (serving(old(ours)), "tls"),
        "plain HTTP": (plain, "tls"),
        "hanging": (hanging, "timeout"),
    }
    with ExitStack() as servers:
        found = {}
        for name, (serve, failure) in tls.items():
            place, _ = servers.enter_context(behaving(serve))
            found[name] = (f"https://{place}/", failure)
        place, _ = servers.enter_context(behaving(serving(ours.context())))
        found["TLS where plain HTTP is asked"] = (f"http://{place}/", "connect")
        yield found


@pytest.mark.slow
def test_each_failure_of_tls_is_told_by_class(urls, download, engine):
    told = {
        name: download(
            url, files=[["a", EMPTY, 0]], connect_timeout_seconds=0.5, read_timeout_seconds=0.5
        ).samples["failure"][0]
        for name, (url, _) in urls.items()
    }

    assert told == {name: failure for name, (_, failure) in urls.items()}


def test_each_failure_of_tls_is_told_by_class_where_a_manifest_is_fetched(urls):
    limits = Limits(connect_timeout_seconds=0.5, read_timeout_seconds=0.5)
    told = {}
    for name, (url, _) in urls.items():
        try:
            fetch(url, RULES, lambda: None, limits)
        except FileFailed as failed:
            told[name] = failed.failure
        else:
            told[name] = ""

    assert told == {name: failure for name, (_, failure) in urls.items()}
