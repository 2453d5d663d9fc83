from collections.abc import Iterator

import pytest

from sandbox.process import Sandbox, running
from sandbox.pulp.process import SimulatedPulp
from sandbox.tests.pulp.client import Pulp


@pytest.fixture(scope="package")
def process_with_pulp() -> Iterator[Sandbox]:
    with running(pulp={}) as sandbox:
        yield sandbox


@pytest.fixture
def feed(process_with_pulp: Sandbox) -> Sandbox:
    process_with_pulp.reset()
    return process_with_pulp


@pytest.fixture
def simulator(feed: Sandbox) -> Iterator[SimulatedPulp]:
    """A simulator in order and empty; whatever a test makes of it is mended after it."""
    feed.pulp.renew()
    feed.pulp.behave(retry_seconds=0.02)
    yield feed.pulp
    feed.pulp.renew()


@pytest.fixture
def pulp(simulator: SimulatedPulp, feed: Sandbox) -> Iterator[Pulp]:
    with Pulp(simulator.base_url, "admin", "password", feed=feed, prefix="test") as pulp:
        pulp.log_in()
        yield pulp
