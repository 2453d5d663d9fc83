"""A server that speaks PostgreSQL's protocol, and does not end."""

import os
import socket
import struct
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter_ns

import psycopg
import pytest

from campaigns.kinds.base import Cancelled, Context, DriverError, Target
from campaigns.kinds.sql import server
from campaigns.kinds.sql.driver import driver
from campaigns.kinds.sql.engine import pgbench
from campaigns.kit import sql_bounds
from campaigns.kit.network import parse_rules

ENCRYPTION = 80877103
COLUMN = struct.pack("!H", 1) + b"v\0" + struct.pack("!IHIHIH", 0, 0, 25, 0xFFFF, 0xFFFFFFFF, 0)
ROW = struct.pack("!HI", 1, 1 << 20) + b"x" * (1 << 20)


def message(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


WELCOME = message(b"R", bytes(4)) + message(b"S", b"server_version\x0016.1\0") + message(b"Z", b"I")


@contextmanager
def answering(pieces, times=10**9, sent=None):
    """Yield the port of a server that lets everybody in, and answers the first question with these pieces, the last one many times.

    sent: an event that tells that all of them are on their way.
    """

    def serve(client):
        with client, suppress(OSError, struct.error):
            while struct.unpack("!II", client.recv(8))[1] == ENCRYPTION:
                client.sendall(b"N")
            client.recv(4096)
            client.sendall(WELCOME)
            client.recv(4096)
            for piece in pieces[:1]:
                client.sendall(piece)
            for _ in range(times if pieces else 0):
                client.sendall(pieces[-1])
            if sent is not None:
                sent.set()
            client.recv(4096)

    def accept():
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listening.accept()[:1], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "pieces",
    [
        [message(b"T", COLUMN), message(b"D", ROW)],
        [message(b"N", b"SNOTICE\0Mon and on\0\0")],
    ],
    ids=["rows", "notices"],
)
def test_a_probe_takes_no_more_than_it_is_sent(pieces, monkeypatch):
    monkeypatch.setattr(sql_bounds, "MOST_BYTES", 2**20)
    with answering(pieces) as port, pytest.raises(DriverError):
        driver.probe(target_at(port), parse_rules("127.0.0.1:*"))


def test_a_probe_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(server, "PROBE_SECONDS", 0.1)
    with answering([]) as port, pytest.raises(DriverError):
        driver.probe(target_at(port), parse_rules("127.0.0.1:*"))


def test_the_session_of_an_attempt_ends_where_the_server_ignores_that_it_is_cancelled(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(server, "CANCEL_SECONDS", 0.1)
    cancelled = threading.Event()
    context = Context(
        cancelled=cancelled,
        lease_seconds=lambda: 15.0,
        progress=lambda values: None,
        say=lambda text: None,
        clock=perf_counter_ns,
        directory=tmp_path,
        rules=parse_rules("127.0.0.1:*"),
        deadline_seconds=60.0,
    )

    def ask(port):
        with server.session(target_at(port), context) as here:
            cancelled.set()
            here.value("SELECT 1")

    with answering([]) as port, pytest.raises(Cancelled):
        ask(port)


@pytest.mark.system
def test_pgbench_takes_no_more_than_it_may(tmp_path, monkeypatch):
    if not pgbench.candidates():
        pytest.skip("pgbench is not installed (Debian: apt-get install postgresql-contrib)")
    monkeypatch.setattr(pgbench, "MOST_DATA_BYTES", 32 * 2**20)
    (tmp_path / "script").write_text("SELECT 1;")
    words = f"-n -f {tmp_path}/script -c 1 -j 1 -t 1".split()
    opens, gate = os.pipe()
    sent = threading.Event()
    with answering([message(b"T", COLUMN), message(b"D", ROW)], times=200, sent=sent) as port:
        process = pgbench.Process(
            [
                pgbench.candidates()[0],
                *words,
                f"port={port} host=127.0.0.1 user=u dbname=d sslmode=disable",
            ],
            {},
            tmp_path,
            opens,
            logs=False,
        )
        os.write(gate, b"x")
        sent.wait()
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.kill()
        process.wait()
    for each in (opens, gate, process.stdout, process.stderr):
        os.close(each)

    [highest] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    assert int(highest.split()[1]) < 128 * 1024


def test_what_asks_is_told_when_it_gives_up():
    with answering([]) as port:
        connection = psycopg.connect(f"host=127.0.0.1 port={port} user=u dbname=d sslmode=disable")
        with (
            connection,
            pytest.raises(psycopg.OperationalError),
            sql_bounds.bounded(connection, lambda: True),
        ):
            connection.execute("SELECT 1")


def target_at(port):
    return Target(
        name="odd",
        family="postgresql",
        base_url=f"postgresql://127.0.0.1:{port}/d",
        username="u",
    )
