"""Form fields that every room uses."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(value: Any) -> Any:
    """Give a value as JSON can hold it. Raise ValidationError where it cannot."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, str):
        no_control_characters(value)
    elif not isinstance(value, int | float | None):
        kind = type(value).__name__
        raise ValidationError(f"This is a {kind}; a parameter is a text, a number, yes or no.")
    return value


def no_control_characters(text: str) -> None:
    """Refuse what nobody can see or what would turn the text around."""
    if found := CONTROL.search(text):
        raise ValidationError(
            f"This holds the control character U+{ord(found.group()):04X}; take it out."
        )


class Text(forms.CharField):
    """One line or paragraph without control characters, of a stated longest length."""

    default_validators = [no_control_characters]
