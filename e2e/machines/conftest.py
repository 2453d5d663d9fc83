"""One installation on several machines for all tests; skipped, and said so, where none can be made."""

import pytest

from e2e.conftest import place
from e2e.loads_kind import install
from e2e.machines.network import why_not
from e2e.machines.plant import machines


@pytest.fixture(scope="session")
def plant():
    if why := why_not():
        pytest.skip(f"several machines are not tried: {why}")
    with place() as path, machines(path / "machines", PYTHONPATH=install(path)) as made:
        yield made
