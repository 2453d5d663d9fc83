"""The chart of a campaign's answer as SVG, drawn on the server."""

import re
from collections.abc import Mapping

from campaigns.findings.charts.curve import levels_plot
from campaigns.findings.charts.pairs import pairs_plot
from campaigns.findings.pages.view import view_of
from campaigns.findings.store import Findings
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.charts.svg import drawn
from campaigns.models import Campaign
from campaigns.results.pages_data import Outline
from campaigns.results.run_plots import Plot, labelled
from campaigns.reviews.reports.values import Chart

WIDE, NARROW = 720, 360
REM = 16
MOST_CHARTS = 6


def charts_of(
    campaign: Campaign,
    outline: Outline,
    findings: Findings,
    query: Mapping[str, str],
    stand_ins: list[str],
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
    return tuple(_chart(labelled(plot, stand_ins)) for plot in plots)


def _chart(plot: Plot) -> Chart:
    matched = re.match(r"([\d.]+)rem", plot.height)
    height = max(220, min(620, round(REM * float(matched[1]) if matched else 320)))
    return Chart(
        title=plot.title,
        wide=drawn(plot.figure, width=WIDE, height=height, label=plot.label),
        narrow=drawn(plot.figure, width=NARROW, height=height, label=plot.label, narrow=True),
        label=plot.label,
        key=tuple(item for item in plot.key if item.count != 0),
        note=plot.note,
    )
