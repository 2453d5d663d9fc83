"""REST resource of the activity log: list and files."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts import activity_export
from campaigns.accounts.activity_list import events_for
from campaigns.accounts.filters import EventFilters
from campaigns.kit.activity import Action
from campaigns.kit.api.inputs import Input
from campaigns.kit.api.lists import narrowed
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import IgnoresAccept, Selectable
from campaigns.kit.api.views import Api
from campaigns.models import AuditEvent


class EventOutput(Selectable, serializers.ModelSerializer[AuditEvent]):
    """An event. `user`: null for events of perfdash itself; `details` depend on `action`."""

    user = serializers.CharField(source="user.username", allow_null=True, default=None)
    team = serializers.IntegerField(source="team_id", allow_null=True)
    team_name = serializers.CharField(source="team.name", allow_null=True, default=None)
    action = serializers.ChoiceField(choices=Action.choices)
    subject = serializers.CharField(source="subject_name")
    subject_id = serializers.IntegerField(source="subject_key", allow_null=True)
    campaign = serializers.IntegerField(source="campaign_key", allow_null=True)
    details = serializers.DictField()

    class Meta:
        model = AuditEvent
        fields = [
            "id",
            "at",
            "user",
            "means",
            "team",
            "team_name",
            "action",
            "subject_kind",
            "subject_id",
            "subject",
            "campaign",
            "details",
        ]


class ActivityQuery(Input):
    """`?format=csv` or `jsonl`."""

    format = serializers.ChoiceField(choices=list(activity_export.FORMATS), default="jsonl")


class Activity(Api):
    """GET: the activity log."""

    @operation("list_activity", "activity", answer=EventOutput, filters=EventFilters)
    def get(self, request: Request) -> Response:
        """List the events of your teams, and your own outside of teams; the newest first."""
        rows = events_for(self.user).select_related("user", "team")
        return self.page(rows, EventOutput, "-pk", EventFilters)


class ActivityExport(Api):
    """GET: the activity log as a file, streamed."""

    content_negotiation_class = IgnoresAccept

    @operation(
        "get_activity_export",
        "activity",
        query=ActivityQuery,
        filters=EventFilters,
        answer={"application/jsonl": OpenApiTypes.STR, "text/csv": OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return all matching events as a file: `jsonl`, with one object per line, or `csv`."""
        query = request.query_params
        chosen_format = ActivityQuery(data={"format": query["format"]} if "format" in query else {})
        chosen_format.is_valid(raise_exception=True)
        name = chosen_format.validated_data["format"]

        rows = narrowed(events_for(self.user), request, EventFilters, other_names={"format"})
        chosen = activity_export.FORMATS[name]
        return StreamingHttpResponse(
            chosen.pieces(rows),
            content_type=chosen.media_type,
            headers={"Content-Disposition": activity_export.attachment(name)},
        )
