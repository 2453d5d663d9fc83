"""Campaigns: list, create, launch, steer."""

from collections.abc import Callable

from django.db import transaction
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import CancelInput, ConfirmInput
from campaigns.kit.api.openapi import operation
from campaigns.kit.errors import Invalid
from campaigns.kit.events import work_waits
from campaigns.kit.moment import one_moment
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right, require, team_for
from campaigns.models import Campaign
from campaigns.overview.api.outputs import CampaignDetail, CampaignOutput
from campaigns.planning import amending, checking, drafts, lifecycle, storage
from campaigns.planning.analyses import request_analysis
from campaigns.planning.api.base import TAG, CampaignApi
from campaigns.planning.api.inputs import (
    AmendInput,
    ExtendInput,
    LaunchInput,
    LaunchQuery,
    NewCampaignInput,
)
from campaigns.planning.api.launch_outputs import LaunchRequestOutput
from campaigns.planning.filters import CampaignFilters
from campaigns.planning.launch_checks import (
    ask_rights_at,
    planned_by,
    planned_in,
    require_there,
)
from campaigns.results import archive, records


class WholeCampaignApi(CampaignApi):
    """A view that answers with a campaign and everything that belongs to it."""

    def answer(self, campaign: Campaign, code: int = status.HTTP_200_OK) -> Response:
        """Read a campaign as it is now, with everything that belongs to it."""
        with one_moment():
            fresh = records.campaigns().get(pk=campaign.pk)
            if fresh.state == Campaign.State.DRAFT:  # what was launched is not changed any more
                self.revision = revision_of(storage.revised(fresh))
            data = self.shown(fresh, CampaignDetail)
        made = code == status.HTTP_201_CREATED
        headers = {"Location": data["links"]["self"]} if made else {}
        return Response(data, status=code, headers=headers)

    def take(self, pk: int, step: Callable[[Campaign], Campaign]) -> Response:
        """Take a step in the life of a campaign, then look what may start. Raise NotPossible."""
        campaign = step(self.campaign(pk))
        work_waits.send(sender=None)
        return self.answer(campaign)

    def load(self, pk: int, step: Callable[[Campaign], Campaign]) -> Response:
        """Load a server; 202 with the request where that needs approval by a second person."""
        campaign = self.campaign(pk)
        ask_rights_at(planned_by(campaign))
        campaign = step(campaign)
        waiting = lifecycle.waiting_of(campaign)
        if waiting is not None:
            return self.approval_answer(waiting)
        work_waits.send(sender=None)
        return self.answer(campaign)


class Campaigns(WholeCampaignApi):
    """GET: campaigns, filtered. POST: a new one."""

    of = None
    takes = {"post": Right.WRITE}

    @operation("list_campaigns", TAG, answer=CampaignOutput, filters=CampaignFilters)
    def get(self, request: Request) -> Response:
        """Campaigns, the newest first."""
        return self.page(self.visible(records.campaigns()), CampaignOutput, "-pk", CampaignFilters)

    @operation(
        "create_campaign", TAG, body=NewCampaignInput, query=LaunchQuery, answer=CampaignDetail
    )
    def post(self, request: Request) -> Response:
        """Store a draft; with `launch`, launch it at once, or store nothing."""
        data = self.read(NewCampaignInput)
        launch = data.pop("launch") or self.read_query(LaunchQuery)["launch"]
        confirmed_name, anyway = data.pop("confirm_target"), data.pop("anyway")
        value = data.pop("team")
        definition = checking.check(data, self.targets())
        team = (
            definition.campaign.target.team
            if definition.campaign.target
            else team_for(self.user, value)
        )
        if value and str(value) not in (str(team.pk), team.name):
            raise Invalid({"team": ["The target belongs to another team; leave this out."]})
        if launch:
            require(self.user, team, Right.OPERATE)
            require_there(planned_in(definition), confirmed_name, anyway=anyway)
        with transaction.atomic():
            campaign = drafts.create(definition, self.user, team=team)
            if launch:
                lifecycle.launch(campaign, self.user, confirmed_name)
        if launch:
            work_waits.send(sender=None)
        return self.answer(campaign, status.HTTP_201_CREATED)


class Launch(WholeCampaignApi):
    """POST {confirm_target, anyway}: lock the definition and begin."""

    takes = {"post": Right.OPERATE}

    @operation(
        "launch_campaign", TAG, later=LaunchRequestOutput, body=LaunchInput, answer=CampaignDetail
    )
    def post(self, request: Request, pk: int) -> Response:
        """Lock the definition, plan the runs, and begin.

        409 where a check refuses, see `launch-checks`; also where one warns that the targets lack something, without `anyway`.
        """
        sent = self.read(LaunchInput)
        name = sent["confirm_target"]
        require_there(planned_by(self.campaign(pk)), name, anyway=sent["anyway"])
        return self.load(pk, lambda result: lifecycle.launch(result, self.user, name))


class Pause(WholeCampaignApi):
    """POST: begin no further run."""

    takes = {"post": Right.OPERATE}

    @operation("pause_campaign", TAG, answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Begin no further run; the one that is going on ends as planned."""
        return self.take(pk, lambda result: lifecycle.pause(result, self.user))


class Resume(WholeCampaignApi):
    """POST {confirm_target}: go on after a pause."""

    takes = {"post": Right.OPERATE}

    @operation("resume_campaign", TAG, body=ConfirmInput, answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Go on after a pause; time budget and failures count anew."""
        return self.take(
            pk,
            lambda result: lifecycle.resume(
                result, self.user, self.read(ConfirmInput)["confirm_target"]
            ),
        )


class Cancel(WholeCampaignApi):
    """POST {reason}: end a campaign."""

    takes = {"post": Right.OPERATE}

    @operation("cancel_campaign", TAG, body=CancelInput, answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """End a campaign; active runs are stopped."""
        return self.take(
            pk, lambda result: lifecycle.cancel(result, self.read(CancelInput)["reason"], self.user)
        )


class Extend(WholeCampaignApi):
    """POST {repetitions, confirm_target}: add repetitions in a session of their own."""

    takes = {"post": Right.OPERATE}

    @operation(
        "extend_campaign", TAG, later=LaunchRequestOutput, body=ExtendInput, answer=CampaignDetail
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add repetitions, 12 hours or more after the last run in a session of their own."""

        def extend(campaign: Campaign) -> Campaign:
            sent = self.read(ExtendInput)
            return lifecycle.extend(
                campaign, sent["repetitions"], self.user, sent["confirm_target"]
            )

        return self.load(pk, extend)


class Amend(WholeCampaignApi):
    """POST {reason, confirm_target, and locked fields}: change them, for everybody to see."""

    takes = {"post": Right.WRITE}

    @operation("amend_campaign", TAG, body=AmendInput, answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Change what launch has locked, for everybody to see, and analyse anew."""
        sent = self.read(AmendInput)
        reason, name = sent.pop("reason", None) or "", sent.pop("confirm_target")

        def amend(campaign: Campaign) -> Campaign:
            with transaction.atomic():
                amending.amend(campaign, sent, reason, self.user, name)
                request_analysis(campaign)
            return campaign

        return self.take(pk, amend)


class Archive(WholeCampaignApi):
    """POST: take a campaign out of the lists."""

    takes = {"post": Right.WRITE}

    @operation("archive_campaign", "campaigns", answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Take a campaign that is over, or a draft, out of the lists; conclusions keep it."""
        return self.answer(archive.archive(self.campaign(pk, Right.WRITE), self.user))


class Unarchive(WholeCampaignApi):
    """POST: show it again."""

    takes = {"post": Right.WRITE}

    @operation("unarchive_campaign", "campaigns", answer=CampaignDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Show a campaign in the lists again."""
        return self.answer(archive.unarchive(self.campaign(pk, Right.WRITE), self.user))
