"""Every way in which TLS goes wrong is of class `tls`, for fetch and both engines."""

import datetime
import hashlib
import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from campaigns.engines.fetch import Limits, fetch
from campaigns.engines.transfers import FileFailed
from campaigns.network import parse_rules
from campaigns.tests.engines.servers import asked, behaving

EMPTY = hashlib.sha256(b"").hexdigest()
RULES = parse_rules("127.0.0.1:*")
DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.UTC)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Authority:
    """Signs certificates; `file` holds its own."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.file = directory / f"{name}.pem"
        self.certificate = self._signed(self.key, name, NOW - DAY, NOW + DAY, None)
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def context(
        self,
        address: str = "127.0.0.1",
        since: datetime.datetime = NOW - DAY,
        until: datetime.datetime = NOW + DAY,
    ) -> ssl.SSLContext:
        """Give what a server needs to be `address`."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(key, "server", since, until, address)
        file = self.directory / "server.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(self, key, name, since, until, address):
        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(until)
            .add_extension(x509.BasicConstraints(address is None, None), critical=True)
        )
        if address:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())


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
