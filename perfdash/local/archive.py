"""The file of a backup: a tar of the database's dump, the secrets, and what is known of both.

The first member lists the others with size and SHA-256.
"""

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from perfdash.local.private import private_file

ABOUT = "perfdash-backup.json"
DUMP = "database.dump"
SECRETS = ("secret_key", "encryption_keys")
FORMAT = 1
MOST_SMALL_BYTES = 1_000_000
PIECE = 1 << 20


class BackupRefused(Exception):
    """A file is not a usable backup, or a backup cannot be created; the message says why."""


@dataclass(frozen=True, slots=True)
class About:
    """What a backup holds: `migrations` as `app.name`, `files` as name to size and digest."""

    made_at: str
    postgresql: int
    migrations: list[str]
    files: dict[str, tuple[int, str]]
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was read to its end and is complete."""

    path: Path
    about: About
    secrets: Mapping[str, str]

    def extract_dump(self, place: Path) -> None:
        """Copy the dump into a file of its own, for its owner only."""
        with tarfile.open(self.path, "r:") as tar, private_file(place) as file:
            member = tar.extractfile(DUMP)
            if member is None:
                raise BackupRefused(f"{self.path} lost its {DUMP}; it was changed just now.")
            shutil.copyfileobj(member, file, PIECE)


def write(
    path: Path,
    dump: Path,
    secrets: Mapping[str, str],
    *,
    made_at: str,
    postgresql: int,
    migrations: list[str],
) -> None:
    """Write a backup, whole or not at all, for its owner only. Raise OSError."""
    contents = {f"secrets/{name}": text.encode() for name, text in secrets.items()}
    files = {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in contents.items()}
    with dump.open("rb") as content:
        files[DUMP] = (dump.stat().st_size, hashlib.file_digest(content, "sha256").hexdigest())
    about = About(made_at, postgresql, migrations, files)
    new = path.with_name(f"{path.name}.new-{os.getpid()}")
    try:
        with private_file(new) as file, tarfile.open(fileobj=file, mode="w:") as tar:
            _add(tar, ABOUT, json.dumps(asdict(about), indent=1).encode())
            for name, data in contents.items():
                _add(tar, name, data)
            with dump.open("rb") as content:
                tar.addfile(_entry(DUMP, files[DUMP][0]), content)
        new.replace(path)
        _remember_name(path.parent)
    finally:
        new.unlink(missing_ok=True)


def read(path: Path) -> Backup:
    """Read a backup to its end, and make sure that nothing is missing. Raise BackupRefused."""
    try:
        with tarfile.open(path, "r:") as tar:
            about = _about(path, tar)
            secrets = {name: _small(tar, f"secrets/{name}").decode("ascii") for name in SECRETS}
            for name, (size, digest) in about.files.items():
                _check(tar, name, size, digest)
    except OSError as error:
        raise BackupRefused(f"{path} cannot be read ({error.strerror or error}).") from error
    except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise BackupRefused(
            f"{path} is not a backup of perfdash, or is not whole ({error}). Nothing was changed."
        ) from error
    return Backup(path, about, secrets)


def is_backup(path: Path) -> bool:
    """Say whether the file begins as a backup does."""
    with suppress(OSError, tarfile.TarError), tarfile.open(path, "r:") as tar:
        first = tar.next()
        return first is not None and first.name == ABOUT
    return False


def _about(path: Path, tar: tarfile.TarFile) -> About:
    first = tar.next()
    if first is None or first.name != ABOUT:
        raise ValueError(f"it does not begin with {ABOUT}")
    result = json.loads(_small(tar, ABOUT))
    if result["format"] > FORMAT:
        raise BackupRefused(
            f"{path} was made by a newer perfdash (format {result['format']}); this one reads up to"
            f" format {FORMAT}. Update perfdash first. Nothing was changed."
        )
    about = About(**result)
    if missing := {DUMP, *(f"secrets/{name}" for name in SECRETS)} - set(about.files):
        raise ValueError(f"{', '.join(sorted(missing))} is missing")
    return about


def _small(tar: tarfile.TarFile, name: str) -> bytes:
    member = tar.extractfile(name)
    if member is None:
        raise ValueError(f"{name} is no file")
    return member.read(MOST_SMALL_BYTES)


def _check(tar: tarfile.TarFile, name: str, size: int, digest: str) -> None:
    member = tar.extractfile(name)
    if member is None:
        raise ValueError(f"{name} is no file")
    sum_, read = hashlib.sha256(), 0
    while piece := member.read(PIECE):
        sum_.update(piece)
        read += len(piece)
    if (read, sum_.hexdigest()) != (size, digest):
        raise ValueError(f"{name} was changed, or ends too early")


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    tar.addfile(_entry(name, len(data)), io.BytesIO(data))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = size
    entry.mode = 0o600
    return entry


def _remember_name(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
