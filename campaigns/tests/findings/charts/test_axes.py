import math

import pytest

from campaigns.kit.charts.axes import (
    clock_ticks,
    log_clock_ticks,
    log_range,
    log_ticks,
    narrow_ticks,
    nice_step,
    thinned,
    value_title,
)
from campaigns.kit.charts.figure import Quantity


@pytest.mark.parametrize(
    ("high", "step"), [(130, 30), (2130, 300), (7000, 900), (90_000, 14_400), (5e6, 691_200)]
)
def test_clock_ticks_are_easy_to_say(high, step):
    values = clock_ticks(0, high)["tickvals"]

    assert values[:2] == [0, step]
    assert len(values) <= 9


def test_a_narrow_log_axis_has_the_ticks_of_a_linear_one():
    assert log_clock_ticks(1000, 1150) == clock_ticks(1000, 1150)


@pytest.mark.parametrize(
    ("extent", "step"), [(0.0, 1.0), (1.0, 0.2), (72.0, 20.0), (14.0, 2.5), (9.0, 2.0), (29.9, 5.0)]
)
def test_steps_are_round(extent, step):
    assert nice_step(extent) == pytest.approx(step)


def test_ticks_that_would_cover_one_another_are_left_out():
    assert thinned([1, 2, 4, 64, 128], 127) == [2, 3, 4]


def test_a_quantity_that_nobody_judges_has_no_better_side():
    assert value_title(Quantity("sockets", "count"), with_clock=False) == "sockets"
    assert value_title(Quantity("failed", "share", True), with_clock=False) == (
        "failed (share of 1), lower is better"
    )


def test_on_a_narrow_screen_labels_stand_side_by_side_on_both_axes():
    levels = [60, 120, 180, 240, 300, 360, 420, 480]
    ticks = {"tickvals": levels, "ticktext": [str(each) for each in levels]}
    linear = {"range": [30, 510], **ticks}
    log = {"type": "log", "range": [math.log10(50), math.log10(580)], **ticks}

    assert narrow_ticks({"range": [0, 5], "tickvals": [1, 4], "ticktext": ["1", "4"]}) == {}
    assert narrow_ticks(linear, log)["ticktext"] == ["60", "120", "180", "300", "480"]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.02, 0.8, ["0.02", "0.05", "0.1", "0.2", "0.5"]),
        (1.5, 20_000, ["10", "100", "1,000", "10,000"]),
        (0.95, 3.25, ["1", "1.5", "2", "3"]),
        (40, 60, ["40", "45", "50", "55", "60"]),
        (0.001, 0.0012, ["0.001", "0.00105", "0.0011", "0.00115"]),
    ],
)
def test_ticks_of_a_log_axis_are_plain_numbers(low, high, ticks):
    assert log_ticks(low, high)["ticktext"] == ticks


@pytest.mark.parametrize(("low", "high"), [(1.0, 1e300), (5e-324, 1.0), (1e300, 1e300)])
def test_the_ends_of_a_log_axis_are_numbers_whatever_the_values_are(low, high):
    start, end = (10**power for power in log_range(low, high))

    assert 0 < start < end
    log_ticks(start, end)
    log_clock_ticks(start, end)
