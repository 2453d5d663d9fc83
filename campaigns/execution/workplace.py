"""The directory of one attempt, in WORK_DIRECTORY, which other installations may use as well.

A lock marks a directory as used for as long as the process lives; one without a lock is stale.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import mkdtemp

from campaigns.kinds.base import DriverError

LOCK = "lock"
WORK = "work"
NAME = re.compile(r"attempt-\d+-\w+\Z", re.ASCII)
MOST_TRIES = 20


class NoWorkplace(DriverError):
    """The attempt has no directory to work in; no request was sent to the target."""

    void = True


@contextmanager
def workplace(root: Path, attempt: int) -> Iterator[Path]:
    """Yield a path for this attempt alone, which its user creates; remove it at the end.

    Stale directories are removed first. Raise NoWorkplace.
    """
    remove_stale_files(root)
    try:
        place, lock = _make(root, attempt)
    except OSError as error:
        raise NoWorkplace(
            f"The directory of the run cannot be made: {error}. Make room in WORK_DIRECTORY, or let "
            "the worker write and lock files there."
        ) from error
    try:
        yield place / WORK
    finally:
        _remove(place)
        os.close(lock)


def remove_stale_files(root: Path) -> None:
    """Remove directories of attempts whose worker was killed before it could clean up."""
    for place in root.glob("attempt-*"):
        if NAME.match(place.name):
            with suppress(OSError):  # somebody holds it, or has just removed it
                _remove_unless_held(place)


def _make(root: Path, attempt: int) -> tuple[Path, int]:
    root.mkdir(parents=True, exist_ok=True)
    for _ in range(MOST_TRIES):
        place = Path(mkdtemp(prefix=f"attempt-{attempt}-", dir=root))
        try:
            place.chmod(0o711)  # another user may run programs below it
            lock = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:  # another process removed it as stale before it was locked
            continue
        except OSError:
            place.rmdir()
            raise
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            if os.fstat(lock).st_nlink:
                return place, lock
        except BlockingIOError:  # as above, before it was locked
            pass
        except OSError:
            os.close(lock)
            _remove(place)
            raise
        os.close(lock)
    raise OSError(f"others removed it {MOST_TRIES} times")


def _remove_unless_held(place: Path) -> None:
    """Remove a directory. Raise OSError where it is locked, or cannot be removed."""
    try:
        lock = os.open(place / LOCK, os.O_RDWR)
    except FileNotFoundError:
        place.rmdir()
        return
    try:
        flock(lock, LOCK_EX | LOCK_NB)
        _remove(place)
    finally:
        os.close(lock)


def _remove(place: Path) -> None:
    """Remove a directory, the lock last, so that the next call continues an interrupted removal."""
    shutil.rmtree(place / WORK, ignore_errors=True)
    if not (place / WORK).exists():
        with suppress(OSError):
            (place / LOCK).unlink()
            place.rmdir()
