"""Percentiles of the samples of each cell, from the histograms of its runs."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from campaigns.findings.charts import percentile_curves
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.values import PercentileCell, Percentiles
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.numbers import counted
from campaigns.planning.outline import sample_of
from campaigns.results.phrases import inside
from campaigns.results.run_plots import Plot

MOST_CURVES = 12
PREFIX = "percentiles:"
NAMED = (0.5, 0.9, 0.95, 0.99, 0.999)
"""These percentiles are first in the table."""
HOW = (
    ("To the right", "are the slow ones: at 99 % one in a hundred is slower. Lower is better."),
    (
        "Each run is one observation.",
        "The line is the geometric mean of the runs’ own percentiles; the band, from three runs on, "
        "is its 95 % interval. More samples in a run do not make it narrower.",
    ),
    (
        "Bands",
        "are drawn for four cells at most; the intervals of all stand in the hover and the table.",
    ),
    ("The line ends", "where the run with the fewest samples has fewer than ten above it."),
    (
        "The dotted line",
        "takes all runs together, to look further out. It has no interval, since samples of one run "
        "are not independent.",
    ),
)


def percentiles_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where no histogram was stored."""
    finding = shown.findings.summaries
    stored = [name.removeprefix(PREFIX) for name in shown.findings.charts if PREFIX in name]
    if not stored or not finding:
        return None
    stored.sort(key=lambda name: name != shown.campaign.primary_metric)
    options = [(name, name.replace("_", " ")) for name in stored]
    quantity = shown.chosen("percentiles-of", "Time of", options)
    result = shown.findings.charts.read(f"{PREFIX}{quantity.value}", Percentiles)
    if result is None:
        return None
    names = {cell.cell: shown.labels.values(cell.levels) for cell in finding.cells}
    known, unit = _readable([cell for cell in result.cells if cell.cell in names])
    some, chosen = shown.some("percentiles", known, MOST_CURVES)
    chart = percentile_curves.PercentileChart(
        Quantity(quantity.value.replace("_", " "), unit, lower_is_better=True),
        [_cell(place, cell, names) for place, cell in enumerate(some)],
        " and ".join(inside(factor.label) for factor in shown.labels.factors),
        sample_of(shown.campaign),
    )
    dropped = sum(cell.dropped for cell in known)
    return Panel(
        plot=Plot(
            id="percentiles",
            title=percentile_curves.title(chart),
            label=percentile_curves.describe(chart),
            figure=percentile_curves.draw(chart),
            key=percentile_curves.legend(chart),
            height="24rem",
        ),
        how=HOW,
        numbers=Numbers(
            (
                Column("cell"),
                Column("percentile"),
                Column("runs", "count"),
                Column("mean of the runs", unit),
                Column("95 % from", unit),
                Column("to", unit),
                Column("all together", unit),
            ),
            _rows(known, names),
        ),
        aside=f"{counted(sum(cell.counts for cell in known), chart.sample)}, from histograms",
        notes=(f"{counted(dropped, chart.sample)} out of range are in no histogram.",)
        if dropped
        else (),
        choices=(quantity, chosen),
    )


def _readable(cells: list[PercentileCell]) -> tuple[list[PercentileCell], str]:
    """Return the cells with their unit: milliseconds where nothing takes a second, else seconds as stored."""
    highest = max((value for cell in cells for value in cell.together.values), default=0.0)
    if highest >= 1:
        return cells, "s"
    return [
        replace(
            cell,
            values=[1000 * value for value in cell.values],
            low=[None if value is None else 1000 * value for value in cell.low],
            high=[None if value is None else 1000 * value for value in cell.high],
            together=replace(cell.together, values=[1000 * each for each in cell.together.values]),
        )
        for cell in cells
    ], "ms"


def _cell(
    place: int, cell: PercentileCell, names: Mapping[int, str]
) -> percentile_curves.PercentileCell:
    return percentile_curves.PercentileCell(
        name=names[cell.cell] or "all runs",
        points=[
            percentile_curves.PercentilePoint(
                share, value, None if low is None or high is None else (low, high)
            )
            for share, value, low, high in zip(
                cell.shares, cell.values, cell.low, cell.high, strict=True
            )
        ],
        runs=cell.runs,
        samples=cell.counts,
        together=list(zip(cell.together.shares, cell.together.values, strict=True)),
        place=place,
    )


def _rows(known: list[PercentileCell], names: Mapping[int, str]) -> list[tuple[Any, ...]]:
    """Return the rows: the percentiles p50, p95 … of all cells first, then the whole curves."""
    rows = [
        (share, (names[cell.cell] or "all runs", f"{100 * share:.10g} %", cell.runs, *bounds))
        for cell in known
        for share, *bounds in _columns(cell)
    ]
    named = [row for share, row in rows if share in NAMED]
    return named + [row for share, row in rows if share not in NAMED]


def _columns(cell: PercentileCell) -> list[tuple[Any, ...]]:
    over = {
        share: bounds
        for share, *bounds in zip(cell.shares, cell.values, cell.low, cell.high, strict=True)
    }
    return [
        (share, *over.get(share, (None, None, None)), value)
        for share, value in zip(cell.together.shares, cell.together.values, strict=True)
    ]
