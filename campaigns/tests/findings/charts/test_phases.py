import pytest

from campaigns.findings.charts.phases import PhaseCell, PhasesChart, describe, draw, panel, title
from campaigns.tests.findings.charts.shown import shown


def chart(overlap=False, cells=None):
    cells = (
        cells
        if cells is not None
        else [PhaseCell("3", [0.5, 17.4], 3), PhaseCell("20", [0.8, 3.1], 3)]
    )
    return PhasesChart(
        "parts of the measured time", ["wait", "download"], cells, "concurrency", overlap
    )


def test_phases_are_stacked_in_the_order_of_the_levels(checked):
    figure = checked(draw(chart()))

    assert figure["layout"]["barmode"] == "stack"
    assert figure["layout"]["yaxis"]["autorange"] == "reversed"
    assert [trace["name"] for trace in figure["data"]] == ["wait", "download"]
    assert figure["data"][1]["x"] == [17.4, 3.1]
    assert [name.strip() for name in figure["data"][1]["y"]] == ["3", "20"]


def test_the_axis_holds_the_longest_sum(checked):
    low, high = checked(draw(chart()))["layout"]["xaxis"]["range"]

    assert (low, high) == (0, pytest.approx(17.9 * 1.04, abs=1e-3))


def test_parts_that_overlap_stand_side_by_side(checked):
    figure = checked(draw(chart(overlap=True)))

    assert figure["layout"]["barmode"] == "group"
    assert figure["layout"]["xaxis"]["range"][1] == pytest.approx(17.4 * 1.04, abs=1e-3)
    assert describe(chart(overlap=True)).endswith("Parts overlap and do not add up.")
    assert "%" not in figure["data"][0]["text"][0]


def test_colour_never_stands_alone(checked):
    data = checked(draw(chart()))["data"]

    assert len({trace["marker"]["pattern"]["shape"] for trace in data}) == 2


def test_the_hover_tells_seconds_and_share(traces):
    assert traces(draw(chart()))["download"]["text"][1] == (
        "<b>concurrency 20</b><br>download 3.1 s, 79 %<br>mean of 3 runs"
    )


def test_the_description_says_every_phase():
    assert title(chart()) == "Parts of the measured time by concurrency"
    assert describe(chart()) == (
        "Parts of the measured time by concurrency, means of the runs. 3: wait 500 ms, download "
        "17.4 s; 20: wait 800 ms, download 3.1 s."
    )


@pytest.mark.parametrize("cells", [[], [PhaseCell("3", [0.0, 0.0], 0)]])
def test_a_figure_is_valid_whatever_was_measured(checked, cells):
    checked(draw(chart(cells=cells)))
    checked(draw(chart(overlap=True, cells=cells)))


def table(*names):
    cells = [
        {
            "cell": level,
            "levels": {"workers": level},
            "runs": 3,
            "seconds": {name: {"mean": 8.0 / level, "sd": None} for name in names},
        }
        for level in (2, 4)
    ]
    return {"overlap": False, "names": names, "cells": cells}


def test_a_result_without_phases_has_no_panel():
    assert panel(shown()) is None


def test_the_numbers_are_those_of_the_chosen_phases():
    tables = {"measure": table("first_byte"), "attempt": table("reset")}

    first = panel(shown({"phases": tables}))
    other = panel(shown({"phases": tables}, {"phases-of": "attempt"}))

    assert first
    assert other
    assert first.plot.title == "Parts of the measured time by workers"
    assert first.numbers.rows == [
        ("2", "first byte", 3, 4.0, None),
        ("4", "first byte", 3, 2.0, None),
    ]
    assert first.numbers.shown[0] == ["2", "first byte", "3", "4 s", "—"]
    assert [row[1] for row in other.numbers.rows] == ["reset", "reset"]
    assert len(other.how) == len(first.how) + 1
