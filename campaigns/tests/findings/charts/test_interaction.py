import dataclasses

import pytest

from campaigns.findings.charts import interaction
from campaigns.findings.charts.interaction import InteractionChart, Point, Row

CHART = InteractionChart(
    metric="duration",
    factor="workers",
    rows_factor="CPUs",
    columns=[2, 4, 8],
    rows=[
        Row("4", [Point(0, 0.0), Point(1, 26.0, (20.0, 31.0)), Point(2, -8.0)], best=1),
        Row("32", [Point(1, 0.0), Point(2, None, failed=True)]),
    ],
)


def traces(chart, name):
    return [trace for trace in interaction.draw(chart)["data"] if trace.get("name") == name]


def test_a_row_is_a_line_from_its_baseline_on():
    line, points = traces(CHART, "4")

    assert line["x"] == [2, 4, 8]
    assert line["y"] == [0, 26, -8]
    assert points["error_y"]["array"] == [0, 5, 0]
    assert "+26.0 % (+20.0 … +31.0)" in points["text"][1]


def test_a_failing_cell_stands_on_the_rail_and_breaks_the_line():
    line = traces(CHART, "32")[0]
    (failed,) = traces(CHART, "too many failures")

    assert line["y"] == [0, None]
    assert failed["x"] == [8]
    assert failed["y"][0] > 31


def test_numbers_have_a_log_axis_and_words_have_none():
    words = dataclasses.replace(CHART, columns=["a", "b", "c"])

    assert "log" in interaction.draw(CHART)["scales"]
    assert interaction.draw(words)["scales"] == {}
    assert interaction.draw(words)["layout"]["xaxis"]["ticktext"] == ["a", "b", "c"]


def test_the_words_tell_the_best_of_each_row_and_the_failures():
    told = interaction.describe(CHART)

    assert "4: best +26.0 % at 4." in told
    assert "32: no cell is ranked." in told
    assert "1 cell with too many failures" in told


def test_the_legend_counts_failures_even_none():
    none = dataclasses.replace(CHART, rows=CHART.rows[:1])

    assert interaction.legend(CHART)[-1].count == 1
    assert interaction.legend(none)[-1].count == 0


@pytest.mark.parametrize("rows", [[], [Row("a", [])], [Row("a", [Point(0, None)])]])
def test_without_a_value_there_is_an_empty_chart(rows):
    figure = interaction.draw(dataclasses.replace(CHART, rows=rows))

    assert figure["layout"]["yaxis"]["range"][0] < figure["layout"]["yaxis"]["range"][1]


def test_over_loads_each_setting_is_a_line_and_none_is_the_best(checked):
    loads = dataclasses.replace(
        CHART,
        factor="hosts",
        columns=[100, 400, 960],
        rows=[Row("4", [Point(0, 12.0), Point(1, 26.0), Point(2, None, failed=True)])],
        is_load=True,
    )

    figure = checked(interaction.draw(loads))

    assert figure["layout"]["xaxis"]["type"] == "log"
    assert figure["scales"] == {}
    rail = next(trace for trace in figure["data"] if trace.get("name") == "rail")
    assert 0 < rail["x"][0] < 100 < 960 < rail["x"][1]
    words = interaction.describe(loads)
    assert "4: +12.0 % at 100, +26.0 % at 400, no value at 960." in words
    assert "best" not in words
