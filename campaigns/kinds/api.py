"""The REST resource of the kinds of test: their questions, parameters, factors and metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kinds.base import Driver, Metric
from campaigns.kinds.registry import UnknownKind, chosen_kind, offered_kinds
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable, picked, selected, text
from campaigns.kit.api.views import Api
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import teams_with


class ChoiceOutput(Part):
    """A value that a parameter may take."""

    value = serializers.JSONField()
    label = text()  # type: ignore[assignment]


class ParameterOutput(Part):
    """A parameter of a kind."""

    name = serializers.CharField()
    label = text()  # type: ignore[assignment]
    type = serializers.ChoiceField(
        choices=["number", "integer", "boolean", "choices", "choice", "url", "text"]
    )
    unit = text()
    required = serializers.BooleanField()  # type: ignore[assignment]
    initial = serializers.JSONField()
    choices = ChoiceOutput(many=True, allow_null=True)
    min = serializers.FloatField(allow_null=True)
    max = serializers.FloatField(allow_null=True)
    max_length = serializers.IntegerField(allow_null=True)
    help = text()
    can_vary = serializers.BooleanField()
    is_work = serializers.BooleanField()
    role = serializers.ChoiceField(choices=["load", "setting", "work", "instrument"])
    may_be_load = serializers.BooleanField()
    only_for = serializers.CharField(allow_null=True)
    as_well = serializers.ListField(child=serializers.ChoiceField(choices=["object", "array"]))


class MetricOutput(Part):
    """A metric that a kind of test measures."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    unit = text()
    lower_is_better = serializers.BooleanField(allow_null=True)
    primary = serializers.BooleanField()


class PresetOutput(Part):
    """A set of initial values of parameters. group: the heading below which the form shows it."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    group = serializers.CharField()
    parameters = serializers.DictField(child=serializers.JSONField())
    factors = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    configurations = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField())
    )
    values = serializers.DictField(child=serializers.JSONField())


class KindOutput(Selectable):
    """A kind of test: its question, parameters, factors and metrics."""

    kind = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    question = serializers.CharField()
    summary = serializers.CharField()
    families = serializers.ListField(child=serializers.CharField())
    executable = serializers.BooleanField()
    parameters = ParameterOutput(many=True)
    factors = serializers.ListField(child=serializers.CharField())
    presets = PresetOutput(many=True)
    metrics = MetricOutput(many=True)
    url = serializers.URLField()
    schema_url = serializers.URLField()


TYPES: tuple[tuple[type[forms.Field], str], ...] = (
    # A subclass comes before its base class.
    (forms.FloatField, "number"),
    (forms.DecimalField, "number"),
    (forms.IntegerField, "integer"),
    (forms.BooleanField, "boolean"),
    (forms.MultipleChoiceField, "choices"),
    (forms.ChoiceField, "choice"),
    (forms.URLField, "url"),
)
STRUCTURES: Mapping[type, str] = {dict: "object", list: "array"}
"""Types of JSON that a definition may give in place of a text."""
UNITS = {
    "_seconds": "s",
    "_percent": "%",
    "_bytes": "B",
    "_ms": "ms",
    "_per_second": "1/s",
    "_timeout": "s",
    "rate_limit": "1/s",
}
"""Unit by the ending of a parameter's name; the longest ending counts."""


def unit_of(name: str) -> str:
    """Return the unit that a parameter's name ends with; empty for counts and texts."""
    fitting = [ending for ending in UNITS if name.endswith(ending)]
    return UNITS[max(fitting, key=len)] if fitting else ""


def described(kind: str, driver: Driver) -> JsonObject:
    """Return everything that a client needs to write a definition of this kind."""
    return {
        "kind": kind,
        "label": driver.label,
        "question": driver.question,
        "summary": driver.summary,
        "families": list(driver.families),
        "executable": driver.executable,
        "parameters": [
            _parameter(name, field, driver) for name, field in driver.parameters.base_fields.items()
        ],
        "factors": list(driver.factors),
        "presets": [
            {
                "name": preset.name,
                "label": preset.label,
                "group": preset.group,
                "parameters": dict(preset.parameters),
                "factors": {name: list(levels) for name, levels in preset.factors.items()},
                "configurations": {
                    name: dict(chosen) for name, chosen in preset.configurations.items()
                },
                "values": dict(preset.values),
            }
            for preset in driver.presets(settings.SANDBOX_URL)
        ],
        "metrics": [_metric(metric) for metric in driver.metrics],
    }


def _parameter(name: str, field: forms.Field, driver: Driver) -> JsonObject:
    initial = field.initial() if callable(field.initial) else field.initial
    return {
        "name": name,
        "label": driver.label_of(name),
        "type": next((text for cls, text in TYPES if isinstance(field, cls)), "text"),
        "unit": unit_of(name),
        "required": field.required,
        "initial": initial,
        "choices": list(_choices(field)) if isinstance(field, forms.ChoiceField) else None,
        "min": getattr(field, "min_value", None),
        "max": getattr(field, "max_value", None),
        "max_length": getattr(field, "max_length", None),
        "help": str(field.help_text),
        "can_vary": name in driver.factors,
        "is_work": name in driver.work,
        "role": driver.role(name),
        "may_be_load": name in driver.may_be_load,
        "only_for": driver.of_one_family.get(name),
        "as_well": [
            text for of, text in STRUCTURES.items() if of in getattr(field, "structures", ())
        ],
    }


def _choices(field: forms.ChoiceField) -> Iterator[JsonObject]:
    choices: Any = field.choices
    for value, label in choices:
        grouped = label if isinstance(label, list | tuple) else [(value, label)]
        for inner, text_of_inner in grouped:
            yield {"value": inner, "label": str(text_of_inner)}


def _metric(metric: Metric) -> JsonObject:
    return {
        "name": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.direction,
        "primary": metric.primary,
    }


class Kinds(Api):
    """GET: list the kinds of test."""

    @operation("list_kinds", "kinds", answer=KindOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List the kinds of test of this perfdash, and the programs of the teams that the sender may see."""
        teams = teams_with(self.user).values_list("pk", flat=True)
        kinds = offered_kinds(teams)
        return self.whole(
            [_kind(kind, driver, request) for kind, driver in kinds.items()], KindOutput
        )


class OneKind(Api):
    """GET: one kind of test."""

    @operation("get_kind", "kinds", answer=KindOutput)
    def get(self, request: Request, kind: str) -> Response:
        """Return a kind of test with its question, parameters, factors and metrics."""
        self.read_query(NoQuery)
        name, driver = kind_at(kind, self.user)
        return Response(picked(_kind(name, driver, request), selected(request, KindOutput)))


def _kind(kind: str, driver: Driver, request: Request) -> JsonObject:
    return {
        **described(kind, driver),
        "url": reverse("api-kind", [kind], request=request),
        "schema_url": reverse("api-kind-schema", [kind], request=request),
    }


def kind_at(kind: str, user: User) -> tuple[str, Driver]:
    """Return the kind that an address names, with its driver. Raise Http404 where there is none that the user may see."""
    try:
        return chosen_kind(kind, user)
    except UnknownKind as error:
        raise Http404(str(error)) from None
