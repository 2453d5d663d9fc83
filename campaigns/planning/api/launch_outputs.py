"""A load of a production server that waits for approval by a second person, as JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.kit.api.outputs import Selectable
from campaigns.kit.mappings import JsonObject
from campaigns.models import LaunchRequest


class CampaignName(serializers.Serializer[Any]):
    """A campaign by primary key and name; `page` is for people."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()
    page = serializers.URLField()


class LaunchRequestOutput(Selectable):
    """A request for approval: its step, its definition, who made it and who decided.

    `blocks`: of an extension; `cell` of a try-out and `run` that is made again: by their positions.
    """

    id = serializers.IntegerField(source="pk")
    url = serializers.HyperlinkedIdentityField("api-launch-request")
    campaign = serializers.SerializerMethodField()
    step = serializers.ChoiceField(choices=LaunchRequest.Step.choices)
    blocks = serializers.IntegerField(source="options.blocks", default=None, allow_null=True)
    cell = serializers.IntegerField(source="options.cell", default=None, allow_null=True)
    run = serializers.IntegerField(source="options.run", default=None, allow_null=True)
    state = serializers.ChoiceField(choices=LaunchRequest.State.choices)
    definition_hash = serializers.CharField()
    asked_by = serializers.CharField(source="asked_by.username")
    asked_at = serializers.DateTimeField()
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    words = serializers.CharField()

    @extend_schema_field(CampaignName())
    def get_campaign(self, row: LaunchRequest) -> JsonObject:
        """Return the campaign of the request."""
        campaign, request = row.campaign, self.context["request"]
        return {
            "id": campaign.pk,
            "name": campaign.name,
            "url": reverse("api-campaign", [campaign.pk], request=request),
            "page": reverse("campaign", [campaign.pk], request=request),
        }
