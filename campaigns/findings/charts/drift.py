"""The chart of drift: each run against the mean of its own cell. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from campaigns.findings.charts import sampling
from campaigns.findings.charts.base import (
    Chart,
    Column,
    Numbers,
    Panel,
    Shown,
    quantity_of,
    run_note,
)
from campaigns.findings.charts.parts import (
    MARGIN_BELOW_LEGEND,
    hover_lead,
    hover_note,
    legend_of,
    upright,
    zero_line,
)
from campaigns.findings.values import BlockEffect, Cells, Drift
from campaigns.findings.wording.drift import block_notes
from campaigns.findings.wording.sessions import session_notes
from campaigns.kit.charts.axes import titled
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
    series_token,
    text,
)
from campaigns.kit.numbers import change, counted, number, without_sign
from campaigns.results.run_plots import Plot

SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "star",
    "triangle-down",
    "pentagon",
    "hexagon",
    "hourglass",
    "bowtie",
    "hexagram",
)
MOST_SYMBOLS = len(SYMBOLS)
"""With more cells all runs are drawn alike; the hover names their cell."""
FARTHEST = 20
"""Where not every run is drawn, so many runs farthest from their means are."""
HOW = (
    ("Each run", "stands against the mean of its own cell, so that only time is left to see."),
    ("A slope", "means that the machine or the target changed while it was measured."),
)
BLOCKS = (
    (
        "A broad line",
        "is the effect of one block: how far all its runs lie from those of the others, whichever "
        "levels it holds. Steps between blocks leave the comparison of levels alone; they move the "
        "absolute values.",
    ),
)


@dataclass(frozen=True, slots=True)
class DriftRun:
    """One run that counts: its cell, its value, its position in the plan, and when it started."""

    cell: str
    value: float
    position: int
    started: datetime | None = None
    name: str = ""
    note: str = ""
    block: int = 0
    session: int = 1


@dataclass(frozen=True, slots=True)
class BlockStep:
    """The effect of one block in % around 0, from its first run to its last."""

    name: str
    effect_pct: float
    first: int
    last: int
    started: datetime | None = None
    ended: datetime | None = None
    number: int = 0
    session: int = 1


@dataclass(frozen=True, slots=True)
class SessionStart:
    """Where another session begins."""

    name: str
    position: int
    started: datetime | None = None


@dataclass(frozen=True)
class DriftChart:
    """All runs of a campaign, drawn by instant where every run has one, else by position.

    blocks: what is left of each block once its cells are accounted for; block_sd_pct: how much they
    vary; sd_pct: how much runs within a block do. sessions: those after the first.
    """

    quantity: Quantity
    runs: Sequence[DriftRun]
    factor: str = ""
    blocks: Sequence[BlockStep] = ()
    sessions: Sequence[SessionStart] = ()
    block_sd_pct: float | None = None
    sd_pct: float | None = None

    @cached_property
    def by_instant(self) -> bool:
        """Return whether time is on the axis."""
        return bool(self.runs) and all(run.started is not None for run in self.runs)

    @cached_property
    def changes(self) -> Mapping[str, list[tuple[DriftRun, float]]]:
        """Each run in % of its own cell's geometric mean, by cell."""
        cells: dict[str, list[tuple[DriftRun, float]]] = {}
        for run in self.runs:
            if is_finite(run.value) and run.value > 0:
                cells.setdefault(run.cell, []).append((run, math.log(run.value)))
        changes = {}
        for name, runs in cells.items():
            mean = sum(value for _, value in runs) / len(runs)
            changes[name] = [(run, 100 * math.expm1(value - mean)) for run, value in runs]
        return changes

    @cached_property
    def drawn(self) -> Mapping[str, list[tuple[DriftRun, float]]]:
        """The runs that are drawn, by cell: some of them where they are too many for a point each."""
        ordered = sorted(
            (each for runs in self.changes.values() for each in runs),
            key=lambda each: each[0].position,
        )
        if len(ordered) <= sampling.MOST_DRAWN:
            return self.changes
        farthest = sorted(ordered, key=lambda each: abs(each[1]))[-FARTHEST:]
        chosen = {
            run.position for run, _ in (*sampling.evenly(ordered, sampling.MOST_POINTS), *farthest)
        }
        return {
            name: [each for each in runs if each[0].position in chosen]
            for name, runs in self.changes.items()
        }


def draw(chart: DriftChart) -> Figure:
    """Draw one symbol and colour for each cell; values <= 0 have no ratio and are left out."""
    cells, by_instant = chart.drawn, chart.by_instant
    instants = [_instant(run, by_instant) for runs in cells.values() for run, _ in runs]
    shown = (
        cells if len(cells) <= MOST_SYMBOLS else {"": [each for r in cells.values() for each in r]}
    )
    data = [
        markers(
            [(_instant(run, by_instant), change) for run, change in runs],
            mark(SYMBOLS[index % len(SYMBOLS)], 9, f"@{series_token(index)}"),
            name=text(name),
            notes=[_hover(run, change, chart.factor, by_instant) for run, change in runs],
            pages=[run.position for run, _ in runs],
        )
        for index, (name, runs) in enumerate(shown.items())
    ]
    if instants:
        ends = (min(instants), 0), (max(instants), 0)
        data = [zero_line(*ends, name="mean", showlegend=False), _steps(chart, by_instant), *data]
    runs_axis = titled("position in the plan")
    if by_instant:
        runs_axis = titled("start, UTC", type="date", tickformat="%d %b<br>%H:%M", nticks=7)
    drawn = [change for runs in cells.values() for _, change in runs]
    drawn += [block.effect_pct for block in chart.blocks]
    return figure(
        data,
        {
            "showlegend": 1 < len(cells) <= MOST_SYMBOLS,
            "legend": legend_of(chart.factor),
            "xaxis": runs_axis,
            "yaxis": titled(
                f"{text(chart.quantity.label)}, % from its own cell’s mean",
                _range(drawn),
                ticksuffix=" %",
            ),
            "margin": MARGIN_BELOW_LEGEND,
            **_boundaries(chart, by_instant),
        },
        narrow={"yaxis": titled("% from its mean", ticksuffix="")},
    )


def title(chart: DriftChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.quantity.label} in the order of the runs")


def note(chart: DriftChart) -> str:
    """Return how many runs are drawn where not all of them are; else nothing."""
    runs, drawn = (sum(map(len, cells.values())) for cells in (chart.changes, chart.drawn))
    if drawn == runs:
        return ""
    return (
        f"{number(drawn)} of {number(runs)} runs are drawn: evenly over the campaign, and the {FARTHEST} that lie"
        f" farthest from their means. {sampling.WHERE_ALL_ARE}"
    )


def describe(chart: DriftChart) -> str:
    """Describe the finding in numbers: how far early and late runs lie from their cells' means."""
    by_instant = chart.by_instant
    changes = sorted(
        (
            (_instant(run, by_instant), change)
            for runs in chart.changes.values()
            for run, change in runs
        ),
        key=lambda each: each[0],
    )
    if not changes:
        return f"{title(chart)}. No value yet."
    values = [change for _, change in changes]
    parts = [
        f"{title(chart)}: {counted(len(values), 'run')}, from {change(min(values))}"
        f" to {change(max(values))} of their own cell's mean"
    ]
    half = len(values) // 2
    if half:
        early, late = sum(values[:half]) / half, sum(values[-half:]) / half
        parts.append(f"first half {change(early)}, second half {change(late)} on average")
    if chart.block_sd_pct is not None and chart.sd_pct is not None:
        parts.append(
            f"blocks vary by {without_sign(chart.block_sd_pct)} (sd), runs within a block by"
            f" {without_sign(chart.sd_pct)}"
        )
    if chart.sessions:
        parts.append(counted(len(chart.sessions) + 1, "session"))
    return f"{'; '.join(parts)}."


def legend(chart: DriftChart) -> tuple[KeyItem, ...]:
    """Return what lines are, where there are any."""
    steps = [KeyItem("bar", "effect of a block", None, "ink-3", "blocks")] if chart.blocks else []
    begun = (
        [KeyItem("line", "another session begins", None, "warn", "sessions")]
        if chart.sessions
        else []
    )
    return (*steps, *begun)


def _steps(chart: DriftChart, by_instant: bool) -> Trace:
    """Draw each block as a level, with a gap to the next one."""
    points: list[tuple[Any, Any]] = []
    notes: list[str] = []
    for block in chart.blocks:
        ends = (block.first - 0.4, block.last + 0.4)
        if by_instant and block.started and block.ended:
            ends = (_milliseconds(block.started), _milliseconds(block.ended))
        points += [(ends[0], block.effect_pct), (ends[1], block.effect_pct), (ends[1], None)]
        notes += [
            f"<b>{text(block.name)}</b><br>{change(block.effect_pct)} compared with the others"
        ] * 3
    pen = {"color": "@ink-3/45", "width": 7}
    return line(
        points,
        pen,
        name="effect of a block",
        showlegend=False,
        notes=notes,
        meta=["blocks"],
    )


def _boundaries(chart: DriftChart, by_instant: bool) -> dict[str, Any]:
    """Return vertical lines where sessions begin."""
    if not chart.sessions:
        return {}
    places = [
        (
            session.name,
            _milliseconds(session.started)
            if by_instant and session.started
            else session.position - 0.5,
        )
        for session in chart.sessions
    ]
    pen = {"color": "@warn", "width": 1, "dash": "dash"}
    return {
        "shapes": [upright(x, pen, name="sessions") for _, x in places],
        "annotations": [
            {
                "text": text(name),
                "xref": "x",
                "yref": "paper",
                "x": x,
                "y": 1,
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
                "font": {"color": "@ink-2"},
            }
            for name, x in places
        ],
    }


def changes_of(chart: DriftChart) -> dict[int, float]:
    """Return each run's distance from the mean of its cell in %, by its position."""
    return {run.position: change for runs in chart.changes.values() for run, change in runs}


def _range(changes: Sequence[float]) -> list[float]:
    """Return the range of the axis, at least ±5 %, so that little noise does not look like much."""
    low, high = min([-5.0, *changes]), max([5.0, *changes])
    pad = 0.08 * (high - low)
    return [low - pad, high + pad]


def _instant(run: DriftRun, by_instant: bool) -> int:
    """Return the place of a run on the axis: milliseconds for dates, else the position."""
    if by_instant and run.started is not None:
        return _milliseconds(run.started)
    return run.position


def _milliseconds(instant: datetime) -> int:
    return round(1000 * instant.timestamp())


def _place(run: DriftRun) -> str:
    return run.started.astimezone(UTC).isoformat(" ")[:19] if run.started else ""


def _hover(run: DriftRun, distance: float, factor: str, by_instant: bool) -> str:
    when = f"<br>{_place(run)}" if by_instant else f"<br>position {run.position}"
    when = hover_note(run.note) or when
    return f"{hover_lead(run.name)}{text(f'{factor} {run.cell}'.strip())}{when}<br>{change(distance)} of its mean"


def panel(shown: Shown) -> Panel | None:
    """Return the panel; None before there is a value."""
    finding = shown.findings.cells
    if not finding:
        return None
    result = shown.findings.charts.read("drift", Drift)
    runs = _runs(shown, finding)
    chart = DriftChart(
        quantity=quantity_of(finding),
        runs=runs,
        factor=shown.factor,
        blocks=[_block(block) for block in result.blocks] if result else (),
        sessions=_sessions(result) if result else (),
        block_sd_pct=result.block_sd_pct if result else None,
        sd_pct=result.sd_pct if result else None,
    )
    sessions = len(result.sessions) if result else shown.sessions
    return Panel(
        plot=Plot(
            id="drift",
            title="Run order and drift",
            label=describe(chart),
            figure=draw(chart),
            key=legend(chart),
            height="20rem",
            note=note(chart),
        ),
        how=(*HOW, *(BLOCKS if chart.blocks else ())),
        numbers=_numbers(chart, finding),
        aside=f"{shown.order}, {counted(sessions, 'session')}",
        notes=(*block_notes(result), *_borders(shown)) if result else (),
    )


def _runs(shown: Shown, finding: Cells) -> list[DriftRun]:
    return [
        DriftRun(
            cell=name,
            value=run.value,
            position=run.position,
            started=_datetime(run.started_at),
            name=f"run {run.position}",
            note=run_note(run, shown.labels.block),
            block=run.block,
            session=run.session,
        )
        for cell in finding.cells
        for name in [shown.labels.values(cell.levels) or "the only cell"]
        for run in cell.runs
        if run.state == "ok" and run.value is not None
    ]


def _block(result: BlockEffect) -> BlockStep:
    return BlockStep(
        name=f"block {result.block}",
        effect_pct=result.effect_pct,
        first=result.first,
        last=result.last,
        started=_datetime(result.started_at),
        ended=_datetime(result.ended_at),
        number=result.block,
        session=result.session,
    )


def _sessions(result: Drift) -> list[SessionStart]:
    return [
        SessionStart(f"session {session.number}", session.first, _datetime(session.started_at))
        for session in result.sessions[1:]
    ]


def _borders(shown: Shown) -> tuple[str, ...]:
    """Return why sessions began, and how many blocks they split."""
    notes = session_notes(shown.findings.sessions)
    return (" ".join(notes),) if notes else ()


def _numbers(chart: DriftChart, finding: Cells) -> Numbers:
    effects = {(block.number, block.session): block.effect_pct for block in chart.blocks}
    changes = changes_of(chart)
    return Numbers(
        (
            Column("run"),
            Column("cell"),
            Column("value", finding.unit),
            Column("from its cell’s mean", "%"),
            Column("block", "count"),
            Column("effect of the block", "%"),
            Column("made"),
        ),
        [
            (
                run.name,
                run.cell,
                run.value,
                changes.get(run.position),
                run.block,
                effects.get((run.block, run.session)),
                run.note,
            )
            for run in sorted(chart.runs, key=lambda run: run.position)
        ],
    )


def _datetime(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


CHARTS = (Chart("drift", panel, late="Run order and drift"),)
