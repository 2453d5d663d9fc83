"""The chart of what was observed on a target in one run: panels above one another, on one axis of time. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from campaigns.kit.charts.axes import nice_step, seconds_axis
from campaigns.kit.charts.figure import (
    Axis,
    Figure,
    KeyItem,
    Style,
    Trace,
    figure,
    grouped,
    line,
    markers,
    series_token,
    text,
)
from campaigns.kit.numbers import amount, duration, number
from campaigns.targets.watches.align import resampled

MOST_POINTS = 240
"""Points of a line; each is the mean of its part of the run."""
MOST_LINES = 6
"""Lines or layers of a panel; the smaller ones of a stack are drawn as one."""
PANEL, BETWEEN, ROW = 80.0, 20.0, 18.0
"""Pixels: the height of a panel, the room above it, and the height of a row of phases or events."""
MOST_LANES = 4
REST = "others"
AROUND = 64.0
REM = 16.0
PHASE_SHADES = ("@series-1/20", "@series-2/20", "@series-3/20", "@series-4/20")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """Values of one quantity at equal steps since the clock started; not a number: a gap. dashed: a limit."""

    name: str
    start_seconds: float
    step_seconds: float
    values: Floats
    dashed: bool = False

    @property
    def end_seconds(self) -> float:
        """The end of the last step."""
        return self.start_seconds + self.step_seconds * len(self.values)


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the small charts. unit: of the axis; top: the end of the axis, where it is known. stacked: its lines add up."""

    title: str
    unit: str
    lines: Sequence[Line]
    stacked: bool = False
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of the run: in the row of phases, or as a part of the measured time in the row beneath."""

    name: str
    begin: float
    end: float
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on the axis of time."""

    text: str
    at: float
    matters: bool = False


@dataclass(frozen=True, slots=True)
class WatchedChart:
    """What is drawn: panels, phases and events, in seconds since the clock started."""

    panels: Sequence[Panel]
    spans: Sequence[Span] = ()
    marks: Sequence[Mark] = ()
    window: tuple[float, float] | None = field(default=None)


def grid_of(lines: Sequence[Line], most: int = MOST_POINTS) -> tuple[float, float, int]:
    """Return (begin, step, count) of a grid over all lines, with at most so many steps."""
    begin = min(each.start_seconds for each in lines)
    end = max(each.end_seconds for each in lines)
    finest = min(each.step_seconds for each in lines)
    step = max(finest, (end - begin) / most)
    return begin, step, max(1, min(most, round((end - begin) / step)))


def draw(chart: WatchedChart) -> Figure:
    """Draw the figure: the rows of phases and events, then one panel beneath the other."""
    grid = grid_of([each for panel in chart.panels for each in panel.lines])
    begin, end = grid[0], grid[0] + grid[1] * grid[2]
    rows = _rows(chart)
    head, total = ROW * len(rows), _height(chart)
    layout: dict[str, Any] = {
        "xaxis": {
            **seconds_axis(begin, end, "time since the clock started"),
            "anchor": "free",
            "position": 0,
            "showspikes": True,
            "spikemode": "across",
            "spikesnap": "cursor",
            "spikethickness": 1,
            "spikecolor": "@ink-2",
            "spikedash": "solid",
        },
        "yaxis": {
            "range": [0, len(rows)],
            "domain": [1 - head / total, 1],
            "tickvals": [len(rows) - place - 0.5 for place in range(len(rows))],
            "ticktext": rows,
            "showgrid": False,
            "fixedrange": True,
        },
        "hovermode": "x",
        "hoversubplots": "axis",
        "margin": {"t": 8, "l": 8, "r": 8, "b": 8},
        "shapes": _shapes(chart, rows),
        "annotations": [],
    }
    data: list[Trace] = _marks(chart, rows)
    for place, panel in enumerate(chart.panels):
        short, bottom = f"y{place + 2}", total - head - (place + 1) * (PANEL + BETWEEN)
        top = panel.top or _top(panel, grid)
        layout[f"yaxis{place + 2}"] = {
            **_ticks(top),
            "range": [0, top],
            "domain": [bottom / total, (bottom + PANEL) / total],
            "fixedrange": True,
        }
        unit = f", {panel.unit}" if panel.unit else ""
        layout["annotations"].append(
            {
                "text": text(f"{panel.title}{unit}"),
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "y": (bottom + PANEL) / total,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 12, "color": "@ink-2"},
            }
        )
        data += _panel(panel, grid, short, f"{place}")
    return figure(data, layout)


def height(chart: WatchedChart) -> str:
    """Return the height of the chart in rem."""
    return f"{(_height(chart) + AROUND) / REM:.2f}rem"


def key(chart: WatchedChart) -> tuple[KeyItem, ...]:
    """Return the legend: an entry a line, named after its panel."""
    items = []
    for place, panel in enumerate(chart.panels):
        for index, each in enumerate(_drawn(panel)):
            mark = "line" if each.dashed else "filled" if panel.stacked else "solid"
            items.append(
                KeyItem(
                    mark,
                    f"{panel.title}: {each.name}",
                    token=_token(each, index),
                    group=f"{place}-{index}",
                )
            )
    if chart.marks:
        items.append(KeyItem("triangle-down", "event", len(chart.marks), "ink-2"))
    return tuple(items)


def describe(chart: WatchedChart) -> str:
    """Return the chart in words: the mean and the largest value of each line within the judged window."""
    parts = []
    for panel in chart.panels:
        said = []
        for each in panel.lines:
            values = _within(each, chart.window)
            if len(values):
                said.append(
                    f"{each.name} {_amount(float(values.mean()), panel.unit)} on average, "
                    f"at most {_amount(float(values.max()), panel.unit)}"
                )
        parts.append(f"{panel.title}: {'; '.join(said) or 'no value'}.")
    if chart.marks:
        listed = "; ".join(f"{duration(mark.at)} {mark.text}" for mark in chart.marks[:20])
        parts.append(f"Events: {listed}.")
    return f"What was observed on the target. {' '.join(parts)}"


def _amount(value: float, unit: str) -> str:
    return f"{number(value)} %" if unit == "%" else amount(value, unit)


def _within(each: Line, window: tuple[float, float] | None) -> Floats:
    values = each.values
    if window is not None:
        first = max(0, round((window[0] - each.start_seconds) / each.step_seconds))
        last = max(first, round((window[1] - each.start_seconds) / each.step_seconds))
        values = values[first:last]
    known: Floats = values[np.isfinite(values)]
    return known


def _height(chart: WatchedChart) -> float:
    return ROW * len(_rows(chart)) + len(chart.panels) * (PANEL + BETWEEN)


def _rows(chart: WatchedChart) -> list[str]:
    """Return the names of the rows above the panels, from the top; of several rows of parts the first has one."""
    count = max(_lanes(chart).values(), default=-1) + 1
    return ["phase", *["parts"][:count], *[""] * (count - 1), "events"]


def _lanes(chart: WatchedChart) -> dict[Span, int]:
    """Return the row of each part: the first in which none overlaps it, at most MOST_LANES."""
    ends: list[float] = []
    lanes = {}
    for span in sorted((each for each in chart.spans if each.is_part), key=lambda each: each.begin):
        free = [lane for lane, end in enumerate(ends) if end <= span.begin]
        lane = free[0] if free else min(len(ends), MOST_LANES - 1)
        ends[lane : lane + 1] = [span.end]
        lanes[span] = lane
    return lanes


def _shapes(chart: WatchedChart, rows: Sequence[str]) -> list[Style]:
    """Draw the phases in their row, and their borders through all panels."""
    shapes: list[Style] = []
    shades, lanes = iter(range(len(chart.spans))), _lanes(chart)
    for span in chart.spans:
        low = len(rows) - (1 + lanes[span] if span.is_part else 0) - 0.85
        shade = PHASE_SHADES[next(shades) % len(PHASE_SHADES)]
        shapes.append(
            {
                "type": "rect",
                "x0": span.begin,
                "x1": span.end,
                "y0": low,
                "y1": low + 0.7,
                "fillcolor": shade,
                "line": {"width": 0},
            }
        )
        if not span.is_part:
            pen = {"color": "@line-2", "width": 1, "dash": "dot"}
            shapes.append(
                {
                    "type": "line",
                    "x0": span.end,
                    "x1": span.end,
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "line": pen,
                }
            )
    return shapes


def _marks(chart: WatchedChart, rows: Sequence[str]) -> list[Trace]:
    """Draw names of phases, and a mark an event."""
    whole = sum(span.end - span.begin for span in chart.spans if not span.is_part) or 1.0
    data, lanes = [], _lanes(chart)
    for span in chart.spans:
        if not span.is_part and span.end - span.begin < 0.08 * whole:
            continue  # too narrow for its name; the hover has it
        y = len(rows) - (1 + lanes[span] if span.is_part else 0) - 0.5
        data.append(
            markers([(span.begin, y)], {"size": 1, "color": "@ink-2"})
            | {
                "mode": "text",
                "text": [text(span.name)],
                "textposition": "middle right",
                "textfont": {"color": "@ink-2"},
                "cliponaxis": True,
            }
        )
    for matters, color in ((False, "@ink-2"), (True, "@worse")):
        marks = [mark for mark in chart.marks if mark.matters is matters]
        data.append(
            markers(
                [(mark.at, 0.5) for mark in marks],
                {"symbol": "triangle-down", "size": 9, "color": color},
                notes=[text(mark.text, 120) for mark in marks],
            )
        )
    return data


def _drawn(panel: Panel) -> list[Line]:
    """Return the lines of a panel: the largest, and of a stack the rest as one."""
    lines = list(panel.lines)
    if len(lines) <= MOST_LINES:
        return lines
    if not panel.stacked:
        return lines[:MOST_LINES]
    kept, rest = lines[: MOST_LINES - 1], lines[MOST_LINES - 1 :]
    grid = grid_of(rest, most=100_000)
    layers = np.array(
        [resampled(each.values, each.start_seconds, each.step_seconds, grid) for each in rest]
    )
    total = np.where(np.isfinite(layers).any(axis=0), np.nansum(layers, axis=0), np.nan)
    return [
        *kept,
        replace(rest[0], name=REST, start_seconds=grid[0], step_seconds=grid[1], values=total),
    ]


def _token(each: Line, index: int) -> str:
    return "ink-3" if each.dashed or each.name == REST else series_token(index)


def _panel(panel: Panel, grid: tuple[float, float, int], axis: str, group: str) -> list[Trace]:
    """Draw the lines of a panel; layers of a stack from the highest, each opaque over the one behind."""
    begin, step, count = grid
    xs = [begin + step * (place + 0.5) for place in range(count)]
    lines, data = _drawn(panel), []
    below = np.zeros(count)
    for index, each in enumerate(lines):
        values = resampled(each.values, each.start_seconds, each.step_seconds, grid)
        token = _token(each, index)
        shown = values
        if panel.stacked:
            shown = below + values
            below = np.where(np.isfinite(shown), shown, below)
        look: dict[str, Any] = {
            "name": text(each.name),
            "yaxis": axis,
            "hovertemplate": f"{text(each.name)} %{{y:,.3~r}} {text(panel.unit)}<extra></extra>",
        }
        if panel.stacked and not each.dashed:
            look["text"] = [
                _amount(float(value), panel.unit) if np.isfinite(value) else "" for value in values
            ]
            look["hovertemplate"] = f"{text(each.name)} %{{text}}<extra></extra>"
        pen: dict[str, Any] = {"color": f"@{token}", "width": 1.5}
        if each.dashed:
            pen |= {"dash": "dash", "width": 1}
        if panel.stacked and not each.dashed:
            traces = _layers(
                xs, shown, step, pen | {"width": 0.5}, look | {"fillcolor": f"@{token}"}
            )
        else:
            traces = [line(_points(xs, shown, step), pen, **look)]
        data.append(grouped(traces, f"{group}-{index}"))
    order = reversed(data) if panel.stacked else data
    return [trace for traces in order for trace in traces]


def _points(xs: Sequence[float], shown: Floats, step: float) -> list[tuple[float, float | None]]:
    """Return the points of a line; one between two gaps is as wide as its step, since it would not be seen."""
    known = np.isfinite(shown)
    alone = known & ~np.append(known[1:], False) & ~np.append(False, known[:-1])
    points: list[tuple[float, float | None]] = []
    for place, x in enumerate(xs):
        if alone[place]:
            points += [(x - step / 2, float(shown[place])), (x + step / 2, float(shown[place]))]
            points.append((x + step / 2, None))
        else:
            points.append((x, float(shown[place]) if known[place] else None))
    return points


def _layers(
    xs: Sequence[float], shown: Floats, step: float, pen: Style, look: Mapping[str, Any]
) -> list[Trace]:
    """Draw the top of a layer, filled down to zero, as a trace for each stretch without a gap."""
    known = np.flatnonzero(np.isfinite(shown))
    if not len(known):
        return []
    stretches = np.split(known, np.flatnonzero(np.diff(known) > 1) + 1)
    traces = []
    for places in stretches:
        points = [(xs[place], float(shown[place])) for place in places]
        if len(points) == 1:
            points = [
                (xs[places[0]] - step / 2, points[0][1]),
                (xs[places[0]] + step / 2, points[0][1]),
            ]
        texts = [look["text"][place] for place in places]
        traces.append(
            line(
                points,
                pen,
                **{**look, "text": texts if len(texts) > 1 else texts * 2},
                fill="tozeroy",
            )
        )
    return traces


def _top(panel: Panel, grid: tuple[float, float, int]) -> float:
    """Return the end of an axis that nothing gives: a little above the largest value, or sum of a stack."""
    arrays = [
        resampled(each.values, each.start_seconds, each.step_seconds, grid) for each in panel.lines
    ]
    seen = np.nansum(arrays, axis=0) if panel.stacked else np.concatenate(arrays)
    known = seen[np.isfinite(seen)]
    return float(known.max()) * 1.05 if len(known) and known.max() > 0 else 1.0


def _ticks(top: float) -> Axis:
    step = nice_step(top, 3)
    values = [step * place for place in range(int(top / step + 1e-9) + 1)]
    return {"tickvals": values, "ticktext": [number(value) for value in values]}
