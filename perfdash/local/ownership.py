"""Ties a database that is outside of its data directory to it, by an id that both hold.

Such a place is named after the data directory's path, so it outlives `rm -r` of the directory, and a
new directory at the same path meets it. What belongs to another directory is never used and never
deleted: it is put aside, and found again by the directory that has its id, wherever that is now.
"""

import json
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from perfdash.local import private, stale
from perfdash.local.directory import DataDirectory, DirectoryRefused

ID = "id"
OWNER = "owner"
ENDING_SECONDS = 10.0  # a server whose supervisor was killed has ended by then


def claim(directory: DataDirectory) -> list[str]:
    """Ensure that the database belongs to the directory, and return messages about what was moved.

    The directory must be locked. Raise DirectoryRefused where a server still works on what is to be
    moved.
    """
    home = _home(directory)
    if home == directory.path:
        return []
    lines = [_put_aside(directory)] if has_strangers_database(directory) else []
    number = _id_of(directory.path) or _make_id(directory)
    owner = {"id": number, "path": str(directory.path.resolve())}
    private.replace(home / OWNER, json.dumps(owner).encode())
    if not directory.database.exists():
        lines += _take_back(directory, number)
    return lines


def has_strangers_database(directory: DataDirectory) -> bool:
    """Say whether the database in its place belongs to a directory that is no more."""
    home = _home(directory)
    if home == directory.path or not directory.database.exists():
        return False
    owner = _owner_of(home).get("id")
    if owner is None:  # made before there were ids
        return not (directory.path / "secrets" / "database_password").exists()
    return owner != _id_of(directory.path)


def _put_aside(directory: DataDirectory) -> str:
    home = _home(directory)
    _wait_for_end(directory.database, "was deleted")
    aside = home.with_name(f"{home.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
    aside.mkdir(mode=0o700)
    again = ""
    if (home / OWNER).exists():
        private.replace(aside / OWNER, (home / OWNER).read_bytes())
        again = " Where the deleted directory comes back from a copy, perfdash finds it again."
    directory.database.rename(aside / directory.database.name)
    return (
        f"The database in {home} belonged to a data directory that is no more at {directory.path}. It"
        f" is in {aside} now and is not used; delete it when you do not need it.{again}"
    )


def _take_back(directory: DataDirectory, number: str) -> list[str]:
    """Fetch the directory's own database from where it was put, or where the directory was."""
    for place in _others(directory):
        owner = _owner_of(place)
        database = place / directory.database.name
        if owner.get("id") != number or not database.exists():
            continue
        before = Path(owner["path"])
        if before != directory.path.resolve() and _id_of(before) == number:
            return [
                f"{directory.path} is a copy of {before}, but the database is not in there to be"
                " copied: perfdash begins with an empty one. Copy with --backup and --restore."
            ]
        _wait_for_end(database, f"was moved to {directory.path}")
        database.rename(directory.database)
        return [f"The database of {directory.path} was in {database}; it is back in its place."]
    return []


def _others(directory: DataDirectory) -> Iterator[Path]:
    """Give the places of other databases, what was put aside last first."""
    home = _home(directory)
    yield from (place for place in sorted(home.parent.iterdir(), reverse=True) if place != home)


def _wait_for_end(database: Path, what: str) -> None:
    """Return when no server works on a database. Raise DirectoryRefused."""
    end = time.monotonic() + ENDING_SECONDS
    while (server := stale.server_of(database / "cluster")) and time.monotonic() < end:
        time.sleep(0.1)
    if server is not None:
        parent = server.parent() or server
        raise DirectoryRefused(
            f"A perfdash whose data directory {what} still runs, with its database in {database}."
            f" Stop it first: kill {parent.pid}"
        )


def _home(directory: DataDirectory) -> Path:
    return directory.database.parent


def _id_of(path: Path) -> str | None:
    try:
        return (path / ID).read_text(encoding="ascii").strip()
    except OSError:
        return None


def _make_id(directory: DataDirectory) -> str:
    number = secrets.token_hex(16)
    private.replace(directory.path / ID, number.encode())
    return number


def _owner_of(place: Path) -> dict[str, str]:
    try:
        results: dict[str, str] = json.loads((place / OWNER).read_text(encoding="utf-8"))
    except OSError:
        return {}
    return results
