"""A whole perfdash of its own: started as a person starts it, on embedded services."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.rows import RowFactory, tuple_row

from campaigns.kit import kernel
from campaigns.tests.ports import free_port
from e2e.loads_kind import install
from perfdash.local.directory import DataDirectory
from perfdash.local.running import environment_of, state_of

ROOT = Path(__file__).resolve().parent.parent
FAST = {
    "LEASE_SECONDS": "6",
    "LEASE_MARGIN_SECONDS": "2",
    "LEASE_GRACE_SECONDS": "1",
    "RENEW_SECONDS": "1",
    "DISPATCH_SECONDS": "1",
}
TOKEN = "token-of-the-tests"  # noqa: S105 - the name of a file
LOGGED = 40
"""Lines of the log of all services that are shown beside a test that failed."""
READ = "perfdash.requests: GET"
CLOSED = """
    SELECT 1 FROM campaigns_campaign
    WHERE id = %s AND state = ANY(%s) AND analysis_requested_at IS NULL
"""
NOT_CLOSED = "SELECT id FROM campaigns_campaign WHERE state IN ('running', 'paused')"


def wait_for(condition, what, seconds=60.0):
    """Return the first true value of the condition."""
    end = monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert monotonic() < end, f"not within {seconds:.0f} s: {what}"
        sleep(0.05)


def listens(url):
    """Whether something accepts connections at the address of a URL."""
    address = urlsplit(url)
    with socket.socket() as tried:
        return tried.connect_ex((address.hostname, address.port)) == 0


class Refused(AssertionError):
    """The REST API refused: the status, and what it said."""

    def __init__(self, status, said):
        super().__init__(f"{status}: {said}")
        self.status = status


class Perfdash:
    """A running one: its state file, its database, its REST API, its sandbox. given: variables that it was started with."""

    def __init__(self, data, process, log, root=ROOT, row_factory: RowFactory[Any] = tuple_row):
        self.data, self.process, self.log, self.root = data, process, log, root
        self.row_factory = row_factory
        self.token = ""
        self.given: dict[str, str] = {}
        self._connection: psycopg.Connection[Any] | None = None

    @property
    def state(self):
        try:
            return json.loads((self.data / "run" / "state.json").read_text())
        except FileNotFoundError:
            return {}

    @property
    def environment_of_commands(self):
        """The variables with which a command of this perfdash runs; none while it does not."""
        directory = DataDirectory(self.data)
        written = state_of(directory)
        known = {**os.environ, **self.given}
        return environment_of(directory, written, known) if written else {}

    def manage(self, *arguments):
        """Run a management command with the environment of this perfdash."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.root,
            env=self.environment_of_commands,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def api(self, method, path, body=None):
        """Ask the REST API; give the decoded answer."""
        if not self.token:
            self.token = self.made_token()
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

    def made_token(self):
        """A token of the owner; the data directory of a `first_start` has one."""
        kept = self.data / TOKEN
        if kept.exists():
            return kept.read_text()
        return self.manage("create_token", "owner", "--name", "tests").split()[-1]

    def rows(self, query, *arguments):
        """Ask the database; an empty list while it is away."""
        try:
            return self.connection().execute(query, arguments).fetchall()
        except psycopg.OperationalError:
            self.forget_connection()
            return []

    def connection(self):
        """The tests' own connection. Raise OperationalError while the database is away."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self.database_url(),
                autocommit=True,
                row_factory=self.row_factory,
                connect_timeout=5,
            )
        return self._connection

    def database_url(self):
        return self.environment_of_commands.get("DATABASE_URL", "host=/nonexistent")

    def forget_connection(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def until(self, campaign, *states, seconds=120.0):
        """Wait until a campaign is in one of the states, and analysed. The database is asked: an answer of REST costs much more."""
        wait_for(
            lambda: self.rows(CLOSED, campaign, list(states)),
            f"campaign {campaign} to be {' or '.join(states)}",
            seconds,
        )

    def logged_last(self):
        """Return the end of the log of all services, without requests that only read; a data directory that is gone has none."""
        log = self.data / "log" / "combined.log"
        if not log.exists():
            return f"{log} is not there"
        lines = log.read_text(errors="replace").splitlines()
        return "\n".join([line for line in lines if READ not in line][-LOGGED:])

    def simulators_listen(self):
        """Whether the sandbox and its servers are there; a start does not wait for them."""
        urls = [self.state.get(name) for name in ("sandbox_url", "pulp_url", "katello_url")]
        return all(map(listens, filter(None, urls)))

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
                "PERFDASH_STARVED_SHARE": "1",  # tests, and their targets, share a machine
                **environment,
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=ends_with_us(signal.SIGINT),
        )  # fmt: skip
    perfdash = Perfdash(data, process, log, root)
    perfdash.given = environment
    try:
        while not perfdash.state.get("ready") and process.poll() is None:  # it gives up by itself
            sleep(0.05)
        assert process.poll() is None, log.read_text()
        wait_for(perfdash.simulators_listen, "the simulators")
        yield perfdash
    finally:
        perfdash.forget_connection()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


@contextmanager
def place():
    """A directory to which the database's account can walk, so that all data is in one place."""
    path = Path(tempfile.mkdtemp(prefix="perfdash-e2e-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def first_start():
    """A data directory after its first start: made once for all workers, deleted by the last of them.

    Tables and static files are most of a first start. A perfdash that begins with `copied` needs less than half of it.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    made = Path(tempfile.gettempdir()) / f"perfdash-tests-{run}-start"
    with made.with_suffix(".users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        with made.with_suffix(".maker").open("w") as maker:
            fcntl.flock(maker, fcntl.LOCK_EX)
            if not made.exists():
                make_first_start(made)
        yield made
        fcntl.flock(users, fcntl.LOCK_UN)
        with suppress(BlockingIOError):  # another worker has it yet
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in (made.with_suffix(".users"), made.with_suffix(".maker")):
                left.unlink(missing_ok=True)
            shutil.rmtree(made, ignore_errors=True)


def make_first_start(made):
    """Start a perfdash as a person does, make a token for the tests, and stop it: its data directory is `made`."""
    with place() as path:
        with served(path / "data") as started:
            token = started.made_token()
        (path / "data" / TOKEN).write_text(token)
        for log in (path / "data" / "log").iterdir():
            log.unlink()
        (path / "data").rename(made)


def copied(first_start, data):
    """Make `data` a copy of a data directory, owners included, and return it."""
    data.mkdir(exist_ok=True)
    subprocess.run(["/bin/cp", "-a", f"{first_start}/.", data], check=True)
    return data


@pytest.fixture(scope="session")
def perfdash(first_start):
    """One for all tests of a worker that need no settings of their own.

    It may send notifications to this machine, and has the kind `loads`.
    """
    settings = {"PERFDASH_NOTIFICATION_ADDRESSES": "127.0.0.1:*", "PERFDASH_NOTIFY_SECONDS": "1"}
    with (
        place() as path,
        served(
            copied(first_start, path / "data"), PYTHONPATH=install(path), **FAST, **settings
        ) as running,
    ):
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show what was logged last beside a test that failed, and end what it left running: other tests use its workers, too."""
    report = yield
    running = getattr(item, "funcargs", {}).get("perfdash")
    if report.failed and isinstance(running, Perfdash):
        report.sections.append(("combined.log, the end", running.logged_last()))
        for (campaign,) in running.rows(NOT_CLOSED):
            with suppress(Refused, OSError):
                running.api("POST", f"campaigns/{campaign}/cancel", {"reason": "its test failed"})
    return report
