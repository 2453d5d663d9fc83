"""REST resource of bundles: a campaign, or a conclusion with its campaigns, as a self-contained zip."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from campaigns.kit.api.openapi import CONFLICT, operation
from campaigns.kit.api.outputs import IgnoresAccept
from campaigns.kit.api.views import Api
from campaigns.models import Conclusion
from campaigns.planning.api.base import TAG, CampaignApi
from campaigns.results import exports
from campaigns.reviews.bundles.sending import bundle_of
from campaigns.reviews.reports.bundle import ZIP, answered, attachment, concluded
from campaigns.reviews.rows import require_to_see

ANSWER = {ZIP: OpenApiTypes.BINARY}


class CampaignBundle(CampaignApi):
    """GET: the bundle of a campaign that has ended."""

    content_negotiation_class = IgnoresAccept

    @operation("get_campaign_bundle", TAG, answer=ANSWER, refusals=[CONFLICT])
    def get(self, request: Request, pk: int) -> FileResponse:
        """Return a zip with all data that its numbers are computed from, for `manage.py verify_bundle`.

        The header `Perfdash-Seal` is the SHA-256 of its manifest.
        """
        campaign = self.campaign(pk)
        return answered(campaign, exports.attachment(campaign, "zip"), bundle_of([campaign]))


class ConclusionBundle(Api):
    """GET: the bundle of a conclusion."""

    of = Conclusion
    content_negotiation_class = IgnoresAccept

    @operation("get_conclusion_bundle", "conclusions", answer=ANSWER, refusals=[CONFLICT])
    def get(self, request: Request, pk: int) -> FileResponse:
        """Return the campaigns of a conclusion, its text and its report as one zip."""
        conclusion = get_object_or_404(Conclusion.objects.select_related("author", "team"), pk=pk)
        require_to_see(self.user, conclusion)
        return answered(conclusion, attachment(conclusion), concluded(conclusion))
