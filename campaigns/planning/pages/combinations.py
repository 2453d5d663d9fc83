"""Combinations of levels as people write them: engine=futures, concurrency=100. No HTML."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.planning.pages.contrast_fields import NEXT_PAIR


def combinations(
    text: str, known: Mapping[str, forms.Field]
) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Read one combination a line, and give what is wrong with the lines that are none."""
    result, wrong = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = [part.partition("=") for part in NEXT_PAIR.split(line)]
        if not all(equals and name.strip() for name, equals, _ in parts):
            wrong.append(
                f"Line {number} is no combination; "
                "write name=level, and a comma between two of them."
            )
            continue
        result.append(
            {
                name.strip(): as_level(known.get(name.strip()), level.strip())
                for name, _, level in parts
            }
        )
    return result, {"excluded": wrong} if wrong else {}


def as_level(form_field: forms.Field | None, text: str) -> Any:
    """The level as its field understands it; as it was typed where it does not."""
    if form_field is None:
        return text
    try:
        return form_field.clean(text)
    except ValidationError:
        return text
