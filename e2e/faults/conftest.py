"""One perfdash with short leases for the faults that it survives; a sandbox for each fault."""

import os
import random
from contextlib import contextmanager
from time import monotonic

import pytest

from e2e.conftest import copied, place
from e2e.faults.load import loading
from e2e.faults.plant import Plant, started
from e2e.loads_kind import install
from sandbox.process import running

SEED = int(os.environ.get("PERFDASH_FAULT_SEED") or random.randrange(10**6))
RESULTS: pytest.StashKey[dict[str, tuple[float, ...]]] = pytest.StashKey()


@pytest.fixture(scope="session")
def rounds():
    """How often each fault happens in a row."""
    return int(os.environ.get("PERFDASH_FAULT_ROUNDS") or 1)


@pytest.fixture(scope="session")
def plant(first_start):
    """A perfdash for all faults that do not need one of their own; it has the kind `loads`."""
    with place() as path:
        data = copied(first_start, path / "data")
        with started(Plant(data, PYTHONPATH=install(path))) as made:
            yield made


@pytest.fixture
def target():
    """A sandbox in the tests' own process tree: it outlives every fault."""
    with running() as sandbox:
        yield sandbox


@pytest.fixture
def book(request, rounds):
    """Note what a fault's rounds came to, for the table at the end."""

    @contextmanager
    def noting(load):
        begun = monotonic()
        try:
            yield
        finally:
            books = load.books
            line = (rounds, books.attempts, books.lost, books.void, monotonic() - begun)
            request.config.stash.setdefault(RESULTS, {})[request.node.name] = line

    return noting


@pytest.fixture
def load(plant, target, rounds, book):
    """A campaign that loads the sandbox, on the shared perfdash."""
    with loading(plant, target, rounds) as launched, book(launched):
        yield launched


def pytest_terminal_summary(terminalreporter, config):
    """Tell how often each fault happened, and what it cost."""
    results = config.stash.get(RESULTS, {})
    if not results:
        return
    terminalreporter.section(f"faults (PERFDASH_FAULT_SEED={SEED})")
    terminalreporter.write_line(f"{'rounds':>6} {'attempts':>8} {'lost':>5} {'void':>5} {'s':>7}")
    for name, (rounds, attempts, lost, void, seconds) in results.items():
        terminalreporter.write_line(
            f"{rounds:>6} {attempts:>8} {lost:>5} {void:>5} {seconds:>7.1f}  {name}"
        )
