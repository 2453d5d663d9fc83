"""Form fields, their errors, and conversions between forms, models and text."""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Json
from campaigns.kit.units import SPANS

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(value: Any) -> Any:
    """Return a value for JSON. Raise ValidationError for other types."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, str):
        no_control_characters(value)
    elif not isinstance(value, int | float | None):
        kind = type(value).__name__
        raise ValidationError(f"This is a {kind}; a parameter is a text, a number, yes or no.")
    return value


def no_control_characters(text: str) -> None:
    """Raise ValidationError for invisible characters and those that change the direction of text."""
    if match := CONTROL.search(text):
        raise ValidationError(
            f"This holds the control character U+{ord(match.group()):04X}; take it out."
        )


class Text(forms.CharField):
    """A text without control characters."""

    default_validators = [no_control_characters]


class OneOf(forms.ChoiceField):
    """One of a few values, some of which went since campaigns were stored with them.

    gone: by such a value, what to do in its place, as the end of a sentence.
    """

    def __init__(self, *, gone: Mapping[str, str] | None = None, **named: Any) -> None:
        super().__init__(**named)
        self.gone = gone or {}

    def validate(self, value: str) -> None:
        """Raise ValidationError for a value that is none of them; for one that went, with what to do."""
        if why := self.gone.get(value):
            what = str(self.label).lower()
            raise ValidationError(f"“{value}” is no {what} any more; {why}.", code="gone")
        super().validate(value)


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
    """A text of one line that is never sent back to the browser."""

    def format_value(self, value: Any) -> str:
        """Return nothing, whatever was typed or is stored."""
        return ""


def messages_of(form: forms.BaseForm) -> dict[str, list[str]]:
    """Return the messages of a validated form by field."""
    return {
        name: [problem["message"] for problem in problems]
        for name, problems in json.loads(form.errors.as_json()).items()
    }


def add_errors(form: forms.BaseForm, invalid: Invalid) -> None:
    """Add messages to the fields of a form, and those of no field to the whole form."""
    for path, texts in invalid.errors.items():
        name = path if path in form.fields else None
        known: Sequence[Any] = form.errors.get(name or NON_FIELD_ERRORS, [])
        for text in [text for text in texts if text not in known]:
            form.add_error(name, text)


def ask_again(form: forms.BaseForm, secrets: Sequence[str]) -> None:
    """Say beside each secret that was typed into a refused form that it is to be typed again: no page sends one back."""
    for name in secrets:
        if name in form.fields and form[name].data:
            what = form[name].label.lower()
            form.add_error(name, f"Type the {what} again: a refused form does not keep it.")


class Structured(forms.CharField):
    """A text that REST and YAML may give as an object or a list, too; it is stored as the text.

    structures: which of them. written: writes one as the text.
    """

    structures: tuple[type, ...] = ()

    def written(self, value: Any) -> str:
        """Return a value of `structures` as a user would type it. Raise ValidationError."""
        raise NotImplementedError

    def to_python(self, value: Any) -> Any:
        """Return the text."""
        return super().to_python(self.written(value) if value and takes(self, value) else value)


class JsonText(Structured):
    """An object, written as JSON."""

    structures = (dict,)

    def written(self, value: Any) -> str:
        """Return the JSON."""
        return json.dumps(value, ensure_ascii=False)


class Listed(Structured):
    """A list of texts or numbers, written with commas between."""

    structures = (list, tuple)

    def written(self, value: Any) -> str:
        """Return the parts with commas between. Raise ValidationError for one that is none."""
        for part in value:
            if isinstance(part, bool) or not isinstance(part, str | int) or "," in str(part):
                raise ValidationError("Give a list of texts without commas, or of whole numbers.")
        return ", ".join(map(str, value))


def takes(field: forms.Field | None, value: Any) -> bool:
    """Return whether a value is an object or a list that a field takes as it is."""
    return isinstance(field, Structured) and isinstance(value, field.structures)


def is_list_of_texts(value: Any) -> bool:
    """Return whether a value is a list of texts, such as tags."""
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def many_for_one(
    data: Json, known: Mapping[str, forms.Field], prefix: str = ""
) -> dict[str, list[str]]:
    """Return messages for lists and objects where one value belongs; a form would convert them to text."""
    return {
        f"{prefix}{name}": ["Give one value, not a list or an object."]
        for name, field in known.items()
        if isinstance(data.get(name), list | tuple | dict)
        and not isinstance(field, forms.MultipleChoiceField)
        and not takes(field, data[name])
    }


SECONDS = dict(SPANS)
PART = r"(\d+(?:\.\d+)?)\s*(d|h|min|s)(?![a-z])"
WHOLE = re.compile(rf"(?:{PART}[\s,]*)+", re.IGNORECASE)


class DurationField(forms.FloatField):
    """A number of seconds, which may be typed with units: `90 min`, `1 h 30 min`, `8h`."""

    def to_python(self, value: Any) -> Any:
        """Return seconds. Raise ValidationError."""
        if isinstance(value, str) and WHOLE.fullmatch(value.strip()):
            return sum(
                float(number) * SECONDS[unit.lower()]
                for number, unit in re.findall(PART, value, re.IGNORECASE)
            )
        try:
            return super().to_python(value)
        except ValidationError:
            raise ValidationError(
                f"“{str(value)[:40]}” is no span of time; write 90 min, 1 h 30 min or 8 h."
            ) from None


def is_key(text: str) -> bool:
    """Return whether a text is a whole number that fits a primary key."""
    return text.isdecimal() and len(text) < 18
