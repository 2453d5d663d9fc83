import dataclasses

import pytest

from campaigns.findings.charts import slopes
from campaigns.findings.charts.slopes import SlopePair, SlopesChart, SlopeStratum
from campaigns.kit.charts.figure import Quantity

CHART = SlopesChart(
    quantity=Quantity("duration", "s", lower_is_better=True),
    baseline="old",
    candidate="new",
    strata=[
        SlopeStratum(
            "100 files",
            [
                SlopePair(10.0, 8.0, 1, -20.0, candidate_first=True, positions=(2, 1)),
                SlopePair(10.0, 11.0, 2, 10.0, candidate_first=False, positions=(3, 4)),
                SlopePair(9.0, 9.0, 3, 0.0, candidate_first=False, positions=(5, 6)),
            ],
            change_pct=-4.0,
        ),
        SlopeStratum("200 files", [SlopePair(20.0, 15.0, 1, -25.0, candidate_first=True)]),
    ],
)


def test_each_stratum_has_a_figure_whose_lines_tell_which_way():
    (name, figure), second = slopes.slopes(CHART)
    better, worse, equal = (t for t in figure["data"] if t["mode"] == "lines")

    assert (name, second[0]) == ("100 files", "200 files")
    assert better["y"] == [10, 8, None]
    assert worse["y"] == [10, 11, None]
    assert worse["line"]["dash"] == "dash"
    assert equal["y"] == [9, 9, None]


def test_higher_is_better_turns_the_colours():
    rate = dataclasses.replace(CHART, quantity=Quantity("rate", "1/s", lower_is_better=False))
    figure = slopes.slopes(rate)[0][1]

    better = next(t for t in figure["data"] if t["mode"] == "lines")

    assert better["y"] == [10, 11, None]


def test_each_end_opens_its_run(checked):
    figure = checked(slopes.slopes(CHART)[0][1])

    ends = [trace for trace in figure["data"] if trace.get("name") == "run"]
    assert [trace["customdata"] for trace in ends] == [[2, 1], [3, 4], [5, 6]]
    assert "new ran first" in ends[0]["text"][0]


def test_lines_and_ends_are_hidden_together_by_the_legend(checked):
    figure = checked(slopes.slopes(CHART)[0][1])

    groups = [trace["meta"] for trace in figure["data"]]
    entries = [[item.group] for item in slopes.slopes_legend(CHART)]
    assert sorted(groups) == sorted(entries * 2)


def test_of_many_pairs_some_are_drawn_and_the_note_says_so():
    pairs = [SlopePair(10.0, 10.0 + n, n, 10.0 * n, candidate_first=True) for n in range(1, 61)]
    many = dataclasses.replace(CHART, strata=[SlopeStratum("", pairs)])

    (drawn,) = (
        trace["y"] for trace in slopes.slopes(many)[0][1]["data"] if trace["mode"] == "lines"
    )
    assert len(drawn) == 3 * 25
    assert {11, 70} < set(drawn)
    assert slopes.note(many).startswith("25 of 60 pairs are drawn: up to 25 of each row")
    assert slopes.note(CHART) == ""


def test_a_log_axis_is_offered_where_every_value_is_above_zero():
    zero = [SlopeStratum("", [SlopePair(0.0, 1.0, 1, 0.0, candidate_first=True)])]

    assert "log" in slopes.slopes(CHART)[0][1]["scales"]
    assert slopes.slopes(dataclasses.replace(CHART, strata=zero))[0][1]["scales"] == {}


def test_changes_stand_in_the_order_of_time_with_what_they_make_together(traces):
    figure = slopes.differences(CHART)
    drawn = traces(figure)

    assert drawn["100 files"]["x"] == [1, 2, 3]
    assert drawn["100 files"]["y"] == [-20, 10, 0]
    assert [-4, -4] in [trace["y"] for trace in figure["data"]]


def test_the_words_count_the_pairs():
    told = slopes.describe(CHART)

    assert "100 files: 1 of 3 pairs lower with new, 1 higher." in told
    assert [item.count for item in slopes.slopes_legend(CHART)] == [2, 1, 1]
    assert [item.count for item in slopes.differences_legend(CHART)] == [3, 1]


@pytest.mark.parametrize("unit", ["s", "B/s", "1/s"])
def test_values_are_drawn_in_the_unit_of_the_axis(unit):
    chart = dataclasses.replace(CHART, quantity=Quantity("value", unit, lower_is_better=True))
    figure = slopes.slopes(chart)[1][1]
    top = max(v for trace in figure["data"] for v in trace["y"] if v is not None)

    assert figure["layout"]["yaxis"]["range"][1] == pytest.approx(1.06 * top)
