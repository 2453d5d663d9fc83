"""Saves the embedded database with the secrets that it needs into one file."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import psycopg

from perfdash.local import archive, ownership, postgres, services, stale, swap
from perfdash.local.archive import BackupRefused
from perfdash.local.directory import AlreadyRunning, DataDirectory
from perfdash.local.journal import Journal
from perfdash.local.private import private_file
from perfdash.local.running import SecretsElsewhere, environment_of, state_of, value_of
from perfdash.local.services import FOUNDATIONS
from perfdash.local.supervisor import Supervisor

ELSEWHERE = (
    "The database is not perfdash's own (DATABASE_URL is set): save it with pg_dump, and its keys;"
    " docs/how-to/backup.md tells how."
)


def backup(directory: DataDirectory, path: Path, out: TextIO) -> int:
    """Write a backup to `path`, whether perfdash runs or not, and give the exit code.

    Raise BackupRefused, StartFailed.
    """
    path = path.absolute()
    if path.exists() and not archive.is_backup(path):
        raise BackupRefused(f"{path} is there and is no backup; name another file.")
    if not path.parent.is_dir():
        raise BackupRefused(f"{path.parent} is no directory; name a file in one that is there.")
    dump = path.with_name(f"{path.name}.dump-{os.getpid()}")
    with _served(directory, out) as environment:
        try:
            made_at = datetime.now(UTC).isoformat(timespec="seconds")
            with private_file(dump):
                _dump(directory, dump)
            with psycopg.connect(postgres.url(directory)) as connection:
                rows = connection.execute("SELECT app, name FROM django_migrations").fetchall()
                major = connection.info.server_version // 10_000
            secrets = {
                "secret_key": value_of(environment, "SECRET_KEY"),
                "encryption_keys": value_of(environment, "PERFDASH_ENCRYPTION_KEYS"),
            }
            archive.write(
                path,
                dump,
                secrets,
                made_at=made_at,
                postgresql=major,
                migrations=sorted(f"{app}.{name}" for app, name in rows),
            )
        finally:
            dump.unlink(missing_ok=True)
    size = path.stat().st_size / 1e6
    out.write(
        f"Saved to {path} ({size:.1f} MB). It holds the keys of stored passwords:"
        " keep it as private as the data itself.\n"
    )
    return 0


@contextmanager
def database_alone(directory: DataDirectory, cluster: Path) -> Iterator[Supervisor]:
    """Run the server of a cluster and nothing else. The directory must be locked. Raise StartFailed."""
    supervisor = Supervisor(Journal(directory.log, None))
    stale.wait_for_server(cluster, supervisor.journal.say)
    try:
        supervisor.start([postgres.server(directory, cluster)])
        supervisor.wait_until_ready()
        yield supervisor
    finally:
        supervisor.stop()


@contextmanager
def _served(directory: DataDirectory, out: TextIO) -> Iterator[Mapping[str, str]]:
    """Return the environment of the running database, which is started unless another process has done so."""
    try:
        directory.lock()
    except AlreadyRunning:
        yield _environment_of_running(directory)
        return
    if services.is_set("DATABASE_URL"):
        raise BackupRefused(ELSEWHERE)
    out.writelines(f"{line}\n" for line in ownership.claim(directory))
    swap.finish(directory)
    cluster = postgres.cluster_of(directory)
    if not cluster.exists():
        raise BackupRefused(f"There is nothing to save: {directory.path} has no database yet.")
    with database_alone(directory, cluster):
        yield services.environment(directory, FOUNDATIONS)


def _environment_of_running(directory: DataDirectory) -> Mapping[str, str]:
    state = state_of(directory)
    if state is None or not state.ready:
        raise BackupRefused(f"perfdash is starting or stopping with {directory.path}; try again.")
    if "database" not in state.services:
        raise BackupRefused(ELSEWHERE)
    try:
        return environment_of(directory, state)
    except SecretsElsewhere as error:
        raise BackupRefused(str(error)) from None


def _dump(directory: DataDirectory, place: Path) -> None:
    """Dump the database as it was at one instant. Raise StartFailed."""
    command = [
        "nice", "-n", "19", str(postgres.programs(directory) / "pg_dump"),
        "--format=custom", "--no-owner", "--no-privileges", f"--file={place}",
    ]  # fmt: skip
    postgres.run_client(directory, command, "saved")
