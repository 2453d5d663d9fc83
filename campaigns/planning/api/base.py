"""What views of one campaign share."""

from typing import ClassVar

from django.db.models import Model, QuerySet
from rest_framework import status
from rest_framework.response import Response

from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right, find, visible
from campaigns.models import Campaign, LaunchRequest, Target
from campaigns.planning.api.launch_outputs import LaunchRequestOutput

TAG = "campaigns"


class CampaignApi(Api):
    """A view of one campaign: the rights are those in its team."""

    of: ClassVar[type[Model] | None] = Campaign

    def campaign(self, pk: int, right: Right = Right.SEE) -> Campaign:
        """Find a campaign that somebody has the right to. Raise NotVisible, NotAllowed."""
        return find(Campaign.objects.all(), self.user, right, pk=pk)

    def targets(self, campaign: Campaign | None = None) -> QuerySet[Target]:
        """Those that may be measured: of the campaign's team, or of all teams that one writes in."""
        if campaign is not None:
            return Target.objects.filter(team=campaign.team_id)
        return visible(Target.objects.all(), self.user, right=Right.WRITE)

    def approval_answer(self, waiting: LaunchRequest) -> Response:
        """Return what waits for approval by a second person."""
        data = self.shown(waiting, LaunchRequestOutput)
        headers = {"Location": data["url"]}
        return Response(data, status=status.HTTP_202_ACCEPTED, headers=headers)
