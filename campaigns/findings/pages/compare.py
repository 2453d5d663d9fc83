"""The compare page: campaigns, or cells of them, against the first; its numbers as CSV."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.core.paginator import Page, Paginator
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET

from campaigns.findings.compared import MOST_CAMPAIGNS, Side, sides_of, there_is, why_unusable
from campaigns.findings.comparison_rows import rows_of_campaigns
from campaigns.findings.compute.comparability import OTHER_HARDWARE, Names
from campaigns.findings.compute.compared import Compared, cells_of
from campaigns.findings.compute.compared import compare as compare_sides
from campaigns.findings.pages.compare_address import Address, Move, read
from campaigns.findings.pages.compare_plot import compare_plot
from campaigns.findings.pages.compare_tables import carried_tables, environment_of, tables_of
from campaigns.findings.pages.demand import DemandTable, demand_table
from campaigns.findings.wording.compare import answer_of
from campaigns.findings.wording.verdicts import margin_in_words, size_in_words
from campaigns.kit.downloads import lines_of
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.forms import selector
from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning.filters import CampaignFilters
from campaigns.results.chart_pages import ChartPage, as_file, lines_about

OFFERED_A_PAGE = 20
MOST_OPTIONS = 400


@require_GET
@takes(Right.SEE)
@one_moment()
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the campaigns or cells in the query, in their order; offer campaigns where they are too few."""
    text = request.GET.get("q", "").replace("\x00", "").strip()[:200]
    shown = context(read(request.GET), text, may(request).see, request.GET.get("offered"))
    return render(request, "findings/compare/compare.html", {"most": MOST_CAMPAIGNS, **shown})


@require_GET
@takes(Right.SEE)
@one_moment()
def compare_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Return a line for each comparison, with its verdict and exact numbers, below a head."""
    return StreamingHttpResponse(
        lines_of(list(rows_of_campaigns(compared_of(read(request.GET), may(request).see)))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="comparison.csv"'},
    )


@require_GET
@takes(Right.SEE)
@one_moment()
def compare_chart(request: HttpRequest) -> HttpResponse:
    """Return the chart of a comparison as an HTML file in which it can be zoomed."""
    address = read(request.GET)
    compared = compared_of(address, may(request).see)
    plot = compare_plot(compared) if compared else None
    if compared is None or plot is None:
        raise BadRequest("The address names nothing that can be compared.")
    measured = compared.measured
    page = ChartPage(
        plot=plot,
        heading="Compare cells" if address.cells else "Compare campaigns",
        about=[line for each in measured for line in _lines_about(each.side)],
        how=render_to_string("findings/compare/_howto.html", {"metric": measured[0]}),
        address=request.build_absolute_uri(f"{reverse('compare')}?{address.query}#{plot.id}"),
    )
    return as_file(page, request.GET.dict(), 'attachment; filename="comparison.html"')


def context(
    address: Address, text: str, teams: Set[int], page: str | None = None
) -> dict[str, Any]:
    """Return the context of the page. text, page: of the search among the campaigns of teams."""
    sides = sides_of(address.all_campaigns, teams, address.metric)
    address, wrong = there_is(address, sides)
    unusable = {side.campaign.pk: why for side in sides if (why := why_unusable(side))}
    shown: dict[str, Any] = {
        "address": address,
        "problems": [*address.wrong, *wrong, *unusable.values()],
        "text": text,
        "offered": offered(text, address.all_campaigns, sides, teams, page),
    }
    if not sides:
        return shown
    names, usable = Names(sides), [side for side in sides if side.campaign.pk not in unusable]
    shown |= {
        "chosen": chosen_of(address, sides, names, unusable),
        "cell_fields": cell_fields(address, usable),
        "metric_field": metric_field(usable[0]) if usable else None,
    }
    compared = compare_sides(address, usable)
    if compared is None:
        return shown
    return shown | {
        "compared": compared,
        "answer": answer_of(compared),
        "plot": compare_plot(compared),
        "carried": carried_tables(compared),
        "tables": tables_of(compared),
        "environment": environment_of(compared),
        "demand": demand_of(shown["chosen"], address),
        "delta": size_in_words(compared.terms, compared.terms.delta_pct),
        "margin": margin_in_words(compared.terms),
        "with_hardware": address.with_hardware
        if OTHER_HARDWARE
        in (
            *(row.comparison.verdict.reason for row in compared.rows),
            *(row.ratio.reason for row in compared.capacities),
        )
        else "",
        "of_one_campaign": bool(address.cells) and len(compared.measured) < len(address.cells),
    }


def _lines_about(side: Side) -> Iterator[tuple[str, str]]:
    yield from lines_about(side.campaign, side.first_run, side.last_run)
    yield "Question", side.campaign.question


def compared_of(address: Address, teams: Set[int]) -> Compared | None:
    """Return the comparison alone; None where there is nothing to compare."""
    sides = sides_of(address.all_campaigns, teams, address.metric)
    address, _ = there_is(address, sides)
    return compare_sides(address, [side for side in sides if not why_unusable(side)])


@dataclass(frozen=True, slots=True)
class Chosen:
    """A campaign, or a cell, that the address names. unusable: whether it cannot be compared now."""

    campaign: Campaign
    name: str
    cell: str
    moves: tuple[Move, ...]
    unusable: bool


def chosen_of(
    address: Address, sides: Sequence[Side], names: Names, unusable: Mapping[int, str]
) -> list[Chosen]:
    """Return what is compared, in its order, with its links."""
    places = {side.campaign.pk: place for place, side in enumerate(sides)}
    wanted: Sequence[tuple[int, int | None]] = address.cells or [
        (key, None) for key in address.campaigns
    ]
    return [
        Chosen(
            campaign=sides[places[key]].campaign,
            name=names.campaigns[places[key]],
            cell="" if cell is None else _cell_name(sides, places[key], names, cell),
            moves=tuple(address.moves(at)),
            unusable=key in unusable,
        )
        for at, (key, cell) in enumerate(wanted)
    ]


def demand_of(chosen: Sequence[Chosen], address: Address) -> DemandTable | None:
    """Return what a unit of work costs the target in each of the chosen campaigns or cells."""
    usable = [place for place, each in enumerate(chosen) if not each.unusable]
    wanted: Sequence[tuple[int, int | None]] = address.cells or [
        (key, None) for key in address.campaigns
    ]
    return demand_table(
        [wanted[place] for place in usable],
        [", ".join(filter(None, (chosen[place].name, chosen[place].cell))) for place in usable],
    )


def cell_fields(address: Address, sides: Sequence[Side]) -> list[BoundField]:
    """Return the selectors of cells: two before any is chosen, then one for the next."""
    names = Names(sides)
    options = [
        (f"{side.campaign.pk}:{cell.cell}", names.whole(place, cell))
        for place, side in enumerate(sides)
        for cell in cells_of(side)
        if (side.campaign.pk, cell.cell) not in address.cells
    ][:MOST_OPTIONS]
    labels = {"add": "Add a cell"} if address.cells else {"base": "Baseline", "cand": "Against"}
    return [
        selector("cell", label, [("", "Choose a cell"), *options], auto_id=f"f-%s-{key}")
        for key, label in labels.items()
    ]


def metric_field(side: Side) -> BoundField | None:
    """Return the selector of the metrics of which the first campaign has findings."""
    if len(side.metrics) < 2:
        return None
    now = side.cells.metric if side.cells else ""
    options = [(name, name.replace("_", " ").capitalize()) for name in side.metrics]
    return selector("metric", "Metric", options, now)


def offered(
    text: str, taken: Sequence[int], sides: Sequence[Side], teams: Set[int], page: str | None
) -> Page[Campaign]:
    """Return one page of the closed campaigns of teams that match the text.

    Without a text they are those of the kind of the baseline.
    """
    closed = Campaign.objects.filter(state__in=Campaign.CLOSED, team__in=teams)
    results = CampaignFilters({"q": text, "archived": "all"}, closed.exclude(pk__in=taken)).rows
    if sides and not text:
        results = results.filter(kind=sides[0].campaign.kind)
    named = results.select_related("target").prefetch_related("places__target")
    ordered = named.order_by("-created_at", "-pk")
    return Paginator(ordered, OFFERED_A_PAGE).get_page(page)


def _cell_name(sides: Sequence[Side], place: int, names: Names, key: int) -> str:
    result = next((cell for cell in cells_of(sides[place]) if cell.cell == key), None)
    if result is None:
        return f"cell {key}"
    return names.cell(place, result) or "the only cell"
