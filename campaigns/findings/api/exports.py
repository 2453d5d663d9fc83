"""REST resource of a campaign's export files."""

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request

from campaigns.findings.texts import texts_of
from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import IgnoresAccept
from campaigns.models import Campaign
from campaigns.planning import storage
from campaigns.planning.api.base import TAG, CampaignApi
from campaigns.results import exports
from campaigns.results.exports import FORMATS


class ExportQuery(Input):
    """`?format=csv`, `json`, `parquet`, or `watched.parquet` for what was observed on the target."""

    format = serializers.ChoiceField(choices=list(FORMATS), default="json")


class Export(CampaignApi):
    """GET: the whole campaign, streamed."""

    content_negotiation_class = IgnoresAccept

    @operation(
        "get_export",
        TAG,
        query=ExportQuery,
        answer={
            "application/json": OpenApiTypes.OBJECT,
            "text/csv": OpenApiTypes.STR,
            "application/vnd.apache.parquet": OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        """The campaign as a file, without try-outs.

        `json`: definition, runs with all values, findings with what pages say of them, environment. `csv`: one line a run.
        `parquet`: one row a run and metric. `watched.parquet`: one row a sample that was observed on the target.
        """
        name = self.read_query(ExportQuery)["format"]
        campaign = get_object_or_404(Campaign.objects.select_related("target", "author"), pk=pk)
        definition = storage.definition_of(campaign)
        chosen = exports.FORMATS[name]
        return StreamingHttpResponse(
            chosen.pieces(campaign, definition, texts_of),
            content_type=chosen.media_type,
            headers={
                "Content-Disposition": exports.attachment(campaign, name),
                "ETag": f'W/"{exports.export_version(campaign, name, definition)}"',
            },
        )
