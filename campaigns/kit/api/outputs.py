"""`?fields=`: what a client does not ask for is neither read nor sent."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db import models
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


def all_of(serializer: serializers.BaseSerializer[Any]) -> list[Any]:
    """What is serialized together: the rows of a list, or the one row."""
    instance: Any = getattr(serializer.parent, "instance", serializer.instance)
    return list(instance) if isinstance(instance, list | tuple | QuerySet) else [instance]


class ByQuery(BaseContentNegotiation):
    """`?format=` says what is sent, not `Accept`; problems are JSON."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Take the first one."""
        first = next(iter(renderers))
        return first, str(first.media_type)


AnyRow = TypeVar("AnyRow", bound=models.Model)
Shape = serializers.BaseSerializer[Any]


class Selectable(serializers.Serializer[Any]):
    """An answer of which a client may ask for some fields alone."""

    def get_fields(self) -> dict[str, Any]:
        """Leave out what is not asked for, of the answer itself and not of what is within it."""
        found: dict[str, Any] = super().get_fields()
        only = self.context.get("only") if self._is_outermost else None
        return found if only is None else {name: found[name] for name in found if name in only}

    @property
    def _is_outermost(self) -> bool:
        parent: Any = self.parent
        return parent is None or (
            isinstance(parent, serializers.ListSerializer) and parent.parent is None
        )


class OfModel(serializers.ModelSerializer[AnyRow]):
    """Fields of a model. Its labels and helps say how a form is filled, and are no part of the document."""

    def build_standard_field(
        self, field_name: str, model_field: "models.Field[Any, Any]"
    ) -> tuple[type[Any], dict[str, Any]]:
        """Return class and arguments of the field of a column."""
        kind, named = super().build_standard_field(field_name, model_field)
        return kind, {name: named[name] for name in named if name not in ("label", "help_text")}


class ModelOutput(Selectable, OfModel[AnyRow]):
    """An answer made of a row."""


def names_of(shape: type[Selectable]) -> list[str]:
    """The fields that an answer has."""
    return list(shape().fields)


def selected(request: Request, shape: type[Selectable]) -> frozenset[str] | None:
    """Read which fields are asked for; None: all. Raise ValidationError for one that is not there."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    known = names_of(shape)
    asked = [name.strip() for name in text.split(",")]
    unknown = [name for name in asked if name not in known]
    if unknown:
        words = f"There is no field “{unknown[0][:100]}”; there are {', '.join(known)}."
        raise ValidationError({"fields": [words]})
    return frozenset(asked)


def picked(entry: Mapping[str, Any], only: frozenset[str] | None) -> dict[str, Any]:
    """Return the fields that are asked for of what is computed anyway."""
    return {name: value for name, value in entry.items() if only is None or name in only}


class Part(serializers.Serializer[Any]):
    """A part of an answer, always whole."""


def text(**named: Any) -> serializers.CharField:
    """Return a field of text that may be empty."""
    return serializers.CharField(allow_blank=True, **named)
