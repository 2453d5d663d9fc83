"""Capacities of the model of the sandbox's Katello, by campaigns and searches of which nothing is measured but the model."""

import math
from dataclasses import replace

import pytest

from campaigns.stats.capacity import ShareCondition, ShareRun, ValueCondition, ValueRun
from campaigns.stats.capacity_by_conditions import by_lines, capacity_of
from campaigns.stats.capacity_ratio import ratio_by_lines, ratio_of
from campaigns.stats.capacity_search import Bounds, Phase, SearchRun, next_step
from campaigns.stats.criteria import Criteria
from sandbox.katello.machine import Machine
from sandbox.tests.katello.registering import register

LOADS = (100, 200, 300, 400, 600)
KNOWN = {2: 205, 4: 347}
LIMIT = 180.0


def registered(machine, hosts):
    """The 95th percentile of a registration, and the share that fails."""
    seen = register(hosts, machine, LIMIT)
    return seen.p95_seconds, seen.failed / hosts


def machine(workers, seed):
    return replace(
        Machine(puma_threads=16, cpus=8, memory_gib=32.0), puma_workers=workers, seed=seed
    )


@pytest.fixture(scope="module")
def measured():
    """Three blocks of every load with either number of workers: p95, and the share that failed; each run with a seed of its own."""
    runs = [(workers, block, load) for workers in KNOWN for block in range(3) for load in LOADS]
    return {
        (workers, block, load): registered(machine(workers, seed), load)
        for seed, (workers, block, load) in enumerate(runs)
    }


def conditions(measured, workers):
    runs = [
        ValueRun(block, load, p95)
        for (own, block, load), (p95, _) in measured.items()
        if own == workers
    ]
    return [ValueCondition("p95", LIMIT, True, runs)]


@pytest.mark.parametrize("workers", KNOWN)
def test_the_interval_holds_what_the_model_carries(measured, workers):
    result = capacity_of(conditions(measured, workers))

    low, _, high, _ = by_lines(result.conditions)
    assert low * 0.98 < KNOWN[workers] < high * 1.02
    assert result.word == "between"
    assert result.by_line == (
        workers == 4
    )  # 200 and 300 lie too far apart to claim the line, 300 and 400 do not
    first, last = {2: (200, 300), 4: (300, 400)}[workers]
    assert first <= result.low < KNOWN[workers] < result.high <= last


def test_the_ratio_of_workers_is_in_its_interval(measured):
    two, four = (conditions(measured, workers) for workers in KNOWN)

    result = ratio_of(two, four)
    by_line = ratio_by_lines(two[0], four[0], Criteria(margin=0.05, delta=0.1))

    assert (result.word, result.bounds_only) == ("better", True)
    assert 1 < result.low < 1.69 < result.high
    assert result.about == pytest.approx(1.69, rel=0.03)
    assert by_line.low < 1.69 < by_line.high


def test_failures_end_two_workers_between_200_and_400_hosts_and_four_between_400_and_600(measured):
    found = {}
    for workers in KNOWN:
        runs = [
            ShareRun(block, load, round(share * load), load)
            for (own, block, load), (_, share) in measured.items()
            if own == workers
        ]
        found[workers] = capacity_of([ShareCondition("failed", 0.05, runs)], resolution=2)

    assert (found[2].word, found[2].high) == ("between", 400)
    assert found[2].low >= 200
    assert (found[4].low, found[4].high) == (400, 600)


def searched(workers, seed, *, first=25, largest=2000, lowest=1):
    """Search from 25 hosts, or as stated; each run has a seed of the model of its own."""
    bounds = Bounds(first, largest, lowest, seed=seed)
    history: list[SearchRun] = []
    while (step := next_step(bounds, {"": history})).phase is not None:
        p95, _ = registered(machine(workers, 1000 * seed + len(history)), round(step.load))
        strain = math.log(p95 / LIMIT)
        history.append(
            SearchRun(step.load, step.phase, step.block, p95 <= LIMIT, {"p95": strain}, None)
        )
    return history


def confirmed(history):
    """What the runs that confirm say is carried."""
    runs = [
        ValueRun(run.block, run.load, LIMIT * math.exp(run.strains["p95"]))
        for run in history
        if run.phase == Phase.CONFIRM
    ]
    return capacity_of([ValueCondition("p95", LIMIT, True, runs)])


def test_a_search_that_may_go_no_further_says_at_least():
    history = searched(2, 1, largest=150)

    result = confirmed(history)

    assert (result.word, result.low, result.high) == ("at_least", 150, None)
    assert max(run.load for run in history) == 150


def test_a_search_whose_smallest_load_fails_says_fewer_than():
    history = searched(2, 1, first=700, lowest=700)

    result = confirmed(history)

    assert (result.word, result.low, result.high) == ("fewer_than", None, 700)
    assert min(run.load for run in history) == 700


def test_a_setting_that_changed_between_two_loads_makes_no_number():
    workers = {120: 2, 240: 2, 480: 8}  # somebody added workers before 480 hosts
    runs = [
        ValueRun(block, load, registered(machine(workers[load], 10 * block + load), load)[0])
        for block in range(3)
        for load in workers
    ]

    result = capacity_of([ValueCondition("p95", LIMIT, True, runs)])

    assert (
        result.word == "not_monotone"
    )  # and so its first crossing is shown without a word of confidence
    assert [tuple(pair) for pair in result.conditions[0].not_monotone] == [(240, 480)]


@pytest.mark.parametrize(
    ("workers", "seeds", "enough"),
    [
        (2, 2, 2),
        (4, 2, 2),
        pytest.param(2, 20, 19, marks=pytest.mark.nightly),
        pytest.param(4, 20, 19, marks=pytest.mark.nightly),
    ],
)
def test_searches_find_what_the_model_carries(workers, seeds, enough):
    near = few = 0
    for seed in range(seeds):
        history = searched(workers, seed)
        result = confirmed(history)
        made = sum(run.phase != Phase.CHECK for run in history)
        middle = result.estimate or result.about
        near += abs(middle / KNOWN[workers] - 1) < 0.1
        few += made <= 18
        assert max(run.load for run in history) <= 2.1 * KNOWN[workers]

    assert near >= enough
    assert few == seeds
