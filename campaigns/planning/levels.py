"""Read values of parameters by the parameter's own field, and store them as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import plain

MOST_BYTES = 2000
"""Of the levels of a cell, as text: PostgreSQL indexes them, and takes 2,704 bytes with the rest."""


def read_levels(
    field: forms.Field, levels: Sequence[Any], path: str, errors: dict[str, list[str]]
) -> tuple[Any, ...]:
    """Read the levels of a factor; note at `path` what is wrong with each, and doubles."""
    values: list[Any] = []
    for level in levels:
        try:
            value = _cleaned(field, level)
        except ValidationError as error:
            errors.setdefault(path, []).append(f"“{str(level)[:60]}”: {' '.join(error.messages)}")
            continue
        if value in values:
            errors.setdefault(path, []).append(f"“{value}” is there twice.")
        values.append(value)
    return tuple(values)


def same_level(field: forms.Field | None, values: Any, levels: Sequence[Any]) -> list[Any]:
    """Find the level that somebody means: “5” is 5.0 where the parameter is a number.

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
    """Read one value as the parameter's own field does. Raise ValidationError."""
    return plain(field.clean("" if isinstance(values, dict | list) else values))


def check_lengths(factors: Mapping[str, tuple[Any, ...]], errors: dict[str, list[str]]) -> None:
    """Refuse levels that are too long for the index which keeps cells apart."""
    longest = {
        name: max(len(str(level).encode()) for level in levels)
        for name, levels in factors.items()
        if levels
    }
    if sum(longest.values()) > MOST_BYTES:
        name = max(longest, key=lambda name: longest[name])
        errors.setdefault(f"factors.{name}", []).append(
            f"The longest levels of a cell have {sum(longest.values()):,} bytes together; at most "
            f"{MOST_BYTES:,} are allowed. Shorten the levels."
        )
