import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest


def running(pid: int) -> bool:
    """Say whether the process does anything any more; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def eventually():
    """Wait until a condition holds, and give its value."""

    def wait(condition: Callable[[], object], seconds: float = 30.0) -> object:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.02)
        raise AssertionError("this did not come true in time")

    return wait


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other accounts can walk to, as PostgreSQL needs it when root starts it."""
    path = Path(tempfile.mkdtemp(prefix="perfdash-test-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)
