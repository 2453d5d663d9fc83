"""What goes in and out of settings, steps and SSH logins. Never a key or a password."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import FormInput, Input, Scalar
from campaigns.kit.api.outputs import ModelOutput
from campaigns.models import Setting, SshLogin, TargetStep
from campaigns.targets.actions import fingerprint_of
from campaigns.targets.reaching import action_of, apply_of, read_of
from campaigns.targets.setting_forms import SettingForm, SshForm, StepForm

ACTION = {
    "type": "object",
    "required": ["way"],
    "additionalProperties": False,
    "properties": {
        "way": {"enum": ["http", "command", "hand"]},
        "method": {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]},
        "url": {
            "type": "string",
            "maxLength": 2000,
            "description": "A path on the target, or a URL.",
        },
        "body": {"description": "JSON; a text “{value}” in it becomes the value."},
        "login": {"type": "boolean", "description": "Send the target's user with it."},
        "at": {"type": "string", "maxLength": 2000, "description": "Where in the JSON answer."},
        "expect": {"type": ["string", "number", "boolean", "null"]},
        "arguments": {
            "type": "array",
            "minItems": 1,
            "maxItems": 100,
            "items": {"type": "string", "maxLength": 2000},
            "description": "Program and arguments; one that is “{value}” becomes the value.",
        },
        "words": {"type": "string", "maxLength": 2000, "description": "What a person is told."},
        "seconds": {"type": ["number", "null"], "minimum": 1, "maximum": 3600},
    },
}


@extend_schema_field(ACTION)
class ActionField(serializers.JSONField):
    """An action; what is wrong with it is said later."""


class SettingInput(FormInput):
    """A setting, as `target_settings.save_setting` takes it."""

    form = SettingForm
    choices = serializers.ListField(child=Scalar(), required=False, max_length=50)
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
    """A setting, and what was read back when somebody last asked for it."""

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
    def get_apply(self, setting: Setting) -> dict[str, Any]:
        """How it is set."""
        return apply_of(setting).to_json()

    @extend_schema_field(ACTION)
    def get_read_back(self, setting: Setting) -> dict[str, Any]:
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
    def get_action(self, step: TargetStep) -> dict[str, Any]:
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
