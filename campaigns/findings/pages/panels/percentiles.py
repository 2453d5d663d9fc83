"""Percentiles of the samples of each cell, from the histograms of its runs."""

from collections.abc import Mapping
from typing import Any

from campaigns.findings.charts import percentile_curves
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
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
    finding = shown.findings.cells
    stored = [name.removeprefix(PREFIX) for name in shown.findings.charts if PREFIX in name]
    if not stored or not finding:
        return None
    stored.sort(key=lambda name: name != shown.campaign.primary_metric)
    options = [(name, name.replace("_", " ")) for name in stored]
    quantity = shown.chosen("percentiles-of", "Time of", options)
    result = shown.findings.charts[f"{PREFIX}{quantity.value}"]
    names = {cell["cell"]: shown.labels.values(cell["levels"]) for cell in finding["cells"]}
    known, unit = _readable([cell for cell in result["cells"] if cell["cell"] in names])
    some, chosen = shown.some("percentiles", known, MOST_CURVES)
    chart = percentile_curves.PercentileChart(
        Quantity(quantity.value.replace("_", " "), unit, lower_is_better=True),
        [_cell(place, cell, names) for place, cell in enumerate(some)],
        " and ".join(inside(factor.label) for factor in shown.labels.factors),
        sample_of(shown.campaign),
    )
    dropped = sum(cell["dropped"] for cell in known)
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
        aside=f"{counted(sum(cell['counts'] for cell in known), chart.sample)}, from histograms",
        notes=(f"{counted(dropped, chart.sample)} out of range are in no histogram.",)
        if dropped
        else (),
        choices=(quantity, chosen),
    )


def _readable(cells: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the cells with their unit: milliseconds where nothing takes a second, else seconds as stored."""
    highest = max((value for cell in cells for value in cell["together"]["values"]), default=0.0)
    if highest >= 1:
        return cells, "s"
    return [
        {
            **cell,
            **{name: _times_1000(cell[name]) for name in ("values", "low", "high")},
            "together": {**cell["together"], "values": _times_1000(cell["together"]["values"])},
        }
        for cell in cells
    ], "ms"


def _times_1000(values: list[float | None]) -> list[float | None]:
    return [None if value is None else 1000 * value for value in values]


def _cell(
    place: int, result: Mapping[str, Any], names: Mapping[int, str]
) -> percentile_curves.PercentileCell:
    together = result["together"]
    return percentile_curves.PercentileCell(
        name=names[result["cell"]] or "all runs",
        points=[
            percentile_curves.PercentilePoint(
                share, value, None if low is None or high is None else (low, high)
            )
            for share, value, low, high in zip(
                result["shares"], result["values"], result["low"], result["high"], strict=True
            )
        ],
        runs=result["runs"],
        samples=result["counts"],
        together=list(zip(together["shares"], together["values"], strict=True)),
        place=place,
    )


def _rows(known: list[dict[str, Any]], names: Mapping[int, str]) -> list[tuple[Any, ...]]:
    """Return the rows: the percentiles p50, p95 … of all cells first, then the whole curves."""
    rows = [
        (share, (names[cell["cell"]] or "all runs", f"{100 * share:.10g} %", cell["runs"], *bounds))
        for cell in known
        for share, *bounds in _columns(cell)
    ]
    named = [row for share, row in rows if share in NAMED]
    return named + [row for share, row in rows if share not in NAMED]


def _columns(cell: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    over = {
        share: bounds
        for share, *bounds in zip(
            cell["shares"], cell["values"], cell["low"], cell["high"], strict=True
        )
    }
    together = cell["together"]
    return [
        (share, *over.get(share, (None, None, None)), value)
        for share, value in zip(together["shares"], together["values"], strict=True)
    ]
