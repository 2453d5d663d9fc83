import json
from xml.etree import ElementTree as ET

import pytest

from campaigns.kit.charts.drawings import drawings_of
from campaigns.kit.charts.figure import figure, line, markers
from campaigns.kit.charts.svg import Scale, drawn, ticks_of, values_of
from campaigns.templatetags.figures import figure_script

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
    return read(drawn(simple(*traces, **layout), height=300, label="All of it."))


def test_each_point_is_a_mark_in_its_place():
    found = draw(markers(POINTS, {"symbol": "circle", "size": 8, "color": "@series-1"}))

    [marks] = [group for group in found.findall(".//g") if group.get("fill") == "var(--series-1)"]
    circles = marks.findall("circle")
    assert len(circles) == 3
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

    path = next(p for p in found.findall(".//path") if p.get("fill") == "var(--series-1)")
    assert path.get("fill-opacity") == "0.28"


def test_a_bar_that_leaves_the_axis_is_cut_off_without_a_cap():
    error = {"array": [100.0], "arrayminus": [5.0], "color": "@fail", "width": 4, "thickness": 1}
    found = draw(markers([(2, 20.0)], {"size": 8, "color": "@ink"}, error_y=error))

    [bars] = [group for group in found.findall(".//g") if group.get("stroke") == "var(--fail)"]
    [bar], [_] = bars.findall("line"), bars.findall(".//path")
    assert min(float(bar.get("y1")), float(bar.get("y2"))) >= 0


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

    [marks] = [group for group in found.findall(".//g") if group.find("circle") is not None]
    assert marks.get("fill") == "none"


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
        height=200, label="",
    )  # fmt: skip

    assert read(found).findall(".//circle")


def test_places_are_shares_of_the_width_and_pixels_of_the_height():
    found = draw(markers([(1, 0.0)], {"symbol": "circle", "color": "@series-1"}))

    circle = found.find(".//circle")
    assert (circle.get("cx"), circle.get("cy")) == ("25%", "252")


def test_a_stepped_line_keeps_its_value_to_the_next_one():
    found = draw(line([(0, 0.0), (2, 25.0), (4, 0.0)], {"color": "@ink", "shape": "hv"}))

    path = next(p for p in found.findall(".//path") if p.get("stroke") == "var(--ink)")
    assert path.get("d") == "M0 252L500 252L500 22L1000 22L1000 252"


def test_a_share_below_has_its_own_axis_and_part_of_the_height():
    found = draw(
        markers([(1, 0.0)], {"symbol": "circle", "color": "@ink"}),
        markers([(1, 0.0)], {"symbol": "circle", "color": "@fail"}, yaxis="y2"),
        yaxis={"range": [0, 25], "domain": [0.4, 1]},
        yaxis2={"range": [0, 1], "domain": [0, 0.3]},
    )

    above, below = (float(circle.get("cy")) for circle in found.findall(".//circle"))
    assert above < below == 252


def test_the_figure_gets_the_margins_of_its_drawing():
    given = simple(markers(POINTS, {"color": "@ink"}))
    placed, drawings = drawings_of(given, "10rem", "", "all")
    assert drawings

    assert f"0 {placed['layout']['margin']['l']:g}px" in read(drawings.wide).get("style")
    assert read(drawings.narrow).get("height") == "160"
    assert "margin" not in given["layout"]


@pytest.mark.parametrize(
    "given",
    [
        simple(markers([("a", 1)], {}), xaxis={"type": "category"}),
        simple(markers([(index, index) for index in range(3000)], {})),
        simple({"type": "bar", "orientation": "h", "x": [1], "y": ["a"]}),
    ],
)
def test_names_instants_and_thousands_of_points_are_left_to_plotly(given):
    assert drawings_of(given, "10rem", "", "all") == (given, None)


def test_many_marks_are_dots_in_one_path_and_their_bars_another():
    rings = {"size": 5, "color": "@surface", "line": {"color": "@series-1", "width": 1}}
    error = {"array": [1.0] * 400, "arrayminus": [1.0] * 400, "color": "@ink-3", "width": 4}
    points = [(index / 100, 10.0) for index in range(400)]
    found = draw(markers(points, rings, error_y=error))

    bars, outer, inner = found.findall(".//svg/path")
    assert bars.get("d").count("V") == outer.get("d").count("h0") == 400
    assert (outer.get("stroke"), inner.get("stroke")) == ("var(--series-1)", "var(--surface)")
    assert not found.findall(".//circle")


def test_the_narrow_drawing_refers_to_the_marks_of_the_wide_one_where_they_stand_alike():
    given = simple(markers(POINTS, {"symbol": "circle", "color": "@ink"}))
    _, drawings = drawings_of(given, "10rem", "", "all")
    assert drawings

    assert read(drawings.wide).find(".//g[@id='all-marks']/g/circle") is not None
    assert read(drawings.narrow).find("use").get("href") == "#all-marks"

    _, apart = drawings_of({**given, "narrow": {"xaxis": {"range": [0, 8]}}}, "10rem", "", "all")
    assert apart
    assert read(apart.narrow).find("use") is None
    assert read(apart.narrow).find(".//circle") is not None


@pytest.mark.parametrize("hostile", ["</script><b>", "<!--<script>", "</SCRIPT >"])
def test_a_figure_in_a_page_ends_no_script(hostile):
    page = figure_script({"text": hostile, "hover": "<b>one</b><br>two"}, "x")

    inside = page.removeprefix('<script id="x" type="application/json">').removesuffix("</script>")
    assert "</" not in inside
    assert "<!" not in inside
    assert "<s" not in inside.lower()
    assert json.loads(inside) == {"text": hostile, "hover": "<b>one</b><br>two"}
