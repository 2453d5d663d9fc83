"""What a load costs, and where each setting no longer carries it: a condition by load, the failed share below. Pure.

The load is the horizontal axis, and each setting a line; nothing ranks the loads.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from campaigns.findings import values as stored
from campaigns.findings.charts import sampling
from campaigns.findings.charts.base import Chart, Chosen, Column, Numbers, Panel, Shown, View
from campaigns.findings.charts.capacity_lines import (
    CapacityChart,
    CapacityLine,
    LoadPoint,
    RunPoint,
    SharePoint,
    chart_of,
)
from campaigns.findings.charts.parts import (
    MARGIN,
    across,
    band,
    error_bars,
    hover_lead,
    hover_note,
    log_scales,
    upright,
)
from campaigns.findings.wording.capacity import HELD
from campaigns.findings.wording.loads import load_text
from campaigns.kit.charts.axes import (
    clock_ticks,
    has_clock,
    narrow_ticks,
    short_title,
    thinned,
    titled,
    value_title,
)
from campaigns.kit.charts.figure import (
    Figure,
    KeyItem,
    Trace,
    dash_of,
    figure,
    grouped,
    is_finite,
    line,
    mark,
    markers,
    sentence,
    series_token,
    symbol_of,
    text,
)
from campaigns.kit.charts.labels import inside
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import amount, bound, counted, plain, share, span
from campaigns.results.run_plots import Plot
from campaigns.stats.capacity import Held

CAPACITY = "capacity"
"""The name of the panel in addresses."""
MOST_LINES = 6
"""The most settings in one chart: their bands would cover one another."""
SHARE_TOP = 0.26
VALUE_BOTTOM = 0.36
"""The panel of shares takes the lower quarter."""
HATCH = 0.03
"""The width of a hatched load, as a share of the axis."""
HEADROOM = 1.2
"""The axis of values ends at so many times the largest."""
OFFSET = 0.012
"""Runs stand left of their load by this share of the axis."""
STATES = {state: label.word for state, label in HELD.items()}
HOW = (
    ("To the right", "more is asked at once. Each line is one setting, through its typical runs."),
    (
        "The dotted line",
        "is the limit. Loads at which the typical run stays within it for certain hold.",
    ),
    (
        "The shaded band",
        "is what is claimed with 95 %: from the highest load that holds to the lowest that fails. An upright in it is where the line "
        "crosses, between neighbouring loads only. Without an end the band reaches to where the measurement ends.",
    ),
    (
        "A hatched load",
        "fails, a filled mark holds, a hollow one is undecided: by all conditions, whichever is drawn.",
    ),
)
BELOW = (
    ("Below", "is the share of the work that failed, with its 95 % interval and its own limit."),
)
OPEN = "What is carried is shown when the campaign has ended."
EXPLORED = (
    (
        "Rings",
        "are runs that the search made to choose the loads. No interval is computed from them.",
    ),
)


def draw(chart: CapacityChart) -> Figure:
    """Draw the values above and the failed shares below, over one axis of loads; the values alone if no share is known."""
    chart = chart.readable()
    below = _has_shares(chart)
    values, scales = _value_axis(chart)
    rail = _rail(chart)
    traces = [
        trace
        for index, one in enumerate(chart.lines)
        for trace in (
            *_hatched(chart, one, index),
            *_runs(chart, one, index, rail),
            *_line(chart, one, index, rail),
            *(_shares(chart, one, index) if below else ()),
        )
    ]
    clock = has_clock(chart.quantity.unit, _top(chart))
    loads = _load_axis(chart)
    return figure(
        traces,
        {
            "xaxis": {**loads, "anchor": "y2" if below else "y"},
            "yaxis": {**values, "domain": [VALUE_BOTTOM if below else 0, 1]},
            **({"yaxis2": _share_axis(chart)} if below else {}),
            "margin": MARGIN,
            "shapes": [*_bands(chart), *_limits(chart)],
        },
        scales=scales,
        narrow={
            "yaxis": titled(short_title(chart.quantity, with_clock=clock)),
            **({"yaxis2": titled("failed")} if below else {}),
            "xaxis": narrow_ticks(loads),
        },
    )


def title(chart: CapacityChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.quantity.label} by {chart.factor}, and what is carried")


def describe(chart: CapacityChart) -> str:
    """Describe for each setting what it carries, and its value at each load."""
    unit = chart.quantity.unit
    parts = [f"{title(chart)}."]
    if chart.limit is not None:
        parts.append(f"The limit is {bound(chart.limit, unit)}.")
    for one in chart.lines:
        readings = ", ".join(
            f"{load_text(each.load)}: {amount(each.value, unit) if each.value is not None else 'no value'}"
            for each in one.points
        )
        carried = f" {sentence(one.carried.text)}." if one.carried else ""
        parts.append(f"{sentence(one.name) or 'All runs'}: {readings or 'no value yet'}.{carried}")
    return " ".join(parts)


def legend(chart: CapacityChart) -> tuple[KeyItem, ...]:
    """List the settings with what they carry, and what the marks mean, with counts."""
    lines = [
        KeyItem(
            symbol_of(index),
            f"{one.name or 'typical run'}{f': {one.carried.text}' if one.carried else ''}",
            None,
            series_token(index),
            _group(index),
        )
        for index, one in enumerate(chart.lines)
    ]
    runs = [run for one in chart.lines for run in one.runs]
    failed = sum(run.value is None for run in runs)
    lost = sum(each.value is None for one in chart.lines for each in one.points)
    hatched = sum(each.state == Held.FAILED for one in chart.lines for each in one.points)
    explored = sum(run.explored for run in runs)
    limit = [KeyItem("dotted", "limit", None, "ink", "limit")] if _has_limit(chart) else []
    return (
        *lines,
        *limit,
        KeyItem("dot", "one run", len(runs) - failed - explored, "ink-2", "runs"),
        KeyItem(
            "circle",
            "exploratory run of the search, not used in the interval",
            explored,
            "ink-2",
            "explored",
        ),
        KeyItem("hatch", "load that fails for certain", hatched, "fail", "hatched"),
        KeyItem(
            "failed",
            "no value: failed, or too much of the load did",
            failed + lost,
            "fail",
            "failed",
        ),
    )


def note(chart: CapacityChart) -> str:
    """Return where the limit is, if it is not drawn, and how many runs are not."""
    parts = []
    if chart.limit_is_far and chart.limit is not None:
        limit = bound(chart.limit, chart.quantity.unit)
        parts.append(f"The limit, {limit}, lies far above what is drawn.")
    runs = sum(len(one.runs) for one in chart.lines)
    drawn = sum(len(shown_runs(chart, one)) for one in chart.lines)
    parts.append(sampling.note(drawn, runs, "run", "load", _quota(chart)))
    return " ".join(filter(None, parts))


def _has_limit(chart: CapacityChart) -> bool:
    drawn = chart.limit is not None and not chart.limit_is_far
    return drawn or (chart.share_limit is not None and _has_shares(chart))


def _has_shares(chart: CapacityChart) -> bool:
    return any(one.shares for one in chart.lines)


def _group(index: int) -> str:
    return f"s{index + 1}"


def _top(chart: CapacityChart) -> float:
    values = chart.values
    if chart.limit is not None and not chart.limit_is_far:
        values = [*values, chart.limit]
    top = max(values, default=1.0)
    return top if top > 0 else 1.0


def _rail(chart: CapacityChart) -> float:
    """Return where what has no value is drawn: above all values."""
    return 1.1 * _top(chart)


def _value_axis(chart: CapacityChart) -> tuple[JsonObject, JsonObject]:
    """Return the axis of values and its scales; logarithmic first where the loads are, so that lines are straight."""
    top = HEADROOM * _top(chart)
    clock = has_clock(chart.quantity.unit, top)
    lowest = min(chart.values, default=0.0)
    if chart.limit is not None and not chart.limit_is_far:
        lowest = min(lowest, chart.limit)
    title_of_values = titled(value_title(chart.quantity, with_clock=clock))
    linear = {
        "type": "linear",
        "range": [min(0.0, 1.1 * lowest), top],
        "tickvals": None,
        "ticktext": None,
        **(clock_ticks(0, top) if clock else {}),
    }
    scales = log_scales(lowest if chart.values else None, top, clock=clock)
    if not scales:
        return title_of_values | _without_none(linear), {}
    log = scales["log"]["yaxis"]
    if chart.is_log:
        return title_of_values | log, {"log": {}, "linear": {"yaxis": linear}}
    return title_of_values | _without_none(linear), scales


def _without_none(axis: Json) -> JsonObject:
    return {key: value for key, value in axis.items() if value is not None}


def _load_axis(chart: CapacityChart) -> JsonObject:
    loads, (low, high) = chart.loads, chart.ends
    places = [math.log10(load) for load in loads] if chart.is_log else loads
    span_of = [math.log10(low), math.log10(high)] if chart.is_log else [low, high]
    ticks = thinned(places, span_of[1] - span_of[0])
    return titled(
        text(chart.factor),
        span_of,
        tickvals=[loads[index] for index in ticks],
        ticktext=[load_text(loads[index]) for index in ticks],
        **({"type": "log"} if chart.is_log else {}),
    )


def _share_axis(chart: CapacityChart) -> JsonObject:
    shares = [100 * each.share for one in chart.lines for each in one.shares]
    bounds = [100 * each.interval[1] for one in chart.lines for each in one.shares if each.interval]
    limit = 100 * (chart.share_limit or 0.0)
    top = max(1.2 * max(shares, default=0.0), min(max(bounds, default=0.0), 100.0), 2 * limit, 1.0)
    span_of = -0.06 * top, min(106.0, 1.1 * top)
    return titled("failed", span_of, domain=[0, SHARE_TOP], nticks=4, ticksuffix=" %")


def _bands(chart: CapacityChart) -> Iterator[JsonObject]:
    """Shade what each setting carries; an open end reaches to that of the axis."""
    left, right = chart.ends
    for index, one in enumerate(chart.lines):
        carried = one.carried
        if carried is None or (carried.low is None and carried.high is None):
            continue
        color = f"@{series_token(index)}"
        is_open = carried.low is None or carried.high is None
        ends = (left if carried.low is None else carried.low, right)
        ends = (ends[0], right if carried.high is None else carried.high)
        yield band(*ends, f"{color}/{8 if is_open else 18}", _group(index))
        thin = {"color": f"{color}/60", "width": 1}
        thick = {"color": color, "width": 2, "dash": dash_of(index)}
        for at, pen in ((carried.low, thin), (carried.high, thin), (carried.estimate, thick)):
            if at is not None:
                yield upright(at, pen, layer="below", name=_group(index))


def _limits(chart: CapacityChart) -> Iterator[JsonObject]:
    limit = None if chart.limit_is_far else chart.limit
    has_limit = chart.share_limit is not None and _has_shares(chart)
    share_limit = 100 * (chart.share_limit or 0.0) if has_limit else None
    for axis, value in (("y", limit), ("y2", share_limit)):
        if value is not None:
            pen = {"color": "@ink", "width": 1.5, "dash": "dot"}
            yield across(value, pen, yref=axis, name="limit")


def _hatched(chart: CapacityChart, one: CapacityLine, index: int) -> list[Trace]:
    """Hatch the loads that fail, over the whole height; those of several settings stand side by side."""
    failed = [each for each in one.points if each.state == Held.FAILED]
    if not failed:
        return []
    share_of = HATCH / max(1, len(chart.lines))
    first = (index - len(chart.lines) / 2) * share_of
    edges = [
        (chart.shifted(each.load, first), chart.shifted(each.load, first + share_of))
        for each in failed
    ]
    bars = {
        "type": "bar",
        "name": text(f"fails {one.name}".strip()),
        "x": [left for left, _ in edges],
        "width": [right - left for left, right in edges],
        "offset": 0,
        "y": [HEADROOM * _top(chart)] * len(edges),
        "marker": {
            "color": "@fail/6",
            "line": {"width": 0},
            "pattern": {
                "fillmode": "overlay",
                "shape": "/",
                "fgcolor": f"@{series_token(index)}" if len(chart.lines) > 1 else "@fail",
                "fgopacity": 0.55,
                "size": 7,
                "solidity": 0.2,
            },
        },
        "hoverinfo": "skip",
    }
    return grouped([bars], "hatched", _group(index))


def _runs(chart: CapacityChart, one: CapacityLine, index: int, rail: float) -> list[Trace]:
    """Draw runs left of their load: dots, rings where they explored, crosses on the rail where they failed."""
    color = f"@{series_token(index)}"
    looks = (
        ("run", "runs", mark("circle", 5, f"{color}/60")),
        ("run of the search", "explored", mark("circle-open", 9, color, 1.5)),
        ("failed", "failed", mark("x", 9, "@fail")),
    )
    traces = []
    slot = (1 + index / 2) * OFFSET
    drawn_runs = shown_runs(chart, one)
    for name, kind, marker in looks:
        own = [run for run in drawn_runs if _kind(run) == kind]
        points = [
            (chart.shifted(run.load, -slot), rail if run.value is None else run.value)
            for run in own
        ]
        drawn = markers(
            points,
            marker,
            name=text(f"{name} {one.name}".strip()),
            notes=[_run_hover(chart, one, run) for run in own],
            pages=[run.position for run in own],
        )
        traces += grouped([drawn], kind, _group(index))
    return traces


def shown_runs(chart: CapacityChart, one: CapacityLine) -> list[RunPoint]:
    """Return the runs of a setting that are drawn, load by load, where they are too many for a point each."""
    quota = _quota(chart)
    by_load: dict[float, list[RunPoint]] = {}
    for run in one.runs:
        by_load.setdefault(run.load, []).append(run)
    return [
        run
        for runs in by_load.values()
        for run in quota.of(sorted(runs, key=lambda each: each.value or 0.0))
    ]


def _quota(chart: CapacityChart) -> sampling.Quota:
    return sampling.quota_of(
        list(Counter((one.name, run.load) for one in chart.lines for run in one.runs).values())
    )


def _kind(run: RunPoint) -> str:
    if run.value is None or not is_finite(run.value):
        return "failed"
    return "explored" if run.explored else "runs"


def _line(chart: CapacityChart, one: CapacityLine, index: int, rail: float) -> list[Trace]:
    """Join the typical runs; a load without a value breaks the line and is a cross on the rail."""
    color = f"@{series_token(index)}"
    points = sorted(one.points, key=lambda each: each.load)
    pen = {"color": color, "width": 2, "dash": dash_of(index)}
    joined = line([(each.load, each.value) for each in points], pen)
    traces = grouped([joined], _group(index))
    for hollow in (False, True):
        own = [
            each
            for each in points
            if is_finite(each.value) and (each.state == Held.UNDECIDED) == hollow
        ]
        inner, outer, edge = ("@surface", color, 2) if hollow else (color, "@surface", 1.5)
        marker = mark(symbol_of(index), 10, inner, edge, outer)
        bars = [(each.value or 0.0, each.band or (each.value or 0.0,) * 2) for each in own]
        drawn = markers(
            [(each.load, each.value) for each in own],
            marker,
            name=text(f"typical run {one.name}{' undecided' if hollow else ''}".strip()),
            notes=[_point_hover(chart, one, each) for each in own],
            error_y=error_bars(bars, color, thickness=1, width=4),
        )
        traces += grouped([drawn], _group(index))
    lost = [each for each in points if not is_finite(each.value)]
    crosses = markers(
        [(each.load, rail) for each in lost],
        mark("x", 12, "@fail"),
        name=text(f"no value {one.name}".strip()),
        notes=[_point_hover(chart, one, each) for each in lost],
    )
    return [*traces, *grouped([crosses], "failed", _group(index))]


def _shares(chart: CapacityChart, one: CapacityLine, index: int) -> list[Trace]:
    """Draw the failed shares below."""
    color = f"@{series_token(index)}"
    shares = sorted(one.shares, key=lambda each: each.load)
    pen = {"color": f"{color}/60", "width": 1.5, "dash": dash_of(index)}
    joined = line([(each.load, 100 * each.share) for each in shares], pen, yaxis="y2")
    bars = [
        (100 * each.share, (100 * low, 100 * high))
        for each in shares
        for low, high in [each.interval or (each.share, each.share)]
    ]
    drawn = markers(
        [(each.load, 100 * each.share) for each in shares],
        mark(
            symbol_of(index),
            8,
            ["@surface" if each.state == Held.UNDECIDED else color for each in shares],
            1.5,
            color,
        ),
        name=text(f"failed share {one.name}".strip()),
        notes=[_share_hover(chart, one, each) for each in shares],
        error_y=error_bars(bars, color, thickness=1, width=3),
        yaxis="y2",
    )
    return grouped([joined, drawn], _group(index))


def _at(chart: CapacityChart, one: CapacityLine, load: float) -> str:
    named = f", {text(one.name)}" if one.name else ""
    return f"{text(chart.factor)} {load_text(load)}{named}"


def _run_hover(chart: CapacityChart, one: CapacityLine, run: RunPoint) -> str:
    value = "failed" if run.value is None else amount(run.value, chart.quantity.unit)
    explored = "<br>exploratory, not used in the interval" if run.explored else ""
    return f"{hover_lead(run.name)}{_at(chart, one, run.load)}<br>{value}{explored}{hover_note(run.note)}"


def _point_hover(chart: CapacityChart, one: CapacityLine, each: LoadPoint) -> str:
    unit = chart.quantity.unit
    if each.value is None:
        return f"<b>{_at(chart, one, each.load)}</b><br>no value: too much failed"
    interval = f", {span(each.band, unit)}" if each.band else ""
    state = f"<br>{STATES[each.state]}" if chart.limit is not None else ""
    return (
        f"<b>{_at(chart, one, each.load)}</b><br>{amount(each.value, unit)}{interval}"
        f"<br>typical of {counted(each.runs, 'run')}{state}"
    )


def _share_hover(chart: CapacityChart, one: CapacityLine, each: SharePoint) -> str:
    bounds = f" ({share(each.interval[0])} to {share(each.interval[1])})" if each.interval else ""
    state = f"<br>{STATES[each.state]}" if each.state else ""
    return f"<b>{_at(chart, one, each.load)}</b><br>{share(each.share)} failed{bounds}{state}"


def panel(shown: Shown) -> Panel | None:
    """Return the panel; None without a load, and where nothing was measured."""
    finding = shown.findings.capacity
    if finding is None:
        return None
    wanted, term = _chosen(shown, finding)
    settings = list(finding.settings)
    some, place = shown.some("capacity", settings, MOST_LINES)
    chart = chart_of(shown, finding, some, term)
    if not chart.loads or chart.is_empty:
        return None
    whole = chart_of(shown, finding, settings, term)
    below = _has_shares(chart)
    explored = any(run.explored for one in whole.lines for run in one.runs)
    return Panel(
        plot=Plot(
            id=CAPACITY,
            title=title(chart),
            label=describe(chart.readable()),
            figure=draw(chart),
            key=legend(chart),
            height="34rem" if below else "26rem",
            note=note(chart),
        ),
        how=HOW + (BELOW if below else ()) + (EXPLORED if explored else ()),
        numbers=_numbers(whole),
        aside=_aside(term),
        notes=(OPEN,) if shown.is_open else (),
        choices=(wanted, place),
    )


def draws_values_of(shown: Shown, view: View) -> bool:
    """Return whether the panel draws the values of a metric by load, as a chart of its runs in this view would, too."""
    finding = shown.findings.capacity
    if finding is None or view.x is None or view.x.name != finding.load:
        return False
    _, term = _chosen(shown, finding)
    if term is None:
        return view.metric == shown.primary_metric
    return view.metric == term.metric and not term.as_share


def _chosen(
    shown: Shown, finding: stored.CapacityFinding
) -> tuple[Chosen, stored.ConditionTerms | None]:
    """Return the condition that is drawn, with its selector; None where only the failed share has a limit."""
    terms = [each for each in finding.conditions if each.metric]
    options = [(each.name, sentence(_condition(each))) for each in terms]
    wanted = shown.chosen("capacity-of", "Condition", options)
    return wanted, next((each for each in terms if each.name == wanted.value), None)


def _condition(term: stored.ConditionTerms) -> str:
    """Write a condition: “p95 of a registration at most 180 s”."""
    at_most = term.at_most is not None
    bound = term.at_most if at_most else term.at_least
    return f"{inside(term.label)} {'at most' if at_most else 'at least'} {amount(bound, term.unit)}"


def _aside(term: stored.ConditionTerms | None) -> str:
    return (
        f"condition: {_condition(term)}" if term else "condition: the share of the work that failed"
    )


def _numbers(chart: CapacityChart) -> Numbers:
    """Return a row for each setting and load, and what the setting carries in the first of its rows."""
    unit = chart.quantity.unit
    rows: list[Sequence[Any]] = []
    for one in chart.lines:
        shares = {each.load: each for each in one.shares}
        for place, each in enumerate(sorted(one.points, key=lambda each: each.load)):
            failed = shares.get(each.load)
            low, high = each.band or (None, None)
            first, last = (failed.interval if failed else None) or (None, None)
            carried = one.carried if place == 0 else None
            rows.append(
                (
                    one.name or "all runs",
                    plain(each.load),
                    each.runs,
                    each.value,
                    low,
                    high,
                    failed.share if failed else None,
                    first,
                    last,
                    STATES[each.state],
                    carried.text if carried else "",
                )
            )
    return Numbers(
        (
            Column("setting"),
            Column(chart.factor),
            Column("runs", "count"),
            Column(chart.quantity.label, unit),
            Column("95 % from", unit),
            Column("to", unit),
            Column("failed", "share"),
            Column("failed, 95 % from", "share"),
            Column("to", "share"),
            Column("this load"),
            Column("carried"),
        ),
        rows,
    )


CHARTS = (
    Chart(
        CAPACITY,
        panel,
        lambda shown: shown.findings.capacity,
        late="What is carried, by load",
    ),
)
