import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from campaigns.findings.charts.drift import (
    MOST_SYMBOLS,
    BlockStep,
    DriftChart,
    DriftRun,
    SessionStart,
    changes_of,
    describe,
    draw,
    legend,
    note,
    title,
)
from campaigns.kit.charts.figure import Quantity
from campaigns.tests.findings.charts.packed import numbers

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


def with_blocks(**more):
    blocks = [
        BlockStep("block 1", -2.0, 1, 2, START, START + timedelta(minutes=30), 1),
        BlockStep("block 2", 2.0, 3, 4, START + timedelta(hours=1), START + timedelta(hours=2), 2),
    ]
    return DriftChart(SYNC, runs([5.0, 6.0, 5.0, 6.0], "3"), blocks=blocks, **more)


def test_the_effect_of_each_block_is_a_step_from_its_first_run_to_its_last(traces):
    drawn = traces(draw(with_blocks()))["effect of a block"]

    begun = 1000 * START.timestamp()
    assert drawn["x"][:2] == [begun, begun + 1_800_000]
    assert drawn["y"] == [-2, -2, None, 2, 2, None]
    assert drawn["text"][0] == "<b>block 1</b><br>−2.0 % compared with the others"


def test_by_position_steps_hold_their_runs(traces):
    chart = DriftChart(SYNC, runs([5.0, 6.0], "3", None), blocks=[BlockStep("block 1", 1.0, 1, 2)])

    assert traces(draw(chart))["effect of a block"]["x"][:2] == [0.6, 2.4]


def test_another_session_begins_at_a_line_with_its_name(checked):
    begun = SessionStart("session 2", 3, START + timedelta(hours=1))

    layout = checked(draw(with_blocks(sessions=[begun])))["layout"]

    assert (
        layout["shapes"][0]["x0"] == layout["shapes"][0]["x1"] == 1000 * (START.timestamp() + 3600)
    )
    assert layout["annotations"][0]["text"] == "session 2"
    assert [item.text for item in legend(with_blocks(sessions=[begun]))] == [
        "effect of a block",
        "another session begins",
    ]


def test_the_description_says_how_much_blocks_vary():
    said = describe(with_blocks(block_sd_pct=2.834, sd_pct=1.0))

    assert said.endswith("blocks vary by 2.8 % (sd), runs within a block by 1.0 %.")


def test_the_hover_of_a_run_tells_block_and_worker_and_a_click_opens_it(traces):
    run = DriftRun("3", 5.0, 4, START, "run 4", "block 2, worker-1", 2)

    drawn = traces(draw(DriftChart(SYNC, [run], "concurrency")))["3"]

    assert drawn["text"] == [
        "<b>run 4</b>, concurrency 3<br>block 2, worker-1<br>0.0 % of its mean"
    ]
    assert drawn["customdata"] == [4]


def test_the_distance_of_each_run_is_the_one_that_is_drawn():
    assert changes_of(DriftChart(SYNC, runs([1747, 1652, 1856], "3")))[2] == pytest.approx(
        -5.5831, abs=1e-4
    )


def test_of_many_runs_some_are_drawn_evenly_over_time_with_those_farthest_out(traces):
    values = [100.0 + n % 7 for n in range(3000)]
    values[1234], values[2345] = 300.0, 10.0
    many = DriftChart(SYNC, runs(values, "3"))

    drawn = numbers(traces(draw(many))["3"]["customdata"])

    assert 500 <= len(drawn) <= 520
    assert {many.runs[at].position for at in (0, 1234, 2345, 2999)} < set(drawn)
    assert note(many).startswith(f"{len(drawn)} of 3,000 runs are drawn: evenly")


def test_a_thousand_runs_are_all_drawn():
    assert note(DriftChart(SYNC, runs([5.0] * 1000, "3"))) == ""
