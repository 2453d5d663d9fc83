import math

import pytest

from campaigns.kit.charts.figure import Quantity
from campaigns.results.charts.throughput import ThroughputChart, describe, draw, title

FILES = Quantity("files per second", "files/s", lower_is_better=False)


def test_each_step_is_as_wide_as_it_lasted(traces):
    figure = draw(ThroughputChart(FILES, 0.5, [0.0, 48.0, 50.0]))

    drawn = traces(figure)["files per second"]
    assert drawn["x"] == [0, 0.5, 1, 1.5]
    assert drawn["y"] == [0, 48, 50, 50]
    assert drawn["line"]["shape"] == "hv"
    assert drawn["fill"] == "tozeroy"


def test_axes_say_what_and_start_at_zero(checked):
    layout = checked(draw(ThroughputChart(FILES, 1.0, [10.0, 20.0])))["layout"]

    assert layout["xaxis"]["title"]["text"] == "time since the clock started"
    assert layout["yaxis"]["title"]["text"] == ("files per second (files/s), higher is better")
    assert (layout["xaxis"]["range"][0], layout["yaxis"]["range"][0]) == (0, 0)


def test_a_ceiling_is_a_dashed_line_in_sight(traces):
    figure = draw(
        ThroughputChart(FILES, 1.0, [10.0], ceiling=60.0, ceiling_label="ceiling of 15 connections")
    )

    drawn = traces(figure)["ceiling of 15 connections"]
    assert drawn["y"] == [60, 60]
    assert drawn["line"]["dash"] == "dash"
    assert figure["layout"]["yaxis"]["range"][1] > 60


def test_the_axis_of_a_live_run_stands_still(checked):
    figure = checked(draw(ThroughputChart(FILES, 1.0, [10.0, 20.0], expected_seconds=14.5)))

    assert figure["layout"]["xaxis"]["range"] == [0, 14.5]


def test_a_long_run_has_a_clock(checked):
    axis = checked(draw(ThroughputChart(FILES, 60.0, [10.0] * 10)))["layout"]["xaxis"]

    assert axis["ticktext"][:2] == ["0:00", "2:00"]


def test_a_gap_is_a_gap(checked):
    figure = checked(draw(ThroughputChart(FILES, 1.0, [10.0, 20.0, None, None, 5.0])))

    first, second = figure["data"]
    assert (first["x"], first["y"]) == ([0, 1, 2], [10, 20, 20])
    assert (second["x"], second["y"]) == ([4, 5], [5, 5])


def test_bytes_are_shown_as_megabytes(traces):
    rate = Quantity("throughput", "B/s", lower_is_better=False)

    figure = draw(ThroughputChart(rate, 1.0, [48e6, None], ceiling=100e6))

    assert traces(figure)["throughput"]["y"] == [48, 48]
    assert traces(figure)["ceiling"]["y"] == [100, 100]
    assert "MB/s" in figure["layout"]["yaxis"]["title"]["text"]


@pytest.mark.parametrize("values", [[], [None], [0.0], [math.nan, math.inf, 3.0], [1e15]])
def test_a_figure_is_valid_whatever_was_measured(checked, values):
    chart = ThroughputChart(FILES, 1.0, values)

    checked(draw(chart))
    assert describe(chart)


def test_the_description_tells_mean_highest_and_ceiling():
    chart = ThroughputChart(FILES, 0.5, [0.0, 40.0, None, 50.0], ceiling=60.0)

    assert title(chart) == "Files per second over the run"
    assert describe(chart) == (
        "Files per second over the run, 2 s: mean 30 files/s, highest 50 files/s, ceiling 60 files/s."
    )
