"""The values of one series over time, as columns: small, and quick to read."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.api import shapes
from campaigns.api.campaigns import CampaignApi
from campaigns.api.inputs import HistoryQuery
from campaigns.api.openapi import NOT_FOUND, operation
from campaigns.api.selection import Selectable, picked, selected
from campaigns.models import Run
from campaigns.queries.history import history_of


def column(child: Any) -> serializers.ListField:
    """One entry a value."""
    return serializers.ListField(child=child)


class HistoryOutput(Selectable):
    """Columns of equal length, the oldest value first. `at`: when its run began."""

    metric = serializers.CharField()
    unit = shapes.text(allow_null=True)
    lower_is_better = serializers.BooleanField(allow_null=True)
    at = column(serializers.DateTimeField(allow_null=True))
    value = column(serializers.FloatField())
    state = column(serializers.ChoiceField(choices=Run.State.choices))
    run = column(serializers.IntegerField())
    cell = column(serializers.IntegerField())
    censored = column(serializers.BooleanField())
    bound = column(serializers.BooleanField())
    excluded = column(serializers.BooleanField())


class History(CampaignApi):
    """GET: values over time."""

    @operation(
        "get_history",
        "evidence",
        answer=HistoryOutput,
        query=HistoryQuery,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """The latest values of a metric (the primary one unless named), of one cell or all."""
        asked = self.read_query(HistoryQuery)
        campaign = self.campaign(pk)
        metric = asked.get("metric", campaign.primary_metric)
        found = history_of(campaign, metric, cell=asked.get("cell"), most=asked["limit"])
        told = {
            **found._asdict(),
            "metric": metric,
            "unit": found.unit[-1] if found.unit else None,
            "lower_is_better": found.lower_is_better[-1] if found.unit else None,
        }
        return Response(picked(told, selected(request, HistoryOutput)))
