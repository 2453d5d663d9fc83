"""Throughput by concurrency and against response time, with the Universal Scalability Law. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from campaigns.findings import values as stored
from campaigns.findings.charts.base import Chart, Chosen, Column, Numbers, Panel, Shown, run_note
from campaigns.findings.charts.parts import MARGIN, hover_lead, hover_note, log_scales
from campaigns.findings.wording.scalability import LEFT_OUT, doubt_of, notes_of, waiting
from campaigns.kit.charts.axes import log_range, titled
from campaigns.kit.charts.figure import (
    Figure,
    KeyItem,
    Quantity,
    Trace,
    figure,
    is_finite,
    line,
    mark,
    markers,
    sentence,
    text,
)
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import amount, counted, number
from campaigns.results.run_plots import Plot

HOW_LAW = (
    (
        "The dashed line",
        "is the Universal Scalability Law: it bends where requests wait for one another.",
    ),
    (
        "Beyond the peak",
        "a higher number at a time lowers throughput. Below the recommended limit some "
        "throughput is unused.",
    ),
    (
        "Of the law",
        "g is the throughput of one, s the contention (share that waits), k the coherency cost "
        "(agreement).",
    ),
    (
        "It holds",
        "only for a closed loop in a steady state: as many at a time as are asked for, all along.",
    ),
)
HOW_RESPONSE = (
    (
        "To the right",
        "is more throughput, further down a sooner answer. Numbers stand at the means of levels.",
    ),
    ("Where the path turns up", "more at a time only wait longer. The best place is before that."),
    ("A run", "is drawn at the mean time of its own requests."),
)
PARAMETERS = (
    ("g", "g, throughput of one"),
    ("s", "s, contention"),
    ("k", "k, coherency"),
    ("peak", "N at the peak"),
    ("most", "throughput at the peak"),
    ("power_point", "N of most throughput per response time"),
    ("throttle", "recommended limit"),
)
FAR = 1.5
"""Bounds beyond so many times the largest concurrency measured are not shown."""
NO_MORE = 1e-9
"""A bound of a share below this is shown as 0."""
SYMBOLS_OF = {
    "recommended limit": ("square", "equal"),
    "peak": ("hexagram", "series-2"),
}


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One run: n at a time, throughput, mean response time in seconds. left_out: why it is not in the fit."""

    n: float
    throughput: float
    response: float | None
    name: str = ""
    note: str = ""
    position: int = 0
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class LoadLevel:
    """The means of one level."""

    n: float
    throughput: float
    response: float | None


@dataclass(frozen=True, slots=True)
class LoadMark:
    """A named place on the law, for example the recommended limit."""

    name: str
    n: float
    throughput: float
    response: float
    symbol: str
    token: str


@dataclass(frozen=True, slots=True)
class LoadChart:
    """One curve. law: (n, throughput, response time) along it; empty where none was fitted."""

    factor: str
    throughput: Quantity
    runs: Sequence[LoadRun]
    levels: Sequence[LoadLevel]
    law: Sequence[tuple[float, float, float]] = ()
    marks: Sequence[LoadMark] = field(default_factory=tuple)


def draw(chart: LoadChart) -> Figure:
    """Draw response time against throughput: right is more, down is sooner."""
    top = max((run.throughput for run in chart.runs), default=1.0)
    known = [run.response for run in chart.runs if run.response is not None]
    factor, unit = (1.0, "s") if max(known, default=1.0) >= 1 else (1000.0, "ms")
    slow = factor * max(known, default=1.0) or 1.0
    means = [
        (level.throughput, factor * level.response, number(level.n))
        for level in chart.levels
        if level.response is not None
    ]
    named = markers(
        [(x, y) for x, y, _ in means],
        mark("diamond", 8, "@ink"),
        name="mean of a level",
        meta=["mean"],
        text=[n for _, _, n in means],
        textposition="top left",
        textfont={"color": "@ink-2"},
    )
    return figure(
        [
            *_law([(x, factor * r) for _, x, r in chart.law]),
            *_runs(
                chart,
                [
                    (run, run.throughput, None if run.response is None else factor * run.response)
                    for run in chart.runs
                ],
            ),
            {**named, "mode": "markers+text"},
            *_marks([(each, each.throughput, factor * each.response) for each in chart.marks]),
        ],
        {
            "xaxis": titled(_title(chart.throughput), (0, 1.08 * top)),
            "yaxis": titled(
                "mean response time, lower is better", (0, 1.15 * slow), ticksuffix=f" {unit}"
            ),
            "margin": MARGIN,
        },
        scales=log_scales(min((y for _, y, _ in means), default=None), slow),
        narrow={"yaxis": titled("response time")},
    )


def draw_throughput(chart: LoadChart) -> Figure:
    """Draw throughput by how many there are at a time."""
    top = max((run.throughput for run in chart.runs), default=1.0)
    top = max(top, *(x for _, x, _ in chart.law), 0.0)
    largest = max((run.n for run in chart.runs), default=1.0)
    end = max([1.06 * largest, *(n for n, _, _ in chart.law)])
    levels = sorted({run.n for run in chart.runs})
    return figure(
        [
            *_law([(n, x) for n, x, _ in chart.law]),
            *_runs(chart, [(run, run.n, run.throughput) for run in chart.runs]),
            markers(
                [(level.n, level.throughput) for level in chart.levels],
                mark("diamond", 8, "@ink"),
                name="mean of a level",
                meta=["mean"],
            ),
            *_marks([(each, each.n, each.throughput) for each in chart.marks]),
        ],
        {
            "xaxis": titled(text(chart.factor), (0, end)),
            "yaxis": titled(_title(chart.throughput), (0, 1.12 * top)),
            "margin": MARGIN,
        },
        scales=_log_of_levels(levels, end),
        narrow={"yaxis": titled(text(chart.throughput.unit))},
    )


def title(chart: LoadChart) -> str:
    """Return what is plotted."""
    return f"Response time against {chart.throughput.label}, by {chart.factor}"


def title_throughput(chart: LoadChart) -> str:
    """Return what is plotted."""
    return sentence(
        f"{chart.throughput.label} by {chart.factor}, and the Universal Scalability Law"
    )


def describe(chart: LoadChart) -> str:
    """Describe both means of each level, and the named places."""
    unit = chart.throughput.unit
    parts = [
        f"{number(level.n)}: {amount(level.throughput, unit)}"
        + (f", answered in {amount(level.response, 's')}" if level.response is not None else "")
        for level in chart.levels
    ]
    marks = [f"{each.name} at {number(each.n)}" for each in chart.marks]
    note = f" {sentence('; '.join(marks))}." if marks else ""
    return f"{title(chart)}. {'; '.join(parts) or 'No run that counts'}.{note}"


def legend(chart: LoadChart) -> tuple[KeyItem, ...]:
    """List what is drawn, and what could be."""
    out = sum(bool(run.left_out) for run in chart.runs)
    law = [KeyItem("line", "Universal Scalability Law", None, "ink-3", "law")] if chart.law else []
    return (
        KeyItem("circle", "one run", len(chart.runs) - out, "series-1", "runs"),
        KeyItem("triangle-down", "run that no fit has", out, "series-4", "out"),
        KeyItem("diamond", "mean of a level", None, "ink", "mean"),
        *law,
        *(
            KeyItem(each.symbol, each.name, None, each.token, f"mark-{index}")
            for index, each in enumerate(chart.marks, start=1)
        ),
    )


def _log_of_levels(levels: Sequence[float], end: float) -> dict[str, Any]:
    if not levels:
        return {}
    axis = {
        "type": "log",
        "range": log_range(levels[0], end),
        "tickvals": levels,
        "ticktext": [number(n) for n in levels],
    }
    return {"linear": {}, "log": {"xaxis": axis}}


def _law(points: Sequence[tuple[float, float]]) -> list[Trace]:
    pen = {"color": "@ink-3", "width": 1.5, "dash": "dash"}
    return [line(points, pen, name="Universal Scalability Law", meta=["law"])]


def _runs(chart: LoadChart, placed: Sequence[tuple[LoadRun, float, float | None]]) -> list[Trace]:
    counted_in = mark("circle-open", 8, "@series-1", 1.8)
    left_out = mark("triangle-down-open", 9, "@series-4", 1.8)
    traces = []
    for name, group, is_out, marker in (
        ("run", "runs", False, counted_in),
        ("left out", "out", True, left_out),
    ):
        drawn = [
            (run, x, y)
            for run, x, y in placed
            if bool(run.left_out) == is_out and is_finite(x) and is_finite(y)
        ]
        traces.append(
            markers(
                [(x, y) for _, x, y in drawn],
                marker,
                name=name,
                notes=[_text(run, chart) for run, _, _ in drawn],
                pages=[run.position for run, _, _ in drawn],
                meta=[group],
            )
        )
    return traces


def _marks(placed: Sequence[tuple[LoadMark, float, float]]) -> list[Trace]:
    return [
        markers(
            [(x, y)],
            mark(f"{each.symbol}-open", 13, f"@{each.token}", 2.4),
            name=text(each.name),
            notes=[
                f"<b>{text(each.name)}</b><br>at {number(each.n)}, by the law"
                f"<br>answered in {amount(each.response, 's')}"
            ],
            meta=[f"mark-{index}"],
        )
        for index, (each, x, y) in enumerate(placed, start=1)
    ]


def _text(run: LoadRun, chart: LoadChart) -> str:
    response = f", answered in {amount(run.response, 's')}" if run.response is not None else ""
    out = f"<br>in no fit: {text(run.left_out)}" if run.left_out else ""
    return (
        f"{hover_lead(run.name)}{text(chart.factor)} {number(run.n)}<br>"
        f"{amount(run.throughput, chart.throughput.unit)}{response}{out}{hover_note(run.note)}"
    )


def _title(quantity: Quantity) -> str:
    return f"{text(quantity.label)} ({text(quantity.unit)}), higher is better"


def usl_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where the kind is no closed loop, or its concurrency does not vary."""
    drawn = _drawn(shown, "usl")
    if drawn is None:
        return None
    group, chart, chosen = drawn
    return Panel(
        plot=Plot(
            id="usl",
            title=title_throughput(chart),
            label=describe(chart),
            figure=draw_throughput(chart),
            key=legend(chart),
            height="24rem",
        ),
        how=HOW_LAW,
        numbers=_parameters(group.law, group.bounds) if group.law else _levels(chart, group),
        aside="Universal Scalability Law" if group.law else "no law fitted",
        notes=notes_of(group, chart.throughput.unit),
        choices=(chosen,),
    )


def response_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where `usl_panel` is, and where no response time was stored."""
    drawn = _drawn(shown, "response")
    if drawn is None or not _has_times(shown):
        return None
    group, chart, chosen = drawn
    return Panel(
        plot=Plot(
            id="response",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            key=legend(chart),
            height="24rem",
        ),
        how=HOW_RESPONSE,
        numbers=_levels(chart, group),
        aside=counted(len(group.runs), "run"),
        notes=waiting(group),
        choices=(chosen,),
    )


def _has_times(shown: Shown) -> bool:
    """Return whether a run of any curve has a response time: one curve alone may have none that counts."""
    result = shown.findings.charts.read("usl", stored.Scalability)
    groups = result.groups if result else ()
    return any(run.response is not None for group in groups for run in group.runs)


def _drawn(shown: Shown, panel: str) -> "tuple[stored.LoadGroup, LoadChart, Chosen] | None":
    """Return the curve that is drawn, its chart and its selector; None where there is no curve."""
    result = shown.findings.charts.read("usl", stored.Scalability)
    groups = [group for group in result.groups if group.runs] if result else []
    if result is None or not groups:
        return None
    options = [
        (str(place), shown.labels.values(group.levels) or "all")
        for place, group in enumerate(groups)
    ]
    chosen = shown.chosen(f"{panel}-of", "Curve", options)
    group = groups[int(chosen.value)]
    if shown.is_open:
        group = structs.replace(group, law=None, bounds=None, curve=(), places={})
    return group, _chart(shown, result, group), chosen


def _chart(shown: Shown, result: stored.Scalability, group: stored.LoadGroup) -> LoadChart:
    throughput = shown.quantity(result.throughput)
    labels = {factor.name: inside(factor.label) for factor in shown.labels.factors}
    return LoadChart(
        factor=labels.get(result.parameter, result.parameter),
        throughput=throughput,
        runs=[
            LoadRun(
                run.n,
                run.throughput,
                run.response,
                f"run {run.position}",
                run_note(run, shown.labels.block),
                run.position,
                LEFT_OUT.get(run.left_out, ""),
            )
            for run in group.runs
        ],
        levels=[
            LoadLevel(level.n, level.throughput, level.response) for level in group.levels_measured
        ],
        law=[(n, x, r) for n, x, r in group.curve],
        marks=_named(group, throughput.unit),
    )


def _named(group: stored.LoadGroup, unit: str) -> list[LoadMark]:
    """Return the recommended limit and the peak, where they lie in the measured range."""
    law = group.law
    if law is None or doubt_of(law, group.levels_measured, unit):
        return []
    return [
        LoadMark(name, at.n, at.throughput, at.response, *look)
        for name, look in SYMBOLS_OF.items()
        if (at := group.places.get(name)) and at.n <= law.largest
    ]


def _parameters(law: stored.Law, bounds: stored.LawBounds | None) -> Numbers:
    rows: list[Sequence[Any]] = [
        (label, getattr(law, name), *bounds_of(name, bounds, law)) for name, label in PARAMETERS
    ]
    rows.append(("rule of thumb, 75 % of the peak", law.rule_of_thumb, None, None))
    return Numbers(
        (
            Column("of the law"),
            Column("value", "count"),
            Column("95 % from", "count"),
            Column("to", "count"),
        ),
        rows,
    )


def bounds_of(
    name: str, bounds: stored.LawBounds | None, law: stored.Law
) -> tuple[float | None, float | None]:
    """Return the bounds, None where they lie outside the measured range."""
    low, high = getattr(bounds, name, None) or (None, None)
    if name in ("peak", "power_point", "throttle"):
        low, high = (None if b is None or b > FAR * law.largest else b for b in (low, high))
    elif name == "most" and bounds_of("peak", bounds, law)[1] is None:
        high = None
    elif low is not None and low < NO_MORE:
        low = 0.0
    return low, high


def _levels(chart: LoadChart, group: stored.LoadGroup) -> Numbers:
    return Numbers(
        (
            Column(chart.factor),
            Column("runs", "count"),
            Column("throughput", chart.throughput.unit),
            Column("response time", "s"),
            Column("throughput × response time", "count"),
        ),
        [
            (
                number(level.n),
                level.runs,
                level.throughput,
                level.response,
                level.effective,
            )
            for level in group.levels_measured
        ],
    )


CHARTS = (
    Chart(
        "usl",
        usl_panel,
        lambda shown: "usl" in shown.findings.charts,
        late="Throughput, and the Universal Scalability Law",
    ),
    Chart(
        "response",
        response_panel,
        lambda shown: "usl" in shown.findings.charts,
        late="Response time against throughput",
    ),
)
