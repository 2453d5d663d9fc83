"""Improvement against the first column, a line for each row: lines that are not parallel interact. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.findings.charts.base import Chart, Column, Numbers, Panel, Shown
from campaigns.findings.charts.parts import (
    MARGIN,
    error_bars,
    hover_note,
    zero_line,
)
from campaigns.findings.charts.parts import extent as extent_of
from campaigns.findings.values import FactorMatrix, MatrixCell, Terms
from campaigns.findings.wording.verdicts import label_of
from campaigns.kit.charts.axes import is_wide, log_range, narrow_ticks, titled
from campaigns.kit.charts.figure import (
    DASHES,
    SYMBOLS,
    Figure,
    KeyItem,
    Trace,
    figure,
    is_finite,
    line,
    mark,
    markers,
    series_token,
    text,
)
from campaigns.kit.charts.labels import LevelLabels, inside
from campaigns.kit.numbers import counted, improvement, plain, short
from campaigns.results.run_plots import Plot
from campaigns.stats.cell_states import CellState

MOST_DESCRIBED = 6
LONGEST_TICK = 24
HOW = (
    ("Each row", "has its own baseline, the first cell that was measured in it."),
    ("Lines that are not parallel", "interact: what a column brings depends on the row."),
    ("Crosses on the rail", "are cells with too many failures. No value is made from survivors."),
    ("Bars", "are 95 % intervals of the improvement, each by itself."),
)


HOW_LOAD = (
    (
        "To the right",
        "more is asked at once. Each line is a setting against the first one, at the same load.",
    ),
    ("A line that is not level", "interacts: what the setting brings depends on the load."),
    *HOW[2:],
)


@dataclass(frozen=True, slots=True)
class Point:
    """One cell of a row: the place of its column, its improvement in %, None where it has none."""

    column: int
    improvement_pct: float | None
    interval: tuple[float, float] | None = None
    failed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the chart. best: the column of its best cell; None where none is ranked."""

    name: str
    points: Sequence[Point]
    best: int | None = None


@dataclass(frozen=True, slots=True)
class InteractionChart:
    """columns: the levels on the axis; rows_factor: what distinguishes the rows. is_load: the columns are loads."""

    metric: str
    factor: str
    rows_factor: str
    columns: Sequence[float | str]
    rows: Sequence[Row]
    is_load: bool = False
    lower_is_better: bool = True

    @property
    def is_numeric(self) -> bool:
        """Return whether the columns stand on an axis of numbers."""
        return all(isinstance(c, int | float) and not isinstance(c, bool) for c in self.columns)

    def x(self, column: int) -> float:
        """Return the place of a column on the axis."""
        level = self.columns[column]
        return float(level) if self.is_numeric else float(column)

    @property
    def failures(self) -> int:
        """Count the cells without a number because too much of them failed."""
        return sum(point.failed for row in self.rows for point in row.points)


def draw(chart: InteractionChart) -> Figure:
    """Draw the figure; `scales` has `log` where the columns have logs."""
    points = [point for row in chart.rows for point in row.points]
    low, high = extent_of(
        [point.improvement_pct for point in points], [point.interval for point in points], pad=0.06
    )
    rail = high + 0.06 * (high - low)
    xs = [chart.x(index) for index in range(len(chart.columns))]
    across = (max(xs, default=0.0) - min(xs, default=0.0)) or 1.0
    ticks = {
        "tickvals": xs,
        "ticktext": [text(_name(level), LONGEST_TICK) for level in chart.columns],
    }
    extent = [min(xs, default=0.0) - 0.06 * across, max(xs, default=0.0) + 0.06 * across]
    top = rail + 0.06 * (high - low) if chart.failures else high
    axis = titled(text(chart.factor), extent, **ticks)
    if chart.is_load and is_wide(min(xs, default=0.0), max(xs, default=0.0)):
        axis |= {"type": "log", "range": log_range(min(xs), max(xs))}
        extent = [10**end for end in axis["range"]]
    scales = _scales(chart, xs, ticks)
    others = [scales["log"]["xaxis"]] if "xaxis" in scales.get("log", {}) else []
    return figure(
        [
            zero_line((extent[0], 0), (extent[1], 0)),
            *_lines(chart),
            *_failures(chart, rail, extent),
        ],
        {
            "xaxis": axis,
            "yaxis": titled(
                f"improvement of {text(chart.metric)} (%)", (low, top), ticksuffix=" %"
            ),
            "margin": MARGIN,
        },
        scales=scales,
        narrow={
            "yaxis": titled("improvement", ticksuffix=" %"),
            **({"xaxis": narrow_ticks(axis, *others)} if chart.is_numeric else {}),
        },
    )


def title(chart: InteractionChart) -> str:
    """Return what is plotted."""
    return f"Interaction: {chart.factor} and {chart.rows_factor}"


def describe(chart: InteractionChart) -> str:
    """Describe the finding in numbers: the best of each row; over loads the improvement at each."""
    against = "" if chart.is_load else " against the first column"
    texts = [f"{title(chart)}. Improvement of {chart.metric}{against}."]
    texts += [f"{short(row.name)}: {_best(chart, row)}." for row in chart.rows[:MOST_DESCRIBED]]
    if len(chart.rows) > MOST_DESCRIBED:
        texts.append(f"And {counted(len(chart.rows) - MOST_DESCRIBED, 'row')} more.")
    if chart.failures:
        texts.append(f"{counted(chart.failures, 'cell')} with too many failures, without a value.")
    return " ".join(texts)


def legend(chart: InteractionChart) -> tuple[KeyItem, ...]:
    """List the rows, and what is no value."""
    rows = [
        KeyItem(SYMBOLS[i % len(SYMBOLS)], row.name, None, series_token(i), f"s{i + 1}")
        for i, row in enumerate(chart.rows)
    ]
    message = "too many failures, no value"
    return (*rows, KeyItem("failed", message, chart.failures, "fail", "failed"))


def _best(chart: InteractionChart, row: Row) -> str:
    if chart.is_load:
        return ", ".join(
            f"{_improvement(chart, p)} at {_name(chart.columns[p.column])}" for p in row.points
        )
    known = [p for p in row.points if is_finite(p.improvement_pct)]
    best = next((p for p in known if p.column == row.best), None)
    if best is None:
        return "no cell is ranked" if known else "no value"
    return f"best {_improvement(chart, best)} at {_name(chart.columns[best.column])}"


def _improvement(
    chart: InteractionChart, point: Point, interval: tuple[float, float] | None = None
) -> str:
    if point.improvement_pct is None:
        return "no value"
    return improvement(point.improvement_pct, interval, lower_is_better=chart.lower_is_better)


def _name(level: float | str) -> str:
    return plain(level) if isinstance(level, int | float) else level


def _lines(chart: InteractionChart) -> list[Trace]:
    traces = []
    for index, row in enumerate(chart.rows):
        ordered = sorted(row.points, key=lambda point: chart.x(point.column))
        color = f"@{series_token(index)}"
        drawn = [
            (point, point.improvement_pct)
            for point in ordered
            if point.improvement_pct is not None and is_finite(point.improvement_pct)
        ]
        pen = {"color": color, "width": 1.5, "dash": DASHES[index % len(DASHES)]}
        traces.append(
            line(
                [(chart.x(p.column), p.improvement_pct) for p in ordered],
                pen,
                name=text(row.name),
                meta=[f"s{index + 1}"],
            )
        )
        bounds = [(value, point.interval or (value, value)) for point, value in drawn]
        traces.append(
            markers(
                [(chart.x(point.column), value) for point, value in drawn],
                mark(SYMBOLS[index % len(SYMBOLS)], 9, color),
                name=text(row.name),
                error_y=error_bars(bounds, f"{color}/60", thickness=1, width=4),
                meta=[f"s{index + 1}"],
                notes=[_hover(chart, row, point) for point, _ in drawn],
            )
        )
    return traces


def _hover(chart: InteractionChart, row: Row, point: Point) -> str:
    level = text(_name(chart.columns[point.column]))
    value = _improvement(chart, point, point.interval)
    return (
        f"<b>{text(row.name)}</b>, {text(chart.factor)} {level}<br>{value}{hover_note(point.note)}"
    )


def _failures(chart: InteractionChart, rail: float, extent: Sequence[float]) -> list[Trace]:
    failed = [(row, point) for row in chart.rows for point in row.points if point.failed]
    if not failed:
        return []
    pen = {"color": "@fail", "width": 1, "dash": "dot"}
    return [
        line([(extent[0], rail), (extent[1], rail)], pen, name="rail", meta=["failed"]),
        markers(
            [(chart.x(point.column), rail) for _, point in failed],
            mark("x", 10, "@fail"),
            name="too many failures",
            meta=["failed"],
            notes=[_hover(chart, row, point) for row, point in failed],
        ),
    ]


def _scales(chart: InteractionChart, xs: Sequence[float], ticks: dict[str, Any]) -> dict[str, Any]:
    if not chart.is_numeric or len(xs) < 2 or min(xs) <= 0:
        return {}
    if chart.is_load and is_wide(min(xs), max(xs)):
        return {}
    return {
        "linear": {},
        "log": {"xaxis": {"type": "log", "range": log_range(min(xs), max(xs)), **ticks}},
    }


def panel(shown: Shown) -> Panel | None:
    """Return the panel that draws the matrix as lines, one for each row."""
    terms, result = shown.findings.matrix, matrix_of(shown)
    if terms is None or result is None:
        return None
    by_load = shown.labels.load is not None and _has_load(result, shown.labels.load.name)
    chart = (_by_load if by_load else _by_columns)(result, terms, shown.labels)
    return Panel(
        plot=Plot(
            id="interaction",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            key=legend(chart),
            height="24rem",
        ),
        how=HOW_LOAD if by_load else HOW,
        numbers=_numbers(result, terms, shown.labels),
    )


def _by_columns(result: FactorMatrix, terms: Terms, labels: LevelLabels) -> InteractionChart:
    """Return a line for each row of the matrix, over its columns."""
    factor = result.factor
    return InteractionChart(
        metric=inside(terms.label),
        lower_is_better=terms.lower_is_better,
        factor=inside(labels.factor(factor)),
        rows_factor=inside(labels.other_factors(factor)),
        columns=[
            c if result.numeric and result.unlimited is None else labels.short(factor, c)
            for c in result.columns
        ],
        rows=[
            Row(
                name=labels.values(row.levels) or "all",
                points=[_point(cell, result.columns) for cell in row.cells],
                best=next(
                    (
                        result.columns.index(cell.level)
                        for cell in row.cells
                        if cell.cell == row.best
                    ),
                    None,
                ),
            )
            for row in result.rows
        ],
    )


def _has_load(result: FactorMatrix, load: str) -> bool:
    return all(isinstance(row.levels.get(load), int | float) for row in result.rows)


def _by_load(result: FactorMatrix, terms: Terms, labels: LevelLabels) -> InteractionChart:
    """Return a line for each setting, over the load: its improvement against the first setting at the same load."""
    load = labels.load
    assert load is not None  # noqa: S101  the caller has asked
    loads = sorted({row.levels[load.name] for row in result.rows})
    lines: dict[str, list[Point]] = {}
    for row in result.rows:
        others = labels.values(row.levels, without=load.name)
        for cell in row.cells:
            if cell.level == result.columns[0]:
                continue
            name = ", ".join(filter(None, (others, labels.short(result.factor, cell.level))))
            point = _point(cell, result.columns)
            lines.setdefault(name, []).append(
                replace(point, column=loads.index(row.levels[load.name]))
            )
    first = labels.short(result.factor, result.columns[0])
    return InteractionChart(
        metric=f"{inside(terms.label)} against {inside(labels.factor(result.factor))} {first}",
        factor=inside(load.label),
        rows_factor=inside(labels.other_factors(load.name)),
        columns=loads,
        rows=[Row(name, points) for name, points in lines.items()],
        is_load=True,
        lower_is_better=terms.lower_is_better,
    )


def matrix_of(shown: Shown) -> FactorMatrix | None:
    """Return the matrix whose columns are the factor on the axis, else the first one."""
    if not shown.judged or not shown.findings.matrix:
        return None
    by_factor = shown.findings.matrix.factors
    axes = [each.name for each in (shown.view.x, shown.view.colour) if each]
    named = [by_factor[name] for name in axes if name in by_factor]
    return next(iter([*named, *by_factor.values()]))


def _point(cell: MatrixCell, columns: Sequence[Any]) -> Point:
    return Point(
        column=columns.index(cell.level),
        improvement_pct=cell.improvement_pct,
        interval=cell.ci_pct,
        failed=cell.state == CellState.TOO_MANY_FAILURES,
        note=f"{counted(cell.n, 'run')}, {cell.failed} failed",
    )


def _numbers(result: FactorMatrix, terms: Terms, labels: LevelLabels) -> Numbers:
    factor = result.factor
    rows = [
        (
            labels.values(row.levels) or "all",
            labels.short(factor, cell.level),
            cell.improvement_pct,
            *(cell.ci_pct or (None, None)),
            label_of(terms, cell.word).word if cell.word else cell.state.replace("_", " "),
            cell.n,
            cell.failed,
            cell.lost,
        )
        for row in result.rows
        for cell in row.cells
    ]
    return Numbers(
        (
            Column(inside(labels.other_factors(factor))),
            Column(inside(labels.factor(factor))),
            Column("improvement", "%"),
            Column("95 % from", "%"),
            Column("95 % to", "%"),
            Column("verdict"),
            Column("runs"),
            Column("failed"),
            Column("lost"),
        ),
        rows,
    )


CHARTS = (
    Chart(
        "interaction",
        panel,
        lambda shown: shown.judged and shown.findings.matrix,
        late="Interaction of the factors",
    ),
)
