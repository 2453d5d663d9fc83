from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from campaigns.kinds.load.schedule import NS, BadSchedule, Schedule

FOREVER: dict[str, Any] = {"duration_seconds": 3600.0}


def arrivals(schedule: Schedule, most: int = 1000) -> list[tuple[int, int]]:
    return list(islice(schedule.arrivals_ns(), most))


def test_a_barrier_is_one_instant():
    schedule = Schedule(hosts=5, iterations=1)

    assert {schedule.start_ns(number) for number in schedule.numbers} == {0}


def test_a_ramp_spreads_the_hosts_evenly():
    schedule = Schedule(hosts=4, iterations=1, ramp_seconds=2)

    assert [schedule.start_ns(number) for number in schedule.numbers] == [
        0,
        NS // 2,
        NS,
        3 * NS // 2,
    ]


def test_constant_arrivals_have_equal_distances():
    schedule = Schedule(hosts=1, loop="open", rate_per_second=4, duration_seconds=1)

    assert arrivals(schedule) == [(0, 0), (1, NS // 4), (2, NS // 2), (3, 3 * NS // 4)]


def test_arrivals_end_with_their_number():
    schedule = Schedule(hosts=1, loop="open", rate_per_second=4, iterations=3)

    assert [number for number, _ in arrivals(schedule)] == [0, 1, 2]


def test_poisson_arrivals_have_the_rate_and_vary_as_they_should():
    schedule = Schedule(hosts=1, loop="open", arrivals="poisson", rate_per_second=100, **FOREVER)
    instants = [at for _, at in arrivals(schedule, 20_000)]
    gaps = [(b - a) / NS for a, b in pairwise(instants)]
    mean = sum(gaps) / len(gaps)

    assert mean == pytest.approx(0.01, rel=0.05)
    assert sum((gap - mean) ** 2 for gap in gaps) / len(gaps) == pytest.approx(mean**2, rel=0.1)
    assert arrivals(schedule, 50) == arrivals(schedule, 50)


@given(
    hosts=st.integers(1, 200),
    first=st.integers(1, 4),
    second=st.integers(1, 4),
    rate=st.floats(0.5, 5000),
)
def test_parts_of_parts_are_the_whole(hosts, first, second, rate):
    assume(hosts >= first * second)
    closed = Schedule(hosts=hosts, iterations=1, ramp_seconds=3)
    steady = Schedule(hosts=hosts, loop="open", rate_per_second=rate, iterations=100)

    def parts(schedule: Schedule) -> list[Schedule]:
        return [
            schedule.part(i, first).part(j, second) for i in range(first) for j in range(second)
        ]

    numbers = sorted(number for part in parts(closed) for number in part.numbers)
    assert numbers == list(range(hosts))
    assert sorted(at for part in parts(steady) for at in arrivals(part)) == arrivals(steady)


def test_parts_of_poisson_arrivals_differ_and_keep_the_rate():
    whole = Schedule(hosts=2, loop="open", arrivals="poisson", rate_per_second=100, **FOREVER)
    one, other = (arrivals(whole.part(shard, 2), 5000) for shard in range(2))

    assert {number % 2 for number, _ in one} == {0}
    assert [at for _, at in one] != [at for _, at in other]
    assert one[-1][1] / NS == pytest.approx(100, rel=0.1)


def test_an_open_loop_needs_a_host_in_each_part():
    schedule = Schedule(hosts=2, loop="open", rate_per_second=4, iterations=3)

    with pytest.raises(BadSchedule, match="2 hosts cannot be shared by 3"):
        schedule.part(2, 3)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"hosts": 0, "iterations": 1}, "0 hosts"),
        ({"hosts": 1}, "never end"),
        ({"hosts": 1, "iterations": 0}, "0 iterations"),
        ({"hosts": 1, "iterations": 1, "loop": "spiral"}, "spiral"),
        ({"hosts": 1, "iterations": 1, "loop": "open"}, "needs a rate"),
        ({"hosts": 1, "iterations": 1, "rate_per_second": 3}, "has no rate"),
        ({"hosts": 1, "loop": "open", "rate_per_second": 3, "arrivals": "x", **FOREVER}, "poisson"),
        ({"hosts": 1, "iterations": 1, "think_seconds": -1}, "negative"),
        ({"hosts": 1, "duration_seconds": 5, "warm_up_seconds": 5}, "leaves nothing"),
    ],
)
def test_a_schedule_that_contradicts_itself_is_refused(values, says):
    with pytest.raises(BadSchedule, match=says):
        Schedule.from_request(values)
