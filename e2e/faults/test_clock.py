"""The host's clock is set, by an hour or a little, under everything that perfdash runs.

The machine's own clock is never touched: a preloaded library (`clock.c`) tells perfdash, its database
and its broker another time of day. What measures durations goes on undisturbed, as it would.
"""

import struct
import subprocess
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

import pytest

from e2e.conftest import copied, place
from e2e.faults import processes
from e2e.faults.load import PLAYED, again_and_again, loading
from e2e.faults.plant import GRACE_SECONDS, LEASE_SECONDS, Plant, started

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]

HOUR = 3600
LITTLE = ceil(
    LEASE_SECONDS + GRACE_SECONDS
)  # leases look as if they were over, and nobody was silent
PRELOADED = """
from dataclasses import replace
from perfdash.local import broker, postgres
clock = {name: os.environ[name] for name in ("LD_PRELOAD", "SHIFTED_CLOCK")}
environment = postgres._environment
postgres._environment = lambda: environment() | clock
service = broker.service
broker.service = lambda directory: replace(service(directory), environment=clock)
"""


class Watch:
    """The clock of a plant: `offset` seconds later than the machine's."""

    def __init__(self, file):
        self.file = file
        self.set(0)

    def set(self, offset):
        """Set it, for everybody at once."""
        self.offset = offset
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("q", offset))


@pytest.fixture(scope="module")
def library():
    with place() as path:
        made = path / "clock.so"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["/usr/bin/cc", "-shared", "-fPIC", "-o", made, source], check=True)
        yield made


@pytest.fixture(scope="module")
def watch(library):
    return Watch(library.with_name("offset"))


@pytest.fixture(scope="module")
def shifted(first_start, library, watch):
    clock = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(watch.file)}
    with place() as path:
        data = copied(first_start, path / "data")
        with started(Plant(data, before=PRELOADED, **clock)) as made:
            yield made


def clock_of(plant, watch):
    """How far the database's clock is from where it should be, in seconds."""
    (row,) = plant.rows(
        "SELECT extract(epoch FROM clock_timestamp()) - %s::float AS seconds",
        datetime.now(UTC).timestamp(),
    )
    return float(row["seconds"]) - watch.offset


@pytest.mark.parametrize(
    "step", [HOUR, -HOUR, LITTLE, -LITTLE], ids=["forward", "back", "a bit forward", "a bit back"]
)
def test_the_clock_is_set(shifted, watch, target, rounds, book, step):
    def fault(attempt):
        watch.set(watch.offset + step)
        assert abs(clock_of(shifted, watch)) < 1

    with loading(shifted, target, rounds, clock_is_ours=False) as load, book(load):
        again_and_again(load, rounds, fault)


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forward", "back"])
def test_the_clock_is_set_while_a_scenario_is_played(shifted, watch, target, rounds, book, step):
    def fault(attempt):
        watch.set(watch.offset + step)

    with (
        loading(shifted, target, rounds, clock_is_ours=False, definition=PLAYED) as load,
        book(load),
    ):
        again_and_again(load, rounds, fault)
        load.assert_nothing_is_said_of_the_target()


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forward", "back"])
def test_the_clock_is_set_and_the_keeper_dies(shifted, watch, target, rounds, book, step):
    """Its lease ends when it would have, not an hour later."""

    def fault(attempt):
        watch.set(watch.offset + step)
        processes.kill(processes.worker_child(shifted.pid))

    with loading(shifted, target, rounds, clock_is_ours=False) as load, book(load):
        again_and_again(load, rounds, fault)
