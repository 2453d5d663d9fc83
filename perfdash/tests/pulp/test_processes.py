import os
import signal
import subprocess
import sys
import time

import pytest

from perfdash.local.pulp import processes

pytestmark = pytest.mark.system

SLEEP = "import time; time.sleep(60)"
PARENT = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {SLEEP!r}])
time.sleep(60)
"""


@pytest.fixture
def mark(tmp_path):
    yield str(tmp_path)
    processes.kill(processes.marked(str(tmp_path)))


@pytest.fixture
def launch(mark, tmp_path):
    started = []

    def start(program):
        variables = {processes.MARK: mark, processes.NAME: "worker1"}
        command = [sys.executable, "-c", program]
        started.append(processes.launch(command, variables, tmp_path / "log"))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_launched_process_is_found_by_its_mark_and_name(mark, launch):
    pid = launch(SLEEP).pid
    # The kernel shows the environment a moment after the start.
    until(lambda: processes.marked(mark))

    assert {name: result.pid for name, result in processes.leaders(mark).items()} == {
        "worker1": pid
    }
    assert processes.names(mark) == {f"worker1-{pid}"}
    assert processes.leaders(f"{mark}/other") == {}


def test_what_a_killed_process_left_behind_is_found(mark, launch):
    pid = launch(PARENT).pid
    until(lambda: len(processes.marked(mark)) == 2)
    assert processes.orphans(mark) == []

    os.kill(pid, signal.SIGKILL)

    until(lambda: processes.leaders(mark) == {})
    assert len(processes.orphans(mark)) == 1


def test_output_is_added_to_the_log(launch, tmp_path):
    for word in ("once", "twice"):
        launch(f"print({word!r})").wait()

    assert (tmp_path / "log").read_text() == "once\ntwice\n"


def test_what_does_not_end_when_it_is_told_to_is_left_over(mark, launch, tmp_path):
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True);"
    launch(deaf + SLEEP)
    until(lambda: (tmp_path / "log").read_text())
    result = processes.marked(mark)

    processes.signal_all(result, signal.SIGTERM)

    assert processes.wait(result, 0.2) == result
    processes.kill(result)
    assert processes.wait(result, 0) == []


def test_a_shell_that_uses_pulps_settings_is_nobody_of_ours(mark, tmp_path):
    variables = {"PULP_SETTINGS": f"{mark}/settings.py"}
    with subprocess.Popen([sys.executable, "-c", SLEEP], env=variables) as shell:
        try:
            assert processes.marked(mark) == []
        finally:
            shell.kill()
