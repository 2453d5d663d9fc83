"""The parameters and settings that a campaign of a kind may set or vary on a target.

Both have plain names; a setting with the name of a parameter of a kind for its target is refused.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import Driver
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    ParameterField,
)
from campaigns.kit.charts.labels import called
from campaigns.kit.forms import Text, plain
from campaigns.kit.mappings import JsonObject
from campaigns.models import Setting, Target

MOST_LETTERS = 200


@dataclass(frozen=True, slots=True)
class Variables:
    """Fields by name, the names of those that may vary, and the settings among them."""

    fields: Mapping[str, forms.Field]
    factors: tuple[str, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def unlimited(self) -> dict[str, float]:
        """The numbers that mean no limit, by the name of the parameter or setting."""
        return {
            name: each.unlimited
            for name, each in self.fields.items()
            if isinstance(each, ParameterField) and each.unlimited is not None
        }

    @property
    def hard(self) -> frozenset[str]:
        """The settings that are hard to change, unless a campaign overrides it."""
        return frozenset(name for name, each in self.settings.items() if each.hard_to_change)

    def label_of(self, name: str) -> str:
        """Return how people call a parameter or setting; a name that is none of them in words."""
        known = self.fields.get(name)
        return str(known.label) if known is not None and known.label else called(name)

    @property
    def labels(self) -> dict[str, str]:
        """The label of each."""
        return {name: self.label_of(name) for name in self.fields}

    @property
    def builds(self) -> frozenset[str]:
        """The settings that are versions of the server's software: always hard to change."""
        return frozenset(name for name, each in self.settings.items() if each.is_build)


def variables_of(driver: Driver, target: Target | None) -> Variables:
    """Return the parameters and settings that may be set; a setting never hides a parameter of the kind."""
    own: dict[str, forms.Field] = dict(driver.parameters.base_fields)
    if target is None or not driver.executable or target.family not in driver.families:
        return Variables(own, driver.factors)
    result = {each.name: each for each in target.setting_rows.all() if each.name not in own}
    fields = {name: field_of(each) for name, each in result.items()}
    return Variables({**own, **fields}, (*driver.factors, *result), result)


def field_of(setting: Setting) -> ParameterField:
    """Return the field that reads values of a setting; an empty value leaves the setting as it is."""
    unit = f" Its unit is {setting.unit}." if setting.unit else ""
    common: JsonObject = {
        "required": False,
        "label": setting.label or called(setting.name),
        "help_text": f"Setting of the target.{unit} Empty: as it is.",
        "unlimited": setting.unlimited,
    }
    low, high = setting.minimum, setting.maximum
    match setting.type:
        case Setting.Type.INTEGER:
            return IntegerParameter(
                min_value=None if low is None else ceil(low),
                max_value=None if high is None else floor(high),
                **common,
            )
        case Setting.Type.NUMBER:
            return NumberParameter(min_value=low, max_value=high, **common)
        case Setting.Type.CHOICE:
            choices = [(str(each), str(each)) for each in setting.choices]
            return ChoiceParameter(choices=[("", "as it is"), *choices], **common)
    return SettingText(max_length=MOST_LETTERS, **common)


class SettingText(ParameterField, Text):
    """A text that no program mistakes for an option."""

    def validate(self, value: str) -> None:
        """Raise ValidationError for a text that begins with a dash."""
        super().validate(value)
        if value.startswith("-"):
            raise ValidationError("A value that begins with - would be taken for an option.")


def as_read(setting: Setting, raw: Any) -> Any:
    """Convert a value that was read back to the type of the setting. Raise ValueError that names the value."""
    text = (json.dumps(raw) if isinstance(raw, bool) else str(raw)).strip()
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    if raw is None or (isinstance(raw, bool) and setting.type in ("integer", "number")):
        raise ValueError(f"It reads back {shown!r}, which is no {setting.type}.")
    if setting.type in (Setting.Type.CHOICE, Setting.Type.TEXT):
        if not text:
            raise ValueError(f"It reads back nothing, which is no {setting.type}.")
        return text
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    whole = setting.type == Setting.Type.INTEGER
    if number != number or abs(number) == float("inf") or (whole and not number.is_integer()):
        raise ValueError(f"It reads back {shown!r}, which is no {setting.type}.")
    return int(number) if whole else number


def cleaned(setting: Setting, values: Any) -> Any:
    """Return the cleaned value of a setting. Raise ValidationError."""
    return plain(field_of(setting).clean("" if isinstance(values, dict | list) else values))
