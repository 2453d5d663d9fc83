import socket
import subprocess
from contextlib import closing

import pytest

from campaigns.kinds.sql.engine import pgbench
from campaigns.kinds.sql.scripts import SCHEMA
from campaigns.kit import kernel
from campaigns.tests.kinds.sql import servers
from campaigns.tests.kinds.sql.place import Place


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    if not pgbench.candidates():
        pytest.skip("pgbench is not installed (Debian: apt-get install postgresql-contrib)")
    place = tmp_path_factory.mktemp("database")
    for each in (place, place.parent):
        each.chmod(0o755)
    with servers.database(place, "max_connections=20") as made:
        yield made


@pytest.fixture
def place(database, tmp_path):
    """A driver and the module's database, without what a test before left that did not go to the clean-up."""
    database.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return Place(database, tmp_path)


@pytest.fixture
def hangs_up():
    """Skip where the kernel does not let a parent shut down the connections of its child."""
    ours, theirs = socket.socketpair()
    with (
        closing(ours),
        closing(theirs),
        subprocess.Popen(["/bin/cat"], stdin=theirs.fileno()) as child,
    ):
        try:
            kernel.shut_down_connections(child.pid)
        except OSError as error:
            child.kill()
            pytest.skip(f"a child's connections cannot be shut down here: {error}")
