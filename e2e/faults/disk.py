"""Small disks, and files that fill them. Only root may mount one."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(path, megabytes):
    """Mount a file system of so many megabytes, in memory; skip the test where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk to fill it")
    path.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,mode=755"
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)],
        capture_output=True,
        text=True,
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["/bin/umount", "--lazy", str(path)], check=True)


class Filler:
    """A file that takes all the room there is on its disk."""

    def __init__(self, directory):
        self.path = Path(directory) / "filler"

    def fill(self):
        """Take what is free, to the last block."""
        with self.path.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def remove(self):
        self.path.unlink(missing_ok=True)
