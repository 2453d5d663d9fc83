import json
import math
from dataclasses import replace

import pytest

from campaigns.findings.charts.cells import (
    CarriedBand,
    LevelCell,
    LevelsChart,
    Recommended,
    RunPoint,
)
from campaigns.findings.charts.levels import describe, draw, legend, note, title
from campaigns.kit.charts.figure import Quantity

SYNC = Quantity("sync time", "s", lower_is_better=True)
RUNS = {
    3: [1747, 1652, 1856],
    5: [1109, 1067, 1109],
    10: [716, 900, 823],
    20: [636, 658, 623],
}


def cell(level, values, **more):
    runs = [RunPoint(value, name=f"run {index}") for index, value in enumerate(values, 1)]
    known = [value for value in values if value]
    mean = math.exp(sum(math.log(value) for value in known) / len(known)) if known else None
    interval = (0.9 * mean, 1.1 * mean) if mean and len(known) > 1 else None
    return LevelCell(level, more.pop("runs", runs), **{"mean": mean, "interval": interval, **more})


def chart(cells, quantity=SYNC, **more):
    return LevelsChart("download_concurrency", quantity, cells, **more)


@pytest.fixture
def published():
    return chart([cell(level, values) for level, values in RUNS.items()], factor_unit="connections")


def test_every_run_is_drawn_left_of_its_level(published, traces):
    run = traces(draw(published))["run"]

    assert run["y"] == [value for values in RUNS.values() for value in values]
    levels = [level for level, values in RUNS.items() for _ in values]
    assert all(level - 0.6 < x < level for x, level in zip(run["x"], levels, strict=True))
    assert len(set(run["x"])) == 12
    assert run["marker"]["symbol"] == "circle"
    assert run["marker"]["color"] == "@surface"
    assert run["marker"]["line"]["color"] == "@series-1"


def test_the_mean_is_a_diamond_at_its_level(published, traces):
    mean = traces(draw(published))["geometric mean"]

    assert mean["x"] == [3, 5, 10, 20]
    assert mean["y"][0] == pytest.approx(1749.69, abs=0.01)
    assert (mean["marker"]["symbol"], mean["marker"]["color"]) == ("diamond", "@ink")
    assert mean["text"][0].startswith("<b>3 connections</b><br>geometric mean 29:10 min of 3 runs")


def test_the_interval_has_its_own_two_arms(published, traces):
    interval = traces(draw(published))["95 % interval"]

    assert interval["error_y"]["array"][0] == pytest.approx(174.969, abs=0.01)
    assert interval["error_y"]["arrayminus"][0] == pytest.approx(174.969, abs=0.01)
    assert (interval["error_y"]["thickness"], interval["error_y"]["width"]) == (1, 4)


def test_axes_say_what_and_which_way_is_better(published, checked):
    layout = checked(draw(published))["layout"]

    assert layout["xaxis"]["title"]["text"] == "download_concurrency (connections)"
    assert layout["xaxis"]["tickvals"] == [3, 5, 10, 20]
    assert layout["yaxis"]["title"]["text"] == "sync time (min:s), lower is better"
    assert title(published) == "Sync time by download_concurrency"


def test_durations_start_at_zero_and_have_clock_ticks(published, checked):
    axis = checked(draw(published))["layout"]["yaxis"]

    assert axis["range"][0] == 0
    assert axis["ticktext"][:3] == ["0:00", "5:00", "10:00"]
    assert axis["tickvals"][-1] <= axis["range"][1]


def test_short_durations_are_in_seconds(checked):
    axis = checked(draw(chart([cell(1, [22.8, 23.0]), cell(2, [12.0, 12.1])])))["layout"]["yaxis"]

    assert axis["title"]["text"] == "sync time (s), lower is better"
    assert "ticktext" not in axis


def test_the_log_scale_holds_every_run(published, checked):
    figure = checked(draw(published))

    log = figure["scales"]["log"]
    assert figure["scales"]["linear"] == {}
    low, high = (10**bound for bound in log["yaxis"]["range"])
    assert low < 623 < 1856 < high
    assert all(low <= tick <= high for tick in log["yaxis"]["tickvals"])
    left, right = (10**bound for bound in log["xaxis"]["range"])
    drawn = [x for trace in figure["data"] for x in trace["x"]]
    assert left < min(drawn)
    assert max(drawn) < right


def test_far_apart_levels_keep_their_runs_on_a_log_axis(traces):
    figure = draw(chart([cell(level, [9.0, 8.0, 7.0]) for level in (1, 2, 4, 128)]))

    run = traces(figure)["run"]
    assert all(x > 0.8 for x in run["x"])
    assert figure["layout"]["xaxis"]["tickvals"] == [4, 128]
    assert figure["scales"]["log"]["xaxis"]["ticktext"] == ["1", "2", "4", "128"]


@pytest.mark.parametrize("values", [[0.0, 5.0], [-3.0, 5.0]])
def test_values_without_logs_have_no_log_scale(checked, values):
    figure = checked(draw(chart([cell(1, [4.0]), LevelCell(2, [RunPoint(v) for v in values])])))

    assert figure["scales"] == {}
    assert figure["layout"]["yaxis"]["range"][0] <= min(values)


def test_a_level_of_zero_keeps_its_linear_axis(checked):
    figure = checked(draw(chart([cell(0, [4.0, 5.0]), cell(10, [3.0, 3.1])])))

    assert set(figure["scales"]["log"]) == {"yaxis"}


def test_failed_runs_stand_on_a_rail_above_the_plot(traces):
    runs = [RunPoint(20.0), RunPoint(None, "failed", name="run 8", note="3 files missing")]

    figure = draw(chart([cell(1, [18.0, 19.0]), LevelCell(2, runs, mean=20.0)]))

    drawn = traces(figure)
    assert drawn["failed"]["marker"]["symbol"] == "x"
    assert drawn["failed"]["marker"]["color"] == "@fail"
    assert drawn["failed"]["y"][0] > 20
    assert drawn["rail"]["line"]["dash"] == "dot"
    assert figure["layout"]["yaxis"]["range"][1] > drawn["failed"]["y"][0]
    assert drawn["failed"]["text"] == ["<b>run 8</b>, 2<br>failed<br>3 files missing"]


def test_without_failures_there_is_no_rail(published, traces):
    assert not {"failed", "rail"} & set(traces(draw(published)))


def test_what_does_not_count_has_a_shape_of_its_own(traces):
    runs = [RunPoint(60.0, "censored"), RunPoint(40.0, "bound"), RunPoint(30.0, "excluded")]

    drawn = traces(draw(chart([cell(1, [18.0, 19.0]), LevelCell(2, runs)])))

    assert drawn["timed out"]["marker"]["symbol"] == "triangle-up-open"
    assert drawn["timed out"]["text"] == ["2<br>timed out, above 60 s"]
    assert drawn["bound"]["marker"]["symbol"] == "triangle-down-open"
    assert drawn["excluded"]["marker"]["symbol"] == "circle-x-open"
    assert drawn["run"]["y"] == [18, 19]


def test_a_bound_points_up_where_more_is_better(traces):
    rate = Quantity("throughput", "files/s", lower_is_better=False)

    drawn = traces(draw(chart([LevelCell(1, [RunPoint(40.0, "bound")])], rate)))

    assert drawn["bound"]["marker"]["symbol"] == "triangle-up-open"


def test_a_time_out_without_its_limit_is_a_failure(traces):
    drawn = traces(draw(chart([cell(1, [18.0, 19.0], runs=[RunPoint(None, "censored")])])))

    assert len(drawn["failed"]["x"]) == 1


def test_two_factors_are_series_with_symbols_of_their_own(traces):
    cells = [
        cell(level, [level * value for value in (10.0, 11.0, 12.0)], series=engine)
        for engine in ("asyncio", "futures")
        for level in (1, 2, 4)
    ]
    both = chart(cells, series_factor="engine")

    drawn = traces(draw(both))

    assert drawn["run asyncio"]["marker"]["symbol"] == "circle"
    assert drawn["run futures"]["marker"]["symbol"] == "square"
    assert drawn["run futures"]["marker"]["line"]["color"] == "@series-2"
    assert drawn["geometric mean futures"]["marker"]["color"] == "@series-2"
    asyncio, futures = (drawn[f"geometric mean {name}"]["x"] for name in ("asyncio", "futures"))
    assert all(left < right for left, right in zip(asyncio, futures, strict=True))
    assert title(both) == "Sync time by download_concurrency and engine"


def test_eight_series_go_on_with_colours_again(checked):
    cells = [cell(1, [5.0, 6.0], series=str(index)) for index in range(8)]

    checked(draw(chart(cells, series_factor="manifest")))


def test_categories_stand_side_by_side_in_the_order_given(traces):
    figure = draw(chart([cell("uvloop", [5.0, 6.0]), cell("asyncio", [7.0, 8.0])]))

    assert traces(figure)["geometric mean"]["x"] == [0, 1]
    assert figure["layout"]["xaxis"]["ticktext"] == ["uvloop", "asyncio"]
    assert set(figure["scales"]["log"]) == {"yaxis"}
    assert "line" not in figure["data"][0]


def test_a_flag_is_a_category(checked):
    figure = checked(draw(chart([cell(True, [5.0, 6.0]), cell(False, [7.0, 8.0])])))

    assert figure["layout"]["xaxis"]["ticktext"] == ["True", "False"]


def test_a_level_without_a_mean_breaks_the_line(checked):
    figure = checked(draw(chart([cell(1, [5.0, 6.0]), cell(2, [None, None]), cell(4, [3.0, 3.5])])))

    assert figure["data"][0]["mode"] == "lines"
    assert figure["data"][0]["y"][1] is None


def test_an_interval_of_two_runs_is_pale_and_does_not_stretch_the_axis(checked):
    figure = checked(draw(chart([cell(1, [5.0, 6.0], interval=(0.5, 60.0))])))

    (interval,) = (trace for trace in figure["data"] if "error_y" in trace)
    assert interval["error_y"]["color"] == "@ink-3/50"
    assert figure["layout"]["yaxis"]["range"][1] < 11


def test_bytes_are_shown_as_megabytes(traces):
    rate = Quantity("throughput", "B/s", lower_is_better=False)

    figure = draw(chart([cell(1, [48e6, 50e6], interval=(47e6, 51e6))], rate))

    assert traces(figure)["run"]["y"] == [48, 50]
    assert figure["layout"]["yaxis"]["title"]["text"] == "throughput (MB/s), higher is better"


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [LevelCell("", [])],
        [LevelCell("", [RunPoint(5.0)], mean=5.0)],
        [LevelCell(1, [RunPoint(0.0), RunPoint(0.0)], mean=0.0, interval=(0.0, 0.0))],
        [LevelCell(1, [RunPoint(math.nan), RunPoint(math.inf)], mean=math.nan)],
        [LevelCell(math.nan, [RunPoint(1.0)])],
        [LevelCell(1, [RunPoint(None, "failed")]), LevelCell(2, [RunPoint(None)])],
        [LevelCell(5, [RunPoint(1e-9), RunPoint(1e12)])],
        [LevelCell(-1, [RunPoint(-5.0)]), LevelCell(1, [RunPoint(-2.0)])],
    ],
)
def test_a_figure_is_valid_whatever_was_measured(checked, cells):
    checked(draw(chart(cells)))
    assert describe(chart(cells))


def test_somebody_s_words_are_neither_markup_nor_colours(checked):
    name = "<b>@ink</b>" + "x" * 10_000
    figure = checked(draw(chart([cell("@ink", [5.0]), cell(name, [6.0])])))

    plain, cut = figure["layout"]["xaxis"]["ticktext"]
    assert plain != "@ink"
    assert cut.startswith("&lt;b&gt;")
    assert len(cut) < 40


def test_the_description_tells_the_finding_in_numbers(published):
    means = "Sync time by download_concurrency. 3: 29:10 min, 5: 18:15 min, 10: 13:29 min, 20: 10:39 min."

    assert describe(replace(published, best="20")) == f"{means} Best at 20."


def test_a_chart_of_cells_that_are_not_ranked_names_no_best(published):
    assert "Best" not in describe(published)


def test_the_description_tells_what_is_no_value():
    runs = [RunPoint(None, "failed"), RunPoint(60.0, "censored"), RunPoint(50.0, "bound")]

    said = describe(chart([cell(1, [4.0]), LevelCell(2, [*runs, RunPoint(9.0, "excluded")])]))

    assert said.endswith("1 run failed. 1 run timed out. 1 run only a bound. 1 run excluded.")


@pytest.mark.parametrize(
    ("spoiled", "said", "key"),
    [
        (0, "2 runs failed.", "failed, no value"),
        (1, "2 runs failed, or without a value: too much failed.", "failed, or no value: too much failed"),
        (2, "2 runs without a value: too much failed.", "no value: too much failed"),
    ],
)  # fmt: skip
def test_a_run_that_ended_well_is_not_told_to_have_failed(spoiled, said, key, traces):
    runs = [RunPoint(None, "failed"), RunPoint(None, "failed")]
    drawn = chart([cell(1, [4.0]), LevelCell(2, runs, spoiled=spoiled)])
    assert describe(drawn).endswith(said)
    assert key in [each.text for each in legend(drawn)]
    hover = traces(draw(drawn))["failed"]["text"][0]
    assert hover.endswith("<br>no value: too much failed" if spoiled else "<br>failed")


def test_many_cells_are_described_by_their_ends():
    rate = Quantity("throughput", "files/s", lower_is_better=False)

    said = describe(chart([cell(level, [10.0 * level]) for level in range(1, 31)], rate))

    assert said.endswith("30 cells, with means of 10 files/s to 300 files/s.")


def test_nothing_measured_yet_is_said():
    assert describe(chart([LevelCell(1, [])])).endswith("No value yet.")


def test_the_legend_lists_what_there_is_none_of(published):
    counts = {item.mark: item.count for item in legend(published)}

    assert counts == {
        "circle": 12,
        "diamond": None,
        "interval": None,
        "failed": 0,
        "censored": 0,
        "bound-down": 0,
        "excluded": 0,
    }


def test_the_legend_names_each_series():
    cells = [cell(1, [5.0, 6.0], series=name) for name in ("asyncio", "futures")]

    items = legend(chart(cells, series_factor="engine"))

    assert [(item.mark, item.token, item.count) for item in items[:2]] == [
        ("circle", "series-1", 2),
        ("square", "series-2", 2),
    ]
    assert items[1].text.startswith("engine futures")


def test_an_unknown_state_is_a_mistake():
    with pytest.raises(ValueError, match="no state"):
        RunPoint(1.0, "void")


def test_bounds_for_comparing_levels_are_broad_bars(traces):
    drawn = traces(draw(chart([cell(3, [60, 61], reading=(55.0, 66.0)), cell(5, [40, 41])])))

    bars = drawn["for comparing levels"]
    assert bars["x"] == [3]
    assert bars["error_y"]["array"] == pytest.approx([66 - math.sqrt(60 * 61)], rel=1e-4)


def test_the_knee_is_a_band_on_both_axes(published):
    drawn = draw(replace(published, knee=(5.0, 8.0)))

    (band,) = drawn["layout"]["shapes"]
    assert (band["x0"], band["x1"], band["yref"]) == (5.0, 8.0, "paper")
    assert "shapes" not in drawn["scales"]["log"]
    said = describe(replace(published, knee=(5.0, 8.0)))
    assert "The knee lies between 5 and 10 (5 to 8, 95 %)." in said
    assert any(item.mark == "band" for item in legend(replace(published, knee=(5.0, 8.0))))


def test_the_recommended_level_is_a_band_and_what_is_as_good_a_dotted_line(published):
    advised = replace(published, recommended=Recommended(20, 670.0, 5.0))
    band, line = draw(advised)["layout"]["shapes"]

    assert band["x0"] < 20 < band["x1"]
    assert (line["y0"], line["line"]["dash"]) == (670, "dot")
    assert "20 is within 5 % of the best." in describe(advised)
    assert "the best and 5 % worse" in [item.text for item in legend(advised)]


def test_where_no_level_is_shown_to_be_as_good_only_the_line_is_drawn(published):
    (line,) = draw(replace(published, recommended=Recommended(None, 670.0, 5.0)))["layout"][
        "shapes"
    ]

    assert line["type"] == "line"


def test_a_recommended_word_is_a_band_around_its_place():
    words = chart([cell("asyncio", [60, 61]), cell("futures", [40, 41])])
    band, _ = draw(replace(words, recommended=Recommended("futures", 42.0, 5.0)))["layout"][
        "shapes"
    ]

    assert (band["x0"], band["x1"]) == (0.6, 1.4)


def test_words_have_no_knee():
    words = chart([cell("asyncio", [60, 61]), cell("futures", [40, 41])], knee=(1.0, 2.0))

    assert draw(words)["layout"]["shapes"] == []


def many(level, count, **more):
    """A cell whose values are 1, 2, … with some noise of order, slowest in the middle."""
    values = sorted(range(1, count + 1), key=lambda value: value * 37 % 101)
    return cell(level, [float(value) for value in values], **more)


def test_a_cell_of_many_runs_is_a_box_with_some_of_its_runs(traces):
    both = chart([many(1, 1001), cell(2, [5.0, 6.0, 7.0])])

    drawn = traces(draw(both))

    box = drawn["middle half of the runs"]
    assert sorted({y for y in box["y"] if y is not None}) == [251, 751]
    assert box["fill"] == "toself"
    assert drawn["median"]["y"] == [501]
    assert drawn["median"]["text"][0].startswith("<b>1</b><br>median 8:21 min of 1,001 runs")
    lines = [y for y in drawn["median and whiskers"]["y"] if y is not None]
    assert (min(lines), max(lines)) == (51, 951)
    runs = drawn["run"]["y"]
    assert len(runs) == 25 + 3
    assert {1, 1001, 5, 6, 7} <= set(runs)


def test_the_note_says_how_many_runs_are_drawn_and_where_all_are():
    said = note(chart([many(1, 1000), cell(2, [5.0, 6.0])]))

    assert said == (
        "27 of 1,002 runs are drawn: up to 25 of each cell with 25 or more, evenly by rank, with the"
        " lowest and the highest. The table of runs and the CSV of the campaign have all of them."
    )


def test_without_crowds_there_is_neither_box_nor_note(published, traces):
    assert "middle half of the runs" not in traces(draw(published))
    assert note(published) == ""
    assert "box" not in {item.mark for item in legend(published)}


def test_a_cell_of_49_runs_is_drawn_run_by_run(traces):
    assert len(traces(draw(chart([many(1, 49)])))["run"]["x"]) == 49
    assert len(traces(draw(chart([many(1, 50)])))["run"]["x"]) == 25


def test_runs_that_failed_and_timed_out_stay_beside_the_box(traces):
    special = [RunPoint(None, "failed"), RunPoint(9000.0, "censored"), RunPoint(8000.0, "bound")]
    crowd = [RunPoint(float(value)) for value in range(1, 300)]

    drawn = traces(draw(chart([LevelCell(1, [*crowd, *special], mean=100.0)])))

    assert [len(drawn[name]["x"]) for name in ("failed", "timed out", "bound")] == [1, 1, 1]


def test_many_timeouts_are_thinned_by_their_limit(traces):
    limits = [RunPoint(float(value), "censored") for value in range(1, 301)]

    drawn = traces(draw(chart([LevelCell(1, limits)])))["timed out"]["y"]

    assert len(drawn) == 25
    assert {1, 300} < set(drawn)


def test_ten_thousand_runs_in_200_cells_are_a_small_figure():
    cells = [many(level, 50, series=name) for level in range(1, 21) for name in "abcdefghij"]

    assert len(json.dumps(draw(chart(cells)))) < 250_000


def test_boxes_are_within_the_axis_on_both_scales(checked):
    cells = [many(level, 60, series=name) for level in (1, 3, 5) for name in ("a", "b")]
    figure = checked(draw(chart(cells)))

    drawn = [x for trace in figure["data"] for x in trace["x"] if x is not None]
    assert figure["layout"]["xaxis"]["range"][0] < min(drawn)
    assert 10 ** figure["scales"]["log"]["xaxis"]["range"][0] < min(drawn)


def test_each_entry_of_the_legend_hides_something_that_is_drawn(checked):
    runs = [RunPoint(9.0, state) for state in ("censored", "bound", "excluded")]
    cells = [many(1, 60), LevelCell(2, [*runs, RunPoint(None, "failed")]), cell(4, [2.0, 3.0])]
    one = replace(
        chart(cells, knee=(1.5, 2.5)), recommended=Recommended(level=2, limit=3.0, share_pct=2.0)
    )

    figure = checked(draw(one))

    entries = {item.group for item in legend(one)}
    traces = {group for trace in figure["data"] for group in trace.get("meta", ())}
    shapes = {shape["name"] for shape in figure["layout"]["shapes"]}
    assert "" not in entries
    assert entries == (traces | shapes) - {"s1"}


def test_a_series_is_hidden_with_its_means_intervals_and_failures(checked):
    cells = [
        cell(level, [4.0, 5.0, 6.0], series=name, runs=[RunPoint(4.0), RunPoint(None, "failed")])
        for level in (1, 2)
        for name in ("asyncio", "futures")
    ]
    both = chart(cells, series_factor="engine")

    figure = checked(draw(both))

    assert [item.group for item in legend(both)[:2]] == ["s1", "s2"]
    of_second = [trace for trace in figure["data"] if "s2" in trace["meta"]]
    assert {kind for trace in of_second for kind in trace["meta"]} >= {
        "runs",
        "mean",
        "interval",
        "failed",
    }


def test_loads_stand_on_a_log_axis_from_a_ratio_of_eight_on(checked, traces):
    cells = [cell(5, [12.0, 13.0]), cell(40, [31.0], runs=[RunPoint(None, "failed")])]
    wide = chart(cells, is_load=True)

    axis = checked(draw(wide))["layout"]["xaxis"]
    assert axis["type"] == "log"
    assert axis["range"][0] < math.log10(5)
    assert "xaxis" not in draw(wide)["scales"]["log"]
    rail = traces(draw(wide))["rail"]
    assert rail["x"][0] == pytest.approx(10 ** axis["range"][0], rel=1e-3)
    near = replace(wide, cells=[cell(5, [12.0]), cell(30, [20.0])])
    assert "type" not in checked(draw(near))["layout"]["xaxis"]


def test_eight_loads_have_fewer_ticks_on_a_narrow_screen(checked):
    cells = [cell(n, [2.0 * n]) for n in (50, 100, 150, 200, 300, 400, 600, 800)]

    figure = checked(draw(chart(cells, is_load=True)))

    assert figure["layout"]["xaxis"]["ticktext"][-3:] == ["400", "600", "800"]
    assert figure["narrow"]["xaxis"]["ticktext"] == ["50", "100", "200", "400", "800"]
    words = checked(draw(chart([cell(name, [2.0]) for name in ("old", "new")])))
    assert "xaxis" not in words["narrow"]


def test_what_each_series_carries_is_a_band_of_the_loads(checked):
    cells = [cell(n, [2.0 * n], series=name) for name in ("2", "4") for n in (5, 40)]
    bands = [CarriedBand("2", 8.0, 11.0), CarriedBand("4", 20.0, None), CarriedBand("?", 1.0, 2.0)]
    carried = chart(cells, is_load=True, limit=20.0, carried=bands)

    figure = checked(draw(carried))
    shapes = figure["layout"]["shapes"]
    drawn = [(s["x0"], s["x1"], s["fillcolor"]) for s in shapes if s["name"] == "carried"]
    assert drawn[0] == (8, 11, "@series-1/14")
    assert drawn[1][1] == pytest.approx(10 ** figure["layout"]["xaxis"]["range"][1], rel=1e-4)
    assert len(drawn) == 2
    assert [s["y0"] for s in shapes if s["name"] == "condition"] == [20]
    texts = [item.text for item in legend(carried)]
    assert "carried, 95 %" in texts
    assert "limit of the condition" in texts
    assert draw(replace(carried, is_load=False))["layout"]["shapes"] == []
