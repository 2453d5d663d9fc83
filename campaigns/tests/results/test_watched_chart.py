"""The chart of what was observed: one axis for all panels, gaps, layers that add up, and its size."""

import json
from itertools import pairwise

import numpy as np

from campaigns.kit.charts.drawings import drawings_of
from campaigns.results.charts import watched
from campaigns.results.charts.watched import Line, Mark, Panel, Span, WatchedChart
from campaigns.targets.watches.align import resampled


def test_means_of_a_grid_know_gaps():
    values = np.array([1.0, 3.0, np.nan, np.nan, 5.0, np.nan])
    found = resampled(values, 0.0, 1.0, (0.0, 2.0, 3))
    assert found[0] == 2.0
    assert np.isnan(found[1])
    assert found[2] == 5.0
    held = resampled(np.array([1.0, 2.0]), 0.0, 2.0, (0.0, 1.0, 5))
    assert held[:4].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert np.isnan(held[4])


def chart(samples=1800, lines=4, waves=1.0):
    at = np.arange(samples, dtype=float)
    panels = [
        Panel(
            f"panel {number}",
            "%",
            [
                Line(f"line {each}", -60.0, 1.0, 10 + waves * np.sin(at / (each + 2)))
                for each in range(lines)
            ],
            stacked=number % 2 == 0,
            top=100.0,
        )
        for number in range(8)
    ]
    spans = [
        Span("measure", 0.0, samples - 60.0),
        Span("fetch", 0.0, 900.0, True),
        Span("publish", 600.0, 1500.0, True),
    ]
    return WatchedChart(
        panels, spans, [Mark("swapping <b>began</b>", 700.0, True)], (100.0, 1000.0)
    )


def test_all_panels_have_one_axis_and_layers_add_up():
    drawn = watched.draw(chart(samples=100, waves=0.0))
    layout = drawn["layout"]
    assert [name for name in layout if name.startswith("yaxis")] == [
        "yaxis",
        *(f"yaxis{number}" for number in range(2, 10)),
    ]
    domains = [layout[f"yaxis{number}"]["domain"] for number in range(2, 10)]
    assert all(low > below for (low, _), (_, below) in pairwise(domains))
    assert domains[-1][0] == 0
    layers = [trace for trace in drawn["data"] if trace.get("yaxis") == "y2"]
    assert [round(trace["y"][50]) for trace in layers] == [
        40,
        30,
        20,
        10,
    ]  # the highest is drawn first
    assert {trace.get("xaxis", "x") for trace in drawn["data"]} == {"x"}
    assert "<b>" not in json.dumps(drawn)


def test_a_gap_is_a_gap():
    values = np.full(100, 5.0)
    values[40:60] = np.nan
    panel = Panel("CPU", "%", [Line("a", 0.0, 1.0, values)], stacked=True, top=100.0)
    drawn = watched.draw(WatchedChart([panel]))
    assert [len(trace["x"]) for trace in drawn["data"]] == [40, 40]


def test_a_stack_of_many_layers_shows_the_smaller_ones_as_one():
    lines = [Line(f"g{each}", 0.0, 1.0, np.full(10, 1.0)) for each in range(9)]
    key = watched.key(WatchedChart([Panel("CPU", "%", lines, stacked=True)]))
    assert [item.text for item in key] == [*(f"CPU: g{each}" for each in range(5)), "CPU: others"]


def test_a_chart_of_many_series_is_small():
    figure, drawings = drawings_of(watched.draw(chart()), watched.height(chart()), "x", "watched")
    assert drawings is not None
    sent = (
        len(drawings.wide) + len(drawings.narrow) + len(json.dumps(figure, separators=(",", ":")))
    )
    assert sent < 330_000
