"""The ratio of capacities that share no block, against a calculation by hand."""

import math
from dataclasses import replace

import pytest

from campaigns.stats import student
from campaigns.stats.capacity import ShareCondition, ShareRun, ValueCondition, ValueRun
from campaigns.stats.capacity_across import alone, ratio_across
from campaigns.stats.capacity_by_conditions import by_lines, capacity_of
from campaigns.stats.verdict import Word

LOADS = (100.0, 400.0)
BLOCKS, WITHIN = (-0.1, 0.0, 0.1), (0.02, -0.04, 0.02)


def condition(carried, *, size=1.0, slope=1.0, loads=LOADS, name="p95", limit=20.0):
    """Values that rise with the load; the typical run reaches the limit at `carried`."""
    return ValueCondition(
        name,
        limit,
        lower_is_better=True,
        runs=[
            ValueRun(
                block,
                load,
                limit
                * (load / carried) ** slope
                * math.exp(size * (level + (-1) ** place * within)),
            )
            for block, (level, within) in enumerate(zip(BLOCKS, WITHIN, strict=True))
            for place, load in enumerate(loads)
        ],
    )


def side(*conditions, sessions=()):
    """A capacity whose line counts as claimed where it has both bounds, with what a comparison rests on."""
    capacity = capacity_of(conditions)
    each = [capacity_of(one) for one in sessions] or [capacity]
    low, estimate, high, binding = by_lines(capacity.conditions)
    if low and high and estimate:
        capacity = replace(
            capacity, by_line=True, low=low, estimate=estimate, high=high, binding=binding
        )
    return capacity, alone(conditions, capacity, each, between=len(sessions) > 2)


def test_variances_of_both_campaigns_add():
    """Complete blocks of two loads: Var = A M + s^2 (g'g / n - A), M = 2 var(blocks), s^2 = sum of squared rests / 2.

    A: C = 200, half way between both loads, so only blocks count: Var = .02 / 6, df = 2. B: half of the noise, C = 300.
    """
    of_a, df_a = 0.02 / 6, 2.0
    w = math.log(3) / math.log(4)
    blocks, rest = 0.005 / 6, 0.0006 * (((1 - w) ** 2 + w**2) / 3 - 1 / 6)
    of_b = blocks + rest
    df_b = of_b**2 / (blocks**2 / 2 + rest**2 / 2)
    df = (of_a + of_b) ** 2 / (of_a**2 / df_a + of_b**2 / df_b)
    half = student.quantile(0.975, df) * math.sqrt(of_a + of_b)

    found = ratio_across(side(condition(200)), side(condition(300, size=0.5)))

    assert found.ratio == pytest.approx(1.5, rel=1e-9)
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.error == pytest.approx(math.sqrt(of_a + of_b), rel=1e-9)
    assert (found.low, found.high) == pytest.approx(
        (1.5 * math.exp(-half), 1.5 * math.exp(half)), rel=1e-9
    )
    assert found.word == Word.BETTER
    assert not found.bounds_only


def test_swapping_sides_turns_the_ratio_around():
    one, other = side(condition(200)), side(condition(300, size=0.5))

    there, back = ratio_across(one, other), ratio_across(other, one)

    assert (there.word, back.word) == (Word.BETTER, Word.WORSE)
    assert back.low == pytest.approx(1 / there.high)


def test_bends_widen_the_side_that_they_may_move():
    bent = ValueCondition(
        "p95",
        20.0,
        lower_is_better=True,
        runs=[
            ValueRun(block, load, value)
            for block in range(3)
            for load, value in ((50, 9.0), (100, 10.0), (400, 40.0), (800, 120.0))
        ],
    )
    capacity, own = side(bent)
    assert capacity.estimate == pytest.approx(200)
    assert own.early + own.late > 0

    found = ratio_across(side(condition(200)), (capacity, own))

    assert (found.early, found.late) == (own.early, own.late)


def test_an_open_end_and_a_closed_one_give_a_bound():
    """One carries all that was measured, the other nothing: at least 4 times as many, whatever the noise."""
    more, fewer = side(condition(4000, size=0.01)), side(condition(10, size=0.01))

    found = ratio_across(fewer, more)

    assert found.low == pytest.approx(4.0)
    assert (found.ratio, found.high) == (None, None)
    assert (found.word, found.bounds_only) == (Word.BETTER, True)
    assert ratio_across(more, more).reason == "no_bound"


def test_other_binding_conditions_leave_bounds():
    shares = [
        ShareRun(block, load, failed, 2000)
        for block in range(3)
        for load, failed in ((100.0, 2), (200.0, 800), (400.0, 1500))
    ]
    failing = ShareCondition("failures", 0.05, shares)
    one = side(
        condition(300, size=0.1),
        ShareCondition(
            "failures", 0.05, [ShareRun(b, x, 0, 2000) for b in range(3) for x in LOADS]
        ),
    )
    other = side(condition(4000), failing)

    found = ratio_across(one, other)

    assert (one[0].binding, other[0].binding) == ("p95", "failures")
    assert found.bounds_only
    assert found.low < found.high


def test_three_sessions_of_both_sides_are_the_sample():
    sessions = [[condition(carried, size=0.01)] for carried in (190, 200, 210)]
    one = side(condition(200), sessions=sessions)
    other = side(condition(300), sessions=[[condition(c, size=0.01)] for c in (297, 300, 303)])

    found = ratio_across(one, other)

    logs = [math.log(each) for each in (190, 200, 210)]
    mean = sum(logs) / 3
    spread = sum((each - mean) ** 2 for each in logs) / 2 / 3
    assert one[1].between
    assert one[1].error == pytest.approx(math.sqrt(spread), rel=1e-6)
    assert one[1].df == 2
    assert found.log == pytest.approx(math.log(297 * 300 * 303) / 3 - mean, rel=1e-6)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (condition(300, slope=-1.0, size=0.01), "not_monotone"),
        (ValueCondition("p95", 20.0, lower_is_better=True, runs=[]), "loads"),
    ],
)
def test_what_has_no_capacity_has_no_ratio(other, reason):
    found = ratio_across(side(condition(200)), side(other))

    assert (found.word, found.reason) == (Word.NOT_ENOUGH_DATA, reason)


def test_findings_of_before_have_no_ratio():
    found = ratio_across(side(condition(200)), (side(condition(300))[0], None))

    assert (found.word, found.reason) == (Word.NOT_ENOUGH_DATA, "not_stored")
