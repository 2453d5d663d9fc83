"""The chart of a campaign's answer as SVG, drawn on the server."""

from collections.abc import Mapping

from campaigns.findings.charts.curve import levels_plot
from campaigns.findings.charts.pairs import pairs_plot
from campaigns.findings.pages.view import view_of
from campaigns.findings.store import Findings
from campaigns.kit.charts.drawings import pixels_of
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.charts.svg import drawn
from campaigns.models import Campaign
from campaigns.results.pages_data import Outline
from campaigns.results.run_plots import Plot, labelled
from campaigns.reviews.reports.values import Chart

MOST_CHARTS = 6
LOWEST, HIGHEST = 220, 620
"""Pixels of the height of a chart on paper."""


def charts_of(
    campaign: Campaign,
    outline: Outline,
    findings: Findings,
    query: Mapping[str, str],
    simulators: list[str],
) -> tuple[Chart, ...]:
    """Draw the charts beside the answer of the result page; query: of the view that was chosen there."""
    labels = LevelLabels(outline.factors, campaign.block_word)
    if findings.pairs:
        plots: tuple[Plot, ...] = (pairs_plot(findings.pairs, labels),)
    elif findings.cells:
        view = view_of({**query, "metric": ""}, campaign, outline, findings)
        judged = findings.levels, findings.curves, findings.capacity
        whole, small = levels_plot(findings.cells, labels, view, *judged)
        plots = small[:MOST_CHARTS] or (whole,)
    else:
        return ()
    return tuple(_chart(labelled(plot, simulators)) for plot in plots)


def _chart(plot: Plot) -> Chart:
    height = max(LOWEST, min(HIGHEST, pixels_of(plot.height)))
    return Chart(
        title=plot.title,
        wide=drawn(plot.figure, height=height, label=plot.label),
        narrow=drawn(plot.figure, height=height, label=plot.label, narrow=True),
        label=plot.label,
        key=tuple(item for item in plot.key if item.count != 0),
        note=plot.note,
    )
