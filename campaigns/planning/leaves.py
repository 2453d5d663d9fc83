"""The fields of forms that declare the leaves of a definition: type, label, help, initial value, limits.

A form field holds all that a page, REST and the JSON Schema say of a value, and cleans it in the same way for all of
them. `planning.definition` has the leaves.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import DurationField, Structured, Text, is_list_of_texts
from campaigns.kit.mappings import JsonSchema
from campaigns.kit.numbers import grouped, plain, plain_percent
from campaigns.kit.structs import ONE_VALUE
from campaigns.models import Campaign
from campaigns.planning.fitness.checks import NAMES

SCALAR: JsonSchema = {"anyOf": [{"type": each} for each in ("string", "number", "boolean", "null")]}


def always(_: Campaign) -> bool:
    """Return True: the definition of every campaign names the field."""
    return True


class Declared(forms.Field):
    """What a field of the design says that a field of a form does not.

    unit: stands behind the input. group: the part of the page that shows it with others of that group.
    column: of Campaign; the field's own name unless given. locked: fixed at launch, only an amendment
    changes it. hashed: the hash of findings covers it; not so for what changes none, nor for a field
    that is added, or every stored finding would be taken for one of other data. stated_in: whether the
    definition of a campaign names it; older ones name no field that was added later. hint: what stands for an
    empty value.
    """

    def __init__(
        self,
        *,
        unit: str = "",
        group: str = "",
        column: str = "",
        locked: bool = False,
        hashed: bool = True,
        stated_in: Callable[[Campaign], bool] = always,
        hint: str = "",
        **named: Any,
    ) -> None:
        super().__init__(**{"required": False, **named})
        self.unit, self.group, self.column = unit, group, column
        self.locked, self.hashed, self.stated_in, self.hint = locked, hashed, stated_in, hint

    def schema(self) -> JsonSchema:
        """Return the JSON Schema of a value, with its limits."""
        longest = getattr(self, "max_length", None)
        return {
            "type": "string",
            **({"maxLength": longest} if longest else {}),
            **({"minLength": 1} if self.required else {}),
        }

    def stored(self, value: Any) -> Any:
        """Return a checked value as the column holds it."""
        return value

    def shown(self, value: Any) -> Any:
        """Return what the column holds as a definition has it."""
        return value

    def as_text(self, value: Any) -> str:
        """Return what the column holds as a sentence names it."""
        return str(value).replace("_", " ")


def columns_of(fields: Mapping[str, Declared], sent: object) -> dict[str, Any]:
    """Return the values of fields by the column that stores each; they are attributes of `sent` by name."""
    return {field.column: field.stored(getattr(sent, name)) for name, field in fields.items()}


class Line(Declared, Text):
    """Text of a person, without control characters."""

    def as_text(self, value: Any) -> str:
        """Return the text between quotation marks."""
        return f"“{value}”"


class Name(Declared, forms.CharField):
    """A name that is looked up, such as that of a factor."""


class Level(Name):
    """A level of a factor; `checking` finds out which one is meant, with its type."""

    def schema(self) -> JsonSchema:
        """Return that of a single value."""
        return dict(SCALAR)

    def shown(self, value: Any) -> str:
        """Return it as text."""
        return "" if value is None else str(value)


class Tags(Declared, Structured, Text):
    """Words, separated by commas, or a list of them."""

    structures = (list, tuple)

    def schema(self) -> JsonSchema:
        """Return that of a list, or of one text."""
        return {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}

    def written(self, value: Any) -> str:
        """Return the words with commas between. Raise ValidationError for others than texts."""
        if not is_list_of_texts(value):
            raise ValidationError(ONE_VALUE)
        return ", ".join(value)

    def clean(self, value: Any) -> list[str]:
        """Split at commas, drop doubles, keep the order. Raise ValidationError."""
        tags = [tag.strip() for tag in super().clean(value).split(",")]
        if long := [tag for tag in tags if len(tag) > 40]:
            raise ValidationError(f"“{long[0][:40]}…” is longer than 40 characters.")
        return list(dict.fromkeys(tag for tag in tags if tag))

    def as_text(self, value: Any) -> str:
        """Return the words between quotation marks."""
        return f"“{value}”"


class Checks(Tags):
    """Names of checks of fitness, separated by commas; REST takes a list as well."""

    def schema(self) -> JsonSchema:
        """Return that of a list of names, or of one text."""
        return {"anyOf": [{"type": "array", "items": {"enum": list(NAMES)}}, {"type": "string"}]}

    def clean(self, value: Any) -> list[str]:
        """Refuse names of no check. Raise ValidationError."""
        names = super().clean(value)
        if unknown := [name for name in names if name not in NAMES]:
            raise ValidationError(
                f"There is no check “{unknown[0]}”; there are {', '.join(NAMES)}."
            )
        return names

    def as_text(self, value: Any) -> str:
        """Return the names."""
        return ", ".join(value) or "none"


class Whole(Declared, forms.IntegerField):
    """A whole number."""

    def schema(self) -> JsonSchema:
        """Return that of a whole number."""
        return {"type": "integer", "minimum": self.min_value, "maximum": self.max_value}


class Number(Declared, forms.FloatField):
    """A number."""

    def schema(self) -> JsonSchema:
        """Return that of a number."""
        return {"type": "number", "minimum": self.min_value, "maximum": self.max_value}


class Span(Declared, DurationField):
    """Seconds that may be typed with units."""

    def schema(self) -> JsonSchema:
        """Return that of seconds, or of a text with units."""
        limits = {"minimum": self.min_value, "maximum": self.max_value}
        return {"anyOf": [{"type": "number", **limits}, {"type": "string"}]}


class Percent(Number):
    """A percentage; the column holds a share of 1, and has the name without `_percent`."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**{"min_value": 0.1, "max_value": 100, "unit": "%", **named})

    def stored(self, value: Any) -> Any:
        """Return the share."""
        return value / 100

    def shown(self, value: Any) -> float:
        """Return the percentage."""
        return round(float(value) * 100, 6)

    def as_text(self, value: Any) -> str:
        """Return the percentage with its sign."""
        return f"{'±' if '±' in self.unit else ''}{plain_percent(100 * value)}"


YES, NO = (True, "on", "true", "True"), (False, None, "", "false", "False")


class YesNo(Declared, forms.BooleanField):
    """Yes or no: true or false, and the texts of a checkbox; Django's own field takes any text for yes, also “no”."""

    def to_python(self, value: Any) -> bool:
        """Return the boolean. Raise ValidationError."""
        if value not in YES and value not in NO:
            raise ValidationError("Give true or false.")
        return value in YES

    def schema(self) -> JsonSchema:
        """Return that of true and false."""
        return {"type": "boolean"}

    def as_text(self, value: Any) -> str:
        """Return a word."""
        return "yes" if value else "no"


class Choice(Declared, forms.ChoiceField):
    """One of a few."""

    def schema(self) -> JsonSchema:
        """Return that of its values."""
        return {"enum": [value for value, _ in self.options]}

    @property
    def options(self) -> list[tuple[str, str]]:
        """Return values with their labels."""
        choices: Any = self.choices
        return list(choices)

    def as_text(self, value: Any) -> str:
        """Return the label."""
        return dict(self.options).get(value, str(value)).lower()


class Count(Declared, forms.FloatField):
    """A whole number from 1 on, as a float: a load, or a number of runs."""

    def __init__(self, *, least: int = 1, most: float, refusal: str = "", **named: Any) -> None:
        super().__init__(**named)
        self.least, self.most, self.refusal = least, most, refusal

    def schema(self) -> JsonSchema:
        """Return that of a whole number."""
        usual = {"default": int(self.hint)} if self.hint.isdigit() else {}
        return {"type": "integer", "minimum": self.least, "maximum": int(self.most), **usual}

    def to_python(self, value: Any) -> Any:
        """Return the number. Raise ValidationError."""
        if value in (None, ""):
            return None
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not self.least <= number <= self.most or number != int(number):
            raise ValidationError(
                self.refusal
                or f"“{str(value)[:40]}” is no whole number from {grouped(self.least)} to {grouped(self.most)}."
            )
        return number


class Bounded(Declared, forms.FloatField):
    """A number with its unit or without. refusal: what follows the text of a number outside its limits."""

    def __init__(
        self, *, least: float, most: float, refusal: str, beyond: bool = False, **named: Any
    ) -> None:
        """beyond: whether `least` itself is outside."""
        super().__init__(**named)
        self.least, self.most, self.refusal, self.beyond = least, most, refusal, beyond

    def schema(self) -> JsonSchema:
        """Return that of a number; a text with its unit is taken, too."""
        least = "exclusiveMinimum" if self.beyond else "minimum"
        return {"type": "number", least: self.least, "maximum": self.most}

    def to_python(self, value: Any) -> Any:
        """Return the number. Raise ValidationError."""
        if value in (None, ""):
            return None
        number = number_in(value, self.unit)
        if not self.least <= number <= self.most or (self.beyond and number == self.least):
            text = plain_percent(number) if self.unit == "%" else plain(number)
            raise ValidationError(f"{text} {self.refusal}")
        return number


NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(.*)", re.IGNORECASE | re.ASCII)


def number_in(value: Any, unit: str) -> float:
    """Return a number that may be a text, with its unit behind it or without. Raise ValidationError."""
    if isinstance(value, str):
        match = NUMBER.fullmatch(
            value.strip().removesuffix(unit).strip() if unit else value.strip()
        )
        if match is not None and not match[2]:
            value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValidationError(
            f"“{str(value)[:40]}” is not a number{' of percent' if unit == '%' else ''}."
        )
    return finite(value)


def finite(value: float) -> float:
    """Return a number as a float. Raise ValidationError for infinity and what is too large for one."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValidationError("The number is too large, or none; give an ordinary one.")
    return number
