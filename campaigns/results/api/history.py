"""REST resource of the values of one metric over time, as columns."""

import json
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api import outputs
from campaigns.kit.api.inputs import Input, Word
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable, picked, selected
from campaigns.models import Campaign, Run
from campaigns.planning.api.base import CampaignApi
from campaigns.results.history import history_of


class HistoryQuery(Input):
    """The metric, the cell, and the largest number of values."""

    metric = Word(max_length=50)
    cell = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    limit = serializers.IntegerField(min_value=1, max_value=10_000, default=1000)


def column(child: Any) -> serializers.ListField:
    """Return a field with one entry for each value."""
    return serializers.ListField(child=child)


class HistoryOutput(Selectable):
    """Columns of equal length, the oldest value first. `at`: when its run began."""

    metric = serializers.CharField()
    unit = outputs.text(allow_null=True)
    lower_is_better = serializers.BooleanField(allow_null=True)
    at = column(serializers.DateTimeField(allow_null=True))
    value = column(serializers.FloatField())
    state = column(serializers.ChoiceField(choices=Run.State.choices))
    run = column(serializers.IntegerField())
    cell = column(serializers.IntegerField())
    censored = column(serializers.BooleanField())
    bound = column(serializers.BooleanField())
    excluded = column(serializers.BooleanField())


class Written(dict[str, str]):
    """An answer whose values are already JSON."""


class WrittenRenderer(JSONRenderer):
    """Renders `Written` from its JSON texts; anything else, such as a problem, as JSON."""

    def render(self, data: Any, *context: Any, **named: Any) -> bytes:
        """Return the answer as JSON."""
        if not isinstance(data, Written):
            return super().render(data, *context, **named)
        pairs = [f'"{name}":{text}' for name, text in data.items()]
        return f"{{{','.join(pairs)}}}".encode()


class History(CampaignApi):
    """GET: values over time."""

    renderer_classes = [WrittenRenderer]

    @operation("get_history", "evidence", answer=HistoryOutput, query=HistoryQuery)
    def get(self, request: Request, pk: int) -> Response:
        """The latest values of a metric (the primary one unless named), of one cell or all."""
        query = self.read_query(HistoryQuery)
        campaign = get_object_or_404(Campaign.objects.only("primary_metric"), pk=pk)
        metric = query.get("metric", campaign.primary_metric)
        history = history_of(campaign, metric, cell=query.get("cell"), most=query["limit"])
        data = {
            "metric": json.dumps(metric),
            "unit": json.dumps(history.unit),
            "lower_is_better": json.dumps(history.lower_is_better),
            **history.columns,
        }
        return Response(Written(picked(data, selected(request, HistoryOutput))))
