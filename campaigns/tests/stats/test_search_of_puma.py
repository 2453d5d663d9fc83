"""The search finds where hosts begin to fail at the simulated Katello's model of Puma, off line, where that is known."""

from dataclasses import replace

import pytest

from campaigns.stats.capacity_search import Bounds, Phase, SearchRun, Step, next_step
from sandbox.katello.machine import Machine
from sandbox.tests.katello.registering import register

LIMIT_SECONDS = 180.0
MACHINE = Machine(puma_threads=16, cpus=8, memory_gib=32.0)
KNOWN_FAILURES = {2: (289, 305), 4: (500, 509)}


def searched(workers: int, seed: int) -> tuple[list[SearchRun], Step]:
    bounds = Bounds(first=25, largest=2000, seed=seed, by_failures=True)
    history: list[SearchRun] = []
    while (step := next_step(bounds, {"": history})).phase is not None:
        hosts = int(step.load)
        machine = replace(MACHINE, puma_workers=workers, seed=1000 * seed + len(history))
        result = register(hosts, machine, LIMIT_SECONDS)
        too_many = result.failed > 0.05 * hosts
        history.append(
            SearchRun(
                step.load,
                step.phase,
                step.block,
                not too_many,
                {},
                None,
                result.failed,
                hosts,
            )
        )
    return history, step


@pytest.mark.parametrize("workers", KNOWN_FAILURES)
def test_it_finds_where_hosts_begin_to_fail(workers: int) -> None:
    history, end = searched(workers, 1)

    assert end.runs <= 18
    confirmed = [run for run in history if run.phase == Phase.CONFIRM]
    held = max(run.load for run in confirmed if run.held)
    failed = min(run.load for run in confirmed if not run.held)
    low, high = KNOWN_FAILURES[workers]
    assert held <= high
    assert failed >= low
    assert failed / held <= 1.51
