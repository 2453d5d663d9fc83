"""Manual steps that runs wait for, by REST."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.execution import manual_steps
from campaigns.execution.manual_steps import open_requests
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.events import work_waits
from campaigns.kit.rights import Right
from campaigns.models import ManualStep

TAG = "settings"


class ManualStepOutput(Selectable, serializers.ModelSerializer[ManualStep]):
    """What somebody is asked to do by hand. `run`: the one that waits for it, null where none does."""

    url = serializers.SerializerMethodField()
    target = serializers.SerializerMethodField()
    campaign = serializers.IntegerField(source="campaign_id", allow_null=True)
    run = serializers.IntegerField(source="run.position", allow_null=True, default=None)
    setting = serializers.CharField(source="setting.name", allow_null=True, default=None)
    step = serializers.CharField(source="step.name", allow_null=True, default=None)
    done_by = serializers.StringRelatedField[Any](allow_null=True)

    class Meta:
        model = ManualStep
        fields = [
            "id",
            "url",
            "target",
            "campaign",
            "run",
            "setting",
            "step",
            "value",
            "words",
            "asked_at",
            "done_at",
            "done_by",
        ]

    def get_url(self, request: ManualStep) -> str:
        """Where it is confirmed."""
        return reverse("api-manual-step-done", [request.pk], request=self.context["request"])

    def get_target(self, request: ManualStep) -> str:
        """The name of the target."""
        return request.target.name


class ManualSteps(Api):
    """GET: what people are asked to do by hand now."""

    @operation("list_manual_steps", TAG, answer=ManualStepOutput, whole=True)
    def get(self, request: Request) -> Response:
        """What is to be done by hand now, the oldest first; runs wait for it."""
        self.read_query(NoQuery)
        rows = self.visible(open_requests(), "target__team")
        return self.whole([self.shown(row, ManualStepOutput) for row in rows], ManualStepOutput)


class ConfirmManualStep(Api):
    """POST: say that something is done by hand."""

    of = ManualStep
    takes = {"post": Right.OPERATE}

    @operation("confirm_manual_step", TAG, answer=ManualStepOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Say that it is done; what waited for it begins when it is its turn."""
        done = manual_steps.confirm(get_object_or_404(ManualStep, pk=pk), self.user)
        work_waits.send(sender=None)
        return Response(self.shown(done, ManualStepOutput))
