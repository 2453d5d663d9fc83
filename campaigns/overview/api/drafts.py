"""REST resources of drafts: preview, read, change, try, delete, and drafts made from another campaign."""

from collections.abc import Sequence

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api import waiting
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, selected
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Campaign, LaunchRequest, Run, Scope, Template
from campaigns.overview.api.campaigns import WholeCampaignApi
from campaigns.overview.api.outputs import CampaignDetail
from campaigns.planning import calibrating, checking, drafts, lifecycle, preview, storage, templates
from campaigns.planning.api.base import TAG, CampaignApi
from campaigns.planning.api.cell_name import CellName
from campaigns.planning.api.inputs import CampaignInput, TryInput, WaitQuery
from campaigns.planning.api.launch_check_outputs import LaunchCheckOutput, LaunchChecksOutput
from campaigns.planning.api.launch_outputs import LaunchRequestOutput
from campaigns.planning.launch_checks import (
    LaunchCheck,
    ask_rights_at,
    asked_checks,
    launch_checks,
    planned_by,
)
from campaigns.results import records, versions
from campaigns.results.api.run_outputs import RunOutput


class PlannedRun(Part):
    """A run of a plan."""

    position = serializers.IntegerField()
    cell = serializers.IntegerField()
    block = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=Run.Purpose.choices)


class Remark(Part):
    """A remark on a plan."""

    tone = serializers.ChoiceField(choices=["pass", "warn", "info"])
    text = serializers.CharField()


class CarriedOutput(Part):
    """The largest load that a target has carried in a stored campaign, with that campaign and when it ended."""

    load = serializers.FloatField()
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    at = serializers.DateTimeField()


class AskedOutput(Part):
    """A load that is asked of a target. `above`: its levels that are above what the target has carried.

    `offered`: the load begins at a fixed rate. `carried`: null where it has carried none yet.
    """

    target = serializers.IntegerField(source="target_id")
    load = serializers.CharField()
    levels = serializers.ListField(child=serializers.FloatField())
    above = serializers.ListField(child=serializers.FloatField())
    offered = serializers.BooleanField()
    carried = CarriedOutput(allow_null=True)


class PreviewOutput(Part):
    """What a definition would do. `seconds`: expected, of all runs together. `loads`: what is asked of each target."""

    order = serializers.ChoiceField(choices=Campaign.Order.choices)
    seed = serializers.IntegerField()
    cells = CellName(many=True)
    blocks = serializers.IntegerField()
    measured_runs = serializers.IntegerField()
    warm_up_runs = serializers.IntegerField()
    seconds = serializers.FloatField()
    estimated_from_runs = serializers.IntegerField()
    remarks = Remark(many=True)
    loads = AskedOutput(many=True)
    checks = LaunchCheckOutput(many=True)
    runs = PlannedRun(many=True)


class Preview(CampaignApi):
    """POST: what a definition would do."""

    of = None
    takes = {"post": Right.WRITE}
    needs = Scope.READ

    @operation("preview_campaign", TAG, body=CampaignInput, answer=PreviewOutput)
    def post(self, request: Request) -> Response:
        """Plan a definition, and store nothing."""
        planned = preview.preview(checking.check(self.read(CampaignInput), self.targets()))
        return Response(
            {
                "order": planned.order,
                "seed": planned.seed,
                "cells": [
                    {"position": number, "levels": levels}
                    for number, levels in enumerate(planned.plan.cells, start=1)
                ],
                "blocks": planned.blocks,
                "measured_runs": planned.measured_runs,
                "warm_up_runs": planned.warm_up_runs,
                "seconds": planned.seconds,
                "estimated_from_runs": planned.estimated_from,
                "remarks": [
                    {"tone": tone, "text": text}
                    for tone, text in [*planned.remarks, *planned.found]
                ],
                "checks": LaunchCheckOutput(planned.checks, many=True).data,
                "loads": AskedOutput(planned.asked, many=True).data,
                "runs": [
                    {
                        "position": run.position,
                        "cell": run.cell + 1,
                        "block": run.block,
                        "purpose": Run.Purpose.WARM_UP if run.warm_up else Run.Purpose.MEASURED,
                    }
                    for run in planned.plan.runs
                ],
            }
        )


class OneCampaign(WholeCampaignApi):
    """GET: one campaign. PUT, PATCH and DELETE: a draft."""

    takes = {"put": Right.WRITE, "patch": Right.WRITE, "delete": Right.WRITE}

    @operation("get_campaign", TAG, answer=CampaignDetail, query=WaitQuery)
    def get(self, request: Request, pk: int) -> Response:
        """A campaign; with `wait`, as soon as `state` or `seen` is not true any more.

        Only some may wait at a time: with `Retry-After` the answer came at once, as no place was free.
        """
        query = self.read_query(WaitQuery)
        selected(request, CampaignDetail)
        campaign = self.campaign(pk)
        known: JsonObject = {
            name: value for name, value in query.items() if name in ("state", "seen")
        }
        if "wait" in query and not known:
            known = {"seen": versions.whole_version(campaign)}
        waited = "wait" not in query or waiting.wait(
            lambda: self.has_changed(campaign, known), query["wait"]
        )
        answer = self.answer(campaign)
        if not waited:
            answer.headers["Retry-After"] = str(waiting.ASK_AGAIN_SECONDS)
        return answer

    def has_changed(self, campaign: Campaign, known: Json) -> bool:
        """Return whether what a client knows of a campaign is not so any more."""
        campaign.refresh_from_db()
        return bool(
            campaign.state != known.get("state", campaign.state)
            or ("seen" in known and versions.whole_version(campaign) != known["seen"])
        )

    @operation("replace_campaign", TAG, body=CampaignInput, answer=CampaignDetail)
    def put(self, request: Request, pk: int) -> Response:
        """Replace a draft's definition; what is not sent is as in a new one. Its try-outs go."""
        return self.changed(self.campaign(pk), self.read(CampaignInput))

    @operation("edit_campaign", TAG, body=CampaignInput, answer=CampaignDetail)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields of a draft that are sent, its parameters one by one. Its try-outs go."""
        campaign = self.campaign(pk)
        return self.changed(campaign, storage.with_changes(campaign, self.read(CampaignInput)))

    @operation("delete_campaign", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a draft, with a try-out that waits. What was launched stays."""
        drafts.delete(self.campaign(pk), self.seen)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def changed(self, campaign: Campaign, data: Json) -> Response:
        """Store another definition of a draft. Raise Invalid, NotADraft, Changed."""
        drafts.require_draft(campaign)
        definition = checking.check(data, self.targets(campaign))
        return self.answer(drafts.change(campaign, definition, self.seen))


class LaunchChecks(CampaignApi):
    """GET: what is checked before a launch. POST: the same, after the targets were asked."""

    takes = {"post": Right.OPERATE}

    @operation("get_launch_checks", TAG, answer=LaunchChecksOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The checks before a launch, by what is known; a launch is refused as long as a required one has failed."""
        self.read_query(NoQuery)
        return self.told(self.campaign(pk), None)

    @operation("ask_launch_checks", TAG, answer=LaunchChecksOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Ask the targets now what runs need there, as a launch does, and list all checks. It takes seconds."""
        campaign = self.campaign(pk)
        asked = asked_checks(planned_by(campaign))
        return self.told(self.campaign(pk), asked)

    def told(self, campaign: Campaign, asked: Sequence[LaunchCheck] | None) -> Response:
        """Return the checks, with those for which targets were asked."""
        checks = launch_checks(campaign, asked)
        is_draft = campaign.state == Campaign.State.DRAFT
        ready = is_draft and not any(each.refuses for each in checks)
        return Response(LaunchChecksOutput({"may_launch": ready, "checks": checks}).data)


class Try(CampaignApi):
    """POST {cell}: one run of a draft that no analysis will see."""

    takes = {"post": Right.OPERATE}

    @operation(
        "try_campaign",
        TAG,
        later=LaunchRequestOutput,
        body=TryInput,
        answer=RunOutput,
        code=status.HTTP_201_CREATED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Plan one run of a draft that no analysis will see."""
        campaign = self.campaign(pk)
        sent = self.read(TryInput)
        position = sent.get("cell")
        cell = None
        if position is not None:
            cell = campaign.cells.filter(position=position).first()
            if cell is None:
                raise Invalid({"cell": [f"This campaign has no cell {position}."]})
        ask_rights_at(planned_by(campaign, [cell] if cell else None))
        run = lifecycle.try_or_request_approval(campaign, self.user, cell, sent["confirm_target"])
        if isinstance(run, LaunchRequest):
            return self.approval_answer(run)
        work_waits.send(sender=None)
        planned = records.runs(campaign).get(pk=run.pk)
        data = self.shown(planned, RunOutput)
        return Response(data, status=status.HTTP_201_CREATED, headers={"Location": data["url"]})


class Clone(WholeCampaignApi):
    """POST {changes}: a draft like this campaign but for the fields that are sent."""

    takes = {"post": Right.WRITE}

    @operation(
        "clone_campaign",
        TAG,
        body=CampaignInput,
        answer=CampaignDetail,
        code=status.HTTP_201_CREATED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """A draft like it: parameters are replaced one by one, any other field as a whole."""
        campaign = self.campaign(pk)
        definition = checking.check(
            storage.with_changes(campaign, self.read(CampaignInput)), self.targets()
        )
        clone = drafts.create(definition, self.user, clone_of=campaign, team=campaign.team)
        return self.answer(clone, status.HTTP_201_CREATED)


class Calibrate(WholeCampaignApi):
    """POST: an A/A campaign like this one."""

    takes = {"post": Right.WRITE}

    @operation("calibrate_campaign", TAG, answer=CampaignDetail, code=status.HTTP_201_CREATED)
    def post(self, request: Request, pk: int) -> Response:
        """A draft that measures one setting of this campaign under two blind labels (A/A)."""
        made = calibrating.calibrate(self.campaign(pk), self.user)
        return self.answer(made, status.HTTP_201_CREATED)


class BeginWithTemplate(WholeCampaignApi):
    """POST {changes}: a draft that begins with a template."""

    of = Template
    takes = {"post": Right.WRITE}

    @operation(
        "begin_with_template",
        "templates",
        body=CampaignInput,
        answer=CampaignDetail,
        code=status.HTTP_201_CREATED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """A draft of it: parameters are replaced one by one, any other field as a whole."""
        changes: JsonObject = self.read(CampaignInput)
        try:
            draft = templates.begin(get_object_or_404(Template, pk=pk), changes, self.user)
        except templates.NoTemplate as refusal:
            raise NotPossible(str(refusal)) from None
        return self.answer(draft, status.HTTP_201_CREATED)
