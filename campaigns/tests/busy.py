"""Busy loops that share one CPU with a test, and with all that it starts: a generator there is really starved."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOOPS = 6
LOOP = """\
import time
print(flush=True)
ends = time.monotonic() + 120
while time.monotonic() < ends: pass
"""
"""It ends by itself, too."""


@contextmanager
def one_busy_cpu() -> Iterator[None]:
    """Keep this thread, and what it starts, on one CPU with six busy loops, each of which has begun."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    loops: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(LOOPS):
            command = [sys.executable, "-I", "-S", "-c", LOOP]
            loops.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for loop in loops:
            assert loop.stdout
            loop.stdout.read(1)
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        for loop in loops:
            loop.kill()
            loop.communicate()
