"""What holds of every capacity, whatever the numbers: holes, levels that nothing decides, metrics of which more is better."""

import math

import numpy as np
import pytest

from campaigns.stats.capacity import (
    CapacityWord,
    Held,
    ShareCondition,
    ShareRun,
    ValueCondition,
    ValueRun,
)
from campaigns.stats.capacity_best import best_capacity
from campaigns.stats.capacity_by_conditions import by_lines, capacity_of, decisions_of
from campaigns.stats.capacity_ratio import in_family, ratio_of
from campaigns.stats.capacity_sessions import (
    between_sessions,
    ratio_over_sessions,
    standing_of_capacity,
)

LOADS = (60, 120, 240, 480, 960)
LIMIT = 180.0


def line(seed=1, blocks=3, sd=0.04, per_host=0.44, loads=LOADS, power=1.0, block_sd=0.03):
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, block_sd, blocks)
    return [
        ValueRun(b, load, per_host * load**power * math.exp(rng.normal(0, sd) + effects[b]))
        for b in range(blocks)
        for load in loads
    ]


def p95(runs, **more):
    return ValueCondition("p95", LIMIT, True, runs, **more)


def failures(counts, runs=3, limit=0.05):
    """Give (load, failed, units) of every run."""
    return ShareCondition(
        "failed",
        limit,
        [ShareRun(b, load, failed, units) for b in range(runs) for load, failed, units in counts],
    )


def claim(capacity):
    return (capacity.low, capacity.estimate, capacity.high)


def ends(capacity):
    """What the lines of all conditions give, and what is claimed."""
    low, estimate, high, _ = by_lines(capacity.conditions)
    return [low, estimate, high, capacity.low, capacity.high]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("power", [0.7, 1.0, 1.8, 3.0])
def test_a_rate_that_has_to_stay_high_has_the_capacity_of_its_inverse(seed, power):
    per_host = LIMIT / 410**power
    runs = line(seed, power=power, per_host=per_host)
    inverse = [ValueRun(run.block, run.load, 1 / run.value) for run in runs]

    rate = capacity_of([ValueCondition("rate", 1 / LIMIT, False, inverse)])

    assert ends(rate) == pytest.approx(ends(capacity_of([p95(runs)])))
    assert rate.word == capacity_of([p95(runs)]).word


@pytest.mark.parametrize("factor", [0.01, 7.0])
def test_other_units_of_load_or_value_change_nothing_else(factor):
    runs = line()
    before = ends(capacity_of([p95(runs)]))

    loads = [ValueRun(run.block, run.load * factor, run.value) for run in runs]
    values = [ValueRun(run.block, run.load, run.value * factor) for run in runs]

    assert ends(capacity_of([p95(loads)])) == pytest.approx([each * factor for each in before])
    scaled = ValueCondition("p95", LIMIT * factor, True, values)
    assert ends(capacity_of([scaled])) == pytest.approx(before)


def test_holes_widen_the_interval_on_average():
    widths: list[float] = []
    whole: list[float] = []
    for seed in range(40):
        runs = line(seed, blocks=4)
        with_holes = [
            run for run in runs if (run.block, run.load) not in {(0, 480), (1, 240), (2, 960)}
        ]
        for data, into in ((runs, whole), (with_holes, widths)):
            low, _, high, _ = by_lines(capacity_of([p95(data)]).conditions)
            into.append(math.log(high / low))

    assert np.mean(widths) > np.mean(whole)


def test_a_missing_run_does_not_move_the_capacity_by_the_effect_of_its_block():
    runs = line(sd=0.005, block_sd=0.3)
    hole = [run for run in runs if (run.block, run.load) != (0, 480)]

    whole, part = (capacity_of([p95(data)]) for data in (runs, hole))

    assert part.about == pytest.approx(whole.about, rel=0.02)


def test_two_conditions_of_which_one_is_inverted_end_at_the_smaller():
    times = line(1)
    rates = [ValueRun(run.block, run.load, 4e4 / run.value) for run in line(2)]
    both = [p95(times), ValueCondition("rate", 4e4 / 90, False, rates)]

    result = capacity_of(both)
    alone = [capacity_of([each]) for each in both]

    assert result.binding == "rate"
    assert result.about == pytest.approx(alone[1].about)
    assert (result.low, result.high) == (120, 240)
    (_, _, first), (_, _, alone_first) = (ends(each)[:3] for each in (result, alone[1]))
    assert first > alone_first  # at alpha / 2


def test_a_share_that_nothing_decides_is_said_to_be_undecided():
    result = capacity_of([failures([(100, 0, 400), (200, 9, 200), (400, 200, 400)])])

    assert [each.state for each in result.conditions[0].loads] == [
        Held.HELD,
        Held.UNDECIDED,
        Held.FAILED,
    ]
    assert (result.word, result.low, result.high) == (CapacityWord.BETWEEN, 100, 400)
    assert decisions_of(result)[200] == Held.UNDECIDED
    assert result.advice.blocks or result.advice.loads


def test_an_undecided_level_stops_nothing_and_a_failing_one_below_a_holding_one_contradicts_it():
    undecided = capacity_of([failures([(100, 0, 400), (200, 12, 200), (400, 0, 400)])])
    failing = capacity_of([failures([(100, 0, 400), (200, 80, 200), (400, 0, 400)])])

    assert (undecided.word, undecided.low, undecided.high) == (CapacityWord.AT_LEAST, 400, None)
    assert (failing.word, failing.low, failing.high) == (CapacityWord.NOT_MONOTONE, None, None)


def test_levels_between_decided_ones_are_advised_where_no_block_would_help():
    result = capacity_of([failures([(240, 0, 400), (960, 200, 400)])])

    assert (result.word, result.is_wide) == (CapacityWord.BETWEEN, True)
    assert not result.advice.blocks
    assert list(result.advice.loads) == [340, 480, 680]


def test_more_blocks_are_advised_where_noise_makes_the_interval_wide():
    result = capacity_of([p95(line(3, sd=0.35, block_sd=0.2))])

    assert result.is_wide
    assert result.advice.blocks
    assert result.advice.rough


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_a_value_without_a_log_is_named_and_no_number_is_made(value):
    result = capacity_of([p95([*line(), ValueRun(0, 60, value)])])

    assert (result.word, result.reason) == (CapacityWord.NOT_ENOUGH_DATA, "invalid_values")
    assert claim(result) == (None, None, None)


def test_a_run_without_a_value_is_a_lost_one():
    runs = line()

    result = capacity_of([p95([*runs, ValueRun(0, 60, math.nan)])])

    assert ends(result) == ends(capacity_of([p95(runs)]))


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([], "loads"),
        (line(loads=(240,)), "loads"),
        (line(blocks=1), "blocks"),
        (line(blocks=2), "blocks"),
        (
            [ValueRun(b, load, 100.0 + load) for b, load in ((0, 60), (1, 60), (2, 480), (3, 480))],
            "not_connected",
        ),
    ],
)
def test_too_little_is_a_word_with_its_reason(runs, reason):
    result = capacity_of([p95(runs)])

    assert (result.word, result.reason) == (CapacityWord.NOT_ENOUGH_DATA, reason)
    assert claim(result) == (None, None, None)


def test_one_block_has_an_estimate_without_bounds():
    assert capacity_of([p95(line(blocks=1))]).about == pytest.approx(410, rel=0.2)


def test_units_of_nothing_show_nothing():
    result = capacity_of([failures([(100, 0, 0), (200, 0, 0)])])

    assert (result.word, result.reason) == (CapacityWord.NOT_ENOUGH_DATA, "loads")


def test_too_many_lost_runs_make_no_number():
    assert capacity_of([p95(line())], lost=3).word == CapacityWord.BETWEEN
    assert set(decisions_of(capacity_of([p95(line())], lost=4)).values()) == {Held.UNDECIDED}
    assert capacity_of([p95(line())], lost=4).reason == "lost_runs"


def test_a_saturated_generator_can_only_show_that_a_load_fails():
    runs = line(loads=(60, 120, 240))
    slow = [ValueRun(b, 480, 300.0 + b) for b in range(3)]
    fast = [ValueRun(b, 480, 100.0 + b) for b in range(3)]

    assert capacity_of([p95(runs, bounds=slow)]).high == 480
    assert capacity_of([p95(runs, bounds=fast)]).high is None
    assert capacity_of([p95(runs, bounds=fast)]).low == 240


def test_a_load_that_fails_does_so_though_the_first_one_is_the_only_one_with_values():
    shares = [ShareRun(b, 200, 100, 200) for b in range(3)]

    result = capacity_of([p95(line(loads=(60,)), without_number=[200], shares=shares)])

    assert (result.low, result.high) == (60, 200)


def test_where_all_fail_there_is_an_upper_bound_only():
    shares = [ShareRun(b, load, load // 2, load) for b in range(3) for load in (100, 200)]

    result = capacity_of([p95([], without_number=[100, 200], shares=shares)])

    assert (result.word, result.high) == (CapacityWord.FEWER_THAN, 100)


def test_nothing_is_interpolated_on_an_offered_rate_or_a_steep_curve():
    steep = line(power=4, per_host=LIMIT / 350**4)
    for condition in (p95(steep), p95(line(), offered_rate=True)):
        result = capacity_of([condition], resolution=2)

        assert (result.low, result.estimate, result.high) == (240, None, 480)
        assert "levels_only" in result.badges


@pytest.mark.parametrize("loads", [LOADS, tuple(range(300, 500, 5))])
def test_a_further_run_keeps_the_safe_load_in_nineteen_of_twenty(loads):
    rng = np.random.default_rng(5)
    kept = []
    for seed in range(60):
        result = capacity_of([p95(line(seed, loads=loads))])
        assert result.safe_load <= result.low
        noise = rng.normal(0, math.hypot(0.04, 0.03), 20)
        kept += list(math.log(0.44 * result.safe_load) + noise <= math.log(LIMIT))

    assert np.mean(kept) > 0.92


def test_loads_that_differ_by_rounding_alone_are_one():
    runs = line(loads=(0.1, 0.2, 0.3), per_host=900)
    sums = [ValueRun(10 + run.block, 0.1 + 0.2, run.value) for run in runs if run.load == 0.3]

    states = capacity_of([p95([*runs, *sums])]).conditions[0].loads

    assert [(each.load, each.runs) for each in states] == [(0.1, 3), (0.2, 3), (0.3, 6)]


def test_the_safe_load_is_not_above_a_bound_that_the_bend_lowers():
    values = {100: 20, 200: 70, 400: 110, 800: 130}
    runs = [ValueRun(b, load, y * (1 + b / 1000)) for b in range(3) for load, y in values.items()]

    result = capacity_of([ValueCondition("p95", 85, True, runs)])

    assert result.conditions[0].allowance[0] > 0.1
    assert result.safe_load <= result.low


def near(seed, per_host, **more):
    """Runs at loads around what is carried, near to one another."""
    middle = LIMIT / per_host
    loads = [middle * 1.2**step for step in (-2.3, -1.3, -0.3, 0.7, 1.7)]
    return line(seed, per_host=per_host, loads=loads, **more)


def test_the_ratio_turns_with_its_sides():
    one, other = ([p95(near(seed, cost))] for seed, cost in ((1, 0.6), (2, 0.3)))

    there, back = ratio_of(one, other), ratio_of(other, one)

    assert not there.bounds_only
    assert there.word == "better"
    assert back.word == "worse"
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert (there.low, there.high) == pytest.approx((1 / back.high, 1 / back.low))


def test_an_open_end_gives_bounds_of_the_ratio():
    carries_all = [p95(line(2, per_host=0.05))]
    result = ratio_of([p95(line(1))], carries_all)

    assert result.bounds_only
    assert result.low == pytest.approx(960 / capacity_of([p95(line(1))]).high) == 2
    assert result.high is None
    assert result.word == "better"


def test_other_conditions_are_not_compared():
    other = [ValueCondition("p95", 90, True, line())]

    assert ratio_of([p95(line())], other).word == "not_comparable"


def test_a_family_of_ratios_is_judged_together():
    base = [p95(near(1, 0.44))]
    ratios = [ratio_of(base, [p95(near(seed, 0.36))]) for seed in range(2, 10)]

    together = in_family(ratios)

    tested = [each for each in together if each.p is not None]
    assert len(tested) > 4
    assert all(each.p_adjusted >= each.p for each in tested)
    assert sum(each.word == "better" for each in together) <= sum(
        each.word == "better" for each in ratios
    )


def over(*sessions):
    """What sessions of these runs say, and what is carried by their spread."""
    runs = [run for number, each in enumerate(sessions) for run in numbered(each, number)]
    made, each = capacity_of([p95(runs)]), [capacity_of([p95(session)]) for session in sessions]
    return made, each, between_sessions(made, [p95(runs)], each)


def numbered(runs, session):
    return [ValueRun(100 * session + run.block, run.load, run.value) for run in runs]


def test_sessions_confirm_a_capacity_or_do_not():
    one, other = (capacity_of([p95(line(seed))]) for seed in (1, 2))
    far = capacity_of([p95(line(3, per_host=0.1))])

    assert standing_of_capacity([]) is None
    assert standing_of_capacity([one]).standing == "one_session"
    assert standing_of_capacity([one, other]).standing == "confirmed"
    assert standing_of_capacity([one, far]).reason == "sessions_disagree"


def test_three_sessions_decide_each_load_by_their_spread():
    made, each, between = over(line(1), line(2), line(3, per_host=0.2))

    assert (made.low, made.high) == (240, 960)  # by the noise of nine blocks
    assert (between.low, between.high) == (120, None)  # by how much three sessions differ
    assert decisions_of(between)[240] == Held.UNDECIDED
    standing = standing_of_capacity(each, between)
    assert (standing.standing, standing.between) == ("confirmed", True)
    assert (between.safe_load, between.advice) == (None, None)
    assert between_sessions(made, [], each[:2]) is None


def test_three_sessions_of_neighbouring_loads_give_an_interval_between_them():
    _, _, between = over(*(near(seed, 0.44) for seed in (1, 2, 3)))

    assert between.by_line
    assert between.low < 180 / 0.44 < between.high


def test_three_sessions_judge_a_ratio_by_their_spread():
    ratios = [ratio_of([p95(near(seed, 0.44))], [p95(near(seed + 3, 0.22))]) for seed in (1, 2, 3)]

    result = ratio_over_sessions(ratios)

    assert result.df == 2
    assert result.low < 2 < result.high
    assert ratio_over_sessions(ratios[:2]) is None


def settings_of(seed, times, sd=0.03, blocks=3):
    """Settings of which each carries so many times as much as 200, in common blocks."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 0.05, blocks)
    return [
        [
            p95(
                [
                    ValueRun(
                        b,
                        load,
                        LIMIT * load / (200 * each) * math.exp(rng.normal(0, sd) + effects[b]),
                    )
                    for b in range(blocks)
                    for load in (140, 175, 215, 265, 330, 410, 510)
                ]
            )
        ]
        for each in times
    ]


def test_the_setting_that_carries_the_most_is_seen_and_what_could_be_as_good():
    best = best_capacity(settings_of(1, (1.0, 1.7, 1.72, 0.8)))

    assert best.seen in {1, 2}
    assert set(best.possibly) == {1, 2}
    assert best.recommended(0.15) == 1
    assert best.recommended(0.0001) is None
    assert best.cost_pct[best.seen] == 0
    assert best.upper_pct[0] > 60


def test_bounds_of_the_best_hold_in_nineteen_of_twenty_campaigns():
    times = (1.0, 1.1, 1.15, 1.15)
    held, kept = [], []
    for seed in range(60):
        best = best_capacity(settings_of(seed, times))
        if best is None:  # the line of a setting is not claimed
            continue
        held.append(
            all(
                upper >= 100 * (max(times) / each - 1) - 1e-9
                for each, upper in zip(times, best.upper_pct, strict=True)
            )
        )
        kept.append(bool({2, 3} & set(best.possibly)))

    assert len(held) > 30
    assert np.mean(held) > 0.88
    assert np.mean(kept) > 0.88


def test_capacities_that_are_bounds_have_no_ranking():
    one, other = settings_of(1, (1.0, 20.0))

    assert best_capacity([one, other]) is None
    assert best_capacity([one]) is None


def test_the_largest_load_within_the_limit_is_enough_to_decide():
    few = [failures([(5, 0, 5), (15, 0, 15), (40, 0, 40)])]

    advice = capacity_of(few).advice

    blocks = [failures([(5, 0, 5), (15, 0, 15), (40, 0, 40)], runs=3 + advice.blocks)]
    assert advice.blocks == 2
    assert (capacity_of(blocks).word, capacity_of(blocks).low) == (CapacityWord.AT_LEAST, 40)


def test_no_load_is_safe_where_a_smaller_one_breaks_the_condition():
    falling = [ValueRun(block, load, 4e4 / load) for block in range(3) for load in LOADS]

    result = capacity_of([p95(falling)])

    assert (result.word, result.safe_load) == (CapacityWord.NOT_MONOTONE, None)


def test_without_order_a_load_holds_by_its_own_values_alone():
    falling = [ValueRun(run.block, run.load, 4e4 / run.value) for run in line(per_host=1.0)]

    (one,) = capacity_of([p95(falling)]).conditions

    assert [each.state for each in one.loads] == [
        Held.FAILED,
        Held.FAILED,
        *[Held.HELD] * 2,
        Held.HELD,
    ]
    assert one.loads[0].value == pytest.approx(4e4 / 60, rel=0.1)
