"""Build the compare page from computed comparisons."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.forms import BoundField

from campaigns.findings.compared import Side, sides_of, there_is, why_unusable
from campaigns.findings.compute.comparability import Names
from campaigns.findings.compute.compared import Compared, compare
from campaigns.findings.compute.compared_answer import answer_of
from campaigns.findings.pages.compare_address import Address, Move
from campaigns.findings.pages.compare_plot import compare_plot
from campaigns.findings.pages.compare_tables import environment_of, tables_of
from campaigns.kit.pages.forms import selector
from campaigns.models import Campaign
from campaigns.planning.filters import CampaignFilters

OFFERED_A_PAGE = 20
MOST_OPTIONS = 400


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
    compared = compare(address, usable)
    if compared is None:
        return shown
    return shown | {
        "compared": compared,
        "answer": answer_of(compared),
        "plot": compare_plot(compared),
        "tables": tables_of(compared),
        "environment": environment_of(compared),
        "delta": f"{100 * compared.criteria.delta:g} %",
        "margin": f"{100 * compared.criteria.margin:g} %",
        "of_one_campaign": bool(address.cells) and len(compared.measured) < len(address.cells),
    }


def compared_of(address: Address, teams: Set[int]) -> Compared | None:
    """Return the comparison alone; None where there is nothing to compare."""
    sides = sides_of(address.all_campaigns, teams, address.metric)
    address, _ = there_is(address, sides)
    return compare(address, [side for side in sides if not why_unusable(side)])


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


def cell_fields(address: Address, sides: Sequence[Side]) -> list[BoundField]:
    """Return the selectors of cells: two before any is chosen, then one for the next."""
    names = Names(sides)
    options = [
        (f"{side.campaign.pk}:{cell['cell']}", names.whole(place, cell))
        for place, side in enumerate(sides)
        for cell in (side.cells or {"cells": ()})["cells"]
        if (side.campaign.pk, cell["cell"]) not in address.cells
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
    now = str((side.cells or {}).get("metric", ""))
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
    ordered = results.select_related("target").order_by("-created_at", "-pk")
    return Paginator(ordered, OFFERED_A_PAGE).get_page(page)


def _cell_name(sides: Sequence[Side], place: int, names: Names, key: int) -> str:
    cells = (sides[place].cells or {"cells": ()})["cells"]
    result = next((cell for cell in cells if cell["cell"] == key), None)
    if result is None:
        return f"cell {key}"
    return names.cell(place, result) or "the only cell"
