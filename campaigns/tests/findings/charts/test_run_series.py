import math

import pytest

from campaigns.findings.charts.run_series import (
    MOST_POINTS,
    RunLine,
    RunSeriesChart,
    describe,
    draw,
    title,
)
from campaigns.kit.charts.figure import Quantity
from campaigns.tests.findings.charts.packed import numbers

RATE = Quantity("throughput", "MB/s")


def run(name, *values, step=0.5):
    return RunLine(name, step, values, "block 1, worker-1", 7)


def test_each_run_begins_at_its_own_start(traces):
    drawn = traces(draw(RunSeriesChart(RATE, [run("run 1", 1.0, 2.0), run("run 2", 3.0)])))

    assert (drawn["run 1"]["x"], drawn["run 1"]["y"]) == ([0.25, 0.75], [1, 2])
    assert (drawn["run 2"]["x"], drawn["run 2"]["y"]) == ([0.25], [3])
    assert drawn["run 1"]["customdata"] == [7, 7]
    assert "block 1, worker-1" in drawn["run 1"]["hovertemplate"]


def test_long_series_are_drawn_as_means_of_longer_steps(traces):
    values = [float(n) for n in range(10 * MOST_POINTS)]

    drawn = traces(draw(RunSeriesChart(RATE, [run("run 1", *values)])))["run 1"]

    assert len(numbers(drawn["x"])) == MOST_POINTS
    assert numbers(drawn["y"])[0] == 4.5
    assert list(numbers(drawn["x"])[:2]) == [2.5, 7.5]


def test_the_description_says_lengths_and_the_highest():
    chart = RunSeriesChart(RATE, [run("run 1", 1.0, 2.0), run("run 2", 3.0)], "concurrency 4")

    assert title(chart) == "Throughput over the time of each run"
    assert describe(chart) == (
        "Throughput over the time of each run of concurrency 4: 2 runs, 500 ms to 1 s long; highest "
        "from 2 MB/s to 3 MB/s."
    )


@pytest.mark.parametrize("values", [[], [0.0], [math.nan, math.inf], [1e300]])
def test_a_figure_is_valid_whatever_was_measured(checked, values):
    chart = RunSeriesChart(RATE, [run("<b>1</b>", *values)])

    checked(draw(chart))
    assert describe(chart)
