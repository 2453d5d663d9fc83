"""Looking at processes, and running a keeper apart from the test."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from campaigns.kinds.programs.program import ROOT


def until(claim: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until the claim holds; say whether it came to. How soon is nobody's business here.

    `seconds`: less than after which it would come to hold by itself.
    """
    ends = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def lives(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in ("Z", "X")


@contextmanager
def keeping(**asked: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a keeper with `asked`; it is killed at the end of the block."""
    command = [sys.executable, "-m", "campaigns.tests.kinds.programs.keeper", json.dumps(asked)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[bytes]) -> Any:
    """Give the next line that the keeper prints."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
