"""Store the identities of hosts in files until the hosts are deleted. Standard library only."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PATTERN = "identities-*.jsonl"


class Identity(NamedTuple):
    """A host with its certificate and key, both PEM, and the version of its subscription-manager."""

    name: str
    uuid: str
    certificate: str
    key: str
    version: str

    def __repr__(self) -> str:
        return f"Identity({self.name!r}, {self.uuid!r})"


class IdentityFile:
    """Appends identities, one a line, to a file of this process that only its user may read."""

    def __init__(self, directory: Path) -> None:
        """Open the file. Raise OSError."""
        path = directory / f"identities-{os.getpid()}.jsonl"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)

    def add(self, identity: Identity) -> None:
        """Write an identity at once, so that it remains however this process ends."""
        os.write(self._file, json.dumps(identity).encode() + b"\n")


def stored_identities(directory: Path) -> Iterator[Identity]:
    """Yield the stored identities; a line that was cut off is left out."""
    for path in sorted(directory.glob(PATTERN)):
        for line in path.read_bytes().splitlines():
            try:
                name, uuid, certificate, key, version = json.loads(line)
            except ValueError:
                continue
            yield Identity(name, uuid, certificate, key, version)


def forget(directory: Path) -> None:
    """Delete the stored identities."""
    for path in directory.glob(PATTERN):
        path.unlink(missing_ok=True)
