"""Comparisons of campaigns, or of cells of them, as the page Compare computes them."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.findings.api.comparing_outputs import ComparisonOutput
from campaigns.findings.compare_choice import (
    MOST_CAMPAIGNS,
    MOST_CELLS,
    Choice,
    there_is,
    why_unusable,
)
from campaigns.findings.compared import Side, sides_of
from campaigns.kit.api.inputs import Input, Word
from campaigns.kit.api.openapi import CONFLICT, operation
from campaigns.kit.api.selection import ByQuery, picked, selected
from campaigns.kit.api.views import READING, Api, checked
from campaigns.kit.downloads import lines_of
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import May
from campaigns.models import Cell

CELL = r"^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$"


NO_CELL = "Give a campaign and the position of its cell, such as 12:1."


class CompareQuery(Input):
    """`?campaign=1&campaign=2`, or `?cell=1:1&cell=2:1`: cells by campaign and position."""

    campaign = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1),
        required=False,
        min_length=2,
        max_length=MOST_CAMPAIGNS,
    )
    cell = serializers.ListField(
        child=serializers.RegexField(CELL, error_messages={"invalid": NO_CELL}),
        required=False,
        min_length=2,
        max_length=MOST_CELLS,
    )
    metric = Word(max_length=50)
    format = serializers.ChoiceField(choices=["json", "csv"], default="json")


LISTS = ("campaign", "cell")
"""Names that the query may hold several times."""


class Compare(Api):
    """GET ?campaign=1&campaign=2: the others against the first one."""

    content_negotiation_class = ByQuery

    @operation(
        "get_comparison",
        "compare",
        query=CompareQuery,
        answer={"application/json": ComparisonOutput, "text/csv": OpenApiTypes.STR},
        refusals=[CONFLICT],
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare campaigns, or cells of them, with the first one: two or more, all of them finished.

        Cells that have the same levels are compared; `csv`: one line for each two of them.
        """
        # scipy takes longer to load than all the rest of perfdash, and few requests need it.
        from campaigns.findings.api.compared import told
        from campaigns.findings.compute.compared_choice import compare
        from campaigns.findings.compute.compared_csv import csv_rows

        query = request.query_params
        sent = {
            name: query.getlist(name) if name in LISTS else query[name]
            for name in query
            if name not in READING
        }
        asked = checked(CompareQuery(data=sent))
        only = selected(request, ComparisonOutput)
        choice, sides, positions = _chosen(asked, May(self.user).see)
        found = compare(choice, sides)
        if found is None:
            raise ValidationError({_named(choice): ["Name two or more that are not the same."]})
        if asked["format"] == "csv":
            return HttpResponse(
                "".join(lines_of(csv_rows(found))),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": 'attachment; filename="comparison.csv"'},
            )
        return Response(picked(told(found, positions, request), only))


def _chosen(
    asked: Mapping[str, Any], teams: Set[int]
) -> tuple[Choice, Sequence[Side], Mapping[int, int]]:
    """What is compared, and the positions of all cells. Raise ValidationError, NotPossible."""
    places = [tuple(map(int, text.split(":"))) for text in asked.get("cell", ())]
    keys: Sequence[int] = asked.get("campaign", ())
    if keys and places:
        raise ValidationError({"cell": ["Name campaigns or cells, not both."]})
    wanted = tuple(dict.fromkeys(keys or (campaign for campaign, _ in places)))
    rows = Cell.objects.filter(campaign__in=wanted, campaign__team__in=teams).values_list(
        "campaign_id", "position", "pk"
    )
    by_place = {(campaign, position): key for campaign, position, key in rows}
    lost = [
        f"{campaign}:{place}" for campaign, place in places if (campaign, place) not in by_place
    ]
    if lost:
        raise ValidationError({"cell": [f"There is no cell {', '.join(lost)}."]})
    choice = Choice(
        campaigns=() if places else wanted,
        cells=tuple(dict.fromkeys((campaign, by_place[campaign, at]) for campaign, at in places)),
        metric=str(asked.get("metric", "")),
    )
    sides = sides_of(choice.all_campaigns, teams, choice.metric)
    _, wrong = there_is(choice, sides)
    if wrong:
        raise ValidationError({_named(choice): wrong})
    if unusable := [why for side in sides if (why := why_unusable(side))]:
        raise NotPossible(" ".join(unusable))
    _require_metric(choice.metric, sides)
    return choice, sides, {key: position for (_, position), key in by_place.items()}


def _require_metric(metric: str, sides: Sequence[Side]) -> None:
    """Raise ValidationError for a metric of which the baseline has no findings."""
    if not sides or not metric:
        return
    known = dict.fromkeys([sides[0].campaign.primary_metric, *sides[0].metrics])
    if metric not in known:
        words = f"“{sides[0].campaign.name}” has no findings of it; it has {', '.join(known)}."
        raise ValidationError({"metric": [words]})


def _named(choice: Choice) -> str:
    return "cell" if choice.cells else "campaign"
