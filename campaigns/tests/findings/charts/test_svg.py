from xml.etree import ElementTree as ET

import pytest

from campaigns.kit.charts.figure import figure, line, markers
from campaigns.kit.charts.svg import Scale, drawn, ticks_of, values_of

POINTS = [(1, 10.0), (2, 20.0), (3, 15.0)]


def simple(*traces, **layout):
    axes = {
        "xaxis": {"title": {"text": "level"}, "range": [0, 4], "tickvals": [1, 2, 3],
                  "ticktext": ["one", "two", "three"]},
        "yaxis": {"title": {"text": "duration (s)"}, "range": [0, 25]},
    }  # fmt: skip
    return figure(traces, axes | layout)


def read(text):
    """The drawing as XML: it has to be one whole element."""
    return ET.fromstring(text)  # noqa: S314  our own


def draw(*traces, **layout):
    return read(drawn(simple(*traces, **layout), width=600, height=300, label="All of it."))


def test_each_point_is_a_mark_in_its_place():
    found = draw(markers(POINTS, {"symbol": "circle", "size": 8, "color": "@series-1"}))

    circles = found.findall(".//circle")
    assert [circle.get("fill") for circle in circles] == ["var(--series-1)"] * 3
    heights = [float(circle.get("cy")) for circle in circles]
    assert heights[0] > heights[2] > heights[1]


def test_a_line_breaks_where_nothing_is_known():
    found = draw(line([(1, 10.0), (2, None), (3, 15.0), (3.5, 16.0)], {"color": "@ink"}))

    path = next(p for p in found.findall(".//path") if p.get("stroke") == "var(--ink)")
    assert path.get("d").count("M") == 2


def test_a_closed_line_is_filled_where_the_figure_says_so():
    square = [(1, 10.0), (2, 10.0), (2, 15.0), (1, 15.0), (1, 10.0)]
    look = {"fill": "toself", "fillcolor": "@series-1/28"}
    found = draw(line(square, {"color": "@series-1"}, **look))

    path = next(p for p in found.findall(".//path") if p.get("stroke") == "var(--series-1)")
    assert (path.get("fill"), path.get("fill-opacity")) == ("var(--series-1)", "0.28")


def test_a_bar_that_leaves_the_axis_is_cut_off_without_a_cap():
    error = {"array": [100.0], "arrayminus": [5.0], "color": "@fail", "width": 4, "thickness": 1}
    found = draw(markers([(2, 20.0)], {"size": 8, "color": "@ink"}, error_y=error))

    bars = [p for p in found.findall(".//path") if p.get("stroke") == "var(--fail)"]
    assert len(bars) == 2
    assert min(float(y) for bar in bars for y in bar.get("d").replace("L", " ").split()[1::2]) >= 0


def test_axes_have_titles_and_ticks_and_the_picture_its_words():
    found = draw(markers(POINTS, {"color": "@ink"}))

    texts = [text.text for text in found.findall(".//text")]
    assert {"level", "duration (s)", "one", "three", "20"} <= set(texts)
    assert found.get("aria-label") == "All of it."


def test_words_of_people_do_not_become_markup():
    hostile = '<script>"&'
    found = draw(
        markers(POINTS, {"color": "@ink"}), yaxis={"title": {"text": hostile}, "range": [0, 25]}
    )

    assert hostile in [text.text for text in found.findall(".//text")]
    assert not found.findall(".//script")


def test_a_colour_that_is_none_of_ours_is_not_painted():
    found = draw(markers(POINTS, {"symbol": "circle", "color": "red;x"}))

    assert {circle.get("fill") for circle in found.findall(".//circle")} == {"none"}


@pytest.mark.parametrize(
    "symbol",
    ["circle-open", "square", "diamond-open", "triangle-up-open", "triangle-down", "cross", "star",
     "hexagram", "x", "circle-x-open"],
)  # fmt: skip
def test_every_symbol_of_our_charts_is_drawn(symbol):
    empty = draw(line([(1, 1), (2, 2)], {"color": "@ink"}))
    found = draw(
        line([(1, 1), (2, 2)], {"color": "@ink"}),
        markers(POINTS, {"symbol": symbol, "color": "@ink"}),
    )

    assert len(list(found.iter())) >= len(list(empty.iter())) + 3


def test_many_numbers_that_travel_as_bytes_are_read():
    many = figure([markers([(i, float(i)) for i in range(300)], {"color": "@ink"})], {})

    assert values_of(many["data"][0]["y"])[:3] == [0.0, 1.0, 2.0]


def test_an_axis_without_ticks_gets_round_ones():
    scale = Scale(0, 100, 0, 500)

    assert [value for value, _ in ticks_of({"ticksuffix": " %"}, scale)] == [0, 20, 40, 60, 80, 100]


def test_an_axis_without_an_extent_can_be_drawn():
    found = drawn(
        simple(markers([(1, 5.0)], {"color": "@ink"}), yaxis={"range": [5, 5]}),
        width=300, height=200, label="",
    )  # fmt: skip

    assert read(found).findall(".//circle")
