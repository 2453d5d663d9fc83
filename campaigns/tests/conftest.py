from collections.abc import Iterator

import pytest

from sandbox.process import Sandbox, running


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A target for tests of drivers and engines; it counts what it is asked."""
    with running() as process:
        yield process
