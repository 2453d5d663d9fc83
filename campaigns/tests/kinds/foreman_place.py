"""A simulated Katello on which a kind runs, without a worker."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.kinds.base import Context, Driver, HostIdentity, Target
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import Login
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.recomputed import follows

RULES = parse_rules("127.0.0.1:*")


@dataclass
class Place:
    """A simulated Katello under test, and a keeper of one attempt on it."""

    driver: Driver
    target: Target
    directory: Path
    cancelled: threading.Event = field(default_factory=threading.Event)
    lines: list = field(default_factory=list)
    progress: list = field(default_factory=list)
    on_progress: Callable[[], None] | None = None
    attempt: int = 1
    deadline_seconds: float = 60.0
    most_failed: float | None = None
    hosts_of: Callable[[int, int], Sequence[HostIdentity]] | None = None

    def context(self):
        return Context(
            cancelled=self.cancelled,
            lease_seconds=lambda: 60.0,
            progress=self._progress,
            say=self.lines.append,
            clock=time.perf_counter_ns,
            directory=self.directory / str(self.attempt),
            rules=RULES,
            deadline_seconds=self.deadline_seconds,
            sender=f"perfdash attempt/{self.attempt}",
            most_failed=self.most_failed,
            hosts_of=self.hosts_of,
        )

    def _progress(self, values):
        self.progress.append(values)
        if self.on_progress:
            self.on_progress()

    def begin(self, values):
        """Everything up to where the job begins."""
        proofs = self.driver.reset(self.target, values, self.context())
        assert all(proof.ok for proof in proofs), proofs
        settings = self.driver.apply(self.target, values, self.context())
        assert all(setting.ok for setting in settings), settings
        return proofs, settings

    def measure(self, values):
        measured = self.driver.measure(self.target, values, self.context())
        follows(self.driver, measured)
        return measured

    def run(self, values):
        """All four steps and the clean-up; what was measured, and the proofs of the same work."""
        self.begin(values)
        measured = self.measure(values)
        proofs = (
            []
            if measured.failure
            else self.driver.verify(self.target, values, self.context(), measured)
        )
        self.clean_up(values)
        return measured, proofs

    def clean_up(self, values):
        self.driver.clean_up(self.target, values, self.context())

    def send(self, method, path, body=None, mark=""):
        """Do something on the server as somebody else, unless it has the mark of the attempt."""
        connection = Connection(self.target.base_url, RULES)
        login = Login(self.target.username, self.target.password)
        try:
            return Katello(connection, self.target.base_url, login).send(
                method, path, body or {}, mark
            )
        finally:
            connection.close()


class Waiting:
    """Something that a thread does; `join` fails where that failed."""

    def __init__(self, begun):
        self.begun = begun

    def join(self):
        self.begun.result(20)


def when(condition, action):
    """Do something as soon as a condition holds."""

    def wait():
        assert until(condition)
        action()

    pool = ThreadPoolExecutor(1)
    begun = pool.submit(wait)
    pool.shutdown(wait=False)
    return Waiting(begun)
