"""What a result page shows: the view that its address names, the same for everybody, and with it the input of all charts."""

from collections.abc import Mapping, Sequence

from django.forms import BoundField

from campaigns.findings.charts.base import Shown, View
from campaigns.findings.store import Findings
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import FactorOutline, LevelLabels, inside
from campaigns.kit.pages.forms import selector
from campaigns.models import Campaign
from campaigns.planning.metrics import metric_of
from campaigns.planning.outline import sample_of
from campaigns.results.pages_data import Outline
from campaigns.results.series import series_of_cell

TOGETHER = "all"
"""As colour: all other factors together make the series. As small multiples: there are none."""
MOST_MULTIPLES = 12
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


def view_of(
    query: Mapping[str, str], campaign: Campaign, outline: Outline, findings: Findings
) -> View:
    """Read the query of an address; names that do not exist are ignored."""
    metric = query.get("metric", "")
    metric = metric if metric in findings.metrics else campaign.primary_metric
    by_name = {factor.name: factor for factor in outline.factors}
    x = by_name.get(query.get("x", "")) or _first(outline)
    others = {name: factor for name, factor in by_name.items() if factor != x}
    several = [factor for factor in others.values() if len(factor.levels) > 1]
    colour = others.get(query.get("colour", ""))
    if colour is None and query.get("colour") != TOGETHER:
        colour = next(iter(several), None)
    facet = others.get(query.get("by", ""))
    if facet == colour:
        facet = None
    if facet is None and query.get("by") != TOGETHER and colour is not None:
        fitting = [f for f in several if f != colour and len(f.levels) <= MOST_MULTIPLES]
        facet = next(iter(fitting), None)
    return View(metric, x, colour, facet)


def selectors(
    view: View, outline: Outline, findings: Findings, *, with_axes: bool
) -> list[BoundField]:
    """Return the selectors of metric and axes, where there is something to choose."""
    labels = {known.name: known.label for known in outline.metrics}
    fields = []
    if len(findings.metrics) > 1:
        options = [(name, labels.get(name, name.replace("_", " "))) for name in findings.metrics]
        fields.append(selector("metric", "Metric", options, view.metric))
    if not with_axes or len(outline.factors) < 2:
        return fields
    fields.append(_factors("x", "Axis", view.x, outline.factors))
    if len(outline.factors) > 2:
        others = [factor for factor in outline.factors if factor != view.x]
        fields.append(_factors("colour", "Colour", view.colour, others, "all others"))
        third = [f for f in others if f != view.colour and len(f.levels) <= MOST_MULTIPLES]
        if third:
            fields.append(_factors("by", "Small charts by", view.facet, third, "none"))
    return fields


def _factors(
    name: str,
    label: str,
    chosen: FactorOutline | None,
    factors: Sequence[FactorOutline],
    none: str = "",
) -> BoundField:
    options = [(factor.name, factor.label) for factor in factors]
    if none:
        options.append((TOGETHER, none))
    return selector(name, label, options, chosen.name if chosen else TOGETHER)


def _first(outline: Outline) -> FactorOutline | None:
    """Return the default axis: the first load that varies, else the first factor of numbers."""
    several = [factor for factor in outline.factors if len(factor.levels) > 1]
    loads = [factor for factor in several if factor.load]
    ordered = [factor for factor in several if factor.ordered]
    return next(iter([*loads, *ordered, *several, *outline.factors]), None)
