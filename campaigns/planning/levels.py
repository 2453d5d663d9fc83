"""Clean values of parameters by the field of the parameter, and convert them to JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import plain, takes
from campaigns.kit.structs import ONE_VALUE

MOST_BYTES = 2000
"""The longest text of the levels of a cell: PostgreSQL indexes at most 2,704 bytes with the rest."""


def read_levels(
    field: forms.Field, levels: Sequence[Any], path: str, errors: dict[str, list[str]]
) -> tuple[Any, ...]:
    """Return the levels of a factor; add the errors of each, and duplicates, at `path`."""
    values: list[Any] = []
    for level in levels:
        try:
            value = _cleaned(field, level)
        except ValidationError as error:
            begin, message = f"“{str(level)[:60]}”", " ".join(error.messages)
            errors.setdefault(path, []).append(
                message if message.startswith(begin) else f"{begin}: {message}"
            )
            continue
        if value in values:
            errors.setdefault(path, []).append(f"“{value}” is there twice.")
        values.append(value)
    return tuple(values)


def same_level(field: forms.Field | None, values: Any, levels: Sequence[Any]) -> list[Any]:
    """Return the level equal to a value: “5” is 5.0 where the parameter is a number.

    field: None for a factor that is no parameter of the kind, such as a blind label.
    """
    if field is None:
        return [level for level in levels if str(level) == str(values)]
    try:
        wanted = _cleaned(field, values)
    except ValidationError:
        return []
    return [level for level in levels if level == wanted]


def _cleaned(field: forms.Field, values: Any) -> Any:
    """Clean one value by the field of the parameter. Raise ValidationError."""
    if isinstance(values, dict | list | tuple) and not takes(field, values):
        raise ValidationError(ONE_VALUE)
    return plain(field.clean(values))


def check_lengths(factors: Mapping[str, tuple[Any, ...]], errors: dict[str, list[str]]) -> None:
    """Add errors for levels that are too long for the unique index of cells."""
    longest = {
        name: max(len(str(level).encode()) for level in levels)
        for name, levels in factors.items()
        if levels
    }
    if sum(longest.values()) > MOST_BYTES:
        name = max(longest, key=lambda name: longest[name])
        errors.setdefault(f"factors.{name}", []).append(
            f"The longest levels of a cell have {sum(longest.values()):,} bytes together; at most "
            f"{MOST_BYTES:,} are allowed. Shorten the levels; or give {name} one value, and vary a short parameter, or make "
            "a campaign for each value and compare them."
        )
