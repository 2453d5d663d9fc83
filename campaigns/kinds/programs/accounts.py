"""The user that runs commands which are not perfdash's own on a worker, where that is not the worker's. Standard library only."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from campaigns.kit import kernel

NEEDED = {"CHOWN": 0, "DAC_OVERRIDE": 1, "KILL": 5, "SETGID": 6, "SETUID": 7, "SYS_PTRACE": 19}
"""Capabilities by their numbers (capabilities(7)); with the last one, what has left its group is found by its mark."""


class NoAccount(Exception):
    """Commands cannot be run as that user; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user by its numbers."""

    uid: int
    gid: int


def account_of(name: str, status: Path = Path("/proc/self/status")) -> Account | None:
    """Return the account of a user, by name or number; None for an empty name. Raise NoAccount."""
    if not name:
        return None
    try:
        entry = pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except KeyError:
        raise NoAccount(
            f"PERFDASH_PROGRAM_USER names “{name}”, whom this machine does not know."
        ) from None
    if entry.pw_uid in (0, os.geteuid()):
        raise NoAccount(
            f"PERFDASH_PROGRAM_USER names “{name}”, as whom the worker itself runs, or root. Name another user."
        )
    held = kernel.capabilities(status)
    if missing := [each for each, number in NEEDED.items() if not held >> number & 1]:
        raise NoAccount(
            f"PERFDASH_PROGRAM_USER is set, but this worker cannot start programs as another user: it lacks CAP_{missing[0]}. "
            "Let it run as root, or unset it."
        )
    return Account(entry.pw_uid, entry.pw_gid)


def require_way(directory: Path, account: Account) -> None:
    """Raise NoAccount where the user may not walk to a directory."""
    for place in reversed(directory.parents):
        of = place.stat()
        bits = 0o100 if of.st_uid == account.uid else 0o010 if of.st_gid == account.gid else 0o001
        if not of.st_mode & bits:
            raise NoAccount(
                f"The user of PERFDASH_PROGRAM_USER may not walk through {place}: let WORK_DIRECTORY name a place that all may "
                "enter, such as /var/lib/perfdash-work."
            )
