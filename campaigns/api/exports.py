"""The runs of a campaign as files, for spreadsheets and data frames."""

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from campaigns.api.campaigns import CampaignApi
from campaigns.api.inputs import NoQuery
from campaigns.api.openapi import NOT_FOUND, operation
from campaigns.api.schemas import WhateverIsAsked
from campaigns.queries import exports
from campaigns.queries.pages import outline_of
from campaigns.queries.tables import parquet_of

CSV, PARQUET = "text/csv", "application/vnd.apache.parquet"


class RunsCsv(CampaignApi):
    """GET: the file that the page of the campaign offers."""

    content_negotiation_class = WhateverIsAsked

    @operation(
        "get_runs_csv",
        "runs",
        answer=OpenApiTypes.STR,
        media_type=CSV,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        """One line a run: factors, average, value, start, finish, then every metric in its unit."""
        self.read_query(NoQuery)
        campaign = self.campaign(pk)
        lines = exports.csv_lines(campaign, outline_of(campaign).factors)
        return StreamingHttpResponse(
            lines, content_type=f"{CSV}; charset=utf-8", headers=_attachment(pk, "csv")
        )


class RunsParquet(CampaignApi):
    """GET: one row a run, in typed columns."""

    content_negotiation_class = WhateverIsAsked

    @operation(
        "get_runs_parquet",
        "runs",
        answer=OpenApiTypes.BINARY,
        media_type=PARQUET,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """One row a run: position, state, block, instants, factors, metrics with their units."""
        self.read_query(NoQuery)
        content = parquet_of(self.campaign(pk))
        return HttpResponse(content, content_type=PARQUET, headers=_attachment(pk, "parquet"))


def _attachment(campaign: int, suffix: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="campaign-{campaign}-runs.{suffix}"'}
