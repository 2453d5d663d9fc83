import json

import plotly.graph_objects as go
import pytest

from campaigns.kit.charts.figure import figure, grouped, line, markers
from campaigns.kit.charts.standalone import chosen, colours_in, html_of, painted
from campaigns.kit.charts.template import TEMPLATE
from campaigns.kit.styles import font_family, light_colours
from campaigns.tests.findings.charts.conftest import TOKENS

COLOURS = {"ink": "#161b20", "band": "#0072b21c"}


def test_every_token_of_figures_has_a_colour_in_the_style_sheet():
    assert light_colours().keys() >= TOKENS
    assert light_colours()["series-1"] == "#0072b2"
    assert font_family().startswith("system-ui, ")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("@ink", "rgba(22,27,32,1)"),
        ("@ink/40", "rgba(22,27,32,0.4)"),
        ("@band", "rgba(0,114,178,0.11)"),
        ("@nobody", "@nobody"),
        ("\u200b@ink", "\u200b@ink"),
        ("@ink and more", "@ink and more"),
    ],
)
def test_names_of_tokens_become_colours_and_other_text_stays(text, result):
    assert painted(text, COLOURS) == result


def test_the_places_of_colours_are_those_that_are_painted():
    parts = {"data": [{"marker": {"color": ["@ink", "x", "@band/5"]}, "name": "@none"}], "n": None}

    found = dict(colours_in(parts, COLOURS))

    assert found == {
        ("data", 0, "marker", "color", 0): "@ink",
        ("data", 0, "marker", "color", 2): "@band/5",
    }


def test_the_template_is_one_of_plotly():
    template = painted(TEMPLATE, light_colours())

    assert go.Figure(layout={"template": template}).layout.template.layout.xaxis.ticklen == 4


@pytest.fixture
def drawn():
    points = grouped([markers([(1, 2), (3, 4)], {"color": "@ink"}, name="run")], "runs")
    limit = line([(1, 3), (3, 3)], {"color": "@series-2"}, name="limit")
    shape = {"type": "rect", "x0": 1, "x1": 2, "y0": 1, "y1": 2, "name": "carried"}
    return figure(
        [*points, limit],
        {"xaxis": {"title": {"text": "n"}}, "shapes": [shape]},
        scales={"linear": {}, "log": {"xaxis": {"type": "log"}}},
        narrow={"xaxis": {"tickangle": 45}},
    )


def test_a_figure_is_drawn_on_the_scale_and_without_what_was_switched_off(drawn):
    result = chosen(drawn, "log", {"runs", "carried"})

    assert [trace.get("visible", True) for trace in result["data"]] == [False, True]
    assert result["layout"] == {"xaxis": {"title": {"text": "n"}, "type": "log"}, "shapes": []}
    assert drawn["layout"]["shapes"]


@pytest.mark.parametrize("scale", ["", "linear", "nonsense", "\x00"])
def test_other_scales_change_nothing(drawn, scale):
    assert chosen(drawn, scale, ()) == drawn


def test_hostile_text_ends_no_script(drawn):
    hostile = "</script><script>alert(1)</script><!-- &lt;"
    layout = {**drawn["layout"], "title": {"text": hostile}}

    html = html_of({**drawn, "layout": layout}, "all", light_colours(), "serif")

    assert html.count("<script>") == 1
    assert html.count("</script>") == 2
    assert "<!--" not in html
    _, _, kept = html.partition('data-chart="all">')
    assert json.loads(kept.removesuffix("</script>"))["layout"]["title"]["text"] == hostile
