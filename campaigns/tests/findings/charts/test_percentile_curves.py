import pytest

from campaigns.findings.charts.percentile_curves import (
    PercentileCell,
    PercentileChart,
    PercentilePoint,
    describe,
    draw,
    legend,
)
from campaigns.kit.charts.figure import Quantity

FILE = Quantity("file time", "ms", lower_is_better=True)


def cell(name="4", place=0, runs=3):
    interval = (9.0, 11.0) if runs > 2 else None
    points = [PercentilePoint(0.5, 10.0, interval), PercentilePoint(0.99, 40.0)]
    return PercentileCell(name, points, runs, 3000, [(0.5, 10.0), (0.999, 90.0)], place)


def chart(*cells):
    return PercentileChart(FILE, cells, "concurrency", "file")


def test_the_far_end_is_stretched(traces):
    drawn = traces(draw(chart(cell())))

    assert drawn["4"]["x"] == pytest.approx([2, 100])
    assert drawn["4, all together"]["x"] == pytest.approx([2, 1000])


def test_percentiles_have_ticks_with_their_names(checked):
    axis = checked(draw(chart(cell())))["layout"]["xaxis"]

    assert axis["type"] == "log"
    assert axis["ticktext"] == ["0 %", "50 %", "90 %", "99 %", "99.9 %"]


def test_a_band_is_drawn_where_there_is_an_interval(traces):
    drawn = traces(draw(chart(cell())))["interval of 4"]

    assert (drawn["y"], drawn["fill"]) == ([11, 9], "toself")
    assert "interval of 4" not in traces(draw(chart(cell(runs=2))))


def test_five_cells_have_no_bands_and_the_legend_says_so(traces):
    five = chart(*(cell(str(n), n) for n in range(5)))

    assert not any(name.startswith("interval") for name in traces(draw(five)))
    assert [item.mark for item in legend(five)] == ["solid", "dotted"]
    assert [item.mark for item in legend(chart(cell()))] == ["solid", "band", "dotted"]


def test_the_hover_tells_runs_and_their_interval(traces):
    drawn = traces(draw(chart(cell())))["4"]

    assert drawn["text"][0] == (
        "<b>concurrency 4</b><br>p50 of 3 runs: 10 ms<br>over runs 9 ms … 11 ms"
    )


def test_the_description_says_the_named_percentiles():
    few = PercentileCell("8", [], 1, 5)

    assert describe(chart(cell(), few)) == (
        "Percentiles of file time by concurrency. 4 (3 runs, 3,000 files): p50 10 ms, p99 40 ms; "
        "8 (1 run, 5 files): too few for a percentile."
    )


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [PercentileCell("4", [], 1, 5)],
        [PercentileCell("4", [PercentilePoint(0.0, 0.0)], 1, 20, [(0.0, 0.0)])],
    ],
)
def test_a_figure_is_valid_whatever_was_measured(checked, cells):
    checked(draw(chart(*cells)))
    assert describe(chart(*cells))
