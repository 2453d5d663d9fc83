"""The charts below the answer of a result page: which there are, and their input."""

from collections.abc import Collection, Mapping

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
from campaigns.findings.pages.view import view_of
from campaigns.findings.store import Findings
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import LevelLabels, inside
from campaigns.kit.pages.forms import selector
from campaigns.models import Campaign
from campaigns.planning.metrics import metric_of
from campaigns.planning.outline import sample_of
from campaigns.results.pages_data import Outline
from campaigns.results.series import series_of_cell

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
MOST_RUNS, MOST_CELLS = 1000, 60
"""Charts of more are not part of the page, which requests them when they come into sight."""


def comes_late(outline: Outline) -> bool:
    """Return whether charts of every run or cell come after the page."""
    return outline.runs > MOST_RUNS or outline.cells > MOST_CELLS


def shown_of(
    campaign: Campaign, outline: Outline, findings: Findings, query: Mapping[str, str]
) -> Shown:
    """Return the input of all charts, for the query of an address."""

    def quantity(name: str) -> Quantity:
        metric = metric_of(campaign, name)
        return Quantity(inside(metric.label), metric.unit, metric.lower_is_better)

    return Shown(
        findings=findings,
        labels=LevelLabels(outline.factors, campaign.block_word),
        view=view_of(query, campaign, outline, findings),
        primary_metric=campaign.primary_metric,
        many=comes_late(outline),
        is_open=campaign.state in Campaign.ACTIVE,
        order=campaign.get_order_display().lower(),
        sessions=outline.sessions,
        sample=sample_of(campaign),
        quantity=quantity,
        series=lambda cell, most: series_of_cell(campaign, cell, most),
        selector=selector,
        query=dict(query.items()),
    )


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
