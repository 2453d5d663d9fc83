"""The search for capacity, against targets of which the capacity is known."""

import math
from collections.abc import Callable
from random import Random

import pytest

from campaigns.stats.capacity_search import (
    Bounds,
    Phase,
    SearchRun,
    Step,
    Why,
    bracket_of,
    next_step,
)

Target = Callable[[float], SearchRun]


def searched(
    bounds: Bounds, target: Callable[[str, float, int], tuple[bool, float | None]], settings=("",)
) -> tuple[dict[str, list[SearchRun]], Step]:
    """Search on a simulated target: (setting, load, number of the run) -> held, ln(value / limit)."""
    histories: dict[str, list[SearchRun]] = {setting: [] for setting in settings}
    for number in range(200):
        step = next_step(bounds, histories)
        if step.phase is None:
            return histories, step
        assert bounds.lowest <= step.load <= bounds.largest
        held, strain = target(step.setting, step.load, number)
        histories[step.setting].append(
            SearchRun(
                step.load,
                step.phase,
                step.block,
                held,
                {} if strain is None else {"p95": strain},
                strain,
            )
        )
    raise AssertionError("it does not end")


def closed_loop(
    capacity: float, sd: float = 0.0, block: float = 0.0, seed: int = 1, drift: float = 0
):
    """A server whose value grows with the 1.5th power of the load around its capacity."""
    random = Random(seed)

    def target(setting: str, load: float, number: int) -> tuple[bool, float | None]:
        strain = 1.5 * math.log(load / capacity) + random.gauss(0, sd) + drift * number
        return strain <= 0, strain

    return target


def of_phase(runs: list[SearchRun], phase: Phase) -> list[SearchRun]:
    return [run for run in runs if run.phase == phase]


def test_it_doubles_then_halves_the_bracket_then_confirms_around_the_crossing() -> None:
    histories, end = searched(Bounds(first=25, largest=2000), closed_loop(400))

    explored = of_phase(histories[""], Phase.EXPLORE)
    assert [run.load for run in explored[:4]] == [25, 100, 400, 800]
    confirmed = of_phase(histories[""], Phase.CONFIRM)
    loads = sorted({run.load for run in confirmed})
    assert loads == [pytest.approx(load, abs=2) for load in (400 / 1.35, 400, 400 * 1.35)]
    assert len(confirmed) == 9
    assert end.why == Why.CONFIRMED


def test_within_a_bracket_the_next_load_is_where_the_line_crosses_the_limit() -> None:
    history = [
        SearchRun(400, Phase.EXPLORE, None, False, {"p95": math.log(400 / 250)}, None),
        SearchRun(100, Phase.EXPLORE, None, True, {"p95": math.log(100 / 250)}, None),
    ]

    step = next_step(Bounds(first=25, largest=2000), {"": history})

    assert step.why == Why.CROSSING
    assert step.load == pytest.approx(250, abs=1)


def test_blocks_are_fresh_and_each_has_every_load_once_in_an_order_of_the_seed() -> None:
    histories, _ = searched(Bounds(first=25, largest=2000, seed=3), closed_loop(410, 0.05))

    confirmed = of_phase(histories[""], Phase.CONFIRM)
    orders = [[run.load for run in confirmed if run.block == block] for block in range(3)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    again, _ = searched(Bounds(first=25, largest=2000, seed=3), closed_loop(410, 0.05))
    assert again == histories


def test_the_history_alone_decides_wherever_it_is_taken_up_again() -> None:
    bounds = Bounds(first=10, largest=5000, seed=8)
    histories, _ = searched(bounds, closed_loop(333, 0.06))
    runs = histories[""]

    for length, run in enumerate(runs):
        step = next_step(bounds, {"": runs[:length]})
        assert (step.load, step.phase, step.block) == (run.load, run.phase, run.block)


def test_where_the_largest_load_holds_it_confirms_there_and_goes_no_further() -> None:
    histories, end = searched(Bounds(first=25, largest=150), closed_loop(400))

    confirmed = of_phase(histories[""], Phase.CONFIRM)
    assert sorted({run.load for run in confirmed}) == [112, 150]
    assert len(confirmed) == 6
    assert end.bracket == bracket_of(histories[""])
    assert (end.bracket.held, end.bracket.failed) == (150, None)


def test_where_the_first_load_fails_it_halves_down_to_the_smallest() -> None:
    histories, end = searched(Bounds(first=3000, largest=9000, lowest=700), closed_loop(200))

    assert [run.load for run in of_phase(histories[""], Phase.EXPLORE)] == [3000, 1500, 750, 700]
    assert {run.load for run in of_phase(histories[""], Phase.CONFIRM)} == {700, 875}
    assert not of_phase(histories[""], Phase.CHECK)  # no load is known to hold
    assert end.bracket.failed == 700


def test_each_failure_is_followed_by_a_check_at_the_first_load() -> None:
    histories, _ = searched(Bounds(first=25, largest=2000), closed_loop(300))

    runs = histories[""]
    for number, run in enumerate(runs[:-1]):
        if run.phase != Phase.CHECK and not run.held:
            assert (runs[number + 1].phase, runs[number + 1].load) == (Phase.CHECK, 25)


def test_a_target_that_stays_slow_is_checked_three_times_and_then_left_alone() -> None:
    slow = False

    def target(setting: str, load: float, number: int) -> tuple[bool, float | None]:
        nonlocal slow
        strain = 1.5 * math.log(load / 400) + (math.log(1.6) if slow else 0)
        slow = slow or load > 400
        return strain <= 0, strain

    histories, end = searched(Bounds(first=25, largest=2000), target)

    assert end.why == Why.NOT_RECOVERED
    assert end.load == 800  # what it has not recovered from
    assert [run.phase for run in histories[""][-3:]] == [Phase.CHECK] * 3
    after = next_step(
        Bounds(first=25, largest=2000),
        {"": [*histories[""], SearchRun(25, Phase.CHECK, 0, True, {"p95": -4.16}, -4.16)]},
    )
    assert after.phase == Phase.EXPLORE  # it goes on once the target has recovered


def test_a_slow_check_passes_the_second_time() -> None:
    first = SearchRun(25, Phase.EXPLORE, 0, True, {"p95": -3.0}, -3.0)
    overload = SearchRun(50, Phase.EXPLORE, 1, False)
    slow = SearchRun(25, Phase.CHECK, 0, True, {"p95": -2.5}, -2.5)
    fine = SearchRun(25, Phase.CHECK, 0, True, {"p95": -2.9}, -2.9)
    bounds = Bounds(first=25, largest=2000)

    second = next_step(bounds, {"": [first, overload, slow]})
    assert (second.phase, second.checks) == (Phase.CHECK, 1)
    assert next_step(bounds, {"": [first, overload, slow, fine]}).phase == Phase.EXPLORE


def test_failures_alone_narrow_the_bracket_to_a_quarter_and_confirm_outside_of_it() -> None:
    def target(setting: str, load: float, number: int) -> tuple[bool, float | None]:
        return load <= 300, None

    histories, end = searched(Bounds(first=25, largest=2000, by_failures=True), target)

    low, high = end.bracket.held, end.bracket.failed
    assert low is not None
    assert high is not None
    assert high / low <= 1.25 * 1.25
    confirmed = of_phase(histories[""], Phase.CONFIRM)
    loads = sorted({run.load for run in confirmed})
    assert len(loads) == 2
    assert loads[0] < 300 < loads[1]
    assert loads[1] / loads[0] <= 1.55
    assert len(confirmed) == 8


def test_an_offered_rate_is_confirmed_by_close_loads() -> None:
    def target(setting: str, load: float, number: int) -> tuple[bool, float | None]:
        strain = math.log(0.1 if load < 300 else 1 + load / 300)
        return strain <= 0, strain

    histories, _ = searched(Bounds(first=25, largest=2000, offered_rate=True), target)

    loads = sorted({run.load for run in of_phase(histories[""], Phase.CONFIRM)})
    assert loads[1] / loads[0] == pytest.approx(1.25, abs=0.02)


def test_where_all_that_confirms_holds_it_shifts_once() -> None:
    def target(setting: str, load: float, number: int) -> tuple[bool, float | None]:
        capacity = 400 if number < 8 else 1500  # it has become faster
        strain = 1.5 * math.log(load / capacity)
        return strain <= 0, strain

    histories, end = searched(Bounds(first=25, largest=4000, most_runs=40), target)

    confirmed = of_phase(histories[""], Phase.CONFIRM)
    assert len(confirmed) == 18
    assert {run.block for run in confirmed} == set(range(6))
    assert min(run.load for run in confirmed[9:]) > min(run.load for run in confirmed[:9])
    assert end.why == Why.CONFIRMED


def test_few_runs_end_with_a_bracket() -> None:
    _, end = searched(Bounds(first=25, largest=2000, most_runs=10), closed_loop(430))

    assert end.why == Why.FEW_RUNS
    assert end.bracket.held == 400
    assert end.bracket.failed is not None
    assert end.bracket.failed <= 600
    assert end.runs <= 10


def test_a_void_run_is_made_again_and_counts_for_nothing() -> None:
    bounds = Bounds(first=25, largest=2000)
    void = SearchRun(25, Phase.EXPLORE, 0, None)

    step = next_step(bounds, {"": [void]})

    assert (step.load, step.runs, step.why) == (25, 0, Why.FIRST)


def test_settings_are_explored_in_turn_and_confirmed_in_common_blocks() -> None:
    def target(setting: str, load: float, number: int) -> tuple[bool, float]:
        strain = 1.5 * math.log(load / (200 if setting == "2 workers" else 350))
        return strain <= 0, strain

    settings = ("2 workers", "4 workers")
    bounds = Bounds(first=25, largest=2000)
    histories = {setting: list[SearchRun]() for setting in settings}
    order = []
    while (step := next_step(bounds, histories)).phase is not None:
        held, strain = target(step.setting, step.load, 0)
        run = SearchRun(step.load, step.phase, step.block, held, {"p95": strain}, strain)
        histories[step.setting].append(run)
        if step.phase != Phase.CHECK:
            order.append((step.setting, step.phase, step.block))

    assert [setting for setting, *_ in order[:4]] == ["2 workers", "4 workers"] * 2
    blocks = [block for _, phase, block in order if phase == Phase.CONFIRM]
    assert blocks == sorted(blocks)
    for block in range(3):
        mine = [
            setting for setting, phase, each in order if phase == Phase.CONFIRM and each == block
        ]
        assert mine.count("2 workers") == mine.count("4 workers") == 3


def test_an_extension_adds_blocks_of_the_same_loads() -> None:
    bounds = Bounds(first=25, largest=2000)
    histories, _ = searched(bounds, closed_loop(400))
    loads = {run.load for run in of_phase(histories[""], Phase.CONFIRM)}

    step = next_step(Bounds(first=25, largest=2000, extra_blocks=2), histories)

    assert (step.phase, step.block) == (Phase.CONFIRM, 3)
    assert step.load in loads


def test_over_many_seeds_it_needs_few_runs_and_stays_near_the_capacity() -> None:
    for seed in range(200):
        capacity = 60 * 1.02**seed
        histories, end = searched(
            Bounds(first=25, largest=20_000, seed=seed), closed_loop(capacity, 0.06, seed=seed)
        )
        runs = [run for run in histories[""] if run.phase != Phase.CHECK]
        assert len(runs) <= 20, seed
        assert end.why == Why.CONFIRMED
        doubled = max(run.load for run in runs if run.held or run.phase == Phase.CONFIRM)
        assert doubled <= 2.6 * capacity, (seed, doubled / capacity)


def test_a_drift_moves_the_loads_but_ends_all_the_same() -> None:
    for seed in range(20):
        histories, end = searched(
            Bounds(first=25, largest=4000, seed=seed),
            closed_loop(400, 0.03, seed=seed, drift=0.01),
        )
        assert end.phase is None
        assert max(run.load for run in histories[""]) <= 4000


@pytest.mark.parametrize("largest", [1.0, 2.0, 3.0])
def test_the_smallest_loads_end_too(largest: float) -> None:
    for capacity in (0.5, 1.0, 1.5, 2.5, 100.0):
        _, end = searched(Bounds(first=1, largest=largest), closed_loop(capacity))
        assert end.phase is None
