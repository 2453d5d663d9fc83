"""Puts restored data into the place of the old, so that an end in the middle is finished by the next start.

The directory must be locked, and nothing may run in it.
"""

import json
import os
import shutil
from pathlib import Path

from perfdash.local.directory import DataDirectory

NOTE = "restore.json"
RESTORED = "restored"


def staged_cluster(directory: DataDirectory) -> Path:
    """Give the place where a restored cluster is made."""
    return directory.database / RESTORED


def staged_secrets(directory: DataDirectory) -> Path:
    """Give the place where restored secrets are put together."""
    return directory.path / f"secrets.{RESTORED}"


def commit(directory: DataDirectory, stamp: str) -> list[Path]:
    """Move the staged data into place and the old data aside; return where the old data is."""
    moves = [
        (staged_cluster(directory), directory.database / "cluster"),
        (staged_secrets(directory), directory.path / "secrets"),
    ]
    plan = [
        [str(new), str(place), str(place.with_name(f"{place.name}.before-{stamp}"))]
        for new, place in moves
    ]
    os.sync()
    note = directory.path / NOTE
    note.with_suffix(".new").write_text(json.dumps(plan), encoding="utf-8")
    os.sync()
    note.with_suffix(".new").replace(note)
    os.sync()
    finish(directory)
    remaining = [path for _, _, aside in plan if (path := Path(aside)).exists()]
    if (
        remaining == [worthless := Path(plan[-1][-1])]
        and not (worthless / "encryption_keys").exists()
    ):
        shutil.rmtree(worthless)  # the password of a database that never was
        return []
    return remaining


def finish(directory: DataDirectory) -> None:
    """Finish what was begun, or clear away what was never complete. Safe to be called at any time."""
    note = directory.path / NOTE
    if note.exists():
        for new, place, aside in json.loads(note.read_text(encoding="utf-8")):
            _replace(Path(new), Path(place), Path(aside))
        for path in directory.broker.iterdir():  # messages about rows that are no more
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        os.sync()
        note.unlink()
    for staged in (staged_cluster(directory), staged_secrets(directory)):
        shutil.rmtree(staged, ignore_errors=True)
    shutil.rmtree(staged_cluster(directory).with_suffix(".new"), ignore_errors=True)


def _replace(new: Path, place: Path, aside: Path) -> None:
    if not new.exists():  # done before the end came
        return
    if place.exists():
        place.rename(aside)
    new.rename(place)
