"""The shapes of submissions, for the OpenAPI document; `importers.document` checks what they mean."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import Flag, Input, Scalar, Tags
from campaigns.kit.api.selection import Selectable
from campaigns.kit.api.shapes import CampaignName, text
from campaigns.models import Campaign, Submission
from campaigns.results.importing.defining import ORDERS
from campaigns.results.importing.document import STATES
from campaigns.results.importing.receiving import Received
from campaigns.results.readers import all_readers

ONE_VALUE = {
    "anyOf": [
        {"type": ["number", "null"]},
        {
            "type": "object",
            "properties": {
                "value": {"type": ["number", "null"]},
                "censored": {"type": "boolean", "description": "The value is a lower limit."},
            },
            "required": ["value"],
            "additionalProperties": False,
        },
    ]
}
VALUES = {"anyOf": [*ONE_VALUE["anyOf"], {"type": "array", "items": ONE_VALUE}]}


@extend_schema_field(VALUES)
class Values(serializers.JSONField):
    """A number; or a list of them, one a repetition, null where it failed."""


@extend_schema_field({"type": ["boolean", "null"]})
class Direction(serializers.JSONField):
    """Whether lower is better; null where neither way is."""


class MetricInput(Input):
    """A metric as it is submitted."""

    label = serializers.CharField(required=False, max_length=100)  # type: ignore[assignment]
    unit = serializers.CharField(max_length=20)
    lower_is_better = Direction()
    fidelity = serializers.ChoiceField(choices=Campaign.Fidelity.values, required=False)


class AboutInput(Input):
    """The definition of a campaign that is submitted."""

    question = serializers.CharField(max_length=500)
    name = serializers.CharField(max_length=120, required=False)
    tags = Tags()
    source = serializers.CharField(max_length=300, required=False)  # type: ignore[assignment]
    order = serializers.ChoiceField(choices=ORDERS, required=False)
    paired_factor = serializers.CharField(required=False)
    baseline = Scalar()
    primary_metric = serializers.CharField(required=False)
    primary_contrast = serializers.DictField(required=False)
    smallest_effect_percent = serializers.FloatField(required=False)
    margin_percent = serializers.FloatField(required=False)
    failed_limit_percent = serializers.FloatField(required=False)
    factors = serializers.DictField(child=serializers.ListField(child=Scalar()), required=False)
    work = serializers.ListField(child=serializers.CharField(), required=False)


class RunInput(Input):
    """One run; or several repetitions of one case, where its values are lists."""

    id = serializers.CharField(max_length=100, required=False)
    tags = serializers.DictField(child=Scalar(), required=False)
    values = serializers.DictField(child=Values(), required=False)
    state = serializers.ChoiceField(choices=STATES, required=False)
    reason = serializers.CharField(required=False, max_length=2000)
    started_at = serializers.DateTimeField(required=False, allow_null=True)
    finished_at = serializers.DateTimeField(required=False, allow_null=True)
    block = serializers.IntegerField(required=False, min_value=1)
    context = serializers.DictField(child=Scalar(), required=False)  # type: ignore[assignment]
    info = serializers.DictField(required=False)
    units_done = serializers.IntegerField(required=False, min_value=0)
    units_failed = serializers.IntegerField(required=False, min_value=0)


class RunsInput(Input):
    """Runs for a campaign that is there; `metrics` that are new to it."""

    metrics = serializers.DictField(child=MetricInput(), required=False)
    context = serializers.DictField(child=Scalar(), required=False)  # type: ignore[assignment]
    info = serializers.DictField(required=False)
    runs = RunInput(many=True)


class SubmissionInput(RunsInput):
    """A campaign with runs that were measured elsewhere."""

    id = serializers.CharField(max_length=100, required=False)
    campaign = AboutInput()


class DryQuery(Input):
    """Whether to store at all."""

    dry_run = Flag(default=False)


class OfTeamQuery(DryQuery):
    """Whose the new campaign is: needed of those alone who write in several teams."""

    team = serializers.CharField(required=False, max_length=100)


class ImportQuery(OfTeamQuery):
    """What is said of a file; what is left out is taken from it."""

    filename = serializers.CharField(required=False, max_length=200)
    format = serializers.ChoiceField(choices=list(all_readers()), required=False)
    question = serializers.CharField(required=False, max_length=500)
    name = serializers.CharField(required=False, max_length=120)
    source = serializers.CharField(required=False, max_length=300)  # type: ignore[assignment]
    tags = serializers.CharField(required=False)
    primary_metric = serializers.CharField(required=False)
    order = serializers.ChoiceField(choices=ORDERS, required=False)
    paired_factor = serializers.CharField(required=False)
    baseline = serializers.CharField(required=False)
    smallest_effect_percent = serializers.FloatField(required=False)
    margin_percent = serializers.FloatField(required=False)
    failed_limit_percent = serializers.FloatField(required=False)
    fidelity = serializers.ChoiceField(choices=Campaign.Fidelity.values, required=False)
    context = serializers.CharField(  # type: ignore[assignment]
        required=False, help_text="Facts of the environment, as a JSON object."
    )
    mapping = serializers.CharField(
        required=False, help_text="What the columns of a CSV mean, as a JSON object."
    )


class FormatOutput(Selectable):
    """A format of files, and the tool that writes it."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class SubmissionOutput(Selectable):
    """What came in at once. `waiting`: a worker is to read it; `problem`: why it was refused.

    `format`: of a file, empty where it came as JSON. `dropped`: what was left out, and why.
    """

    id = serializers.IntegerField(source="pk")
    url = serializers.HyperlinkedIdentityField("api-submission")
    campaign = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=Submission.State.choices)
    problem = text()
    format = text()
    filename = text()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    dropped = serializers.ListField(child=serializers.CharField())
    info = serializers.DictField()
    user = serializers.CharField(source="user.username", default=None, allow_null=True)
    received_at = serializers.DateTimeField()
    done_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(CampaignName(allow_null=True))
    def get_campaign(self, submission: Submission) -> dict[str, Any] | None:
        """Where its runs are."""
        campaign = submission.campaign
        if campaign is None:
            return None
        request = self.context["request"]
        return {
            "id": campaign.pk,
            "name": campaign.name,
            "url": reverse("api-campaign", [campaign.pk], request=request),
            "page": reverse("campaign", [campaign.pk], request=request),
        }


class ReceivedOutput(serializers.Serializer[Any]):
    """What became of a submission, or would: `dry_run` stores nothing and gives no submission.

    `made`: a campaign that was not there; else it was submitted before, exactly so.
    """

    dry_run = serializers.BooleanField()
    made = serializers.BooleanField()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    cells = serializers.IntegerField()
    factors = serializers.ListField(child=serializers.CharField())
    name = serializers.CharField()
    question = serializers.CharField()
    primary_metric = serializers.CharField()
    dropped = serializers.ListField(child=serializers.CharField())
    submission = SubmissionOutput(allow_null=True)


class AppendedOutput(serializers.Serializer[Any]):
    """What was added to a campaign. `known`: runs that were there already, exactly so.

    `first`: position of the first new run. `submission`: primary key, null for a dry run.
    """

    dry_run = serializers.BooleanField()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    known = serializers.IntegerField()
    first = serializers.IntegerField(allow_null=True)
    submission = serializers.IntegerField(allow_null=True)


def received_data(received: Received, request: Any, *, dry: bool) -> dict[str, Any]:
    """Give what was received as ReceivedOutput shows it."""
    campaign = received.campaign
    found = SubmissionOutput(received.submission, context={"request": request}).data
    return {
        "dry_run": dry,
        "made": received.made,
        "runs": received.runs or received.known,
        "values": received.values,
        "cells": campaign.cells.count(),
        "factors": [factor.name for factor in campaign.factors.all()],
        "name": campaign.name,
        "question": campaign.question,
        "primary_metric": campaign.primary_metric,
        "dropped": received.submission.dropped,
        "submission": None if dry else found,
    }
