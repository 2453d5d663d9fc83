"""How fields of models become fields of forms."""

from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from campaigns.kit.forms import Text


def form_field(field: "models.Field[Any, Any]", **named: Any) -> forms.Field | None:
    """Return the form field of a model field; for `formfield_callback` of a ModelForm.

    Text has no control characters. Limits of numbers are those of the model's validators: Django's own
    form field of a PositiveIntegerField allows 0.
    """
    if isinstance(field, models.CharField | models.TextField) and not field.choices:
        named.setdefault("form_class", Text)
    if isinstance(field, models.IntegerField | models.FloatField):
        for validator in field.validators:
            if isinstance(validator, MinValueValidator):
                named.setdefault("min_value", validator.limit_value)
            elif isinstance(validator, MaxValueValidator):
                named.setdefault("max_value", validator.limit_value)
    return field.formfield(**named)


class SecretArea(forms.Textarea):
    """A text of several lines that is never sent back to the browser."""

    def format_value(self, value: Any) -> str:
        """Return nothing, whatever was typed or is stored."""
        return ""


class SecretInput(forms.TextInput):
    """The same of one line."""

    def format_value(self, value: Any) -> str:
        """Return nothing, whatever was typed or is stored."""
        return ""
