"""REST resources of archive, storage, retention of samples, and what depends on a target."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input, Number
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right
from campaigns.models import Target, Team
from campaigns.results import archive
from campaigns.results.storage import used_by_campaigns
from campaigns.targets.dependants import dependants_of


class UsedOutput(Selectable, serializers.Serializer[Any]):
    """What a campaign takes in the database. `bytes`: by kind of data; `total`: of all of them."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    archived_at = serializers.DateTimeField(allow_null=True)
    total = serializers.IntegerField()
    bytes = serializers.DictField(child=serializers.IntegerField())


class RetentionOutput(Selectable, serializers.ModelSerializer[Team]):
    """How long a team keeps raw samples; null: for ever."""

    keep_samples_days = serializers.SerializerMethodField()

    class Meta:
        model = Team
        fields = ["id", "name", "keep_samples_days"]

    def get_keep_samples_days(self, team: Team) -> int | None:
        """Days; null: for ever."""
        return archive.kept_days(team)


class RetentionInput(Input):
    """How many days; null: for ever."""

    keep_samples_days = Number()


class DependantsOutput(Selectable, serializers.Serializer[Any]):
    """One kind of what depends on a target; `first`: the first ten, `then`: what becomes of them."""

    kind = serializers.CharField()
    count = serializers.IntegerField()
    first = serializers.ListField(child=serializers.DictField())
    then = serializers.CharField()


class Storage(Api):
    """GET: disk used by campaigns."""

    @operation("list_storage", "storage", answer=UsedOutput, whole=True)
    def get(self, request: Request) -> Response:
        """What each campaign takes that you may see, the largest first."""
        rows = [
            {
                "campaign": one.campaign.pk,
                "name": one.campaign.name,
                "archived_at": one.campaign.archived_at,
                "total": one.total,
                "bytes": dict(one.bytes),
            }
            for one in used_by_campaigns(self.user)
        ]
        return self.whole(rows, UsedOutput)


class Retention(Api):
    """GET: how long a team keeps raw samples. PATCH: change it."""

    of = Team
    takes = {"patch": Right.MANAGE}

    @operation("get_retention", "storage", answer=RetentionOutput)
    def get(self, request: Request, pk: int) -> Response:
        """How long the team keeps raw samples."""
        return self.one(get_object_or_404(Team, pk=pk), RetentionOutput, archive.rule_of)

    @operation("set_retention", "storage", body=RetentionInput, answer=RetentionOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Set how many days the team keeps raw samples; null: for ever."""
        team = get_object_or_404(Team, pk=pk)
        sent = self.read(RetentionInput)
        with self.unchanged(team, archive.rule_of):
            if sent:
                archive.keep_samples(team, sent["keep_samples_days"], self.user)
        return Response(self.shown(team, RetentionOutput))


class TargetDependants(Api):
    """GET: what depends on a target."""

    of = Target

    @operation("list_dependants", "targets", answer=DependantsOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """What names the target, kind by kind; where the list is empty it may be deleted."""
        rows = [
            {
                "kind": each.kind,
                "count": each.count,
                "first": [{"id": key, "name": name} for key, name in each.first],
                "then": each.then,
            }
            for each in dependants_of(get_object_or_404(Target, pk=pk))
        ]
        return self.whole(rows, DependantsOutput)
