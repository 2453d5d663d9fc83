import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from campaigns.charts.drift import MOST_SYMBOLS, DriftChart, DriftRun, describe, draw, title
from campaigns.charts.figure import Quantity

SYNC = Quantity("sync time", "s", lower_is_better=True)
START = datetime(2020, 7, 25, 16, 48, 11, tzinfo=UTC)


def runs(values, cell, start=START):
    return [
        DriftRun(cell, value, index, start + timedelta(minutes=30 * index) if start else None)
        for index, value in enumerate(values, 1)
    ]


def test_each_run_is_drawn_in_percent_of_its_own_cell(traces):
    chart = DriftChart(SYNC, runs([1747, 1652, 1856], "3") + runs([636, 658, 623], "20"))

    drawn = traces(draw(chart))

    assert drawn["3"]["y"] == pytest.approx([-0.153557, -5.5831, 6.07613], abs=1e-4)
    assert drawn["20"]["y"] == pytest.approx([-0.444155, 2.9996, -2.4791], abs=1e-4)
    assert drawn["3"]["marker"]["symbol"] != drawn["20"]["marker"]["symbol"]
    assert drawn["3"]["marker"]["color"] != drawn["20"]["marker"]["color"]


def test_time_is_on_the_axis_in_utc_where_every_run_has_it(traces):
    summer = timezone(timedelta(hours=2))
    chart = DriftChart(SYNC, runs([5.0, 6.0], "3", START.astimezone(summer)), "concurrency")

    figure = draw(chart)

    assert traces(figure)["3"]["x"][0] == 1_595_697_491_000  # 17:18:11 in UTC
    assert "2020-07-25 17:18:11" in traces(figure)["3"]["text"][0]
    assert figure["layout"]["xaxis"]["type"] == "date"
    assert figure["layout"]["xaxis"]["title"]["text"] == "start, UTC"


def test_otherwise_the_position_is(traces):
    chart = DriftChart(SYNC, [*runs([5.0, 6.0], "3"), DriftRun("3", 7.0, 3)])

    figure = draw(chart)

    assert traces(figure)["3"]["x"] == [1, 2, 3]
    assert figure["layout"]["xaxis"]["title"]["text"] == "position in the plan"


def test_the_axis_says_what_the_percentages_are_of(checked):
    layout = checked(draw(DriftChart(SYNC, runs([5.0, 6.0], "3"))))["layout"]

    assert layout["yaxis"]["title"]["text"] == "sync time, % from its own cell’s mean"


def test_little_noise_does_not_fill_the_axis(checked):
    low, high = checked(draw(DriftChart(SYNC, runs([5.0, 5.001], "3"))))["layout"]["yaxis"]["range"]

    assert low < -5
    assert high > 5


@pytest.mark.parametrize(("cells", "shown"), [(1, False), (3, True), (13, False)])
def test_the_legend_is_shown_where_it_tells_cells_apart(checked, cells, shown):
    chart = DriftChart(SYNC, [run for n in range(cells) for run in runs([5.0, 6.0], str(n))])

    assert checked(draw(chart))["layout"]["showlegend"] is shown


@pytest.mark.parametrize(
    "values", [[], [0.0], [-1.0, 2.0], [math.nan, math.inf], [1e-300, 1e300], [5.0]]
)
def test_a_figure_is_valid_whatever_was_measured(checked, values):
    chart = DriftChart(SYNC, runs(values, "<b>cell</b>"))

    checked(draw(chart))
    assert describe(chart)


def test_the_description_tells_early_from_late():
    chart = DriftChart(SYNC, runs([90.0, 95.0, 105.0, 110.0], "3"))

    assert title(chart) == "Sync time in the order of the runs"
    assert describe(chart) == (
        "Sync time in the order of the runs: 4 runs, from −9.7 % to +10.3 % of their own cell's "
        "mean; first half −7.2 %, second half +7.8 % on average."
    )


def test_many_cells_are_one_trace_without_a_legend(traces):
    several = [run for cell in range(MOST_SYMBOLS + 1) for run in runs([5.0, 6.0], str(cell))]

    figure = draw(DriftChart(SYNC, several, "concurrency"))

    assert len(traces(figure)[""]["x"]) == 2 * (MOST_SYMBOLS + 1)
    assert figure["layout"]["showlegend"] is False
    assert "concurrency 3" in " ".join(traces(figure)[""]["text"])
