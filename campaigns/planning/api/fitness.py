"""REST resource of a target's fitness: what the checks say, and making one."""

from dataclasses import asdict

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import ConfirmInput, Flag
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable, text
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.planning.fitness.checks import CHECKS, NAMES, WARNING
from campaigns.planning.fitness.judging import FIT, NOT_KNOWN
from campaigns.planning.fitness.known import fitness_of
from campaigns.planning.fitness.making import make_check, make_more

OUTCOMES = (FIT, WARNING, "not fit", NOT_KNOWN)


class FitnessOutput(Selectable):
    """What one check says. `low`, `high`: of the 95 % interval of the mean; `undecided`: two more runs may decide."""

    name = serializers.ChoiceField(choices=list(NAMES))
    label = serializers.CharField()  # type: ignore[assignment]
    outcome = serializers.ChoiceField(choices=list(OUTCOMES))
    reason = serializers.CharField()
    shown = text()
    at = serializers.DateTimeField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    undecided = serializers.BooleanField()
    campaign = serializers.IntegerField(allow_null=True)


class MakeInput(ConfirmInput):
    """The check. `directory`: for storage; `scale`: of the database, where it is free; `more`: two more runs of the last one."""

    check = serializers.ChoiceField(choices=list(CHECKS))
    directory = serializers.CharField(required=False, allow_blank=True, max_length=500)
    scale = serializers.IntegerField(required=False, min_value=1, max_value=100_000)
    more = Flag(default=False)


class MadeOutput(Part):
    """The campaign that makes a check."""

    campaign = serializers.IntegerField()
    url = serializers.URLField()


class FitnessOfTarget(Api):
    """GET: what the checks say of a target. POST: make one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_fitness", "targets", answer=FitnessOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """Whether a target is fit to be measured, check by check, with the reason and the age."""
        rows = fitness_of(get_object_or_404(Target, pk=pk))
        return self.whole([_shown(asdict(row)) for row in rows], FitnessOutput)

    @operation("make_check", "targets", body=MakeInput, answer=MadeOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Launch a campaign of three runs that makes a check; or add two runs where it has not decided."""
        target, data = get_object_or_404(Target, pk=pk), self.read(MakeInput)
        if target.retired_at is not None:
            raise NotPossible(f"“{target.name}” was retired.")
        name, confirmed = data["check"], data["confirm_target"]
        if data["more"]:
            campaign = make_more(name, target, self.user, confirmed)
        else:
            directory, scale = data.get("directory", ""), data.get("scale")
            campaign = make_check(name, target, self.user, directory, confirmed, scale)
        work_waits.send(sender=None)
        url = reverse("api-campaign", [campaign.pk], request=request)
        return Response({"campaign": campaign.pk, "url": url}, status=status.HTTP_201_CREATED)


def _shown(row: JsonObject) -> JsonObject:
    at = row["at"]
    return {**row, "at": at.isoformat() if at else None}
