"""How the runs of each cell are spread: the share of runs up to a value, and density with modes. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from campaigns.findings import values as stored
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
    and_more,
    hover_lead,
    hover_note,
    legend_of,
)
from campaigns.findings.charts.sampling import WHERE_ALL_ARE, evenly
from campaigns.kit import numbers
from campaigns.kit.charts.axes import (
    has_clock,
    log_clock_ticks,
    log_range,
    log_ticks,
    titled,
    value_axis,
)
from campaigns.kit.charts.figure import (
    Figure,
    Quantity,
    Trace,
    dash_of,
    figure,
    is_finite,
    line,
    mark,
    markers,
    sentence,
    series_token,
    symbol_of,
    text,
)
from campaigns.kit.numbers import amount, counted
from campaigns.results.run_plots import Plot
from campaigns.stats.density import FEWEST

MOST_DESCRIBED = 6
LARGEST_POWER = 300
MOST_STEPS = 101
"""With more runs the line has a step at each whole percent."""
MOST_CURVES = 12
HOW = (
    (
        "Each step",
        "is one run: the line climbs to the share of runs that are not above this value.",
    ),
    (
        "Further left",
        "is lower. A steep line means that runs are alike; a long flat end, outliers.",
    ),
    ("A plateau in the middle", "means two kinds of runs: a mean between them describes neither."),
)
HOW_DENSITY = (
    ("A peak", "stands where many runs lie. Each curve is drawn as high as the others."),
    ("A diamond", "is a mode: a peak that stands out and holds a tenth of the runs at least."),
    (
        "With two modes",
        "the mean misleads: find out what the runs of each have in common, and compare mode by mode.",
    ),
    (
        "The width",
        "of small bumps is that of the method; below 20 runs of a cell nothing is drawn.",
    ),
)


@dataclass(frozen=True, slots=True)
class SpreadRun:
    """One run that counts. position: of the run that a click opens; 0 where there is no page."""

    value: float
    name: str = ""
    note: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class SpreadCell:
    """The runs of one cell. place: of its colour and its dashes among all cells."""

    name: str
    runs: Sequence[SpreadRun]
    place: int = 0

    @property
    def ordered(self) -> list[SpreadRun]:
        """Return the runs with a number, ascending."""
        return sorted((r for r in self.runs if is_finite(r.value)), key=lambda run: run.value)


@dataclass(frozen=True, slots=True)
class DensityCurve:
    """Heights (1 at the highest peak) at values of one cell; modes: (value, share of the runs)."""

    name: str
    points: Sequence[tuple[float, float]]
    modes: Sequence[tuple[float, float]]
    runs: int
    place: int = 0


@dataclass(frozen=True, slots=True)
class SpreadChart:
    """Cells in the order of their levels."""

    quantity: Quantity
    cells: Sequence[SpreadCell]
    factor: str = ""


@dataclass(frozen=True, slots=True)
class DensityChart:
    """Curves of the cells that have one. on_logs: they are densities of logarithms."""

    quantity: Quantity
    curves: Sequence[DensityCurve]
    factor: str = ""
    on_logs: bool = True


def draw(chart: SpreadChart) -> Figure:
    """Draw one step line a cell: at each run, the share of the runs that are not above it."""
    quantity, factor = chart.quantity.readable()
    data = [_steps(cell, factor, chart) for cell in chart.cells]
    values = [factor * run.value for cell in chart.cells for run in cell.ordered]
    return figure(
        data,
        {
            "showlegend": len(chart.cells) > 1,
            "legend": legend_of(chart.factor),
            "xaxis": _linear(quantity, values),
            "yaxis": titled("runs up to this value", (0, 103), ticksuffix=" %"),
            "margin": MARGIN_BELOW_LEGEND,
        },
        scales=_log(quantity, values),
    )


def title(chart: SpreadChart | DensityChart) -> str:
    """Return what is plotted."""
    by = f" by {chart.factor}" if chart.factor else ""
    what = "Distribution of" if isinstance(chart, SpreadChart) else "Density of"
    return f"{what} {chart.quantity.label}{by}"


def describe(chart: SpreadChart) -> str:
    """Describe the finding in numbers: lowest, median and highest run of each cell."""
    unit = chart.quantity.unit
    parts = []
    for cell in chart.cells[:MOST_DESCRIBED]:
        ordered = [run.value for run in cell.ordered]
        if not ordered:
            parts.append(f"{cell.name}: no value")
            continue
        middle = ordered[(len(ordered) - 1) // 2]
        parts.append(
            f"{cell.name}: {counted(len(ordered), 'run')} from {amount(ordered[0], unit)} to"
            f" {amount(ordered[-1], unit)}, half of them up to {amount(middle, unit)}"
        )
    more = len(chart.cells) - MOST_DESCRIBED
    return f"{title(chart)}. {sentence('; '.join(parts))}{and_more(more)}."


def note(chart: SpreadChart) -> str:
    """Return a note where lines have fewer steps than there are runs; else nothing."""
    if all(len(cell.ordered) <= MOST_STEPS for cell in chart.cells):
        return ""
    most = MOST_STEPS - 1
    return f"Of cells with more than {most} runs the line has {most} steps. {WHERE_ALL_ARE}"


def draw_density(chart: DensityChart) -> Figure:
    """Draw a curve for each cell, with a diamond at each mode."""
    quantity, factor = chart.quantity.readable()
    data: list[Trace] = []
    values = []
    for curve in chart.curves:
        scaled = [(factor * value, height) for value, height in curve.points]
        values += [value for value, _ in scaled]
        data += _density(curve, scaled, factor, quantity.unit)
    axis = _linear(quantity, values, from_zero=False)
    if chart.on_logs and values:
        axis = {**axis, **_log_axis(quantity, values)}
    return figure(
        data,
        {
            "showlegend": len(chart.curves) > 1,
            "legend": legend_of(chart.factor),
            "xaxis": axis,
            "yaxis": titled("density, each peak as high", (0, 1.08), showticklabels=False),
            "margin": MARGIN_BELOW_LEGEND,
        },
    )


def describe_density(chart: DensityChart) -> str:
    """Return where the modes lie, and how many runs each has."""
    unit = chart.quantity.unit
    parts = []
    for curve in chart.curves[:MOST_DESCRIBED]:
        modes = " and ".join(
            f"{amount(at, unit)} ({numbers.share(share, 0)} of the runs)"
            for at, share in curve.modes
        )
        count = f"{len(curve.modes)} modes" if len(curve.modes) > 1 else "one mode"
        parts.append(f"{curve.name}: {count}, {modes}" if curve.modes else f"{curve.name}: no mode")
    return f"{title(chart)}. {sentence('; '.join(parts))}."


def _steps(cell: SpreadCell, factor: float, chart: SpreadChart) -> Trace:
    ordered = cell.ordered
    n = len(ordered)
    token = series_token(cell.place)
    ranked = evenly(list(enumerate(ordered, 1)), MOST_STEPS)
    points = [(factor * run.value, 100 * rank / n) for rank, run in ranked]
    if points:
        points.insert(0, (points[0][0], 0.0))
    notes = [_text(cell, run, rank, n, chart) for rank, run in ranked]
    sizes = [0, *([7 if n <= MOST_STEPS else 3] * len(ranked))]
    return {
        **line(
            points,
            {
                "color": f"@{token}",
                "width": 1.6,
                "shape": "hv",
                "dash": dash_of(cell.place),
            },
            name=text(cell.name),
            notes=[*notes[:1], *notes],
            pages=[run.position for _, run in (*ranked[:1], *ranked)],
        ),
        "mode": "lines+markers",
        "marker": mark(f"{symbol_of(cell.place)}-open", sizes, f"@{token}"),
    }


def _text(cell: SpreadCell, run: SpreadRun, rank: int, n: int, chart: SpreadChart) -> str:
    return (
        f"{hover_lead(run.name)}{text(f'{chart.factor} {cell.name}'.strip())}<br>"
        f"{amount(run.value, chart.quantity.unit)}, {rank} of {n} runs up to it{hover_note(run.note)}"
    )


def _density(
    curve: DensityCurve, points: Sequence[tuple[float, float]], factor: float, unit: str
) -> list[Trace]:
    token = series_token(curve.place)
    heights = dict(curve.points)
    places = [(at, _nearest(heights, at), share) for at, share in curve.modes]
    pen = {"color": f"@{token}", "width": 2, "dash": dash_of(curve.place)}
    return [
        line(points, pen, name=text(curve.name), legendgroup=text(curve.name)),
        markers(
            [(factor * at, height) for at, height, _ in places],
            mark("diamond", 9, f"@{token}"),
            name=text(f"modes of {curve.name}"),
            showlegend=False,
            legendgroup=text(curve.name),
            notes=[
                f"<b>{text(curve.name)}</b><br>mode at {amount(factor * at, unit)},"
                f" {numbers.share(share, 0)} of {counted(curve.runs, 'run')}"
                for at, _, share in places
            ],
        ),
    ]


def _nearest(heights: dict[float, float], at: float) -> float:
    return heights[min(heights, key=lambda value: abs(value - at))] if heights else 1.0


def _linear(
    quantity: Quantity, values: Sequence[float], *, from_zero: bool = True
) -> dict[str, Any]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = min(0.0, low) if from_zero else low
    pad = 0.03 * (high - low) or 0.03 * abs(high) or 1.0
    start = low - pad if low < 0 or not from_zero else 0.0
    return value_axis(quantity, start, high + pad, with_clock=has_clock(quantity.unit, high))


def _log_axis(quantity: Quantity, values: Sequence[float]) -> dict[str, Any]:
    start, end = log_range(min(values), max(values))
    ticks = log_clock_ticks if has_clock(quantity.unit, max(values)) else log_ticks
    tick = ticks(10 ** max(start, -LARGEST_POWER), 10 ** min(end, LARGEST_POWER))
    return {"type": "log", "range": [start, end], **(tick or {"nticks": 6})}


def _log(quantity: Quantity, values: Sequence[float]) -> dict[str, Any]:
    """Return the scales of the axis, where every value has a logarithm."""
    if not values or not all(value > 0 and math.isfinite(value) for value in values):
        return {}
    return {"linear": {}, "log": {"xaxis": _log_axis(quantity, values)}}


def spread_panel(shown: Shown) -> Panel | None:
    """Return the panel; None before there is a value."""
    finding = shown.findings.cells
    cells = _cells(shown)
    if not finding or not cells:
        return None
    some, chosen = shown.some("ecdf", cells, MOST_CURVES)
    chart = SpreadChart(quantity_of(finding), some, shown.factor)
    return Panel(
        plot=Plot(
            id="ecdf",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            height="22rem",
            note=note(chart),
        ),
        how=HOW,
        numbers=Numbers(
            (
                Column("cell"),
                Column("run", "count"),
                Column("value", finding.unit),
                Column("share of runs up to it", "share"),
                Column("made"),
            ),
            [
                (cell.name, run.position, run.value, rank / len(cell.runs), run.note)
                for cell in cells
                for rank, run in enumerate(cell.ordered, 1)
            ],
        ),
        aside=counted(sum(len(cell.runs) for cell in cells), "run"),
        choices=(chosen,),
    )


def density_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where no cell has enough runs for a density. A note counts cells without one."""
    finding, result = (
        shown.findings.summaries,
        shown.findings.charts.read("density", stored.Densities),
    )
    if not finding or result is None:
        return None
    known = [(each, each.density) for each in result.cells if each.density and each.density.heights]
    if not known:
        return None
    names = {cell.cell: shown.labels.values(cell.levels) for cell in finding.cells}
    some, chosen = shown.some("density", known, MOST_CURVES)
    on_logs = all(density.on_logs for _, density in known)
    curves = [_curve(place, cell, density, names) for place, (cell, density) in enumerate(some)]
    chart = DensityChart(quantity_of(finding), curves, shown.factor, on_logs)
    few = len(result.cells) - len(known)
    return Panel(
        plot=Plot(
            id="density",
            title=title(chart),
            label=describe_density(chart),
            figure=draw_density(chart),
            height="20rem",
        ),
        how=HOW_DENSITY,
        numbers=Numbers(
            (
                Column("cell"),
                Column("what"),
                Column("value", finding.unit),
                Column("share of runs", "share"),
                Column("height", "count"),
            ),
            [
                *_modes(known, names),
                *(
                    (names[each.cell], "curve", value, None, height)
                    for each, density in known
                    for value, height in _points(density)
                ),
            ],
        ),
        notes=(
            f"{counted(few, 'cell')} of {len(result.cells)} have no density: it takes "
            f"{result.fewest} runs that differ.",
        )
        if few
        else (),
        choices=(chosen,),
    )


def _cells(shown: Shown) -> list[SpreadCell]:
    finding = shown.findings.cells
    if not finding:
        return []
    results = [
        SpreadCell(
            name=shown.labels.values(cell.levels) or "all runs",
            runs=[
                SpreadRun(
                    run.value,
                    f"run {run.position}",
                    run_note(run, shown.labels.block),
                    run.position,
                )
                for run in cell.runs
                if run.state == "ok" and run.value is not None
            ],
        )
        for cell in finding.cells
    ]
    return [
        SpreadCell(cell.name, cell.runs, place)
        for place, cell in enumerate(cell for cell in results if cell.runs)
    ]


def _curve(
    place: int, cell: stored.DensityCell, density: stored.DensityCurve, names: Mapping[int, str]
) -> DensityCurve:
    return DensityCurve(
        name=names[cell.cell] or "all runs",
        points=_points(density),
        modes=[(mode.at, mode.share) for mode in density.modes],
        runs=cell.n,
        place=place,
    )


def _points(density: stored.DensityCurve) -> list[tuple[float, float]]:
    """Return values and heights of the curve, in the unit of the metric."""
    heights, low, high = density.heights, density.low, density.high
    step = (high - low) / (len(heights) - 1)
    places = [low + step * index for index in range(len(heights))]
    return [
        (exp(place) if density.on_logs else place, height)
        for place, height in zip(places, heights, strict=True)
    ]


def _modes(
    known: Sequence[tuple[stored.DensityCell, stored.DensityCurve]], names: Mapping[int, str]
) -> list[tuple[Any, ...]]:
    return [
        (names[each.cell], "mode", mode.at, mode.share, None)
        for each, density in known
        for mode in density.modes
    ]


def _have_density(finding: stored.Cells | stored.BriefCells | None) -> bool:
    """Return whether a cell may have enough runs: a page of many must not promise a chart that never comes."""
    return finding is not None and any(cell.summary.n_ok >= FEWEST for cell in finding.cells)


CHARTS = (
    Chart("ecdf", spread_panel, late="Distribution of runs"),
    Chart(
        "density",
        density_panel,
        lambda shown: (
            "density" in shown.findings.charts and _have_density(shown.findings.summaries)
        ),
        late="Density of runs",
    ),
)
