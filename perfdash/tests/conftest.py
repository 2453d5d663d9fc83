import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest


def running(pid: int) -> bool:
    """Say whether the process does anything any more; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Return as soon as the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this did not come true in time"
        time.sleep(0.02)


@contextmanager
def open_place() -> Iterator[Path]:
    """A directory that other accounts can walk to, as PostgreSQL needs it when root starts it."""
    path = Path(tempfile.mkdtemp(prefix="perfdash-test-"))
    path.chmod(0o711)
    try:
        yield path
    finally:
        shutil.rmtree(path)


@contextmanager
def disk(path: Path, size: str) -> Iterator[Path]:
    """A file system of its own, as large as `size` says, where we may mount one."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield path
    finally:
        subprocess.run([shutil.which("umount") or "umount", "--lazy", str(path)], check=True)


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    with disk(tmp_path / "small", "1m") as path:
        yield path


def fill(disk: Path) -> Path:
    """Take all the room there is; give the file that holds it."""
    with (disk / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            continue
    return disk / "filler"


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as path:
        yield path
