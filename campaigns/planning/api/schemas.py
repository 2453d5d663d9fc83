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
from campaigns.models import Factor
from campaigns.planning.api.inputs import CampaignInput
from campaigns.planning.criterion import (
    DEFAULT_RESOLUTION,
    LARGEST_RESOLUTION,
    LEAST_FAILED,
    MOST_CONDITIONS,
    MOST_FAILED,
)
from campaigns.planning.design import FIELDS, Choice, Declared, Number, Span, Whole, YesNo
from campaigns.planning.fitness.checks import NAMES
from campaigns.planning.kind_fields import MOST_FACTORS, MOST_TARGETS
from campaigns.planning.search import (
    FEWEST_RUNS,
    FIRST,
    MOST_LETTERS,
    MOST_RUNS,
    MOST_RUNS_EVER,
)
from campaigns.planning.watched_metrics import PATTERN

DRAFT = "http://json-schema.org/draft-07/schema#"
"""What editors know best."""
SCALAR = {"type": ["string", "number", "boolean", "null"]}
OF_TARGET = "A setting of the target; the server alone knows which there are."
LIMIT = {"type": ["number", "string"]}
OF_WATCHES = {
    "type": "string",
    "pattern": PATTERN,
    "description": "A metric that the watches of the target give, such as watched.memory:puma.",
}
NAMED = {"type": "object", "additionalProperties": SCALAR}
TYPES: Mapping[str, JsonSchema] = {
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "choices": {"type": "array", "items": {"type": "string"}},
}
DESCRIBED: Mapping[str, JsonSchema] = {
    "kind": {
        "type": "string",
        "description": "What is measured: a kind of perfdash, or a version of a program; the server takes a program's name alone, too.",
    },
    "target": {
        "type": ["string", "integer", "null"],
        "description": "The server to measure: its name, or its id.",
    },
    "targets": {
        "type": ["array", "null"],
        "items": {"type": ["string", "integer"]},
        "maxItems": MOST_TARGETS,
        "description": "Several servers to compare side by side, in place of “target”: 2 to 6 names or ids, "
        "of one family and team. “target” is a factor by itself then.",
    },
    "parameters": {
        "type": "object",
        "description": "Fixed parameters by name; what is missing takes its initial value.",
    },
    "factors": {
        "type": "object",
        "maxProperties": MOST_FACTORS,
        "additionalProperties": {"type": "array", "minItems": 1},
        "description": "What varies: lists of levels by name of the parameter.",
    },
    "excluded": {
        "type": "array",
        "items": NAMED,
        "description": "Combinations of levels that are left out.",
    },
    "tags": {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
        "description": "A list of words, or one text with commas.",
    },
    "required_checks": {
        "anyOf": [{"type": "array", "items": {"enum": list(NAMES)}}, {"type": "string"}],
        "description": "Checks of fitness that the targets must have passed: a list, or one text with commas.",
    },
    "baseline": {**SCALAR, "description": "The level of the paired factor to compare against."},
    "primary_metric": {"type": "string", "description": "The kind's own unless given."},
    "hard_to_change": {
        "type": ["array", "null"],
        "items": {"type": "string"},
        "description": "Factors that are changed as seldom as possible; without it, as the target's "
        "settings say.",
    },
    "criterion": {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "conditions": {
                "type": "array",
                "maxItems": MOST_CONDITIONS,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["metric"],
                    "properties": {
                        "metric": {"type": "string"},
                        "at_most": {**LIMIT, "description": "Where lower is better."},
                        "at_least": {**LIMIT, "description": "Where higher is better."},
                    },
                    "oneOf": [{"required": ["at_most"]}, {"required": ["at_least"]}],
                },
            },
            "failed_percent": {
                "type": ["number", "null"],
                "minimum": LEAST_FAILED,
                "maximum": MOST_FAILED,
                "description": "Of the work of a cell; the failure limit unless given.",
            },
            "resolution": {
                "type": ["number", "null"],
                "exclusiveMinimum": 1,
                "maximum": LARGEST_RESOLUTION,
                "default": DEFAULT_RESOLUTION,
                "description": "Largest ratio of the ends of the interval at which a capacity is stated.",
            },
        },
        "description": "What every cell has to keep, and what “carried” means where a factor is load.",
    },
    "roles": {
        "type": ["object", "null"],
        "additionalProperties": {"enum": list(Factor.Role.values)},
        "description": "Roles of factors other than those that the kind declares.",
    },
    "search": {
        "type": ["object", "null"],
        "additionalProperties": False,
        "required": ["largest"],
        "properties": {
            "load": {"type": "string", "description": "The load whose levels the search chooses."},
            "first": {"type": "integer", "minimum": 1, "default": int(FIRST)},
            "largest": {
                "type": "integer",
                "minimum": 1,
                "description": "No run has a larger load; the owner's limit may be smaller.",
            },
            "lowest": {"type": "integer", "minimum": 1},
            "most_runs": {
                "type": "integer",
                "minimum": FEWEST_RUNS,
                "maximum": MOST_RUNS_EVER,
                "default": MOST_RUNS,
                "description": "Of each setting, without checks of recovery.",
            },
            "most_failed": {
                "type": "integer",
                "minimum": 1,
                "description": "Units of work that may fail in all runs together; needed for a production server.",
            },
            "person": {
                "type": "string",
                "maxLength": MOST_LETTERS,
                "description": "The account of who is to stop it; needed for a production server.",
            },
        },
        "description": "A search for capacity, instead of levels of a load.",
    },
    "primary_contrast": {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "factor": {"type": "string"},
            "candidate": SCALAR,
            "baseline": SCALAR,
            "at": {
                **NAMED,
                "description": "Levels of the other factors; all of them unless given.",
            },
        },
        "description": "The comparison that answers the question.",
    },
}


def definition_schema() -> JsonSchema:
    """Describe everything that `POST campaigns` takes, kind by kind."""
    kinds = {name: driver for name, driver in all_kinds().items() if driver.executable}
    fields = {str(name): _field(str(name)) for name in CampaignInput().fields}
    fields["kind"]["anyOf"] = [
        {"enum": sorted(kinds)},
        {"pattern": f"^{VERSION}$"},
    ]
    return {
        "$schema": DRAFT,
        "$comment": "Written by `perfdash campaign schema`. Do not edit it by hand.",
        "title": "A campaign of perfdash",
        "type": "object",
        "required": ["kind", *(name for name, field in FIELDS.items() if field.required)],
        "additionalProperties": False,
        "properties": fields,
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


def _field(name: str) -> JsonSchema:
    if name in DESCRIBED:
        return dict(DESCRIBED[name])
    field = FIELDS[name]
    shape = _shape(field)
    if not field.required:
        shape = {"anyOf": [*shape.get("anyOf", [shape]), {"type": "null"}]}
    initial = {} if field.initial is None else {"default": field.initial}
    text = " ".join(str(text) for text in (field.label, field.help_text) if text)
    return {**shape, **initial, "description": text or name.replace("_", " ").capitalize() + "."}


def _shape(field: Declared) -> JsonSchema:
    """Return the JSON type of a field of the design, with its limits."""
    if isinstance(field, Choice):
        return {"enum": [value for value, _ in field.options]}
    if isinstance(field, YesNo):
        return {"type": "boolean"}
    if not isinstance(field, Whole | Number | Span):
        shortest = {"minLength": 1} if field.required else {}
        return {"type": "string", "maxLength": getattr(field, "max_length", None), **shortest}
    limits = {"minimum": field.min_value, "maximum": field.max_value}
    if isinstance(field, Span):
        return {"anyOf": [{"type": "number", **limits}, {"type": "string"}]}
    return {"type": "integer" if isinstance(field, Whole) else "number", **limits}


def _of_kind(name: str, driver: Driver) -> JsonSchema:
    """What follows from the kind: its parameters, factors and metrics."""
    value = described(name, driver)
    parameters = {each["name"]: _parameter(each) for each in value["parameters"]}
    blind = {"type": "array", "items": {"enum": list(BLIND_LEVELS)}, "description": "For A/A."}
    factors = {
        BLIND_LABEL: blind,
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
