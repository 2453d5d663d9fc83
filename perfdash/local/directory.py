"""The data directory of a local start: what is in it, who may read it, and how it is deleted.

.perfdash        marks a directory that perfdash made, the only kind that it deletes
secrets/         made once: secret key, encryption keys, database password; mode 0600
database/        the PostgreSQL cluster
broker/          the broker's append-only file
work/            what measurements download
static/          static files for the web server: hashed names, compressed
log/             a file a service and one of all, with former generations; see log_file.py
run/             sockets, and state.json while perfdash runs
id               ties a database that is elsewhere to this directory; see ownership.py
"""

import fcntl
import hashlib
import os
import pwd
import secrets
import shutil
import time
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Self

from perfdash.local import private
from perfdash.local.process import Account

MARKER = ".perfdash"
LONGEST_SOCKET_DIRECTORY = 70  # the kernel takes paths up to 107 bytes, sockets' names included
LOOK_SECONDS = 0.2  # a mere check whether the directory is locked takes less
SHARED_PLACE = Path("/var/lib/perfdash")


class DirectoryRefused(Exception):
    """The directory cannot be used; the message says why and what to do."""


class AlreadyRunning(Exception):
    """Another perfdash holds the directory."""


class DataDirectory:
    """A data directory, made where it is missing. Raise DirectoryRefused.

    As root, PostgreSQL runs under another account, which has to be able to walk to its files:
    where it cannot, they are in SHARED_PLACE, in a directory named after this one.
    """

    marker = MARKER
    maker = "perfdash"
    parts: tuple[str, ...] = ("secrets", "broker", "work", "log", "run")

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: int | None = None
        try:
            self._make()
        except OSError as error:
            raise DirectoryRefused(
                f"{self.path} cannot be used ({error.strerror}); name another with --data."
            ) from error
        self.account = self._account()
        self.database = self._database_home() / "database"
        self.run = self._run_directory()

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def broker(self) -> Path:
        return self.path / "broker"

    @property
    def state(self) -> Path:
        return self.path / "run" / "state.json"

    @classmethod
    def existing(cls, path: Path) -> Self:
        """Open a directory, and make nothing where there is none. Raise DirectoryRefused."""
        if not (path / cls.marker).is_file():
            raise DirectoryRefused(
                f"{path} is no data directory of {cls.maker}; --data names the one that is meant."
            )
        return cls(path)

    def lock(self) -> None:
        """Hold the directory as long as this process lives. Raise AlreadyRunning."""
        descriptor = os.open(self.path / self.marker, os.O_RDONLY)
        end = time.monotonic() + LOOK_SECONDS
        while not _lock(descriptor, fcntl.LOCK_EX):
            if time.monotonic() > end:
                os.close(descriptor)
                raise AlreadyRunning(f"Another {self.maker} uses {self.path}.")
            time.sleep(0.01)
        self._lock = descriptor

    def held(self) -> bool:
        """Say whether another process holds the directory."""
        descriptor = os.open(self.path / self.marker, os.O_RDONLY)
        try:
            return not _lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def unlock(self) -> None:
        """Let go of the directory."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def secret(self, name: str) -> str:
        """Read a secret, made at first use: 32 random bytes, URL-safe base64 (a Fernet key too)."""
        path = self.path / "secrets" / name
        if not path.exists():
            private.replace(path, urlsafe_b64encode(secrets.token_bytes(32)))
        return path.read_text(encoding="ascii").strip()

    def private(self, path: Path, account: Account | None = None) -> Path:
        """Make a directory that only `account` (default: we) may enter."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account is not None:
            os.chown(path, account.uid, account.gid)
        return path

    def delete(self, *, keep_logs: bool = False) -> None:
        """Delete everything, the files in other places too, and let go. The lock must be held."""
        for place in (self.run, self.database.parent):
            if place.exists() and not place.is_relative_to(self.path):
                shutil.rmtree(place)
        if keep_logs:
            for entry in set(self.path.iterdir()) - {self.log}:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        else:
            shutil.rmtree(self.path)
        self.unlock()

    def _make(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (self.path / self.marker).exists():
            if any(self.path.iterdir()):
                raise DirectoryRefused(
                    f"{self.path} holds other things; name a new or empty directory with --data."
                )
            (self.path / self.marker).write_text(
                f"{self.maker} made this directory.\n", encoding="utf-8"
            )
        owner = self.path.stat().st_uid
        if owner != os.geteuid() and os.geteuid() != 0:
            name = _user_name(owner)
            raise DirectoryRefused(
                f"{self.path} belongs to {name}; run as {name}, or name another with --data."
            )
        for name in self.parts:
            (self.path / name).mkdir(mode=0o700, exist_ok=True)

    def _account(self) -> Account | None:
        """Whom PostgreSQL runs as: ourselves, but never root."""
        if os.geteuid() != 0:
            return None
        place = self.path.stat()
        try:
            entry = pwd.getpwuid(place.st_uid) if place.st_uid else pwd.getpwnam("nobody")
        except KeyError:  # a user id without a name
            return Account(place.st_uid, place.st_gid)
        return Account(entry.pw_uid, entry.pw_gid)

    def _database_home(self) -> Path:
        if self.account is None:
            return self.path
        self.path.chmod(0o711)
        if reachable(self.path):
            return self.path
        return _passable(SHARED_PLACE / self._short_name())

    def _run_directory(self) -> Path:
        """Where the sockets are: short enough a path, and one that PostgreSQL's account can walk."""
        home = self.database.parent / "run"
        if len(os.fsencode(home)) <= LONGEST_SOCKET_DIRECTORY:
            return _passable(home)
        short = Path("/tmp") / f"perfdash-{self._short_name()}"  # noqa: S108 - checked below
        if short.is_symlink() or (short.exists() and short.stat().st_uid != os.geteuid()):
            raise DirectoryRefused(f"{short} belongs to somebody else; name another with --data.")
        return _passable(short)

    def _short_name(self) -> str:
        return hashlib.sha256(os.fsencode(self.path.resolve())).hexdigest()[:12]


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def reachable(path: Path) -> bool:
    """Say whether every account can walk to `path`."""
    resolved = path.resolve()
    return all(place.stat().st_mode & 0o001 for place in (resolved, *resolved.parents))


def _passable(path: Path) -> Path:
    """Make a directory that everybody may walk through and nobody else may list."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o711)
    return path


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
