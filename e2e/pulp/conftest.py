"""A real Pulp for all tests that want one, made by script/pulp, and gone when the tests end in any way."""

import json
import subprocess
import sys
from contextlib import contextmanager
from time import monotonic, sleep

import pytest
import requests

from e2e.conftest import ROOT, ends_with_us
from e2e.pulp.rest import Rest
from perfdash.local.pulp import status
from perfdash.local.pulp.directory import PulpDirectory
from sandbox.process import running

PROGRAM = [sys.executable, "-m", "perfdash.local.pulp"]
OPTIONS = ("--fast-auth", "--rpm")
UNFINISHED = "state__in=running,waiting,canceling&"
EMPTY = (
    "distributions/file/file/?",
    "distributions/rpm/rpm/?",
    "repositories/?",
    "remotes/?",
    "artifacts/?",
    f"tasks/?{UNFINISHED}",
)
"""What has no rows after a test."""
SETTLE_SECONDS = 10.0
TOLD_LINES = 20
KEEPER = """
import subprocess, sys
sys.stdin.read()
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


class RealPulp:
    """A Pulp that script/pulp looks after: its directory, its state file, its REST API."""

    def __init__(self, data):
        self.data = data
        self.said = ""

    @property
    def state(self):
        return json.loads((self.data / "run" / "state.json").read_text())

    def run(self, word, *options):
        """Run one of script/pulp's subcommands, keep what it said, and give its exit code."""
        done = subprocess.run(
            [*PROGRAM, word, "--data", str(self.data), *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=ends_with_us(),
        )
        self.said = done.stdout
        return done.returncode

    def start(self, *options):
        assert self.run("start", *options) == 0, self.said

    def rest(self):
        state = self.state
        return Rest(state["base_url"], state["user"], state["password"])

    def left(self):
        """Say what a test left; nothing where Pulp is ready and empty, or is so in a moment."""
        end = monotonic() + SETTLE_SECONDS
        while (left := self._left()) and monotonic() < end:
            sleep(0.2)
        return left

    def _left(self):
        if lack := status.look(PulpDirectory(self.data)).lack:
            return f"a Pulp that is not ready: {lack}"
        try:
            rest = self.rest()
            counts = {path: rest.get(f"{path}limit=1")["count"] for path in EMPTY}
        except (AssertionError, requests.RequestException) as error:
            return f"a Pulp that does not answer: {error}"
        return ", ".join(f"{count} of {path}" for path, count in counts.items() if count)

    def mend(self):
        """Restart every process, and take everything away, whatever a test has made of them."""
        assert self.run("stop") == 0, self.said
        self.start()
        rest = self.rest()
        for task in rest.get(f"tasks/?{UNFINISHED}")["results"]:
            rest.ask("PATCH", task["pulp_href"], {"state": "canceled"})
            rest.done({"task": task["pulp_href"]})
        self.empty()

    def empty(self, paths=EMPTY[:4]):
        """Take every object and file away; paths: of the objects, which depend on its plug-ins."""
        rest = self.rest()
        for path in paths:
            rest.remove(*rest.get(path)["results"])
        rest.clean_orphans()

    def told_by_its_worker(self):
        lines = (self.data / "log" / "worker1.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-TOLD_LINES:])


@contextmanager
def purged_at_the_end(data):
    """Have everything stopped and deleted, also where these tests are killed."""
    keeper: subprocess.Popen[bytes] = subprocess.Popen(
        [sys.executable, "-c", KEEPER, *PROGRAM, "stop", "--purge", "--data", str(data)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        assert keeper.stdin
        keeper.stdin.close()
        code = keeper.wait(timeout=180)
    assert code == 0, f"{data} could not be stopped and deleted"


@pytest.fixture(scope="session")
def shared_pulp(tmp_path_factory):
    """A clean Pulp with pulp_rpm and one worker. Tests ask for `real_pulp`."""
    pulp = RealPulp(tmp_path_factory.mktemp("pulp") / "data")
    with purged_at_the_end(pulp.data):
        pulp.start(*OPTIONS)
        yield pulp


@pytest.fixture
def real_pulp(shared_pulp):
    """The Pulp of all tests. Who changes anything in it puts it back.

    A test that does not fails, and the next one gets a Pulp that is in order.
    """
    yield shared_pulp
    if left := shared_pulp.left():
        told = shared_pulp.told_by_its_worker()
        shared_pulp.mend()
        pytest.fail(f"The test left {left}. The worker's log ends with:\n{told}", pytrace=False)


@pytest.fixture
def rest(real_pulp):
    return real_pulp.rest()


@pytest.fixture(scope="session")
def feed():
    with running() as sandbox:
        yield sandbox
