"""Campaigns: list, create, launch, steer."""

from collections.abc import Callable
from typing import ClassVar

from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns import dispatch
from campaigns.api import filters
from campaigns.api.inputs import (
    AmendInput,
    CancelInput,
    ConfirmInput,
    ExtendInput,
    LaunchQuery,
    NewCampaignInput,
)
from campaigns.api.launch_outputs import LaunchRequestOutput
from campaigns.api.openapi import CONFLICT, NOT_FOUND, operation
from campaigns.api.outputs import CampaignDetail, CampaignOutput
from campaigns.api.views import Api
from campaigns.definition import amending, checking, drafts, life
from campaigns.definition.allowing import team_for
from campaigns.definition.errors import Invalid
from campaigns.definition.revisions import revision_of
from campaigns.models import Campaign, LaunchRequest, Run, Target
from campaigns.queries import records
from campaigns.queries.owners import find
from campaigns.queries.rights import Right, visible

TAG = "campaigns"


class CampaignApi(Api):
    """What views of one campaign share: the rights are those in its team."""

    of: ClassVar[type[Model] | None] = Campaign

    def campaign(self, pk: int, right: Right = Right.SEE) -> Campaign:
        """Find a campaign that somebody has the right to. Raise NotVisible, NotAllowed."""
        return find(Campaign.objects.all(), self.user, right, pk=pk)

    def targets(self, campaign: Campaign | None = None) -> QuerySet[Target]:
        """Those that may be measured: of the campaign's team, or of all teams that one writes in."""
        if campaign is not None:
            return Target.objects.filter(team=campaign.team_id)
        return visible(Target.objects.all(), self.user, right=Right.WRITE)

    def run(self, pk: int, position: int, *, trial: bool = False) -> Run:
        """Find a run, or a try-out, with what its attempts observed. Raise Http404."""
        try:
            return records.run_at(self.campaign(pk), position, trial=trial)
        except Run.DoesNotExist:
            what = "try-out" if trial else "run"
            raise Http404(f"This campaign has no {what} {position}.") from None

    def answer(self, campaign: Campaign, code: int = status.HTTP_200_OK) -> Response:
        """Read a campaign as it is now, with everything that belongs to it."""
        fresh = records.campaigns().get(pk=campaign.pk)
        if fresh.state == Campaign.State.DRAFT:  # what was launched is not changed any more
            self.revision = revision_of(drafts.revised(fresh))
        data = self.shown(fresh, CampaignDetail)
        made = code == status.HTTP_201_CREATED
        headers = {"Location": data["links"]["self"]} if made else {}
        return Response(data, status=code, headers=headers)

    def take(self, pk: int, step: Callable[[Campaign], Campaign]) -> Response:
        """Take a step in the life of a campaign, then look what may start. Raise NotPossible."""
        campaign = step(self.campaign(pk))
        dispatch.dispatch()
        return self.answer(campaign)

    def load(self, pk: int, step: Callable[[Campaign], Campaign]) -> Response:
        """Load a server; 202 with what was asked for, where that needs approval by a second person."""
        campaign = step(self.campaign(pk))
        waiting = life.waiting_of(campaign)
        if waiting is not None:
            return self.asked(waiting)
        dispatch.dispatch()
        return self.answer(campaign)

    def asked(self, waiting: LaunchRequest) -> Response:
        """Say what waits for approval by a second person."""
        data = self.shown(waiting, LaunchRequestOutput)
        headers = {"Location": data["url"]}
        return Response(data, status=status.HTTP_202_ACCEPTED, headers=headers)


class Campaigns(CampaignApi):
    """GET: campaigns, filtered. POST: a new one."""

    of = None
    takes = {"post": Right.WRITE}

    @operation("list_campaigns", TAG, answer=CampaignOutput, paged=True, filters=filters.Campaigns)
    def get(self, request: Request) -> Response:
        """Campaigns, the newest first."""
        return self.page(
            self.visible(records.campaigns()), CampaignOutput, "-pk", filters.Campaigns
        )

    @operation(
        "create_campaign",
        TAG,
        body=NewCampaignInput,
        query=LaunchQuery,
        answer=CampaignDetail,
        code=status.HTTP_201_CREATED,
        refusals=[CONFLICT],
    )
    def post(self, request: Request) -> Response:
        """Store a draft; launch it at once where that is asked for, or store nothing."""
        data = self.read(NewCampaignInput)
        launch = data.pop("launch") or self.read_query(LaunchQuery)["launch"]
        confirmed_name = data.pop("confirm_target")
        given = data.pop("team")
        definition = checking.check(data, self.targets())
        team = definition.target.team if definition.target else team_for(self.user, given)
        if given and str(given) not in (str(team.pk), team.name):
            raise Invalid({"team": ["The target belongs to another team; leave this out."]})
        with transaction.atomic():
            campaign = drafts.create(definition, self.user, team=team)
            if launch:
                life.launch(campaign, self.user, confirmed_name)
        if launch:
            dispatch.dispatch()
        return self.answer(campaign, status.HTTP_201_CREATED)


class Launch(CampaignApi):
    """POST {confirm_target}: lock the definition and begin."""

    takes = {"post": Right.OPERATE}

    @operation(
        "launch_campaign",
        TAG,
        later=LaunchRequestOutput,
        body=ConfirmInput,
        answer=CampaignDetail,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Lock the definition, plan the runs, and begin."""
        return self.load(
            pk,
            lambda found: life.launch(found, self.user, self.read(ConfirmInput)["confirm_target"]),
        )


class Pause(CampaignApi):
    """POST: begin no further run."""

    takes = {"post": Right.OPERATE}

    @operation("pause_campaign", TAG, answer=CampaignDetail, refusals=[NOT_FOUND, CONFLICT])
    def post(self, request: Request, pk: int) -> Response:
        """Begin no further run; the one that is going on ends as planned."""
        return self.take(pk, lambda found: life.pause(found, self.user))


class Resume(CampaignApi):
    """POST {confirm_target}: go on after a pause."""

    takes = {"post": Right.OPERATE}

    @operation(
        "resume_campaign",
        TAG,
        body=ConfirmInput,
        answer=CampaignDetail,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Go on after a pause; time budget and failures count anew."""
        return self.take(
            pk,
            lambda found: life.resume(found, self.user, self.read(ConfirmInput)["confirm_target"]),
        )


class Cancel(CampaignApi):
    """POST {reason}: end a campaign."""

    takes = {"post": Right.OPERATE}

    @operation(
        "cancel_campaign",
        TAG,
        body=CancelInput,
        answer=CampaignDetail,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """End a campaign: what is going on is told to stop."""
        return self.take(
            pk, lambda found: life.cancel(found, self.read(CancelInput)["reason"], self.user)
        )


class Extend(CampaignApi):
    """POST {repetitions, confirm_target}: add repetitions in a session of their own."""

    takes = {"post": Right.OPERATE}

    @operation(
        "extend_campaign",
        TAG,
        later=LaunchRequestOutput,
        body=ExtendInput,
        answer=CampaignDetail,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add repetitions, 12 hours or more after the last run in a session of their own."""

        def extend(campaign: Campaign) -> Campaign:
            sent = self.read(ExtendInput)
            return life.extend(campaign, sent["repetitions"], self.user, sent["confirm_target"])

        return self.load(pk, extend)


class Amend(CampaignApi):
    """POST {reason, confirm_target, and locked fields}: change them, for everybody to see."""

    takes = {"post": Right.WRITE}

    @operation(
        "amend_campaign",
        TAG,
        body=AmendInput,
        answer=CampaignDetail,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Change what launch has locked, for everybody to see, and analyse anew."""
        sent = self.read(AmendInput)
        reason, name = sent.pop("reason", None) or "", sent.pop("confirm_target")

        def amend(campaign: Campaign) -> Campaign:
            with transaction.atomic():
                amending.amend(campaign, sent, reason, self.user, name)
                dispatch.request_analysis(campaign)
            return campaign

        return self.take(pk, amend)
