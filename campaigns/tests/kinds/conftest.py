import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from campaigns.kinds.base import Context, Target
from campaigns.kit.network import parse_rules
from sandbox.process import Sandbox


@pytest.fixture
def target(sandbox: Sandbox) -> Target:
    return Target(name="sandbox", family="http", base_url=sandbox.base_url)


@dataclass
class Keeper:
    """What a test sees of what a driver does with its context."""

    directory: Path
    cancelled: threading.Event = field(default_factory=threading.Event)
    lines: list[str] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)
    rules: str = "127.0.0.1:*"
    deadline_seconds: float = 60.0
    sender: str = "perfdash"
    most_concurrent: int | None = None
    most_per_second: float | None = None

    def context(self) -> Context:
        return Context(
            cancelled=self.cancelled,
            lease_seconds=lambda: 30.0,
            progress=self.progress.append,
            say=self.lines.append,
            clock=time.perf_counter_ns,
            directory=self.directory,
            rules=parse_rules(self.rules),
            deadline_seconds=self.deadline_seconds,
            sender=self.sender,
            most_concurrent=self.most_concurrent,
            most_per_second=self.most_per_second,
        )


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path / "attempt-1")
