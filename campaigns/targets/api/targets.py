"""Targets: list, add, change, probe, retire."""

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import FormInput, Input, Name
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right, team_for
from campaigns.models import Target
from campaigns.targets import ending, feeds, rights, saving
from campaigns.targets.api.outputs import TargetAnswer, TargetOutput
from campaigns.targets.filters import TargetFilters
from campaigns.targets.forms import TargetForm, as_data
from campaigns.targets.links import MOST_LETTERS, MOST_TITLE
from campaigns.targets.probes import request_probe
from campaigns.targets.watches.groups import MOST_LETTERS as MOST_GROUP_LETTERS
from campaigns.targets.watches.groups import MOST_PATTERNS


class GroupInput(Input):
    """A group of processes: patterns of its services, programs or command lines."""

    name = serializers.CharField(max_length=MOST_GROUP_LETTERS)
    patterns = serializers.ListField(child=serializers.CharField(), max_length=MOST_PATTERNS)


class LinkInput(Input):
    """A link of each run, with {from}, {to} and others for its range of time."""

    title = serializers.CharField(max_length=MOST_TITLE)
    url = serializers.CharField(max_length=MOST_LETTERS)


class TargetInput(FormInput):
    """The fields of a target."""

    form = TargetForm
    process_groups = GroupInput(
        many=True, required=False, allow_null=True, help_text="Null: the usual ones of the family."
    )
    links = LinkInput(many=True, required=False)


class NewTargetInput(TargetInput):
    """A target of a team: by number or name; needed of those alone who operate in several."""

    without = ["forget_password"]
    team = Name()


class EditTargetInput(TargetInput):
    """The fields of a target that change; what is not sent stays."""


class Targets(Api):
    """GET: targets in use. POST: a new one."""

    takes = {"post": Right.OPERATE}

    @operation("list_targets", "targets", answer=TargetOutput, filters=TargetFilters)
    def get(self, request: Request) -> Response:
        """Targets in use, by name."""
        rows = self.visible(Target.objects.filter(retired_at=None))
        return self.page(rows, TargetOutput, "name", TargetFilters)

    @operation("create_target", "targets", body=NewTargetInput, answer=TargetAnswer)
    def post(self, request: Request) -> Response:
        """Save a target, and request its first probe; `warnings` hold notes on its settings."""
        data = self.read(NewTargetInput)
        team = team_for(self.user, data.pop("team"), Right.OPERATE)
        target = saving.save_target(data, team=team)
        request_probe(target)
        output = dict(TargetOutput(target, context={"request": request}).data)
        output["warnings"] = saving.remarks_on(target, data)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneTarget(Api):
    """GET: one target, also a retired one. PATCH: change it. DELETE: where nothing depends on it."""

    of = Target
    takes = {"patch": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_target", "targets", answer=TargetOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One target, also a retired one."""
        return self.one(get_object_or_404(Target, pk=pk), TargetOutput, saving.revised)

    @operation("edit_target", "targets", body=EditTargetInput, answer=TargetAnswer)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent, and request a probe; `warnings` hold notes on its settings.

        A password or a key that is not sent stays, unless the address is another one.
        """
        target = in_use(pk)
        changes = self.read(EditTargetInput)
        data = as_data(target) | changes
        saved = saving.save_target(data, target, seen=self.seen)
        self.revision = revision_of(saving.revised(saved))
        why_not = request_probe(saved)
        output = dict(TargetOutput(saved, context={"request": request}).data)
        value = saving.remarks_on(saved, changes)
        return Response(output | {"warnings": [*value, why_not] if why_not else value})

    @operation("delete_target", "targets")
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a target that nothing depends on, with its settings, steps and login."""
        target = get_object_or_404(Target, pk=pk)
        with self.unchanged(target, saving.revised):
            ending.delete_target(target, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Probe(Api):
    """POST: look whether a target answers."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation(
        "probe_target",
        "targets",
        answer=TargetAnswer,
        code=status.HTTP_202_ACCEPTED,
        also=[status.HTTP_200_OK],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Ask for it; the result is in the target, a moment later.

        200 instead of 202: no probe is made, for the reason in `warnings`; this is the last result.
        """
        target = get_object_or_404(Target, pk=pk, retired_at=None)
        why_not = request_probe(target)
        output = TargetOutput(target, context={"request": request}).data
        if why_not:
            return Response(output | {"warnings": [why_not]})
        return Response(output, status=status.HTTP_202_ACCEPTED)


class FeedInput(Input):
    """The URL of a feed."""

    url = serializers.CharField(max_length=1000)


class FeedRuleInput(Input):
    """A confirmed address, as `confirmed_feeds` of the target has it."""

    rule = serializers.CharField(max_length=300)


class ConfirmFeed(Api):
    """POST {url}: let workers read a feed at a loopback or private address."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("confirm_feed", "targets", body=FeedInput, answer=TargetOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Confirm that a feed at a loopback or private address is yours: workers read it to prove a sync of this target."""
        feeds.confirm_feed(in_use(pk), self.read(FeedInput)["url"], self.user)
        return Response(self.shown(in_use(pk), TargetOutput))


class WithdrawFeed(Api):
    """POST {rule}: let workers read it no more."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("withdraw_feed", "targets", body=FeedRuleInput, answer=TargetOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw the confirmed address of a feed."""
        feeds.withdraw_feed(in_use(pk), self.read(FeedRuleInput)["rule"], self.user)
        return Response(self.shown(in_use(pk), TargetOutput))


class RightsInput(Input):
    """The rights that are confirmed: all that `rights` of the target has."""

    rights = serializers.ListField(child=serializers.CharField(max_length=200), max_length=1000)


class ConfirmRights(Api):
    """POST {rights}: confirm them, as an admin of the team."""

    of = Target
    takes = {"post": Right.MANAGE}

    @operation("confirm_rights", "targets", body=RightsInput, answer=TargetOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Confirm the rights by which the login reaches beyond the database or the server: what authors write has them, too.

        400 where the login has other rights by now.
        """
        target = in_use(pk)
        rights.confirm_rights(target, self.read(RightsInput)["rights"], self.user)
        return Response(self.shown(target, TargetOutput))


class WithdrawRights(Api):
    """POST: withdraw the confirmation, as an admin of the team."""

    of = Target
    takes = {"post": Right.MANAGE}

    @operation("withdraw_rights", "targets", answer=TargetOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw the confirmation: SQL of authors is not run there until it is confirmed again."""
        target = in_use(pk)
        rights.withdraw_rights(target, self.user)
        return Response(self.shown(target, TargetOutput))


class Retire(Api):
    """POST: take a target out of the lists."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("retire_target", "targets", answer=TargetOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Take it out of the lists, with its limits; its campaigns stay as they are."""
        target = in_use(pk)
        try:
            saving.retire_target(target)
        except Invalid as invalid:
            raise NotPossible(" ".join(invalid.errors[""])) from None
        return Response(self.shown(target, TargetOutput))


def in_use(pk: int) -> Target:
    """Find a target that may be changed. Raise Http404, or NotPossible for one that is retired."""
    target = get_object_or_404(Target, pk=pk)
    if target.retired_at is not None:
        raise NotPossible(f"“{target.name}” was retired: it is not changed any more.")
    return target
