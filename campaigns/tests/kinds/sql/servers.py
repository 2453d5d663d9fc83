"""A PostgreSQL of the project's own wheel, and Debian's HAProxy and PgBouncer before it, on loopback."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import psutil
import psycopg

from campaigns.kinds.base import Target
from campaigns.kit import kernel
from campaigns.tests.ports import free_port
from perfdash.local import postgres
from perfdash.local.directory import DataDirectory

PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin"
USER = postgres.NAME
INSTALLATION = "0a1b2c3d"
HAPROXY = """
global
    maxconn 4096
    stats socket {place}/admin.sock mode 600 level admin
defaults
    mode tcp
    timeout connect {queue_seconds}s
    timeout client 1m
    timeout server 1m
listen psql
    bind 127.0.0.1:{port}
    server pg1 127.0.0.1:{behind} {most}
"""
PGBOUNCER = """
[databases]
* = host=127.0.0.1 port={behind} pool_size={pool}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = plain
auth_file = {place}/users.txt
pool_mode = transaction
unix_socket_dir =
ignore_startup_parameters = extra_float_digits
max_client_conn = 200
stats_users = {user}
"""


@dataclass(frozen=True)
class Database:
    """A PostgreSQL that listens on loopback."""

    port: int
    password: str
    process: subprocess.Popen[bytes]
    cluster: Path

    def target(self, database: str = "bench", port: int | None = None, **more: Any) -> Target:
        return Target(
            name="database",
            family="postgresql",
            base_url=f"postgresql://127.0.0.1:{port or self.port}/{database}",
            username=more.pop("username", USER),
            password=more.pop("password", self.password),
            **{"installation": INSTALLATION} | more,
        )

    def connect(self, database: str = "bench") -> psycopg.Connection[Any]:
        return self.connect_as(USER, self.password, database)

    def connect_as(
        self, user: str, password: str, database: str = "bench", port: int | None = None
    ) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host="127.0.0.1",
            port=port or self.port,
            dbname=database,
            user=user,
            password=password,
            autocommit=True,
        )

    def value(self, sql: str, database: str = "bench") -> Any:
        with self.connect(database) as connection:
            row = connection.execute(sql).fetchone()
            return row[0] if row else None

    def run(self, sql: str, database: str = "bench") -> None:
        with self.connect(database) as connection:
            connection.execute(sql)


@contextmanager
def stopped(database: Database) -> Iterator[None]:
    """Stop a server with all its processes, and let them go on afterwards."""
    parent = psutil.Process(database.process.pid)
    processes = [parent, *parent.children(recursive=True)]
    try:
        for each in processes:
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGSTOP)
        yield
    finally:
        for each in processes:
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGCONT)


def program(name: str) -> str | None:
    """Return the path of a program of Debian; None where it is not installed."""
    return shutil.which(name, path=PLACES)


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    end = monotonic() + 30
    while monotonic() < end and process.poll() is None:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.02)
    raise AssertionError(f"nothing listens on port {port}")


@contextmanager
def running(command: list[str], port: int, place: Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:  # fmt: skip
    with (place / f"{Path(command[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=partial(kernel.die_with_parent, os.getpid(), signal.SIGTERM),
            **options,
        )
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def database(place: Path, *settings: str) -> Iterator[Database]:
    """Start a PostgreSQL with an empty database `bench`. settings: such as max_connections=20."""
    directory = DataDirectory(place / "postgres")
    directory.private(directory.database, directory.account)
    cluster = postgres.cluster_of(directory)
    postgres.make_cluster(directory, cluster)
    port = free_port()
    given = ("listen_addresses=127.0.0.1", f"port={port}", *postgres.FAST[:2], *settings)
    service = postgres.server(directory, cluster, given)
    account = service.account
    options: dict[str, Any] = {"cwd": "/", "env": dict(service.environment)}
    if account is not None:
        options |= {"user": account.uid, "group": account.gid, "extra_groups": []}
    try:
        with running(list(service.command), port, place, **options) as process:
            password = directory.secret("database_password")
            made = Database(port, password, process, cluster)
            _made(made)
            yield made
    finally:
        for left in (directory.run, directory.database.parent):
            if not left.is_relative_to(place):
                shutil.rmtree(left, ignore_errors=True)


def _made(made: Database) -> None:
    end = monotonic() + 30
    while True:
        try:
            made.run("CREATE DATABASE bench", USER)
        except psycopg.OperationalError:
            assert monotonic() < end
            sleep(0.05)
        else:
            return


@contextmanager
def haproxy(place: Path, behind: Database, most: int = 0, queue_seconds: int = 1) -> Iterator[int]:
    """Listen before a database; let in at most so many connections. Return the port."""
    port = free_port()
    name = program("haproxy")
    assert name
    path = place / "haproxy.cfg"
    path.write_text(
        HAPROXY.format(
            place=place,
            port=port,
            behind=behind.port,
            queue_seconds=queue_seconds,
            most=f"maxconn {most}" if most else "",
        )
    )
    with running([name, "-f", str(path), "-db"], port, place):
        yield port


@contextmanager
def pgbouncer(behind: Database, pool: int = 3) -> Iterator[int]:
    """Listen before a database, in transaction mode. Return the port."""
    with (
        TemporaryDirectory(prefix="perfdash-pgbouncer-") as place,
        _pgbouncer(Path(place), behind, pool) as port,
    ):
        yield port


@contextmanager
def _pgbouncer(place: Path, behind: Database, pool: int) -> Iterator[int]:
    port = free_port()
    name = program("pgbouncer")
    assert name
    users = place / "users.txt"
    users.write_text(f'"{USER}" "{behind.password}"\n')
    path = place / "pgbouncer.ini"
    path.write_text(
        PGBOUNCER.format(place=place, port=port, behind=behind.port, pool=pool, user=USER)
    )
    options: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        place.chmod(0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        for each in (users, path):
            os.chown(each, 65534, 65534)
    with running([name, str(path)], port, place, **options):
        yield port
