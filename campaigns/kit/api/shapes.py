"""The shapes of answers that are computed, for the OpenAPI document and for `?fields=`."""

from typing import Any

from rest_framework import serializers


class Part(serializers.Serializer[Any]):
    """A part of an answer, always whole."""


def text(**named: Any) -> serializers.CharField:
    """Return a field of text that may be empty."""
    return serializers.CharField(allow_blank=True, **named)
