"""A whole perfdash of its own: started as a person starts it, on embedded services."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import psycopg
import pytest

from campaigns.kit import kernel

ROOT = Path(__file__).resolve().parent.parent
FAST = {
    "LEASE_SECONDS": "6",
    "LEASE_MARGIN_SECONDS": "2",
    "LEASE_GRACE_SECONDS": "1",
    "RENEW_SECONDS": "1",
    "DISPATCH_SECONDS": "1",
}


def wait_for(condition, what, seconds=60.0):
    """Return the first true value of the condition."""
    end = monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert monotonic() < end, f"not within {seconds:.0f} s: {what}"
        sleep(0.05)


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


class Refused(AssertionError):
    """The REST API refused: the status, and what it said."""

    def __init__(self, status, said):
        super().__init__(f"{status}: {said}")
        self.status = status


class Perfdash:
    """A running one: its state file, its database, its REST API, its sandbox."""

    def __init__(self, data, process, log, root=ROOT):
        self.data, self.process, self.log, self.root = data, process, log, root
        self.token = ""

    @property
    def state(self):
        try:
            return json.loads((self.data / "run" / "state.json").read_text())
        except FileNotFoundError:
            return {}

    def manage(self, *arguments):
        """Run a management command with the environment of this perfdash."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.root,
            env=self.state["environment"],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def api(self, method, path, body=None):
        """Ask the REST API; give the decoded answer."""
        if not self.token:
            self.token = self.manage("create_token", "owner", "--name", "tests").split()[-1]
        request = urllib.request.Request(  # noqa: S310  loopback
            f"{self.state['base_url']}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode()) from error

    def rows(self, query, *arguments):
        """Ask the database; an empty list while it is away."""
        try:
            with psycopg.connect(self.state["environment"]["DATABASE_URL"]) as connection:
                return connection.execute(query, arguments).fetchall()
        except psycopg.OperationalError:
            return []

    def sandbox_stats(self):
        url = f"{self.state['sandbox_url']}/stats"
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310
            return json.load(answer)


def ends_with_us(death_signal=signal.SIGTERM):
    """What a child does first, so that tests that are killed leave nothing behind."""
    return partial(kernel.die_with_parent, os.getpid(), death_signal)


@contextmanager
def served(data, root=ROOT, **environment):
    """Start `script/server`'s program, wait until it is ready, stop it as Ctrl-C does.

    `root`: the checkout whose program it is.
    """
    log = data.parent / f"{data.name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "perfdash.local", "serve",
                "--data", str(data), "--port", str(free_port()),
            ],
            cwd=root,
            env={
                **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "BROKER_URL")},
                **environment,
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=ends_with_us(signal.SIGINT),
        )  # fmt: skip
    perfdash = Perfdash(data, process, log, root)
    try:
        while not perfdash.state.get("ready") and process.poll() is None:  # it gives up by itself
            sleep(0.05)
        assert process.poll() is None, log.read_text()
        yield perfdash
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


@pytest.fixture(scope="session")
def perfdash(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served") / "data", **FAST) as running:
        yield running
