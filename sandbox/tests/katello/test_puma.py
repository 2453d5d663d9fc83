"""The model of the server, in its own time: nothing waits here."""

import math

import pytest

from sandbox.katello.machine import Machine
from sandbox.katello.puma import POOL_SECONDS, Outcome, Puma
from sandbox.katello.work import REGISTER, Work

QUICK = Work(1.0, 0.25, 0.25)


def machine(**settings: float) -> Machine:
    made = Machine()
    for name, value in settings.items():
        made = made.changed(name, value)
    return made


def burst(requests: int, **settings: float) -> tuple[float, list[Outcome]]:
    """Mean time of registrations that come at once, and what became of them."""
    puma = Puma(machine(**settings))
    ends: list[float] = []
    outcomes: list[Outcome] = []

    def leave(outcome: Outcome) -> None:
        outcomes.append(outcome)
        ends.append(puma.now)

    for _ in range(requests):
        puma.arrive(0.0, REGISTER, leave)
    while (at := puma.next_at()) < math.inf:
        puma.advance(at)
    return sum(ends) / len(ends), outcomes


def test_a_request_alone_takes_the_time_of_its_work() -> None:
    times = [burst(1, seed=seed)[0] for seed in range(40)]

    assert sorted(times)[20] == pytest.approx(REGISTER.median, rel=0.25)


def test_equal_seeds_give_equal_times() -> None:
    assert burst(50, seed=7) == burst(50, seed=7)
    assert burst(50, seed=7) != burst(50, seed=8)


def test_more_workers_than_postgresql_has_connections_for_fail() -> None:
    _, fitting = burst(600, puma_workers=24, puma_threads=16, cpus=32, memory_gib=90)
    _, too_many = burst(600, puma_workers=32, puma_threads=16, cpus=32, memory_gib=90)

    assert set(fitting) == {Outcome.DONE}
    assert too_many.count(Outcome.NO_CONNECTION) > 50


def test_who_finds_no_connection_in_the_pool_fails_after_five_seconds() -> None:
    slow = Work(20.0, 0.1, 0.1)
    puma = Puma(machine(puma_workers=1, puma_threads=2, db_pool=1))
    left: list[tuple[float, Outcome]] = []

    for _ in range(2):
        puma.arrive(0.0, slow, lambda outcome: left.append((puma.now, outcome)))
    while (at := puma.next_at()) < math.inf:
        puma.advance(at)

    assert left[0] == (POOL_SECONDS, Outcome.NO_POOL)
    assert left[1][1] is Outcome.DONE


def test_a_connection_that_becomes_free_goes_to_who_waits() -> None:
    puma = Puma(machine(puma_workers=1, puma_threads=3, db_pool=1))
    outcomes: list[Outcome] = []
    for _ in range(3):
        puma.arrive(0.0, QUICK, outcomes.append)

    puma.advance(60.0)

    assert outcomes == [Outcome.DONE] * 3


@pytest.mark.parametrize("limit", ["puma_backlog", "httpd_limit"])
def test_who_finds_the_server_full_is_turned_away(limit: str) -> None:
    few = {"puma_workers": 1, "puma_threads": 4, limit: 10}

    _, outcomes = burst(100, **few)

    places = 14 if limit == "puma_backlog" else 10
    assert outcomes[: 100 - places] == [Outcome.FULL] * (100 - places)
    assert outcomes[100 - places :] == [Outcome.DONE] * places


def test_a_machine_that_swaps_is_slow_and_fails() -> None:
    roomy, _ = burst(100, puma_workers=16, cpus=8, memory_gib=64)
    slow, some = burst(100, puma_workers=16, cpus=8, memory_gib=18)

    assert slow > 1.2 * roomy
    assert some.count(Outcome.TIMED_OUT) > 10


def test_a_restart_lets_everybody_leave() -> None:
    puma = Puma(machine(puma_workers=1, puma_threads=1))
    outcomes: list[Outcome] = []
    for _ in range(3):
        puma.arrive(0.0, QUICK, outcomes.append)

    puma.clear()

    assert outcomes == [Outcome.RESTARTED] * 3
    assert puma.next_at() == math.inf


def after_load(requests: int, **settings: float) -> Puma:
    """Return Puma after so many registrations at once have ended."""
    puma = Puma(machine(**settings))
    for _ in range(requests):
        puma.arrive(0.0, REGISTER, lambda outcome: None)
    while (at := puma.next_at()) < math.inf:
        puma.advance(at)
    return puma


def test_threads_exist_from_the_start_or_are_made_under_load() -> None:
    kept = Puma(machine(puma_workers=2, puma_threads=16, puma_threads_min=16))
    made = Puma(machine(puma_workers=2, puma_threads=16, puma_threads_min=0))
    assert (kept.threads(), made.threads()) == (32, 0)
    assert kept.memory_gib() > made.memory_gib()

    assert after_load(100, puma_workers=2, puma_threads=16).threads() == 32
    assert after_load(6, puma_workers=2, puma_threads=16).threads() == 6
    assert Puma(machine(puma_workers=2, puma_threads=4, puma_threads_min=16)).threads() == 8


def test_threads_of_the_start_take_12_percent_less_memory_than_those_of_a_load() -> None:
    """The tuning guide, 2 workers of at most 16 threads on 8 CPUs with 40 GiB: 12 % less with threads_min 16 than with 0."""
    fixed = {"puma_workers": 2, "puma_threads": 16, "cpus": 8, "memory_gib": 40}

    kept = after_load(100, **fixed, puma_threads_min=16).memory_gib()
    made = after_load(100, **fixed, puma_threads_min=0).memory_gib()

    assert 1 - kept / made == pytest.approx(0.12, abs=0.005)


def test_threads_that_exist_change_no_time_of_a_registration() -> None:
    assert burst(50, puma_threads_min=0) == burst(50, puma_threads_min=5)
