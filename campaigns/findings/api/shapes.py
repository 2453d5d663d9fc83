"""The shapes of findings and of their texts in the OpenAPI document."""

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework import serializers

from campaigns.findings.store import SHAPES
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.binding import BindingTexts
from campaigns.findings.wording.capacity_answer import CapacityTexts
from campaigns.findings.wording.comparisons import ComparisonTexts
from campaigns.findings.wording.thresholds import ThresholdTexts
from campaigns.kit.api.openapi import register, shapes_of

VERSIONED = {"v": {"type": "integer", "description": "version of the shape"}}


class ResultField(serializers.JSONField):
    """A finding as it is stored: one of the declared shapes."""


class TextField(serializers.JSONField):
    """What pages say of a finding; null where they say nothing."""


class ResultShape(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes findings field by field, with units."""

    target_class = ResultField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return a choice among the shapes, and register them."""
        wholes = {shape.__name__ for shape in SHAPES.values()}
        shapes = shapes_of(SHAPES.values())
        for name in wholes:
            shapes[name]["properties"] |= VERSIONED
        register(shapes, auto_schema.registry)
        return {"anyOf": _references(wholes)}


class TextShape(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes the texts of findings."""

    target_class = TextField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return a choice among the texts, and register them."""
        shapes = (AnswerText, BindingTexts, CapacityTexts, ComparisonTexts, ThresholdTexts)
        register(shapes_of(shapes), auto_schema.registry)
        named = _references([shape.__name__ for shape in shapes])
        lines = {"type": "array", "items": {"type": "string"}}
        return {"anyOf": [*named, lines, {"type": "null"}]}


def _references(names: Iterable[str]) -> list[Mapping[str, str]]:
    return [{"$ref": f"#/components/schemas/{name}"} for name in sorted(names)]
