"""The first process of a container without an init."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system
FIRST = (
    "bwrap", "--unshare-user", "--unshare-pid", "--as-pid-1", "--die-with-parent", "--bind", "/", "/", "--proc", "/proc",
    sys.executable, "-m", "perfdash.first_process", "sh", "-c",
)  # fmt: skip
ORPHAN = "(sh -c 'exit 3' &); while grep -qs '^State:.Z' /proc/[0-9]*/status; do :; done; echo reaped; exit 4"


def test_it_reaps_what_lost_its_parent_and_ends_with_the_command():
    ended = subprocess.run([*FIRST, ORPHAN], capture_output=True, timeout=60, check=False)

    assert (ended.returncode, ended.stdout) == (4, b"reaped\n")


def test_it_passes_signals_on_to_the_command():
    script = "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen([*FIRST, script], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        [first] = map(int, children.split())
        os.kill(first, signal.SIGTERM)

        assert process.stdout.read() == b"told\n"
        assert process.wait() == 5


def test_a_signal_that_comes_before_it_listens_is_passed_on():
    """It comes from the command itself, as early as one can."""
    script = "trap 'echo told; exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"
    for _ in range(5):
        ended = subprocess.run([*FIRST, script], capture_output=True, timeout=60, check=False)

        assert (ended.returncode, ended.stdout) == (5, b"told\n")
