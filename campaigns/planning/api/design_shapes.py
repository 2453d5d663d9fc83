"""The shape of a definition in answers."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api.outputs import Part, text
from campaigns.models import Campaign, Factor
from campaigns.planning import design


class CellName(Part):
    """A cell by position and levels."""

    position = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField())


def output_of(field: design.Declared) -> serializers.Field:
    """Return the field that describes a value of the design."""
    column: Any = Campaign._meta.get_field(field.column)
    named: dict[str, Any] = {"required": field.written is design.always}
    match field:
        case design.Whole():
            return serializers.IntegerField(**named)
        case design.Number() | design.Span():
            return serializers.FloatField(allow_null=column.null, **named)
        case design.Choice():
            return serializers.ChoiceField(choices=field.options, **named)
        case design.Tags():
            return serializers.ListField(child=serializers.CharField(), **named)
    return text(**named)


class ConditionOutput(Part):
    """A bound of a metric, in its unit: one of the two."""

    metric = serializers.CharField()
    at_most = serializers.FloatField(required=False)
    at_least = serializers.FloatField(required=False)


class CriterionOutput(Part):
    """What every cell has to keep; what is not there was not stated."""

    conditions = ConditionOutput(many=True, required=False)
    failed_percent = serializers.FloatField(required=False)
    resolution = serializers.FloatField(required=False)


class Definition(Part):
    """A definition, as it can be sent again."""

    kind = serializers.CharField()
    target = serializers.IntegerField(allow_null=True)
    targets = serializers.ListField(child=serializers.IntegerField(), required=False)
    parameters = serializers.DictField(child=serializers.JSONField())
    factors = serializers.DictField(child=serializers.ListField(child=serializers.JSONField()))
    excluded = serializers.ListField(child=serializers.JSONField())
    primary_metric = text()
    primary_contrast = serializers.DictField(child=serializers.JSONField(), required=False)
    search = serializers.DictField(child=serializers.JSONField(), required=False)
    hard_to_change = serializers.ListField(child=serializers.CharField(), required=False)
    criterion = CriterionOutput(required=False)
    roles = serializers.DictField(
        child=serializers.ChoiceField(choices=Factor.Role.choices), required=False
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields of the design before those of the class."""
        return {
            name: output_of(field) for name, field in design.FIELDS.items()
        } | super().get_fields()
