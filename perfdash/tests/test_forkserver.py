"""Processes that are forked from one that has loaded perfdash."""

import os
import signal
import sys
from dataclasses import replace

import psutil
import pytest
from cryptography.fernet import Fernet

from campaigns.kit import kernel
from perfdash.local.forks import KEYS, ForkServer
from perfdash.local.process import Service, spawn
from perfdash.tests.conftest import wait_until

pytestmark = pytest.mark.system
WAITS = ("-m", "perfdash.tests.waiting")


@pytest.fixture
def environment():
    ours = {name: value for name, value in os.environ.items() if not name.startswith(KEYS)}
    return {**ours, "DJANGO_SETTINGS_MODULE": "perfdash.settings"}


@pytest.fixture
def server(environment):
    """A running fork server, whose processes become our children, and our end of it."""
    kernel.adopt_orphans()
    forks = ForkServer(environment)
    command = (sys.executable, "-m", "perfdash.local.forkserver")
    process = spawn(
        Service("forkserver", command, environment, directory=os.getcwd(), stdin=forks.connect)
    )
    wait_until(lambda: forks.ready(process.pid) or process.poll() is not None)
    assert process.poll() is None
    yield process, forks
    process.kill()
    process.communicate()
    assert forks.is_loading  # it has noticed, and closed its end
    kernel.LIBC.prctl(kernel.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.fixture
def service(environment):
    return Service("waits", (sys.executable, *WAITS), environment, forked=True)


def test_a_forked_process_is_our_child_and_outlives_the_server(server, service, environment):
    process, forks = server

    child = forks.spawn(service)

    with child.stdout:
        assert child.stdout.readline() == b"perfdash.tests.waiting: forked []\n"
    assert psutil.Process(child.pid).ppid() == os.getpid()
    assert os.getpgid(child.pid) == child.pid
    other_secrets = replace(service, environment={**environment, "MAIL": "secret"})
    assert (forks.is_for(service), forks.is_for(other_secrets)) == (True, False)
    assert forks.spawn(other_secrets) is None

    process.kill()
    process.wait()

    assert forks.is_loading
    assert child.poll() is None
    assert forks.spawn(service) is None
    child.send_signal(signal.SIGTERM)
    assert child.wait() == child.poll() == -signal.SIGTERM


def test_only_a_process_that_is_to_decrypt_gets_keys(server, service, environment):
    _, forks = server
    key = Fernet.generate_key().decode()
    keeper = replace(service, environment={**environment, KEYS: key})

    children = [forks.spawn(each) for each in (keeper, service)]

    told = []
    for child in children:
        with child.stdout:
            told.append(child.stdout.readline().decode().partition("forked ")[2])
        child.send_signal(signal.SIGTERM)
        child.wait()
    assert told == [f"['{key}']\n", "[]\n"]


def test_a_server_that_gives_no_answer_is_ended(server, service, monkeypatch):
    process, forks = server
    monkeypatch.setattr("perfdash.local.forks.ANSWER_SECONDS", 0.1)
    process.send_signal(signal.SIGSTOP)

    assert forks.spawn(service) is None
    assert process.wait() == -signal.SIGKILL
