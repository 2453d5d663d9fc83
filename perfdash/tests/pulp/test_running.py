"""What a start makes of a database that ends or has ended, with PostgreSQL's real processes."""

import os
import signal
import sys
import threading

import psutil
import psycopg
import pytest

from perfdash.local import ownership, postgres
from perfdash.local.pulp import processes, programs, running
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.state import State
from perfdash.local.supervisor import StartFailed
from perfdash.tests.conftest import wait_until

pytestmark = pytest.mark.system

WORKER = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).wait()
"""
"""Waits for the process of its task, as a worker does that lost its database in the middle."""


class Database:
    """A directory of a Pulp of which only the database was started."""

    def __init__(self, path):
        self.directory = PulpDirectory(path)
        ownership.claim(self.directory)
        self.state = State(data=str(path))
        self.said = []
        self.start()

    def start(self):
        running._start_database(self.directory, self.state, self.said.append)
        return self.state.services["database"]

    def session(self):
        return psycopg.connect(postgres.url(self.directory))

    def told(self, number):
        """Send a signal to the server, and wait until it has begun to end."""
        pid = self.state.services["database"]
        ready = postgres.service(self.directory).ready
        assert ready
        os.kill(pid, number)
        wait_until(lambda: not ready(pid))


@pytest.fixture
def launched(monkeypatch):
    """What was started; unlike script/pulp this process stays, and has to bury it."""
    results = []
    launch = processes.launch

    def kept(*words):
        results.append(launch(*words))
        return results[-1]

    monkeypatch.setattr(processes, "launch", kept)
    yield results
    for process in results:
        process.wait(60)


@pytest.fixture
def database(place, launched):
    made = Database(place / "pulp")
    yield made
    running.stop(made.directory, made.said.append)


def test_a_database_that_runs_is_left_alone(database):
    before = database.state.services["database"]

    assert database.start() == before


def test_a_database_that_is_ending_is_waited_for_and_started_again(database):
    before = database.state.services["database"]
    session = database.session()
    database.told(signal.SIGTERM)  # it ends when its last session does
    closing = threading.Timer(0.5, session.close)
    closing.start()

    after = database.start()

    closing.join()
    assert after != before
    database.session().close()


def test_a_database_that_does_not_end_is_told(database, monkeypatch):
    monkeypatch.setattr(running, "DATABASE_SECONDS", 0.3)
    with database.session():
        database.told(signal.SIGTERM)

        with pytest.raises(
            StartFailed, match="runs, but takes no sessions; script/pulp stop ends it"
        ):
            database.start()


def test_who_lost_the_database_is_ended_with_its_task_before_the_next_database(database):
    mark = str(database.directory.path)
    variables = programs.environment(database.directory, "worker1")
    command = [sys.executable, "-c", WORKER]
    worker = processes.launch(command, variables, database.directory.log / "worker1.log")
    wait_until(lambda: len(processes.marked(mark)) == 2)
    task = next(each for each in processes.marked(mark) if each.pid != worker.pid)
    database.start()
    assert processes.runs(psutil.Process(worker.pid))  # it has the database
    database.told(signal.SIGINT)

    database.start()

    assert worker.wait(10) == -signal.SIGKILL
    assert not processes.runs(task)
    assert "Ended worker1, which had lost the database." in database.said
