"""TLS of the load engine: what it trusts, who it says it is, and what each failure is called."""

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from campaigns.kinds.load import tls
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.wire import Answer, open_connection
from campaigns.kit.network import parse_rules, parse_url
from campaigns.tests.kinds.load.servers import ANSWERS, get
from campaigns.tests.kinds.programs.certificates import DAY, NOW, Authority
from campaigns.tests.kinds.programs.servers import asked_head, behaving

RULES = parse_rules("127.0.0.1:*")
Serve = Callable[[socket.socket], None]


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@pytest.fixture
def others(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "others")


def serving(context: ssl.SSLContext, seen: list[str] | None = None) -> Serve:
    """Answer over TLS, and note who asks."""

    def serve(connection: socket.socket) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as wrapped:
            while asked_head(wrapped):
                if seen is not None:
                    subject = (wrapped.getpeercert() or {})["subject"]
                    seen.append(str(subject[0][0][1]))
                wrapped.sendall(ANSWERS["ok"])

    return serve


def asking_for_identities(authority: Authority, of: Authority) -> ssl.SSLContext:
    context = authority.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(of.file)
    return context


def identity(authority: Authority, name: str, ca: str = "") -> ssl.SSLContext:
    certificate, key = authority.identity(name)
    return tls.identity_context(certificate, key, ca)


def plain(connection: socket.socket) -> None:
    """Speak plain HTTP, whatever was said."""
    connection.recv(65536)
    connection.sendall(ANSWERS["ok"])


def hanging(connection: socket.socket) -> None:
    """Take what comes, and say nothing."""
    while connection.recv(65536):
        pass


def ask(serve: Serve, context: ssl.SSLContext, tls_timeout: float = 30.0) -> tuple[Answer, int]:
    """Ask twice on one connection; give the last answer, and nanoseconds of the handshake."""

    async def main(place: str) -> tuple[Answer, int]:
        wire = await open_connection(
            parse_url(f"https://{place}/"), RULES, context, 30.0, tls_timeout
        )
        try:
            await wire.ask(get("ok"), 30.0)
            return await wire.ask(get("ok"), 30.0), wire.tls_ns
        finally:
            wire.close()

    with (
        behaving(serve) as (place, _),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(main(place))


def test_a_server_of_the_given_authority_is_trusted(ours):
    answer, tls_ns = ask(serving(ours.context()), tls.context(ours.file.read_text()))

    assert answer.body == b"ok"
    assert tls_ns > 0


def test_any_server_is_taken_where_nothing_is_checked(others):
    assert ask(serving(others.context()), tls.context(insecure=True))[0].status == 200


def test_each_failure_of_tls_is_called_so(ours, others):
    servers = {
        "of nobody we trust": serving(others.context()),
        "another name": serving(ours.context("127.0.0.2")),
        "expired": serving(ours.context(since=NOW - 3 * DAY, until=NOW - DAY)),
        "plain HTTP": plain,
        "wants an identity": serving(asking_for_identities(ours, ours)),
    }
    told = {}
    for name, serve in servers.items():
        with pytest.raises(LoadFailed) as failed:
            ask(serve, tls.context(ours.file.read_text()))
        told[name] = failed.value.kind

    assert told == dict.fromkeys(servers, "tls")


def test_a_handshake_that_hangs_times_out(ours):
    with pytest.raises(LoadFailed, match=r"no TLS connection within 0\.2 s") as failed:
        ask(hanging, tls.context(ours.file.read_text()), tls_timeout=0.2)

    assert failed.value.kind == "timeout"


def test_a_host_shows_its_own_identity(ours):
    seen: list[str] = []
    context = asking_for_identities(ours, ours)
    for name in ("host-1", "host-2"):
        own = identity(ours, name, ours.file.read_text())
        ask(serving(context, seen), own)

    assert seen == ["host-1", "host-1", "host-2", "host-2"]


def test_an_identity_of_another_authority_is_refused(ours, others):
    own = identity(others, "host", ours.file.read_text())

    with pytest.raises(LoadFailed) as failed:
        ask(serving(asking_for_identities(ours, ours)), own)

    assert failed.value.kind == "tls"


@pytest.mark.system
@pytest.mark.skipif(shutil.which("openssl") is None, reason="it names the files")
def test_an_identity_trusts_the_system_without_reading_it_all(ours, tmp_path, monkeypatch):
    hashed = tmp_path / "hashed"
    hashed.mkdir()
    monkeypatch.setattr(tls, "_hashed_directory", lambda: str(hashed))
    trusting_nobody = identity(ours, "host")
    with pytest.raises(LoadFailed):
        ask(serving(ours.context()), trusting_nobody)

    command = ["openssl", "x509", "-hash", "-noout", "-in", str(ours.file)]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    (hashed / f"{name}.0").write_bytes(ours.file.read_bytes())
    trusting = identity(ours, "host")

    assert trusting.cert_store_stats()["x509_ca"] == 0
    assert ask(serving(ours.context()), trusting)[0].status == 200


@pytest.mark.parametrize("writable", [True, False])
def test_no_key_stays_in_a_file(ours, tmp_path, monkeypatch, writable):
    shared = tmp_path / "shm"
    if writable:
        shared.mkdir()
    monkeypatch.setattr(tls, "SHARED_MEMORY", shared)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[tuple[int, int]] = []

    def noted(context: ssl.SSLContext, name: str) -> None:
        seen.append((os.stat(name).st_mode & 0o777, os.stat(os.path.dirname(name)).st_mode & 0o777))

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", noted)

    identity(ours, "host", ours.file.read_text())

    assert seen[0][0] == 0o600
    assert writable or seen[0][1] == 0o700
    assert not list(tmp_path.rglob("perfdash-*"))


def test_a_key_of_another_certificate_is_refused_and_leaves_no_file(ours, tmp_path, monkeypatch):
    monkeypatch.setattr(tls, "SHARED_MEMORY", tmp_path)
    certificate, _ = ours.identity("one")
    _, key = ours.identity("another")

    with pytest.raises(ssl.SSLError, match="KEY_VALUES_MISMATCH"):
        tls.identity_context(certificate, key, ours.file.read_text())

    assert not list(tmp_path.glob("perfdash-*"))


@pytest.mark.system
def test_the_plain_program_speaks_tls(ours, load):
    with behaving(serving(ours.context())) as (place, _):
        result = load(
            {"hosts": 2, "iterations": 20},
            "campaigns.kinds.load",
            place=f"https://{place}/ok",
            ca=ours.file.read_text(),
        ).result

    assert result["failures"] == {}
    assert result["statuses"] == {"200": 40}
    assert {"connect", "tls"} <= result["histograms"].keys()


@pytest.mark.system
def test_the_plain_program_tells_failures_of_tls(others, load):
    with behaving(serving(others.context())) as (place, _):
        result = load(
            {"hosts": 2, "iterations": 1}, "campaigns.kinds.load", place=f"https://{place}/ok"
        ).result

    assert result["failures"] == {"tls": 2}
