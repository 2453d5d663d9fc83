"""REST resources of a target's settings, steps and SSH login."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import FormInput, Input, Scalar
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Setting, SshLogin, Target, TargetStep
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.targets.actions.parameters import UNITS
from campaigns.targets.actions.values import (
    LONGEST_PARAMETER,
    METHODS,
    MOST_ARGUMENTS,
    MOST_LETTERS,
    MOST_SECONDS,
    WAYS,
)
from campaigns.targets.api.targets import in_use
from campaigns.targets.probes import request_look
from campaigns.targets.reaching import action_of, apply_of, read_of
from campaigns.targets.setting_forms import MOST_CHOICES, SettingForm, SshForm, StepForm

TAG = "settings"

ACTION: JsonObject = {
    "type": "object",
    "required": ["way"],
    "additionalProperties": False,
    "properties": {
        "way": {"enum": list(WAYS)},
        "method": {"enum": list(METHODS)},
        "url": {
            "type": "string",
            "maxLength": MOST_LETTERS,
            "description": "A path on the target, or a URL.",
        },
        "body": {"description": "JSON; a text “{value}” in it becomes the value."},
        "login": {"type": "boolean", "description": "Send the target's user with it."},
        "at": {
            "type": "string",
            "maxLength": MOST_LETTERS,
            "description": "Where in the JSON answer.",
        },
        "expect": {"type": ["string", "number", "boolean", "null"]},
        "arguments": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_ARGUMENTS,
            "items": {"type": "string", "maxLength": MOST_LETTERS},
            "description": "Program and arguments; one that is “{value}” becomes the value. By SQL: what restarts PostgreSQL.",
        },
        "parameter": {
            "type": "string",
            "maxLength": LONGEST_PARAMETER,
            "description": "Of PostgreSQL, by SQL.",
        },
        "unit": {
            "enum": ["", *UNITS],
            "description": "Of its values; empty: that of pg_settings.",
        },
        "words": {
            "type": "string",
            "maxLength": MOST_LETTERS,
            "description": "What a person is told.",
        },
        "seconds": {"type": ["number", "null"], "minimum": 1, "maximum": int(MOST_SECONDS)},
    },
}


@extend_schema_field(ACTION)
class ActionField(serializers.JSONField):
    """An action, unchecked; `parse` reports its errors."""


class SettingInput(FormInput):
    """A setting, as `target_settings.save_setting` takes it."""

    form = SettingForm
    choices = serializers.ListField(child=Scalar(), required=False, max_length=MOST_CHOICES)
    apply = ActionField(required=False)
    read_back = ActionField(required=False)


class StepInput(FormInput):
    """A step, as `target_settings.save_step` takes it."""

    form = StepForm
    action = ActionField(required=False)


class SshInput(FormInput):
    """An SSH login; an empty key or password leaves the stored one."""

    form = SshForm


class AcceptInput(Input):
    """The fingerprint of the host key that is accepted, as SHA256:..."""

    fingerprint = serializers.CharField(max_length=200)


class TargetSettingOutput(ModelOutput[Setting]):
    """A setting, and the value that was read back last."""

    url = serializers.SerializerMethodField()
    apply = serializers.SerializerMethodField()
    read_back = serializers.SerializerMethodField()
    value = serializers.JSONField(source="look_value", allow_null=True)
    failure = serializers.CharField(source="look_failure")
    read_at = serializers.DateTimeField(source="looked_at", allow_null=True)

    class Meta:
        model = Setting
        fields = [
            "url",
            *SettingForm.Meta.fields,
            "apply",
            "read_back",
            "value",
            "failure",
            "read_at",
        ]

    def get_url(self, setting: Setting) -> str:
        """Where it is changed."""
        where = [setting.target_id, setting.name]
        return reverse("api-setting", where, request=self.context["request"])

    @extend_schema_field(ACTION)
    def get_apply(self, setting: Setting) -> JsonObject:
        """How it is set."""
        return apply_of(setting).to_json()

    @extend_schema_field(ACTION)
    def get_read_back(self, setting: Setting) -> JsonObject:
        """How it is read back."""
        return read_of(setting).to_json()


class StepOutput(ModelOutput[TargetStep]):
    """A reset command, or a look whether the target is ready."""

    url = serializers.SerializerMethodField()
    action = serializers.SerializerMethodField()

    class Meta:
        model = TargetStep
        fields = ["id", "url", *StepForm.Meta.fields, "action"]

    def get_url(self, step: TargetStep) -> str:
        """Where it is changed."""
        where = [step.target_id, step.pk]
        return reverse("api-step", where, request=self.context["request"])

    @extend_schema_field(ACTION)
    def get_action(self, step: TargetStep) -> JsonObject:
        """What it does."""
        return action_of(step).to_json()


class SshOutput(ModelOutput[SshLogin]):
    """How commands reach the target. `offered`: a host key that it showed, and nobody has accepted."""

    has_key = serializers.SerializerMethodField()
    has_password = serializers.SerializerMethodField()
    accepted = serializers.SerializerMethodField()
    offered = serializers.SerializerMethodField()
    failure = serializers.CharField(source="look_failure")
    tried_at = serializers.DateTimeField(source="looked_at", allow_null=True)

    class Meta:
        model = SshLogin
        fields = [
            *SshForm.Meta.fields,
            "has_key",
            "has_password",
            "accepted",
            "offered",
            "failure",
            "tried_at",
        ]

    def get_has_key(self, login: SshLogin) -> bool:
        """Only whether there is one."""
        return bool(login.key)

    def get_has_password(self, login: SshLogin) -> bool:
        """Only whether there is one."""
        return bool(login.password)

    def get_accepted(self, login: SshLogin) -> str:
        """The fingerprint that was accepted; empty where none was."""
        return fingerprint_of(login.host_key)

    def get_offered(self, login: SshLogin) -> str:
        """The fingerprint that waits to be compared and accepted."""
        return fingerprint_of(login.offered_key)


class Settings(Api):
    """GET: the settings of a target. POST: a new one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_settings", TAG, answer=TargetSettingOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """List the settings of a target, with the values that were read back last."""
        rows = get_object_or_404(Target, pk=pk).setting_rows.all()
        return self.whole(
            [self.shown(row, TargetSettingOutput) for row in rows], TargetSettingOutput
        )

    @operation("create_setting", TAG, body=SettingInput, answer=TargetSettingOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Define a setting; campaigns on the target may set or vary it. Commands take an admin."""
        target = in_use(pk)
        row = target_settings.save_setting(self.read(SettingInput), target, self.user)
        output = self.shown(row, TargetSettingOutput)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneSetting(Api):
    """GET: one setting. PATCH: change it. DELETE: forget it."""

    of = Target
    takes = {"patch": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_setting", TAG, answer=TargetSettingOutput)
    def get(self, request: Request, pk: int, name: str) -> Response:
        """One setting of a target."""
        row = get_object_or_404(Setting, target=pk, name=name)
        return self.one(row, TargetSettingOutput, target_settings.revised_setting)

    @operation("edit_setting", TAG, body=SettingInput, answer=TargetSettingOutput)
    def patch(self, request: Request, pk: int, name: str) -> Response:
        """Change the fields that are sent; an action is replaced as a whole."""
        target = in_use(pk)
        row = get_object_or_404(Setting, target=target, name=name)
        stored = {field: getattr(row, field) for field in map(str, SettingInput().fields)}
        data = stored | self.read(SettingInput)
        with self.unchanged(row, target_settings.revised_setting):
            saved = target_settings.save_setting(data, target, self.user, row)
        return Response(self.shown(saved, TargetSettingOutput))

    @operation("delete_setting", TAG)
    def delete(self, request: Request, pk: int, name: str) -> Response:
        """Forget a setting that no campaign needs any more."""
        row = get_object_or_404(Setting, target=in_use(pk), name=name)
        try:
            with self.unchanged(row, target_settings.revised_setting):
                target_settings.delete_setting(row, self.user)
        except Invalid as invalid:
            raise _not_possible(invalid) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReadBack(Api):
    """POST: read the settings back now."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation(
        "read_settings", TAG, answer=TargetSettingOutput, whole=True, code=status.HTTP_202_ACCEPTED
    )
    def post(self, request: Request, pk: int) -> Response:
        """Ask a worker to read every setting back and to log in by SSH; look again a moment later."""
        target = in_use(pk)
        if why_not := request_look(target):
            raise NotPossible(why_not)
        results = [self.shown(row, TargetSettingOutput) for row in target.setting_rows.all()]
        body = {"next": None, "previous": None, "results": results}
        return Response(body, status=status.HTTP_202_ACCEPTED)


class Steps(Api):
    """GET: reset commands and looks whether a target is ready. POST: a new one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_steps", TAG, answer=StepOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """Reset commands of a target, and its looks whether it is ready, in their order."""
        rows = get_object_or_404(Target, pk=pk).steps.all()
        return self.whole([self.shown(row, StepOutput) for row in rows], StepOutput)

    @operation("create_step", TAG, body=StepInput, answer=StepOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Define a step; a reset is done before each run on the target. Commands take an admin."""
        target = in_use(pk)
        row = target_settings.save_step(self.read(StepInput), target, self.user)
        output = self.shown(row, StepOutput)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneStep(Api):
    """GET: one step. PATCH: change it. DELETE: forget it."""

    of = Target
    takes = {"patch": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_step", TAG, answer=StepOutput)
    def get(self, request: Request, pk: int, number: int) -> Response:
        """One step of a target."""
        row = get_object_or_404(TargetStep, target=pk, pk=number)
        return self.one(row, StepOutput, target_settings.revised_step)

    @operation("edit_step", TAG, body=StepInput, answer=StepOutput)
    def patch(self, request: Request, pk: int, number: int) -> Response:
        """Change the fields that are sent; an action is replaced as a whole."""
        target = in_use(pk)
        row = get_object_or_404(TargetStep, target=target, pk=number)
        stored = {field: getattr(row, field) for field in map(str, StepInput().fields)}
        data = stored | self.read(StepInput)
        with self.unchanged(row, target_settings.revised_step):
            saved = target_settings.save_step(data, target, self.user, row)
        return Response(self.shown(saved, StepOutput))

    @operation("delete_step", TAG)
    def delete(self, request: Request, pk: int, number: int) -> Response:
        """Forget a step; proofs that it left stay."""
        row = get_object_or_404(TargetStep, target=in_use(pk), pk=number)
        with self.unchanged(row, target_settings.revised_step):
            target_settings.delete_step(row, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Ssh(Api):
    """GET: the SSH login of a target. PUT: set it, as an admin. DELETE: delete it."""

    of = Target
    takes = {"put": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_ssh", TAG, answer=SshOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Machine and user, and which host key was accepted."""
        return self.one(get_object_or_404(SshLogin, target=pk), SshOutput, ssh_logins.revised)

    @operation("replace_ssh", TAG, body=SshInput, answer=SshOutput)
    def put(self, request: Request, pk: int) -> Response:
        """Set how commands reach the target, as an admin; then read settings back to see its host key.

        A key or a password that is not sent stays, unless machine or user are others.
        """
        target, data = in_use(pk), self.read(SshInput)
        held = SshLogin.objects.filter(target=target).first() or SshLogin(target=target)
        with self.unchanged(held, ssh_logins.revised):
            row = ssh_logins.save_ssh(data, target, self.user)
        return Response(self.shown(row, SshOutput))

    @operation("delete_ssh", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Forget it, with its secrets; no command may need it any more."""
        row = get_object_or_404(SshLogin, target=in_use(pk))
        try:
            with self.unchanged(row, ssh_logins.revised):
                ssh_logins.delete_ssh(row, self.user)
        except Invalid as invalid:
            raise _not_possible(invalid) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


class AcceptHostKey(Api):
    """POST: accept the host key that a machine has shown."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("accept_host_key", TAG, body=AcceptInput, answer=SshOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Take the key with this fingerprint for the machine's own, as an admin who compared it."""
        row = get_object_or_404(SshLogin, target=in_use(pk))
        fingerprint = self.read(AcceptInput)["fingerprint"]
        return Response(
            self.shown(ssh_logins.accept_host_key(row, fingerprint, self.user), SshOutput)
        )


def _not_possible(invalid: Invalid) -> NotPossible:
    texts: list[Any] = [text for messages in invalid.errors.values() for text in messages]
    return NotPossible(" ".join(texts))
