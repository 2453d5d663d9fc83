"""A perfdash that is started, broken, and started again; its database, asked over one connection."""

import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from http import HTTPStatus
from time import monotonic, sleep

from psycopg.rows import dict_row

from campaigns.tests.ports import free_port
from e2e.conftest import ROOT, Perfdash, Refused, wait_for
from e2e.faults import processes

LEASE_SECONDS, GRACE_SECONDS, MARGIN_SECONDS = 4.0, 0.5, 1.5
FAST = {
    "LEASE_SECONDS": str(LEASE_SECONDS),
    "LEASE_GRACE_SECONDS": str(GRACE_SECONDS),
    "LEASE_MARGIN_SECONDS": str(MARGIN_SECONDS),
    "RENEW_SECONDS": "0.5",
    "DISPATCH_SECONDS": "0.5",
    "PROBE_SECONDS": "3600",
}
SERVE = """
import os, signal, sys
from campaigns.kit import kernel
from perfdash.local import __main__, child
kernel.die_with_parent(os.getppid(), signal.SIGINT)  # tests that are killed leave nothing behind
child.STABLE_SECONDS = 1.0  # what is killed on purpose comes back at once, each time
"""
GO = "sys.exit(__main__.main(sys.argv[1:]))"


class Plant(Perfdash):
    """A perfdash of its own in `data`, with `environment` over what the tests have.

    `before`: Python that its supervisor runs before it begins.
    """

    def __init__(self, data, *, before="", **environment):
        super().__init__(data, None, data.parent / f"{data.name}.log", row_factory=dict_row)
        self.program = f"{SERVE}{before}\n{GO}"
        self.mark = f"/nonexistent/perfdash-{secrets.token_hex(8)}"
        inherited = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "BROKER_URL")}
        self.given = environment
        self.environment = {
            **inherited,
            **FAST,
            "PATH": f"{os.environ['PATH']}:{self.mark}",
            **environment,
        }
        self.port = free_port()
        self._seen = set()

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """Start it, wait until it is ready."""
        serve = [sys.executable, "-c", self.program, "serve", "--data", str(self.data)]
        with self.log.open("a") as output:
            self.process = subprocess.Popen(
                [*serve, "--port", str(self.port)],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_for(lambda: self.is_ready() or self.process.poll() is not None, "ready", seconds=120)
        assert self.process.poll() is None, self.log.read_text()[-4000:]
        return self

    def tell(self):
        """What it said last."""
        lives = "It runs" if self.process.poll() is None else f"It ended: {self.process.poll()}"
        return f"{lives}, and said:\n{self.log.read_text()[-6000:]}"

    def is_ready(self):
        state = self.state
        return state.get("ready") and state["pid"] == self.pid

    def stop(self):
        """Stop it as Ctrl-C does; nothing of it stays."""
        self.forget_connection()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            left = self.orphans()
            processes.kill(left)
        assert not left, f"still there after the end: {left}"

    def own_backend(self):
        """The process of the database that serves the tests themselves."""
        return self.connection().info.backend_pid

    def keepers_backend(self):
        """The process of the database that answers the thread that renews the leases."""
        found = self.rows(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ("
            ' query ILIKE \'select%%"interrupted_at"%%"state_reason"%%\''
            ' OR query ILIKE \'update%%campaigns_%%lease"%%SET "expires_at"%%\') LIMIT 1'
        )
        pids = {row["pid"] for row in found}
        return [p for p in processes.backends(self.pid) if p.pid in pids]

    def remember(self):
        """Keep in mind what runs now, for `orphans`."""
        self._seen.update(processes.tree(self.pid))

    def orphans(self):
        """Processes of this perfdash, former ones too, that its supervisor does not look after."""
        ours = set(processes.tree(self.pid)) if self.process.poll() is None else set()
        self._seen = {process for process in self._seen if processes.alive(process)}
        return [p for p in {*self._seen, *processes.marked(self.mark)} if p not in ours]

    def assert_no_orphans(self, seconds=3.0):
        """Nothing of the old tree lives on; the kernel may take a moment."""
        end = monotonic() + seconds
        while (left := self.orphans()) and monotonic() < end:
            sleep(0.05)
        assert not left, [(p.pid, " ".join(processes.words(p))[:200]) for p in left]

    def try_api(self, method, path, body=None):
        """Ask the REST API until it answers, and has its database."""

        def asked():
            try:
                return self.api(method, path, body)
            except Refused as refused:
                if refused.status != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                return None
            except (urllib.error.URLError, ConnectionError, json.JSONDecodeError):
                return None

        return wait_for(asked, f"an answer of {path}")


@contextmanager
def started(plant):
    """Start a plant, and stop it at the end of the block."""
    try:
        yield plant.start()
    finally:
        plant.stop()
