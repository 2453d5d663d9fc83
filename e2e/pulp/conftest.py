"""A real Pulp for all tests that want one, made by script/pulp, and gone when the tests end in any way."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from e2e.conftest import ROOT, ends_with_us
from e2e.pulp.rest import Rest
from sandbox.process import running

PROGRAM = [sys.executable, "-m", "perfdash.local.pulp"]
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
def real_pulp(tmp_path_factory):
    """A clean Pulp with pulp_rpm and one worker. Who changes anything in it puts it back."""
    pulp = RealPulp(tmp_path_factory.mktemp("pulp") / "data")
    with purged_at_the_end(pulp.data):
        pulp.start("--fast-auth", "--rpm")
        yield pulp


@pytest.fixture
def rest(real_pulp):
    return real_pulp.rest()


@pytest.fixture(scope="session")
def feed():
    with running() as sandbox:
        yield sandbox
