"""Serializers of answers. `?fields=` selects fields; others are neither read nor sent."""

from collections.abc import Iterable
from typing import Any, TypeVar

from django.db import models
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from campaigns.kit.mappings import Json, JsonObject


def all_of(serializer: serializers.BaseSerializer[Any]) -> list[Any]:
    """Return the rows that are serialized together: those of a list, or the one row."""
    instance: Any = getattr(serializer.parent, "instance", serializer.instance)
    return list(instance) if isinstance(instance, list | tuple | QuerySet) else [instance]


class IgnoresAccept(BaseContentNegotiation):
    """Content negotiation that ignores `Accept`; a view of several formats reads the query parameter `format`."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer."""
        first = next(iter(renderers))
        return first, str(first.media_type)


AnyRow = TypeVar("AnyRow", bound=models.Model)
Shape = serializers.BaseSerializer[Any]


class Selectable(serializers.Serializer[Any]):
    """An answer of which `?fields=` may select some fields."""

    def get_fields(self) -> dict[str, Any]:
        """Return the selected fields; nested serializers have all of theirs."""
        fields: dict[str, Any] = super().get_fields()
        only = self.context.get("only") if self._is_outermost else None
        return fields if only is None else {name: fields[name] for name in fields if name in only}

    @property
    def _is_outermost(self) -> bool:
        parent: Any = self.parent
        return parent is None or (
            isinstance(parent, serializers.ListSerializer) and parent.parent is None
        )


class OfModel(serializers.ModelSerializer[AnyRow]):
    """Fields of a model, without its labels and help texts: these are about forms."""

    def build_standard_field(
        self, field_name: str, model_field: "models.Field[Any, Any]"
    ) -> tuple[type[Any], dict[str, Any]]:
        """Return class and arguments of the serializer field of a model field."""
        kind, named = super().build_standard_field(field_name, model_field)
        return kind, {name: named[name] for name in named if name not in ("label", "help_text")}


class ModelOutput(Selectable, OfModel[AnyRow]):
    """An answer made from a row."""


def names_of(shape: type[Selectable]) -> list[str]:
    """Return the names of all fields of an answer."""
    return list(shape().fields)


def selected(request: Request, shape: type[Selectable]) -> frozenset[str] | None:
    """Return the names in `?fields=`; None: all. Raise ValidationError for an unknown one."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    known = names_of(shape)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            message = f"There is no field “{name[:100]}”; there are {', '.join(known)}."
            raise ValidationError({"fields": [message]})
    return frozenset(names)


def picked(entry: Json, only: frozenset[str] | None) -> JsonObject:
    """Return the selected fields of an answer that is computed as a whole."""
    return {name: value for name, value in entry.items() if only is None or name in only}


class Part(serializers.Serializer[Any]):
    """A part of an answer; `?fields=` does not reach into it."""


def text(**named: Any) -> serializers.CharField:
    """Return a field of text that may be empty."""
    return serializers.CharField(allow_blank=True, **named)
