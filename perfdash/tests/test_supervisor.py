import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import pytest

from perfdash.tests.conftest import running, wait_until

pytestmark = pytest.mark.system


@contextmanager
def supervised(directory, *kind):
    process = subprocess.Popen(
        [sys.executable, "-m", "perfdash.tests.supervised", str(directory), *kind]
    )
    try:
        wait_until(lambda: events(directory).count("starts") == 3)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def supervisor(tmp_path):
    with supervised(tmp_path) as process:
        wait_until(lambda: text(tmp_path / "grandchild"))
        yield process


def text(path):
    return path.read_text() if path.exists() else ""


def events(directory):
    return text(directory / "events")


def pids(directory):
    return json.loads((directory / "pids.json").read_text())


def test_a_killed_service_is_started_again(supervisor, tmp_path):
    before = pids(tmp_path)["first"]

    os.kill(before, signal.SIGKILL)

    wait_until(lambda: pids(tmp_path)["first"] not in (0, before))
    wait_until(lambda: events(tmp_path).count("first starts") == 2)
    assert (
        "first was ended by SIGKILL; it starts again" in (tmp_path / "supervisor.log").read_text()
    )


def test_what_a_killed_service_started_ends_with_it(supervisor, tmp_path):
    grandchild = int((tmp_path / "grandchild").read_text())
    os.kill(grandchild, signal.SIGSTOP)

    os.kill(pids(tmp_path)["second"], signal.SIGKILL)

    wait_until(lambda: not running(grandchild))


def test_a_service_that_dies_again_and_again_waits_longer_each_time(supervisor, tmp_path):
    def started(times):
        return events(tmp_path).count("third starts") == times

    for times in (2, 3, 4):
        os.kill(pids(tmp_path)["third"], signal.SIGKILL)
        wait_until(partial(started, times))

    lines = (tmp_path / "supervisor.log").read_text().splitlines()
    waits = [float(line.split()[-2]) for line in lines]
    assert waits == sorted(waits)
    assert waits[-1] >= 2 * waits[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_services_stop_one_stage_after_the_other(supervisor, tmp_path, number):
    processes = [*pids(tmp_path).values(), int((tmp_path / "grandchild").read_text())]

    supervisor.send_signal(number)

    assert supervisor.wait(timeout=120) == 0
    stops = [line for line in events(tmp_path).splitlines() if line.endswith("stops")]
    assert stops == ["third stops", "second stops", "first stops"]
    assert not any(running(pid) for pid in processes)


def test_a_service_that_does_not_stop_is_killed_at_further_requests(supervisor, tmp_path):
    os.kill(pids(tmp_path)["third"], signal.SIGSTOP)

    def killed():
        supervisor.send_signal(signal.SIGINT)
        log = tmp_path / "supervisor.log"
        return log.exists() and "third did not stop in time" in log.read_text()

    wait_until(killed)

    assert supervisor.wait(timeout=120) == 0


def test_a_killed_supervisor_leaves_nobody_behind(supervisor, tmp_path):
    processes = [*pids(tmp_path).values(), int((tmp_path / "grandchild").read_text())]

    supervisor.kill()

    wait_until(lambda: not any(running(pid) for pid in processes))


def test_output_is_kept_in_a_file_a_service(supervisor, tmp_path):
    wait_until(lambda: (tmp_path / "first.log").read_text() == "output of first\n")


def test_a_service_that_never_comes_up_is_given_up_and_the_rest_stops_in_order(tmp_path):
    with supervised(tmp_path, "broken") as process:
        processes = list(pids(tmp_path).values())

        assert process.wait(timeout=120) == 1

    output = text(tmp_path / "supervisor.log")
    assert output.count("broken ended with code 3; it starts again") == 5
    assert (
        "broken ended 6 times in a row before it was ready, at last it ended with code 3." in output
    )
    assert "    the port is taken\nAll of it is in" in output
    assert str(tmp_path / "broken.log") in output
    stops = [line for line in events(tmp_path).splitlines() if line.endswith("stops")]
    assert stops == ["third stops", "second stops", "first stops"]
    assert not any(running(pid) for pid in processes)


@pytest.mark.parametrize("kind", ["silent", "loud"])
def test_one_that_does_nothing_is_given_up_and_the_log_that_is_named_is_there(tmp_path, kind):
    with supervised(tmp_path, kind) as process:
        assert process.wait(timeout=120) == 1

    output = text(tmp_path / "supervisor.log")
    assert f"{kind} is not ready after" in output
    assert "it wrote nothing and used no processor time" in output
    named = {"silent": "the log of all is", "loud": "    it begins\nAll of it is in"}[kind]
    log = tmp_path / {"silent": "combined.log", "loud": "loud.log"}[kind]
    assert f"{named} {log}." in output
    assert text(log)


def test_nobody_is_given_up_while_the_disk_is_full(tmp_path):
    with supervised(tmp_path, "hindered") as process:
        wait_until(lambda: text(tmp_path / "supervisor.log").count("The disk is full.") > 10)
        (tmp_path / "mended").touch()

        wait_until(lambda: (tmp_path / "came-up").exists())
        assert process.poll() is None
