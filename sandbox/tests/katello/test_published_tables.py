"""What the model says of the tables of the tuning guide: 200 hosts (32 CPUs: 800) register at once."""

import pytest

from sandbox.katello.machine import Machine
from sandbox.tests.katello.registering import register


def registered(hosts: int, **settings: float) -> tuple[float, float]:
    """Mean time of the hosts that come through, and the share of those that do not."""
    machine = Machine()
    for name, value in settings.items():
        machine = machine.changed(name, value)
    ends = register(hosts, machine).ends
    return sum(ends) / max(1, len(ends)), 1 - len(ends) / hosts


@pytest.mark.parametrize(
    ("name", "published", "fixed"),
    [
        (
            "puma_threads",
            {4: 0, 8: 14, 16: 23, 32: 10},
            {"puma_workers": 4, "cpus": 16, "memory_gib": 32},
        ),
        (
            "puma_workers",
            {2: 0, 4: 26, 6: 22, 8: -8},
            {"puma_threads": 16, "cpus": 4, "memory_gib": 20},
        ),
        (
            "puma_workers",
            {2: 0, 4: 51, 8: 52, 12: 52, 16: 42},
            {"puma_threads": 16, "cpus": 8, "memory_gib": 32},
        ),
    ],
    ids=["threads", "workers on 4 CPUs", "workers on 8 CPUs"],
)
def test_a_table_keeps_its_shape(
    name: str, published: dict[int, int], fixed: dict[str, float]
) -> None:
    seconds = {level: registered(200, **(fixed | {name: level}))[0] for level in published}

    first = next(iter(seconds.values()))
    results = {level: 100 * (1 - time / first) for level, time in seconds.items()}
    for level, value in published.items():
        assert abs(results[level] - value) < 13, results
    best = max(published, key=published.__getitem__)
    assert results[best] > max(results.values()) - 3  # those of equal values are as good


@pytest.mark.slow
def test_workers_on_32_cpus_gain_until_too_many_hosts_fail() -> None:
    fixed = {"puma_threads": 16, "cpus": 32, "memory_gib": 90}

    results = {
        workers: registered(800, **fixed, puma_workers=workers)
        for workers in (4, 8, 16, 24, 32, 48)
    }

    times = [results[workers][0] for workers in (4, 8, 16, 24)]
    assert times == sorted(times, reverse=True)
    assert all(results[workers][1] == 0 for workers in (4, 8, 16, 24))
    assert all(results[workers][1] > 0.3 for workers in (32, 48))
