"""The search finds the capacity of the simulated Katello's model of Puma, off line, of which the capacity is known."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from campaigns.stats.capacity_search import Bounds, Phase, SearchRun, Step, next_step
from sandbox.katello.machine import Machine
from sandbox.tests.katello.registering import register

LIMIT_SECONDS = 180.0
MACHINE = Machine(puma_threads=16, cpus=8, memory_gib=32.0)
KNOWN = {2: (203, 207), 4: (340, 352)}
"""Hosts at which the 95th percentile of a registration reaches the limit, by workers."""
KNOWN_FAILURES = {2: (289, 305), 4: (500, 509)}


def searched(workers: int, seed: int, *, by_failures: bool = False) -> tuple[list[SearchRun], Step]:
    bounds = Bounds(first=25, largest=2000, seed=seed, by_failures=by_failures)
    history: list[SearchRun] = []
    while (step := next_step(bounds, {"": history})).phase is not None:
        hosts = int(step.load)
        machine = replace(MACHINE, puma_workers=workers, seed=1000 * seed + len(history))
        result = register(hosts, machine, LIMIT_SECONDS)
        too_many = result.failed > 0.05 * hosts
        strain = None if too_many else math.log(result.p95_seconds / LIMIT_SECONDS)
        slow = not by_failures and (strain is None or strain > 0)
        history.append(
            SearchRun(
                step.load,
                step.phase,
                step.block,
                not (too_many or slow),
                {} if strain is None or by_failures else {"p95": strain},
                strain,
                result.failed,
                hosts,
            )
        )
    return history, step


def crossing(history: list[SearchRun]) -> float:
    """Return the load at which the means of the runs that confirm cross the limit."""
    means: dict[float, list[float]] = {}
    for run in history:
        if run.phase == Phase.CONFIRM and run.strains:
            means.setdefault(run.load, []).append(run.strains["p95"])
    line = [(math.log(load), sum(values) / len(values)) for load, values in sorted(means.items())]
    for (x, y), (next_x, next_y) in pairwise(line):
        if y <= 0 < next_y:
            return math.exp(x - y * (next_x - x) / (next_y - y))
    raise AssertionError(line)


@pytest.mark.parametrize("workers", KNOWN)
def test_it_finds_the_capacity_in_few_runs(workers: int) -> None:
    near = 0
    middle = sum(KNOWN[workers]) / 2
    for seed in range(20):
        history, end = searched(workers, seed)
        assert end.runs <= 18
        assert all(run.load <= 2.1 * middle for run in history)
        near += abs(crossing(history) / middle - 1) <= 0.1
    assert near >= 19


@pytest.mark.parametrize("workers", KNOWN_FAILURES)
def test_it_finds_where_hosts_begin_to_fail(workers: int) -> None:
    history, end = searched(workers, 1, by_failures=True)

    assert end.runs <= 18
    confirmed = [run for run in history if run.phase == Phase.CONFIRM]
    held = max(run.load for run in confirmed if run.held)
    failed = min(run.load for run in confirmed if not run.held)
    low, high = KNOWN_FAILURES[workers]
    assert held <= high
    assert failed >= low
    assert failed / held <= 1.51
