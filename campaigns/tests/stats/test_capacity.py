"""Capacity against values that were computed apart (CAPACITY 7), case by case."""

import math
from itertools import pairwise

import pytest

from campaigns.stats.capacity import ShareCondition, ShareRun, ValueCondition, ValueRun
from campaigns.stats.capacity_by_conditions import (
    are_near,
    bracket_of,
    by_lines,
    capacity_of,
    decisions_of,
)
from campaigns.stats.capacity_levels import by_levels
from campaigns.stats.capacity_ratio import crossings, ratio_by_lines
from campaigns.stats.criteria import Criteria

CASES = [
    *("value_five_loads", "all_pass", "all_fail", "not_monotone", "pooled_neighbours", "one_block"),
    *("ties", "open_loop", "share_levels", "two_conditions", "censored_p95", "capped"),
    *("holes", "holes_pooled", "share_undecided", "two_values_one_inverted", "inverted_binds"),
]
RATIOS = ["ratio_paired", "ratio_holes"]
WORDS = {"carries": "between", "not_decided": "between", "less_than": "fewer_than"}
"""Words of the reference by those of today: the bracket of decided loads is claimed, and no line over a gap of ratio 2."""


@pytest.fixture(scope="module")
def cases(golden):
    return golden("l")["cases"] | golden("m")["cases"]


def test_every_case_is_compared(cases):
    assert {*CASES, *RATIOS} == set(cases)


def near(value):
    return None if value is None else pytest.approx(value, rel=1e-6)


def share_runs(rows):
    return [ShareRun(block, load, failed, units) for block, load, failed, units in rows]


def condition_of(name, stated, loads):
    rows = stated["rows"]
    if stated["kind"] == "share":
        return ShareCondition(name, stated["limit"], share_runs(rows))
    runs = [ValueRun(block, load, value) for block, load, value in rows]
    measured = {run.load for run in runs}
    return ValueCondition(
        name,
        stated["limit"],
        lower_is_better=stated.get("side", "<=") == "<=",
        runs=runs,
        offered_rate=stated["open_loop"],
        without_number=[load for load in loads if load not in measured],
        shares=share_runs(stated.get("share_rows", ())),
        share_limit=stated.get("share_limit", 0.05),
    )


@pytest.mark.parametrize("name", CASES)
def test_the_capacity_is_that_of_the_reference(cases, name):
    case = cases[name]
    expected = case["expected"]
    conditions = [
        condition_of(each, stated, case["loads"]) for each, stated in case["conditions"].items()
    ]

    result = capacity_of(conditions, resolution=case["rho"])

    assert result.word == WORDS.get(expected["word"], expected["word"])
    if "reason" in expected:
        assert result.reason == expected["reason"]
        return
    low, estimate, high, binding = by_lines(result.conditions)
    assert (low, estimate, high) == tuple(
        near(expected[end]) for end in ("low", "estimate", "high")
    )
    assert binding == (expected["binding"] or "")
    assert_claim(result)
    for one in result.conditions:
        wanted = expected["conditions"][one.name]
        stated = case["conditions"][one.name]
        for end in ("low", "estimate", "high"):
            assert getattr(one, end) == near(wanted[end]), end
        assert one.not_monotone == [tuple(pair) for pair in wanted["not_monotone"]]
        if stated["kind"] == "share":
            assert states_of(one.loads) == wanted["states"]
            assert_shares(one.loads, wanted["shares"])
            continue
        assert one.slope == near(wanted["slope"])
        assert one.levels_only == wanted["levels_only"]
        assert one.allowance == pytest.approx(wanted["allowance"], abs=1e-9)
        assert one.noise == pytest.approx(wanted["noise"], abs=1e-9)
        assert one.block_sd == pytest.approx(wanted["block_sd"], abs=1e-9)
        assert one.window == wanted["window"]
        if stated["kind"] == "value_capped":
            levels = by_levels(share_runs(stated["share_rows"]), stated["share_limit"], 0.05, 0.05)
            assert states_of(levels) == wanted["states"]
            assert_shares(levels, wanted["shares"])


def states_of(levels):
    """The states of the reference, which calls a share without a failure undecided."""
    return ["undecided" if each.state == "not_contradicted" else each.state for each in levels]


def assert_claim(result):
    """What is claimed is the bracket of decided loads, and a line only between neighbours."""
    word, low, high = bracket_of(decisions_of(result))
    if result.word == "not_monotone":
        assert (result.low, result.high) == (None, None)
    elif result.by_line:
        assert low <= result.low <= result.estimate <= result.high <= high
    else:
        assert (result.word, result.low, result.high) == (word, low, high)
        assert result.estimate is None
    loads = [load for load in decisions_of(result) if (low or 0) <= load <= (high or math.inf)]
    if any(not are_near(*pair) for pair in pairwise(loads)):
        assert not result.by_line


def assert_shares(levels, wanted):
    for level, (share, low, high) in zip(levels, wanted, strict=True):
        assert level.share == pytest.approx(share, abs=1e-9)
        assert level.share_interval == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("name", RATIOS)
def test_the_ratio_is_that_of_the_reference(cases, name):
    case = cases[name]
    expected = case["expected_ratio"]
    sides = [
        ValueCondition("p95", case["limit"], True, [ValueRun(*row) for row in case[rows]])
        for rows in ("rows_a", "rows_b")
    ]

    result = ratio_by_lines(sides[0], sides[1], Criteria(margin=0.05, delta=0.1))

    assert result.word == "better"
    for name in ("ratio", "low", "high"):
        assert getattr(result, name) == pytest.approx(expected[name], rel=1e-8)
    assert result.df == pytest.approx(expected["df"], rel=1e-8)
    assert result.error == pytest.approx(expected["se_log"], rel=1e-8)
    assert result.p == pytest.approx(expected["p"], rel=1e-6)
    joint = crossings(sides)
    assert joint
    capacities = [math.exp(side.log) for side in joint[1]]
    assert capacities == pytest.approx(expected["capacities"], rel=1e-8)
    (early_a, late_a), (early_b, late_b) = expected["allowances"]
    bends = (late_a + early_b, early_a + late_b)
    assert (result.early, result.late) == pytest.approx(bends, abs=1e-9)
