"""What is known of a Pulp, in a file that tests and people read; it outlives a stop."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from perfdash.local import private

USER = "admin"


@dataclass(frozen=True, slots=True)
class Choices:
    """Defaults of the next start; a port of 0 was never chosen. core: a version of pulpcore; empty: the pinned one."""

    port: int = 0
    content_port: int = 0
    workers: int = 1
    rpm: bool = False
    fast_auth: bool = False
    core: str = ""


@dataclass(slots=True)
class State:
    """`services` are the processes of the last start. The file holds the password: for the owner only.

    `migrated` and `password_set` record the preparation of the database.
    """

    data: str
    choices: Choices = field(default_factory=Choices)
    base_url: str = ""
    content_url: str = ""
    user: str = USER
    password: str = field(default="", repr=False)
    ready: bool = False
    services: dict[str, int] = field(default_factory=dict)
    migrated: str = ""
    password_set: str = field(default="", repr=False)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all. Raise OSError."""
        private.replace(path, json.dumps(asdict(self), indent=1).encode())

    @classmethod
    def load(cls, path: Path, data: Path) -> "State":
        """Read the file; begin anew where there is none."""
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls(data=str(data))
        return cls(**{**result, "choices": Choices(**result["choices"])})
