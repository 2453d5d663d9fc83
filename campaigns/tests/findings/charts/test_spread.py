import math

import pytest

from campaigns.findings.charts.spread import (
    DensityChart,
    DensityCurve,
    SpreadCell,
    SpreadChart,
    SpreadRun,
    describe,
    describe_density,
    draw,
    draw_density,
    note,
    title,
)
from campaigns.kit.charts.figure import Quantity

SYNC = Quantity("sync time", "s", lower_is_better=True)


def cell(name, *values, place=0):
    runs = [
        SpreadRun(value, f"run {n}", f"block {n}, worker-1", n) for n, value in enumerate(values, 1)
    ]
    return SpreadCell(name, runs, place)


def test_the_line_climbs_to_the_share_of_runs_up_to_each_value(traces):
    drawn = traces(draw(SpreadChart(SYNC, [cell("3", 20.0, 10.0, 40.0, 30.0)])))["3"]

    assert drawn["x"] == [10, 10, 20, 30, 40]
    assert drawn["y"] == [0, 25, 50, 75, 100]
    assert drawn["line"]["shape"] == "hv"


def test_a_click_opens_the_run_whose_step_it_is(traces):
    drawn = traces(draw(SpreadChart(SYNC, [cell("3", 20.0, 10.0)], "concurrency")))["3"]

    assert drawn["customdata"] == [2, 2, 1]
    assert drawn["text"][1] == (
        "<b>run 2</b>, concurrency 3<br>10 s, 1 of 2 runs up to it<br>block 2, worker-1"
    )


def test_more_cells_than_colours_are_told_apart_by_dashes_and_symbols(traces):
    cells = [cell(str(n), 10.0 + n, place=n) for n in range(12)]

    drawn = traces(draw(SpreadChart(SYNC, cells)))

    looks = {
        (each["line"]["color"], each["line"]["dash"], each["marker"]["symbol"])
        for each in drawn.values()
    }
    assert len(looks) == 12


def test_values_are_drawn_on_a_log_axis_only_where_all_have_a_logarithm(checked):
    assert set(checked(draw(SpreadChart(SYNC, [cell("3", 1.0, 2.0)])))["scales"]) == {
        "linear",
        "log",
    }
    assert checked(draw(SpreadChart(SYNC, [cell("3", 0.0, 2.0)])))["scales"] == {}


def test_the_description_says_lowest_median_and_highest():
    chart = SpreadChart(SYNC, [cell("3", 30.0, 10.0, 20.0), cell("5", 5.0)], "concurrency")

    assert describe(chart) == (
        "Distribution of sync time by concurrency. 3: 3 runs from 10 s to 30 s, half of them up to "
        "20 s; 5: 1 run from 5 s to 5 s, half of them up to 5 s."
    )


def test_a_long_description_ends(checked):
    chart = SpreadChart(SYNC, [cell(str(n), 1.0) for n in range(9)])

    assert describe(chart).endswith("; and 3 cells more.")


@pytest.mark.parametrize(
    "values", [[], [math.nan], [0.0], [-1.0, 2.0], [1e-300, 1e300], [5.0] * 500]
)
def test_a_figure_is_valid_whatever_was_measured(checked, values):
    chart = SpreadChart(SYNC, [cell("<b>3</b>", *values)], "a<b>")

    checked(draw(chart))
    assert describe(chart)


def density(**more):
    points = [(9.0, 0.1), (10.0, 1.0), (12.0, 0.2), (13.0, 0.6), (14.0, 0.0)]
    return DensityChart(
        SYNC, [DensityCurve("3", points, [(10.0, 0.6), (13.0, 0.4)], 30)], "concurrency", **more
    )


def test_each_mode_is_a_diamond_on_its_peak(traces):
    drawn = traces(draw_density(density()))["modes of 3"]

    assert list(zip(drawn["x"], drawn["y"], strict=True)) == [(10, 1), (13, 0.6)]
    assert drawn["text"][1] == "<b>3</b><br>mode at 13 s, 40 % of 30 runs"


def test_a_density_of_logarithms_stands_on_a_log_axis(checked):
    assert checked(draw_density(density()))["layout"]["xaxis"]["type"] == "log"
    assert "type" not in checked(draw_density(density(on_logs=False)))["layout"]["xaxis"]


def test_the_modes_are_told_with_their_shares():
    assert title(density()) == "Density of sync time by concurrency"
    assert describe_density(density()) == (
        "Density of sync time by concurrency. 3: 2 modes, 10 s (60 % of the runs) and 13 s (40 % of "
        "the runs)."
    )


def test_rates_of_bytes_are_shown_as_people_read_them(traces):
    rate = Quantity("throughput", "B/s")

    drawn = traces(draw(SpreadChart(rate, [cell("3", 2e6)])))["3"]

    assert drawn["x"] == [2, 2]


def test_the_line_of_many_runs_has_a_hundred_steps_and_both_ends(traces):
    chart = SpreadChart(SYNC, [cell("3", *(float(n) for n in range(1, 1001)))])

    drawn = traces(draw(chart))["3"]

    assert len(drawn["x"]) == 102
    assert (drawn["x"][1], drawn["x"][-1]) == (1, 1000)
    assert (drawn["y"][1], drawn["y"][-1]) == (pytest.approx(0.1), 100)
    assert "1000 of 1000 runs up to it" in drawn["text"][-1]
    assert note(chart).startswith("Of cells with more than 100 runs the line has 100 steps.")


def test_the_line_of_few_runs_has_a_step_at_each():
    assert note(SpreadChart(SYNC, [cell("3", *(float(n) for n in range(101)))])) == ""
