"""How the runs of each cell are spread: their distribution, and density with modes where n allows."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from campaigns.findings.charts import spread
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.pages.plots import quantity_of, run_note
from campaigns.findings.values import Densities, DensityCell, DensityCurve
from campaigns.kit.numbers import counted
from campaigns.results.phrases import inside
from campaigns.results.run_plots import Plot

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


def spread_panel(shown: Shown) -> Panel | None:
    """Return the panel; None before there is a value."""
    finding = shown.findings.cells
    cells = _cells(shown)
    if not finding or not cells:
        return None
    some, chosen = shown.some("ecdf", cells, MOST_CURVES)
    chart = spread.SpreadChart(quantity_of(finding), some, _factor(shown))
    return Panel(
        plot=Plot(
            id="ecdf",
            title=spread.title(chart),
            label=spread.describe(chart),
            figure=spread.draw(chart),
            height="22rem",
            note=spread.note(chart),
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
    finding, result = shown.findings.summaries, shown.findings.charts.read("density", Densities)
    if not finding or result is None:
        return None
    known = [(each, each.density) for each in result.cells if each.density and each.density.heights]
    if not known:
        return None
    names = {cell.cell: shown.labels.values(cell.levels) for cell in finding.cells}
    some, chosen = shown.some("density", known, MOST_CURVES)
    on_logs = all(density.on_logs for _, density in known)
    curves = [_curve(place, cell, density, names) for place, (cell, density) in enumerate(some)]
    chart = spread.DensityChart(quantity_of(finding), curves, _factor(shown), on_logs)
    few = len(result.cells) - len(known)
    return Panel(
        plot=Plot(
            id="density",
            title=spread.title(chart),
            label=spread.describe_density(chart),
            figure=spread.draw_density(chart),
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


def _cells(shown: Shown) -> list[spread.SpreadCell]:
    finding = shown.findings.cells
    if not finding:
        return []
    results = [
        spread.SpreadCell(
            name=shown.labels.values(cell.levels) or "all runs",
            runs=[
                spread.SpreadRun(
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
        spread.SpreadCell(cell.name, cell.runs, place)
        for place, cell in enumerate(cell for cell in results if cell.runs)
    ]


def _curve(
    place: int, cell: DensityCell, density: DensityCurve, names: Mapping[int, str]
) -> spread.DensityCurve:
    return spread.DensityCurve(
        name=names[cell.cell] or "all runs",
        points=_points(density),
        modes=[(mode.at, mode.share) for mode in density.modes],
        runs=cell.n,
        place=place,
    )


def _points(density: DensityCurve) -> list[tuple[float, float]]:
    """Return values and heights of the curve, in the unit of the metric."""
    heights, low, high = density.heights, density.low, density.high
    step = (high - low) / (len(heights) - 1)
    places = [low + step * index for index in range(len(heights))]
    return [
        (exp(place) if density.on_logs else place, height)
        for place, height in zip(places, heights, strict=True)
    ]


def _modes(
    known: Sequence[tuple[DensityCell, DensityCurve]], names: Mapping[int, str]
) -> list[tuple[Any, ...]]:
    return [
        (names[each.cell], "mode", mode.at, mode.share, None)
        for each, density in known
        for mode in density.modes
    ]


def _factor(shown: Shown) -> str:
    return " and ".join(inside(factor.label) for factor in shown.labels.factors)
