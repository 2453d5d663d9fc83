"""Settings, steps and the SSH login of a target; what people are asked to do by hand."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.openapi import operation
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import Right
from campaigns.models import Setting, SshLogin, Target, TargetStep
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.api.setting_outputs import (
    AcceptInput,
    SettingInput,
    SshInput,
    SshOutput,
    StepInput,
    StepOutput,
    TargetSettingOutput,
)
from campaigns.targets.api.targets import in_use
from campaigns.targets.probes import request_look

TAG = "settings"


class Settings(Api):
    """GET: the settings of a target. POST: a new one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_settings", TAG, answer=TargetSettingOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """The settings of a target, and what was read back when somebody last asked for it."""
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
    """GET: how commands reach a target. PUT: say so, as an admin. DELETE: forget it."""

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
