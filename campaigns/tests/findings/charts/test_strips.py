import math

import pytest

from campaigns.findings.charts.strips import Dot, Scale, forest, scale_of, spark, strip


def test_rows_of_one_scale_line_up():
    scale = Scale(560.0, 2100.0)

    row = strip([1747, 1652, 1856, 1700], scale, unit="s", mean=1749.69, interval=(1628.0, 1881.0))

    assert row.dots[:3] == (Dot("77.08%", "9"), Dot("70.91%", "14"), Dot("84.16%", "19"))
    assert row.dots[3].y == "9"
    assert (row.mean, row.low, row.high) == ("77.25%", "69.35%", "85.78%")
    assert row.label == "29:07 min, 27:32 min, 30:56 min, 28:20 min"


def test_what_is_not_there_is_empty():
    row = strip([None, math.nan], Scale(0, 1), unit="s", mean=math.nan)

    assert (row.dots, row.mean, row.low, row.high, row.label) == ((), "", "", "", "no value")


def test_many_runs_are_told_by_their_ends():
    row = strip([float(value) for value in range(20)], Scale(0, 20), unit="ms")

    assert row.label == "20 runs from 0 ms to 19 ms"


def test_what_lies_outside_stands_at_the_edge():
    row = strip([5.0], Scale(4, 6), unit="s", mean=5.0, interval=(-10.0, 100.0))

    assert (row.low, row.high) == ("0.00%", "100.00%")


@pytest.mark.parametrize("values", [[], [None, math.nan], [5.0], [0.0, 0.0], [-1.0, 1e12]])
def test_a_scale_holds_all_values_with_room(values):
    scale = scale_of(values)

    assert scale.low < scale.high
    assert all(scale.low < value < scale.high for value in values if value and math.isfinite(value))


def test_zero_is_in_sight_on_demand():
    scale = scale_of([-24.0, -16.0], zero=True)

    assert scale.high > 0


def test_a_forest_row_places_estimate_interval_and_zero():
    row = forest(-37.4, (-43.5, -30.7), Scale(-50.0, 22.0))

    assert (row.zero, row.estimate, row.low, row.high) == ("69.44%", "17.50%", "9.03%", "26.81%")
    assert row.label == "−37.4 %, interval −43.5 … −30.7 %"


@pytest.mark.parametrize("change", [None, math.nan])
def test_a_forest_row_without_a_value_has_only_its_zero(change):
    row = forest(change, (-1.0, 1.0), Scale(-2.0, 2.0))

    assert (row.zero, row.estimate, row.low, row.high) == ("50.00%", "", "", "")
    assert row.label == "no value"


def test_an_estimate_without_an_interval_stands_alone():
    row = forest(1.0, None, Scale(-2.0, 2.0))

    assert (row.estimate, row.low, row.label) == ("75.00%", "", "+1.0 %")


def test_a_spark_line_goes_from_edge_to_edge():
    line = spark([3.0, 1.0, 2.0])

    assert line
    assert line.line == "4.0,4.0 60.0,28.0 116.0,16.0"
    assert line.points[0] == ("4.0", "4.0")


def test_a_flat_spark_line_has_no_slope():
    line = spark([5.0, 5.0])

    assert line
    assert line.line == "4.0,28.0 116.0,28.0"


@pytest.mark.parametrize("values", [[], [None], [1.0], [1.0, None]])
def test_fewer_than_two_values_make_no_spark(values):
    assert spark(values) is None


def test_a_gap_keeps_its_place():
    line = spark([1.0, None, 2.0])

    assert line
    assert line.line == "4.0,28.0 116.0,4.0"


def test_of_many_points_a_spark_line_marks_none_and_draws_two_a_pixel():
    few, many = spark(range(25)), spark(range(1000))

    assert few
    assert many
    assert (len(few.dots), len(many.dots), len(many.points)) == (25, 0, 240)
    assert (many.points[0], many.points[-1]) == (("4.0", "28.0"), ("116.0", "4.0"))
