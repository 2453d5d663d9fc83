"""REST resource of comparisons of campaigns, or of their cells."""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from msgspec import structs
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.findings import values
from campaigns.findings.compared import (
    MOST_CAMPAIGNS,
    MOST_CELLS,
    Choice,
    Side,
    sides_of,
    there_is,
    why_unusable,
)
from campaigns.findings.comparison_rows import rows_of_campaigns
from campaigns.findings.compute.compared import Compared, compare
from campaigns.findings.values import (
    ComparedCandidate,
    ComparedCapacity,
    ComparedCells,
    Differs,
)
from campaigns.findings.wording.compare import (
    advice_of_row,
    also_in_row,
    answer_of,
    confirmation_text,
    label_of_row,
)
from campaigns.findings.wording.compared_capacity import (
    carried_by,
    confirmation_of_capacity,
    label_of_capacity,
    ratio_of_capacities,
    why_no_ratio,
)
from campaigns.kit.api import outputs
from campaigns.kit.api.inputs import Input, Word
from campaigns.kit.api.openapi import CONFLICT, operation
from campaigns.kit.api.outputs import IgnoresAccept, Selectable, picked, selected
from campaigns.kit.api.views import READING, Api, checked
from campaigns.kit.downloads import lines_of
from campaigns.kit.errors import NotPossible
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.moment import one_moment
from campaigns.kit.rights import May
from campaigns.models import Cell

Positions = Mapping[int, int]
"""Positions of cells by their keys."""
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
    hardware = serializers.BooleanField(
        required=False,
        help_text="Hardware is part of the question: compare builds on other hardware.",
    )
    format = serializers.ChoiceField(choices=["json", "csv"], default="json")


LISTS = ("campaign", "cell")
"""Names that the query may hold several times."""


def number() -> serializers.FloatField:
    """A number; null where there is none."""
    return serializers.FloatField(allow_null=True)


class DifferingField(outputs.Part):
    """A field with both of its values."""

    label: Any = serializers.CharField()
    baseline = outputs.text()
    candidate = outputs.text()


class ComparedCampaign(outputs.Part):
    """A campaign of a comparison; the first one is the baseline."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()
    simulators = serializers.ListField(child=serializers.CharField())


class Overall(outputs.Part):
    """The geometric mean of the changes of all cells; `sample_`: for cells as a sample of others."""

    cells = serializers.IntegerField()
    change_percent = number()
    low_percent = number()
    high_percent = number()
    smallest_percent = number()
    largest_percent = number()
    sample_low_percent = number()
    sample_high_percent = number()


class Candidate(outputs.Part):
    """A campaign against the baseline as a whole. `refused`: why none of its cells is compared."""

    campaign = serializers.IntegerField()
    refused = DifferingField(many=True)
    factors_apart = DifferingField(many=True)
    only_here = serializers.ListField(child=outputs.text())
    only_in_baseline = serializers.ListField(child=outputs.text())
    overall = Overall(allow_null=True)


class ComparedCell(outputs.Part):
    """A cell with the mean of its runs, geometric where there is one."""

    campaign = serializers.IntegerField()
    position = serializers.IntegerField(allow_null=True)
    levels = serializers.DictField(child=serializers.JSONField())
    mean = number()
    unit = outputs.text()
    runs = serializers.IntegerField()
    failed = serializers.IntegerField()


class ComparedPair(outputs.Part):
    """A cell against one of the baseline. `verdict`: stored word; `word`: as the metric calls it.

    `also_differs`: between two targets, both values of each fact; empty where it is one target.
    """

    baseline = ComparedCell()
    candidate = ComparedCell()
    verdict = serializers.CharField()
    word = serializers.CharField()
    reason = outputs.text()
    badges = serializers.ListField(child=serializers.CharField())
    change_percent = number()
    low_percent = number()
    high_percent = number()
    p = number()
    p_holm = number()
    p_ranks = number()
    model = serializers.CharField()
    n = serializers.IntegerField()
    df = number()
    standing = outputs.text()
    advice = outputs.text()
    refused = DifferingField(many=True)
    settings = DifferingField(many=True)
    also_differs = outputs.text()


class CarriedBy(outputs.Part):
    """What a setting of a campaign carries. `word`: of its capacity; bounds are null where they are open.

    `by_line`: the bounds are those of the line between neighbouring loads; `about`: its crossing, where it is not claimed.
    """

    campaign = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField())
    word = serializers.CharField()
    text = outputs.text()
    low = number()
    estimate = number()
    high = number()
    by_line = serializers.BooleanField()
    about = number()
    binding = outputs.text()


class ComparedCarried(outputs.Part):
    """What a setting carries against the same one of the baseline. `ratio`: candidate to baseline, more is better.

    `bounds_only`: by the bounds of both, since the line is not claimed for both; `about`: the ratio by their lines, which is not claimed then.
    """

    load = serializers.CharField()
    setting = outputs.text()
    baseline = CarriedBy()
    candidate = CarriedBy()
    verdict = serializers.CharField()
    word = serializers.CharField()
    text = outputs.text()
    reason = outputs.text()
    ratio = number()
    about = number()
    low = number()
    high = number()
    bounds_only = serializers.BooleanField()
    p = number()
    p_holm = number()
    df = number()
    badges = serializers.ListField(child=serializers.CharField())
    standing = outputs.text()
    refused = DifferingField(many=True)
    also_differs = outputs.text()


class DifferingFact(outputs.Part):
    """A fact over all campaigns. `differs`: from the first one; `changed`: while it was measured."""

    group = serializers.CharField()
    label: Any = serializers.CharField()
    values = serializers.ListField(child=outputs.text())
    differs = serializers.ListField(child=serializers.BooleanField())
    weight = serializers.ChoiceField(choices=["cause", "design", "time"])
    changed = serializers.ListField(child=serializers.BooleanField())


class ComparisonOutput(Selectable):
    """Campaigns, or cells, against the first of them. `left_out`: further pairs, not compared."""

    sentence = serializers.CharField()
    certainty = outputs.text()
    caveat = outputs.text()
    further = serializers.ListField(child=serializers.CharField())
    metric = serializers.CharField()
    unit = outputs.text()
    lower_is_better = serializers.BooleanField(allow_null=True)
    confidence = serializers.FloatField()
    smallest_effect_percent = serializers.FloatField()
    margin_percent = serializers.FloatField()
    campaigns = ComparedCampaign(many=True)
    candidates = Candidate(many=True)
    comparisons = ComparedPair(many=True)
    capacities = ComparedCarried(many=True)
    left_out = serializers.IntegerField()
    differences = DifferingFact(many=True)
    data_hash = serializers.CharField()


class Compare(Api):
    """GET ?campaign=1&campaign=2: the others against the first one."""

    content_negotiation_class = IgnoresAccept

    @operation(
        "get_comparison",
        "compare",
        query=CompareQuery,
        answer={"application/json": ComparisonOutput, "text/csv": OpenApiTypes.STR},
        refusals=[CONFLICT],
    )
    @one_moment()
    def get(self, request: Request) -> HttpResponse:
        """Compare campaigns, or cells of them, with the first one: two or more, all of them finished.

        Cells that have the same levels are compared; `csv`: one line for each two of them.
        """
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
                "".join(lines_of(rows_of_campaigns(found))),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": 'attachment; filename="comparison.csv"'},
            )
        return Response(picked(comparison_as_json(found, positions, request), only))


def _chosen(query: Json, teams: Set[int]) -> tuple[Choice, Sequence[Side], Positions]:
    """Return what is compared, and the positions of all cells. Raise ValidationError, NotPossible."""
    places = [tuple(map(int, text.split(":"))) for text in query.get("cell", ())]
    keys: Sequence[int] = query.get("campaign", ())
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
        metric=str(query.get("metric", "")),
        hardware=bool(query.get("hardware", False)),
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
        text = f"“{sides[0].campaign.name}” has no findings of it; it has {', '.join(known)}."
        raise ValidationError({"metric": [text]})


def _named(choice: Choice) -> str:
    return "cell" if choice.cells else "campaign"


def comparison_as_json(compared: Compared, positions: Positions, request: Request) -> JsonObject:
    """Return all that the page shows, with exact numbers."""
    first, answer = compared.measured[0], answer_of(compared)
    return {
        "sentence": answer.sentence,
        "certainty": answer.certainty,
        "caveat": answer.caveat,
        "further": list(answer.further),
        "metric": first.name,
        "unit": first.unit,
        "lower_is_better": first.direction,
        "confidence": 1 - compared.criteria.alpha,
        "smallest_effect_percent": 100 * compared.criteria.delta,
        "margin_percent": 100 * compared.criteria.margin,
        "campaigns": [
            {
                "id": each.side.campaign.pk,
                "name": name,
                "url": reverse("api-campaign", [each.side.campaign.pk], request=request),
                "simulators": list(each.side.simulators),
            }
            for each, name in zip(compared.measured, compared.names.campaigns, strict=True)
        ],
        "candidates": [_candidate(compared, each) for each in compared.candidates],
        "comparisons": [_row(compared, each, positions) for each in compared.rows],
        "capacities": [_carried(compared, each) for each in compared.capacities],
        "left_out": compared.left_out,
        "differences": [structs.asdict(each) for each in compared.differences],
        "data_hash": compared.data_hash,
    }


def _candidate(compared: Compared, candidate: ComparedCandidate) -> JsonObject:
    over = candidate.over
    return {
        "campaign": compared.measured[candidate.side].side.campaign.pk,
        "refused": _differing(candidate.refused),
        "factors_apart": _differing(candidate.apart),
        "only_here": list(candidate.only_here),
        "only_in_baseline": list(candidate.only_there),
        "overall": over
        and {
            "cells": over.cells,
            "change_percent": _finite(over.geometric_pct),
            **_bounds(over.ci_pct),
            "smallest_percent": _finite(over.low_pct),
            "largest_percent": _finite(over.high_pct),
            "sample_low_percent": _bounds(over.sample_ci_pct)["low_percent"],
            "sample_high_percent": _bounds(over.sample_ci_pct)["high_percent"],
        },
    }


def _row(compared: Compared, row: ComparedCells, positions: Positions) -> JsonObject:
    comparison, verdict = row.comparison, row.comparison.verdict
    return {
        "baseline": _cell(compared, 0, row.baseline, row.means[0], positions),
        "candidate": _cell(compared, row.side, row.candidate, row.means[1], positions),
        "verdict": verdict.word.value,
        "word": label_of_row(compared, row).word,
        "reason": verdict.reason,
        "badges": list(verdict.badges),
        "change_percent": _finite(verdict.pct_change),
        **_bounds(verdict.ci_pct),
        "p": _finite(verdict.p),
        "p_holm": _finite(verdict.p_adjusted),
        "p_ranks": _finite(comparison.ranks.p if comparison.ranks else None),
        "model": comparison.model.value,
        "n": verdict.n,
        "df": _finite(comparison.df),
        "standing": confirmation_text(row),
        "advice": advice_of_row(compared, row),
        "refused": _differing(row.refused),
        "settings": _differing(row.settings),
        "also_differs": also_in_row(row),
    }


def _carried(compared: Compared, row: ComparedCapacity) -> JsonObject:
    ratio, found = row.ratio, compared.campaigns[0].carried
    return {
        "load": found.load if found else "",
        "setting": row.name,
        "baseline": _carried_by(compared, row, 0),
        "candidate": _carried_by(compared, row, row.side),
        "verdict": str(ratio.word),
        "word": label_of_capacity(compared, row).word,
        "text": why_no_ratio(compared, row) or ratio_of_capacities(compared, row),
        "reason": ratio.reason,
        "ratio": _finite(ratio.ratio),
        "about": _finite(ratio.about),
        "low": _finite(ratio.low),
        "high": _finite(ratio.high),
        "bounds_only": ratio.bounds_only,
        "p": _finite(ratio.p),
        "p_holm": _finite(ratio.p_adjusted),
        "df": _finite(ratio.df),
        "badges": list(ratio.badges),
        "standing": confirmation_of_capacity(row),
        "refused": _differing(row.refused),
        "also_differs": also_in_row(row),
    }


def _carried_by(compared: Compared, row: ComparedCapacity, side: int) -> JsonObject:
    setting = row.candidate if side else row.baseline
    capacity = setting.capacity
    return {
        "campaign": compared.measured[side].side.campaign.pk,
        "levels": setting.levels,
        "word": capacity.word.value,
        "text": carried_by(compared, row, side),
        "low": _finite(capacity.low),
        "estimate": _finite(capacity.estimate),
        "high": _finite(capacity.high),
        "by_line": capacity.by_line,
        "about": _finite(capacity.about),
        "binding": capacity.binding,
    }


def _cell(
    compared: Compared, side: int, cell: values.Cell, mean: float | None, positions: Positions
) -> JsonObject:
    measured = compared.measured[side]
    runs = measured.cell_runs[cell.cell]
    return {
        "campaign": measured.side.campaign.pk,
        "position": positions.get(cell.cell),
        "levels": cell.levels,
        "mean": _finite(mean),
        "unit": measured.unit,
        "runs": len(runs.values),
        "failed": runs.failed,
    }


def _differing(fields: Sequence[Differs]) -> list[JsonObject]:
    return [structs.asdict(each) for each in fields]


def _bounds(interval: Sequence[float] | None) -> JsonObject:
    low, high = interval or (None, None)
    return {"low_percent": _finite(low), "high_percent": _finite(high)}


def _finite(number: float | None) -> float | None:
    """Return None for infinity, which JSON does not have."""
    return number if number is not None and math.isfinite(number) else None
