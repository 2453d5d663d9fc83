"""What a killed server leaves behind, with real servers."""

import os
import signal
import subprocess
import threading
from dataclasses import replace

import psutil
import psycopg
import pytest

from perfdash.local import postgres, stale
from perfdash.local.directory import DataDirectory
from perfdash.local.process import spawn
from perfdash.tests.conftest import open_place, running, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.system]


@pytest.fixture(scope="module")
def directory():
    with open_place() as place:
        made = DataDirectory(place / "data")
        made.lock()
        postgres.service(made, postgres.FAST)
        yield made
        made.unlock()


@pytest.fixture
def service(directory):
    return postgres.service(directory, postgres.FAST)


@pytest.fixture
def start(service):
    """Start the server and give its process; end it, whatever became of it."""
    begun = []

    def start(one=service):
        process = spawn(one)
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGCONT)
            process.send_signal(signal.SIGQUIT)
        process.communicate(timeout=120)


def ready(service, process):
    return service.ready is not None and service.ready(process.pid)


def comes_up(service, start):
    assert service.before is not None
    service.before()
    process = start()
    wait_until(lambda: ready(service, process) or process.poll() is not None)
    return process.poll() is None


def test_a_shell_that_stands_in_the_directory_of_a_dead_server_lives_on(directory, service):
    cluster = postgres.cluster_of(directory)
    with subprocess.Popen(["/bin/sleep", "100"], cwd=cluster) as shell:
        stale.sweep(cluster, directory.run)
        lived = shell.poll() is None
        shell.kill()

    assert lived


def test_a_lock_file_whose_number_somebody_else_has_by_now_is_no_obstacle(
    directory, service, start
):
    account = directory.account
    stranger = subprocess.Popen(["/bin/sleep", "100"], user=account.uid if account else None)
    cluster = postgres.cluster_of(directory)
    lock = cluster / "postmaster.pid"
    lock.write_text(f"{stranger.pid}\n{cluster}\n1700000000\n5432\n{directory.run}\n\n")
    if account:
        os.chown(lock, account.uid, account.gid)
    refused = start(replace(service, before=None))
    assert b"lock file" in refused.communicate(timeout=120)[0]

    assert comes_up(service, start)

    assert running(stranger.pid)
    stranger.kill()
    stranger.wait()


def test_a_session_that_outlives_its_server_is_ended_before_the_next_start(
    directory, service, start
):
    first = start()
    wait_until(lambda: ready(service, first))
    connection = psycopg.connect(postgres.url(directory))
    backend = connection.info.backend_pid
    os.kill(backend, signal.SIGSTOP)
    first.kill()
    first.wait()
    assert running(backend)

    assert comes_up(service, start)

    wait_until(lambda: not running(backend))
    connection.close()


def test_a_server_that_is_still_ending_is_waited_for(directory, service, start):
    first = start()
    wait_until(lambda: ready(service, first))
    os.kill(first.pid, signal.SIGSTOP)
    os.kill(first.pid, signal.SIGINT)
    messages: list[str] = []

    def go_on(line):
        messages.append(line)
        threading.Timer(0.2, os.kill, (first.pid, signal.SIGCONT)).start()

    stale.wait_for_server(postgres.cluster_of(directory), go_on)

    assert messages == ["The database of the last start is still ending; perfdash waits for it."]
    assert first.wait(timeout=120) == 0


def test_a_living_server_is_not_touched(directory, service, start):
    first = start()
    wait_until(lambda: ready(service, first))
    family = psutil.Process(first.pid).children()

    assert service.before is not None
    service.before()

    assert first.poll() is None
    assert all(child.is_running() for child in family)
    with psycopg.connect(postgres.url(directory)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
