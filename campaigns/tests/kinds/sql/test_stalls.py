"""A PostgreSQL whose processes are stopped for 200 ms, under arrivals at a rate and under a closed loop of about the same rate."""

from dataclasses import replace
from time import sleep

import pytest

from campaigns.kinds.sql.driver import driver
from campaigns.tests.kinds.sql import servers

pytestmark = pytest.mark.system
STALL_SECONDS = 0.2
CLIENTS, SECONDS = 8, 5
OPEN = {"loop": "open", "rate": 1000.0, "script": "kv-read"}
CLOSED = {
    "loop": "closed",
    "script": "own",
    "own_script": "\\sleep 7 ms\n\\set key random(1, :rows)\nSELECT k, v FROM perfdash_bench.kv WHERE k = :key;",
}
"""Eight clients that pause for 7 ms, and wait for 1 ms: 1000 a second at the most."""


def stalled(place, **loop):
    """Run the load; stop the database for a moment once transactions are reported, a second after the begin."""
    parameters = place.parameters(
        clients=CLIENTS, transactions=None, duration_seconds=SECONDS, warm_up_seconds=0, **loop
    )
    stalls: list[float] = []

    def look(values):
        if values.get("transactions_done") and not stalls:
            stalls.append(values["seconds"])
            with servers.stopped(place.database):
                sleep(STALL_SECONDS)

    context = replace(place.keeper.context(), progress=look)
    target = place.database.target()
    try:
        driver.reset(target, parameters, context)
        measured = driver.measure(target, parameters, context)
    finally:
        driver.clean_up(target, parameters, context)
    assert not measured.failure
    assert stalls
    return measured.values


def test_a_stall_shows_under_arrivals_and_hides_in_a_closed_loop(place):
    """Of 5000 arrivals 200 wait, up to 200 ms, evenly: the worst 1 % 150 ms or more. Of a closed loop as many wait as it has clients."""
    opened, closed = stalled(place, **OPEN), stalled(place, **CLOSED)

    assert opened["response_p99"] > 100
    assert opened["lag_p99"] > 100
    assert closed["response_max"] > 150
    assert closed["response_p99"] < opened["response_p99"] / 2
