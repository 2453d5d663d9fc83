"""Processes that wait until what they need is there."""

import os
import signal
import subprocess
import sys

import pytest

from perfdash.local.gate import PREPARED, Gate, wait_at

WAITS = "from perfdash.local.gate import wait_at; print('loaded', flush=True); wait_at('prepared'); print('passed')"
KEEPS = """
import sys, time; from pathlib import Path; from perfdash.local.gate import Gate
gate = Gate(Path(sys.argv[1]), "prepared"); print("shut", flush=True); time.sleep(300)
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("PERFDASH_DATA", str(tmp_path))
    return tmp_path


def started(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_without_a_gate_everybody_passes(data):
    wait_at(PREPARED)


def test_an_opened_gate_stays_open(data):
    gate = Gate(data, PREPARED)
    before = gate.is_open

    gate.open()
    gate.open()

    assert (before, gate.is_open) == (False, True)
    wait_at(PREPARED)


@pytest.mark.system
def test_who_comes_early_waits_until_the_gate_opens(data):
    gate = Gate(data, PREPARED)
    with started(WAITS) as process:
        assert process.stdout.readline() == "loaded\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)

        gate.open()

        assert process.communicate(timeout=60) == ("passed\n", None)


@pytest.mark.system
def test_nobody_waits_for_a_keeper_that_was_killed(data):
    with started(KEEPS, str(data)) as keeper:
        assert keeper.stdout.readline() == "shut\n"
        with started(WAITS) as process:
            assert process.stdout.readline() == "loaded\n"

            os.kill(keeper.pid, signal.SIGKILL)

            assert process.communicate(timeout=60) == ("passed\n", None)
