import pytest

from campaigns.kinds.sql.engine import pgbench
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
    return Place(database, tmp_path)
