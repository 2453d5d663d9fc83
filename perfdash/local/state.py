"""What is known of a running perfdash, in a file: for a second start, and for whoever looks in."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class State:
    """`environment` is what every process got, passwords included: the file is for its owner only."""

    pid: int
    base_url: str
    sandbox_url: str
    ready: bool = False
    services: dict[str, int] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict, repr=False)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file, indent=1)
        new.replace(path)

    @classmethod
    def load(cls, path: Path) -> "State":
        """Read the file. Raise FileNotFoundError where nothing runs, or is only about to."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))
