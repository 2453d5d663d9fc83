"""The charts below the answer of a result page: which there are."""

from collections.abc import Collection

from campaigns.findings.charts import (
    capacity,
    drift,
    interaction,
    pairs,
    percentile_curves,
    phases,
    run_series,
    scalability,
    slopes,
    spread,
)
from campaigns.findings.charts.base import Chart, Late, Panel, Shown

CHARTS: tuple[Chart, ...] = (
    *capacity.CHARTS,
    *pairs.CHARTS,
    *interaction.CHARTS,
    *slopes.CHARTS,
    *spread.CHARTS,
    *percentile_curves.CHARTS,
    *scalability.CHARTS,
    *phases.CHARTS,
    *run_series.CHARTS,
    *drift.CHARTS,
)
"""In the order of the page."""


def panels_of(shown: Shown, opened: Collection[str] = (), without: str = "") -> list[Panel | Late]:
    """Return all panels that have something to show; those that can wait and are not opened as `Late`.

    without: the panel that stands elsewhere.
    """
    wanted = [chart for chart in CHARTS if chart.id != without and chart.fits(shown)]
    panels = (_panel(chart, shown, opened) for chart in wanted)
    return [panel for panel in panels if panel is not None]


def panel_of(shown: Shown, wanted: str) -> Panel | None:
    """Return one panel; None where there is no such chart, or nothing to show."""
    chart = next((each for each in CHARTS if each.id == wanted), None)
    return chart.panel(shown) if chart and chart.fits(shown) else None


def _panel(chart: Chart, shown: Shown, opened: Collection[str]) -> Panel | Late | None:
    if chart.late and shown.many and chart.id not in opened:
        return Late(chart.id, chart.late)
    return chart.panel(shown)
