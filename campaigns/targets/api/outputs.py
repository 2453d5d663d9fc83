"""Output shapes of targets. They never hold a password, not even an encrypted one."""

from django.utils.functional import cached_property
from rest_framework import serializers

from campaigns.kit.api.outputs import ModelOutput, Part, all_of
from campaigns.models import Target
from campaigns.targets.allowed import other_names
from campaigns.targets.forms import TYPED


class TargetName(Part):
    """A target by primary key and name."""

    id = serializers.IntegerField()
    name = serializers.CharField()


class GroupOutput(Part):
    """A group of processes."""

    name = serializers.CharField()
    patterns = serializers.ListField(child=serializers.CharField())


class LinkOutput(Part):
    """A link of each run, with {from}, {to} and others for its range of time."""

    title = serializers.CharField()
    url = serializers.CharField()


class TargetOutput(ModelOutput[Target]):
    """A server under test. `process_groups`: null: the usual ones of its family."""

    process_groups = GroupOutput(many=True, allow_null=True)
    links = LinkOutput(many=True)

    base_url = serializers.URLField(max_length=500)
    has_password = serializers.SerializerMethodField()
    has_client_key = serializers.SerializerMethodField()
    same_server_as = serializers.SerializerMethodField()
    url = serializers.HyperlinkedIdentityField("api-target")

    class Meta:
        model = Target
        fields = [
            "id",
            "url",
            "team",
            "address",
            "same_server_as",
            *TYPED,
            "verify_tls",
            "has_password",
            "has_client_key",
            "health",
            "health_message",
            "probed_at",
            "proofs",
            "created_at",
            "retired_at",
        ]

    def get_has_password(self, target: Target) -> bool:
        """Only whether there is one."""
        return bool(target.password)

    def get_has_client_key(self, target: Target) -> bool:
        """Only whether there is one."""
        return bool(target.client_key)

    def get_same_server_as(self, target: Target) -> list[str]:
        """Names of the other targets in use with this address."""
        return list(self._others[target.pk])

    @cached_property
    def _others(self) -> dict[int, tuple[str, ...]]:
        """For all targets of a list at once."""
        return other_names(all_of(self))


class TargetAnswer(TargetOutput):
    """A target that was saved or probed, with warnings."""

    warnings = serializers.ListField(child=serializers.CharField(), required=False, read_only=True)

    class Meta(TargetOutput.Meta):
        fields = [*TargetOutput.Meta.fields, "warnings"]
