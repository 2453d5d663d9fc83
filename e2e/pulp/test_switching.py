"""Two versions of pulpcore in turn on one address, and one that cannot be installed."""

import json

import pytest

from e2e.pulp.conftest import RealPulp, purged_at_the_end
from e2e.pulp.rest import Rest

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

OLD, NEW = "3.105.0", "3.123.1"


@pytest.fixture
def versions(tmp_path_factory):
    """The home of both versions, each of which is stopped and deleted at the end."""
    home = tmp_path_factory.mktemp("versions")
    with purged_at_the_end(home / OLD), purged_at_the_end(home / NEW):
        yield RealPulp(home)


def core_of(home, version):
    """The version that the API of a directory reports, asked with its password."""
    state = json.loads((home / version / "run" / "state.json").read_text())
    rest = Rest(state["base_url"], state["user"], state["password"])
    parts = {each["component"]: each["version"] for each in rest.get("status/")["versions"]}
    assert rest.get("repositories/")["count"] == 0  # the login is right
    return state["base_url"], parts["core"]


def test_versions_take_turns_on_one_address_and_a_missing_one_is_put_back(versions):
    assert versions.run("switch", OLD, "--fast-auth", "--port", "25917") == 0, versions.said
    old = core_of(versions.data, OLD)
    assert versions.run("switch", NEW) == 0, versions.said
    new = core_of(versions.data, NEW)

    assert (old[1], new[1]) == (OLD, NEW)
    assert old[0] == new[0] == "http://127.0.0.1:25917"

    assert versions.run("switch", "3.105.999") == 1
    assert "pulpcore==3.105.999" in versions.said
    assert f"pulpcore {NEW} was started again." in versions.said
    assert core_of(versions.data, NEW) == new
    assert not (versions.data / "3.105.999").exists()
