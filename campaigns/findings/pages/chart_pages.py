"""A chart of a result as a page of its own."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from campaigns.findings.charts.base import Shown
from campaigns.findings.charts.capacity import CAPACITY
from campaigns.findings.charts.curve import is_over_load, main_plot, pairs_of
from campaigns.findings.pages.levels import ANSWER, EVIDENCE, address_of
from campaigns.findings.pages.panels import panel_of
from campaigns.findings.pages.view import shown_of
from campaigns.findings.store import findings_of
from campaigns.kit.charts.labels import level_text
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning.metrics import metric_of
from campaigns.results import exports
from campaigns.results.chart_pages import ChartPage, as_file, lines_about
from campaigns.results.environment import simulators_of
from campaigns.results.pages_data import outline_of, span_of
from campaigns.results.run_plots import Plot, labelled


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def chart_page(request: HttpRequest, pk: int, chart: str) -> HttpResponse:
    """Return a chart of the result page for the same query, as an HTML file in which it can be zoomed."""
    campaign = get_object_or_404(Campaign, pk=pk)
    findings = findings_of(campaign, request.GET.get("metric", ""))
    shown = shown_of(campaign, outline_of(campaign), findings, request.GET)
    page = _page(request, campaign, shown, chart)
    return as_file(page, request.GET.dict(), exports.attachment(campaign, f"{chart}.html"))


def _page(request: HttpRequest, campaign: Campaign, shown: Shown, chart: str) -> ChartPage:
    """Find a chart with what its page tells. Raise Http404."""
    simulators = simulators_of(campaign)
    about = tuple(lines_about(campaign, *span_of(campaign)))
    plot, multiples = main_plot(shown)
    if plot is not None and plot.id == chart:
        return ChartPage(
            plot=labelled(plot, simulators),
            multiples=[labelled(small, simulators) for small in multiples],
            heading=campaign.question,
            about=about,
            how=_how_to_read(campaign, shown, plot),
            address=_address(request, campaign, "", chart),
        )
    panel = panel_of(shown, chart)
    if panel is None:
        raise Http404(f"There is no chart “{chart}” on this result.")
    panel = panel.labelled(simulators)
    return ChartPage(
        plot=panel.plot,
        multiples=panel.multiples,
        heading=campaign.question,
        about=about,
        notes=panel.notes,
        how=render_to_string("findings/_panel_howto.html", {"panel": panel}),
        address=_address(request, campaign, chart, f"panel-{chart}"),
    )


def _how_to_read(campaign: Campaign, shown: Shown, plot: Plot) -> SafeString:
    """Return the reading help of the chart next to the answer; without a request, the glossary is not linked."""
    pairs = pairs_of(shown)
    context = {
        "chart": {
            "strata": {"baseline": level_text(pairs.baseline)} if pairs else None,
            "several": plot.several,
            "over_load": shown.judged and is_over_load(shown.findings.capacity, shown.view),
        },
        "metric": metric_of(campaign, shown.view.metric),
        "saved": True,
    }
    return render_to_string("findings/_howto.html", context)


def _address(request: HttpRequest, campaign: Campaign, opened: str, place: str) -> str:
    """Return the whole address of the result page for the same query. opened: a panel; place: where the chart stands."""
    query = request.GET.copy()
    level = ANSWER if opened in ("", CAPACITY) else EVIDENCE
    if level == EVIDENCE:
        query["open"] = opened
    text = f"?{query.urlencode()}" if query else ""
    page = address_of(campaign.pk, level)
    return request.build_absolute_uri(f"{page}{text}#{place}")
