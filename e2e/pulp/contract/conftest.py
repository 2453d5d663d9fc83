"""The contract of Pulp's answers: the same tests on the simulated Pulp and on a real Pulp.

The real one is that of the fixture `shared_pulp`, or, where PERFDASH_TEST_PULP_URL is set, the one there
(with PERFDASH_TEST_PULP_USER and PERFDASH_TEST_PULP_PASSWORD): it must be on this machine, since the
feed is, and nobody else's orphans may be in it, since these tests clean them up.
"""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from sandbox.process import Sandbox, running
from sandbox.tests.pulp.client import Pulp

SIMULATOR = {"retry_seconds": 0.02, "task_seconds": 0.01, "orphan_protection_minutes": 0}


@pytest.fixture(scope="session")
def feed() -> Iterator[Sandbox]:
    """The feed, and in the same process the simulated Pulp."""
    with running(pulp=SIMULATOR) as sandbox:
        yield sandbox


@pytest.fixture(
    scope="session",
    params=[
        "simulated",
        pytest.param("real", marks=[pytest.mark.nightly, pytest.mark.timeout(300)]),
    ],
)
def place(request: pytest.FixtureRequest, feed: Sandbox) -> tuple[str, str, str]:
    """Base URL, user and password."""
    if request.param == "simulated":
        return feed.pulp.base_url, "admin", "password"
    if url := os.environ.get("PERFDASH_TEST_PULP_URL"):
        user = os.environ.get("PERFDASH_TEST_PULP_USER", "admin")
        return url, user, os.environ.get("PERFDASH_TEST_PULP_PASSWORD", "password")
    try:
        state = request.getfixturevalue("shared_pulp").state
    except pytest.FixtureLookupError:
        pytest.skip("no real Pulp: set PERFDASH_TEST_PULP_URL, _USER and _PASSWORD")
    return state["base_url"], state["user"], state["password"]


@pytest.fixture
def pulp(place: tuple[str, str, str], feed: Sandbox) -> Iterator[Pulp]:
    """A session; what the test makes is gone after it."""
    with Pulp(*place, feed=feed, prefix=f"contract-{uuid4().hex[:8]}") as pulp:
        pulp.log_in()
        yield pulp
        pulp.log_in()
        pulp.clean()
