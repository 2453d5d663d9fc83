"""A real PostgreSQL whose settings stand in its files, and which a command restarts, as a server of somebody else has them."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from campaigns.tests.ports import free_port
from perfdash.local import postgres
from perfdash.local.directory import DataDirectory

SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{sockets}'
max_connections = 20
shared_buffers = 16MB
work_mem = 4MB
fsync = off
autovacuum_vacuum_cost_limit = 200
"""
USER = postgres.NAME


@dataclass(frozen=True)
class Server:
    """A PostgreSQL on loopback. restart: the program that restarts it, with its arguments."""

    port: int
    password: str
    cluster: Path
    restart: list[str]

    @property
    def url(self) -> str:
        return f"postgresql://127.0.0.1:{self.port}/{USER}"

    @property
    def automatic(self) -> str:
        """What ALTER SYSTEM has written."""
        text = (self.cluster / "postgresql.auto.conf").read_text()
        return "".join(line for line in text.splitlines(True) if not line.startswith("#"))

    def value(self, statement: str, user: str = USER, password: str = "") -> Any:
        with psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            dbname=USER,
            user=user,
            password=password or self.password,
            autocommit=True,
        ) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None

    def shown(self, name: str) -> Any:
        return self.value(f"SHOW {name}")


@contextmanager
def serving(place: Path):
    """Start a server, and stop it at the end, whoever has restarted it."""
    directory = DataDirectory(place / "postgres")
    directory.private(directory.database, directory.account)
    cluster = postgres.cluster_of(directory)
    sockets = directory.private(directory.run / "database", directory.account)
    postgres.make_cluster(directory, cluster)
    port = free_port()
    with (cluster / "postgresql.conf").open("a") as file:
        file.write(SETTINGS.format(port=port, sockets=sockets))
    control = [str(postgres.programs(directory) / "pg_ctl"), "-D", str(cluster), "-w", "-m", "fast"]
    control += ["-t", "120", "-l", str(cluster / "log")]
    if account := directory.account:
        control = [
            "setpriv",
            f"--reuid={account.uid}",
            f"--regid={account.gid}",
            "--clear-groups",
            *control,
        ]
    run(control, "start")
    try:
        yield Server(port, directory.secret("database_password"), cluster, [*control, "restart"])
    finally:
        run(control, "stop", check=False)
        for left in (directory.run, directory.database.parent):
            if not left.is_relative_to(place):
                shutil.rmtree(left, ignore_errors=True)


def run(control: list[str], what: str, *, check: bool = True) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    done = subprocess.run(
        [*control, what],
        cwd="/",
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert not (check and done.returncode), done.stderr
