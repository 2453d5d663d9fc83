"""JSON Schema of a campaign's definition, for editors and checks before anything is sent.

Made from what the API itself reads: the names of its input, the fields of the form, the kinds. It
tells nothing of this installation, so anybody may read it. What only the server can tell (whether a
target is there, what fits together) is not in it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kinds.api import described, kind_at
from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import BLIND_LABEL, BLIND_LEVELS
from campaigns.kinds.program.stored import VERSION
from campaigns.kinds.registry import all_kinds
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import IgnoresAccept
from campaigns.kit.api.views import Api
from campaigns.kit.mappings import Json, JsonSchema
from campaigns.kit.structs import schema_of
from campaigns.models import Factor
from campaigns.planning.configurations import CONFIGURATION, MOST
from campaigns.planning.definition import Definition
from campaigns.planning.design import FIELDS
from campaigns.planning.leaves import SCALAR
from campaigns.planning.watched_metrics import PATTERN

DRAFT = "http://json-schema.org/draft-07/schema#"
"""What editors know best."""
OF_TARGET = "A setting of the target; the server alone knows which there are."
OF_WATCHES = {
    "type": "string",
    "pattern": PATTERN,
    "description": "A metric that the watches of the target give, such as watched.memory:puma.",
}
TYPES: Mapping[str, JsonSchema] = {
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "choices": {"type": "array", "items": {"type": "string"}},
}


def definition_schema() -> JsonSchema:
    """Describe everything that `POST campaigns` takes, kind by kind."""
    kinds = {name: driver for name, driver in all_kinds().items() if driver.executable}
    fields = schema_of(Definition)["properties"]
    one_of_these = [{"enum": sorted(kinds)}, {"pattern": f"^{VERSION}$"}]
    return {
        "$schema": DRAFT,
        "$comment": "Written by `perfdash campaign schema`. Do not edit it by hand.",
        "title": "A campaign of perfdash",
        "type": "object",
        "required": ["kind", *(name for name, field in FIELDS.items() if field.required)],
        "additionalProperties": False,
        "properties": {**fields, "kind": {**fields["kind"], "anyOf": one_of_these}},
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
                "then": _of_kind(name, driver),
            }
            for name, driver in sorted(kinds.items())
        ],
    }


def parameters_schema(name: str, driver: Driver) -> JsonSchema:
    """Describe the parameters of a kind; what is missing takes its initial value."""
    return {
        "$schema": DRAFT,
        "title": driver.label,
        "description": driver.summary,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            each["name"]: {**_parameter(each), **({"unit": each["unit"]} if each["unit"] else {})}
            for each in described(name, driver)["parameters"]
        },
    }


def _of_kind(name: str, driver: Driver) -> JsonSchema:
    """What follows from the kind: its parameters, factors and metrics."""
    value = described(name, driver)
    parameters = {each["name"]: _parameter(each) for each in value["parameters"]}
    blind = {"type": "array", "items": {"enum": list(BLIND_LEVELS)}, "description": "For A/A."}
    factors = {
        BLIND_LABEL: blind,
        CONFIGURATION: {
            "type": ["object", "array"],
            "additionalProperties": {
                "type": "object",
                "additionalProperties": SCALAR,
                "minProperties": 1,
            },
            "minProperties": 1,
            "maxProperties": MOST,
            "description": "Named sets of the target's settings, or the levels of a setting of that name.",
        },
        **{each: _levels(parameters[each]) for each in driver.factors if each in parameters},
    }
    return {
        "description": driver.summary,
        "properties": {
            "parameters": {
                "properties": parameters,
                "additionalProperties": {**SCALAR, "description": OF_TARGET},
            },
            "factors": {
                "properties": factors,
                "additionalProperties": {
                    "type": "array",
                    "items": SCALAR,
                    "minItems": 1,
                    "description": OF_TARGET,
                },
            },
            "target": {"type": ["string", "integer"], "minLength": 1},
            "primary_metric": {
                "anyOf": [
                    {"enum": ["", None, *(metric.name for metric in driver.metrics)]},
                    OF_WATCHES,
                ]
            },
            "criterion": {
                "properties": {"conditions": {"items": {"properties": _bounded(driver)}}}
            },
            "roles": {
                "properties": {
                    name: {"const": Factor.Role.LOAD.value} for name in driver.may_be_load
                }
            },
        },
        "anyOf": [{"required": ["target"]}, {"required": ["targets"]}],
    }


def _bounded(driver: Driver) -> JsonSchema:
    names = [metric.name for metric in driver.metrics if metric.directed]
    return {"metric": {"anyOf": [{"enum": names}, OF_WATCHES]}}


def _levels(parameter: Json) -> JsonSchema:
    level = {word: value for word, value in parameter.items() if word != "default"}
    return {"type": "array", "minItems": 1, "items": level}


def _parameter(reported: Json) -> JsonSchema:
    shape: JsonSchema = {**TYPES.get(reported["type"], {"type": "string"})}
    if reported["choices"] is not None:
        values = {"enum": _values(reported["choices"], blank=not reported["required"])}
        shape = {**shape, "items": values} if reported["type"] == "choices" else values
    limits = {
        "minimum": reported["min"],
        "maximum": reported["max"],
        "maxLength": reported["max_length"],
    }
    shape |= {word: value for word, value in limits.items() if value is not None}
    types = [shape["type"], *reported["as_well"]] if "type" in shape else []
    types += [] if reported["required"] or not types else ["null"]
    if len(types) > 1:
        shape["type"] = types
    initial = reported["initial"]
    if initial is not None and initial != "":
        shape["default"] = initial
    label = " ".join(text for text in (f"{reported['label']}.", reported["help"]) if text)
    return {**shape, "description": label}


def _values(choices: Iterable[Json], *, blank: bool) -> list[Any]:
    values = [choice["value"] for choice in choices]
    return [*values, None] if blank else values


class DefinitionSchema(Api):
    """GET: the JSON Schema of a definition. An editor has no token, so anybody may read it."""

    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = IgnoresAccept  # editors ask for types of their own

    @operation(
        "get_definition_schema",
        "kinds",
        answer=OpenApiTypes.OBJECT,
        media_type="application/schema+json",
        public=True,
    )
    def get(self, request: Request) -> Response:
        """The JSON Schema of a definition, as it is with the kinds that are installed here."""
        return Response(definition_schema(), content_type="application/schema+json")


class KindSchema(Api):
    """GET: the parameters of a kind as JSON Schema."""

    @operation("get_kind_schema", "kinds", answer=OpenApiTypes.OBJECT)
    def get(self, request: Request, kind: str) -> Response:
        """What `parameters` of a definition may hold, as JSON Schema, with units, choices, bounds."""
        self.read_query(NoQuery)
        return Response(parameters_schema(kind, kind_at(kind, self.user)[1]))
