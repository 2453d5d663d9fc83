import math

import pytest

from campaigns.kit.charts.figure import FEWEST_PACKED, figure, markers, packed
from campaigns.tests.findings.charts.packed import numbers

MANY = range(FEWEST_PACKED)


def test_few_numbers_travel_as_text():
    assert packed([1.5] * (FEWEST_PACKED - 1)) is None


def test_many_numbers_travel_as_bytes_with_six_digits():
    values = [0.1 + 1000.0 * index for index in MANY]

    array = packed(values)

    assert array is not None
    assert array["dtype"] == "f4"
    assert numbers(array) == pytest.approx(values, rel=1e-6)


def test_whole_numbers_stay_whole_and_instants_keep_their_milliseconds():
    positions, instants = list(MANY), [1_767_225_600_001 + index for index in MANY]

    assert [each["dtype"] for each in map(packed, (positions, instants)) if each] == ["i4", "f8"]
    assert numbers(packed(positions)) == positions
    assert numbers(packed(instants)) == instants


@pytest.mark.parametrize("gap", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_a_gap(gap):
    values = numbers(packed([gap, *map(float, MANY)]))

    assert math.isnan(values[0])
    assert values[1:] == list(MANY)


def test_nothing_but_gaps_is_still_an_array():
    assert all(map(math.isnan, numbers(packed([None] * FEWEST_PACKED))))


@pytest.mark.parametrize("other", ["12", True, [1.0]])
def test_what_holds_anything_else_travels_as_text(other):
    assert packed([other, *MANY]) is None


def test_a_figure_packs_positions_values_and_the_runs_behind_them_but_no_words():
    points = [(float(index), 2.0) for index in MANY]

    drawn = figure(
        [markers(points, {}, text=["a"] * len(MANY), customdata=list(MANY))],
        {"xaxis": {"range": [0, 1]}},
    )

    (trace,) = drawn["data"]
    assert {name for name, value in trace.items() if isinstance(value, dict)} >= {"x", "y", "customdata"}  # fmt: skip
    assert trace["text"] == ["a"] * len(MANY)
    assert drawn["layout"]["xaxis"]["range"] == [0, 1]
