"""Output shapes of targets. They never hold a password, not even an encrypted one."""

from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from campaigns.kit.api.outputs import ModelOutput, Part, all_of
from campaigns.kit.mappings import JsonObject
from campaigns.models import ConfirmedRights, Target
from campaigns.targets.allowed import other_names
from campaigns.targets.forms import TYPED
from campaigns.targets.rights import holds


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


class ConfirmedRightsOutput(ModelOutput[ConfirmedRights]):
    """Rights of a login that an admin has confirmed. `holds`: the target has just these rights, this user name and base URL now."""

    rights = serializers.ListField(child=serializers.CharField())
    confirmed_by = serializers.CharField(source="confirmed_by.username")
    holds = serializers.SerializerMethodField()

    class Meta:
        model = ConfirmedRights
        fields = ["rights", "username", "base_url", "confirmed_by", "confirmed_at", "holds"]

    def get_holds(self, row: ConfirmedRights) -> bool:
        """Whether a launch rests on it."""
        return holds(row, row.target)


class TargetOutput(ModelOutput[Target]):
    """A server under test. `process_groups`: null: the usual ones of its family.

    `confirmed_feeds`: loopback and private addresses that workers may read for its runs. `rights`: by which its login reaches beyond the database or the server, such as superuser; null: not asked yet.
    """

    process_groups = GroupOutput(many=True, allow_null=True)
    links = LinkOutput(many=True)

    base_url = serializers.URLField(max_length=500)
    rights = serializers.ListField(child=serializers.CharField(), allow_null=True)
    confirmed_rights = serializers.SerializerMethodField()
    confirmed_feeds = serializers.ListField(child=serializers.CharField())
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
            "rights",
            "confirmed_rights",
            "confirmed_feeds",
            "created_at",
            "retired_at",
        ]

    @extend_schema_field(ConfirmedRightsOutput(allow_null=True))
    def get_confirmed_rights(self, target: Target) -> JsonObject | None:
        """Return what an admin of its team has confirmed."""
        row = self._confirmed.get(target.pk)
        return None if row is None else ConfirmedRightsOutput(row).data

    @cached_property
    def _confirmed(self) -> dict[int, ConfirmedRights]:
        """For all targets of a list at once."""
        rows = ConfirmedRights.objects.select_related("target", "confirmed_by")
        return {row.target_id: row for row in rows.filter(target__in=all_of(self))}

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
