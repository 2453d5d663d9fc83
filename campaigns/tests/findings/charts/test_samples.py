import math
import random

import pytest

from campaigns.kit.charts.figure import Quantity
from campaigns.results.charts.samples import (
    MOST_POINTS,
    Curve,
    SamplesChart,
    describe,
    draw,
    percentile,
    title,
)
from campaigns.tests.findings.charts.packed import numbers

TIME = Quantity("time", "s", lower_is_better=True)


def chart(*curves, **more):
    return SamplesChart(TIME, curves, **more)


def test_the_curve_rises_to_all_files(checked):
    figure = checked(draw(chart(Curve("", [0.3, 0.1, 0.2, 0.4]))))

    (curve,) = figure["data"]
    assert curve["x"] == [0.1, 0.2, 0.3, 0.4]
    assert curve["y"] == [25, 50, 75, 100]
    assert curve["line"]["shape"] == "hv"


def test_axes_say_what(checked):
    layout = checked(draw(chart(Curve("", [0.3, 0.1]))))["layout"]

    assert layout["xaxis"]["title"]["text"] == "time (s), lower is better"
    assert layout["yaxis"]["title"]["text"] == "share of files done by then"
    assert layout["xaxis"]["range"][0] == 0


def test_many_samples_are_thinned_and_keep_the_slowest(checked):
    values = [random.Random(1).expovariate(1) for _ in range(20_000)]
    values = [value * index for index, value in enumerate(values, 1)]

    figure = checked(draw(chart(Curve("", values))))

    curve = figure["data"][0]
    drawn = numbers(curve["x"])
    assert len(drawn) <= MOST_POINTS + 11
    assert drawn[-1] == pytest.approx(max(values), rel=1e-5)
    assert numbers(curve["y"])[-1] == 100


def test_percentiles_are_marked_where_the_samples_bear_them(checked):
    figure = checked(draw(chart(Curve("", [float(value) for value in range(1, 501)]))))

    marks = figure["data"][1]
    assert marks["x"] == [250, 475]
    assert marks["text"] == ["p50 4:10 min", "p95 7:55 min"]


def test_two_curves_have_a_legend_and_lines_of_their_own(checked):
    both = chart(Curve("first byte", [0.1, 0.2]), Curve("total", [0.3, 0.4]))

    figure = checked(draw(both))

    assert figure["layout"]["showlegend"]
    assert [trace["line"]["dash"] for trace in figure["data"]] == ["solid", "dash"]
    assert title(both) == "Time of all files"


def test_long_samples_have_a_clock(checked):
    axis = checked(draw(chart(Curve("", [100.0, 300.0]))))["layout"]["xaxis"]

    assert axis["title"]["text"] == "time (min:s), lower is better"
    assert axis["ticktext"][0] == "0:00"


def test_a_log_scale_needs_values_above_zero(checked):
    assert "log" in checked(draw(chart(Curve("", [0.1, 0.2]))))["scales"]
    assert checked(draw(chart(Curve("", [0.0, 0.2]))))["scales"] == {}


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [0.0] * 5, [1e-9, 1e9], [-1.0, 1.0]])
def test_a_figure_is_valid_whatever_was_measured(checked, values):
    checked(draw(chart(Curve("<i>", values))))
    assert describe(chart(Curve("<i>", values)))


def test_no_curve_is_a_valid_figure(checked):
    checked(draw(chart()))


def test_the_description_tells_percentiles_and_what_failed():
    values = [value / 100 for value in range(1, 501)]

    said = describe(chart(Curve("total", values), failed=3))

    assert said == (
        "Time of all files. Total, 500 files: p50 2.5 s, p95 4.75 s, p99 needs 1000, "
        "highest 5 s. 3 failed and are not in the curve."
    )


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (0.99, 20), (0.01, 1)])
def test_a_percentile_is_one_of_the_values(share, value):
    assert percentile(range(1, 21), share) == value
