"""Give factors in findings the names that people use, before sentences are written: “users” where the question asks for users. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, structs

ONE = frozenset({"factor", "load", "parameter"})
"""Fields that hold the name of a factor."""
SEVERAL = frozenset({"loads", "work", "asked", "instruments", "others"})
"""Fields that hold names of factors."""
T = TypeVar("T")


def renamed(part: T, names: Mapping[str, str]) -> T:
    """Return a finding, or a part of one, in which factors have other names. names: the new name by the old one."""
    return _renamed(part, names) if names else part


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    if isinstance(part, Struct):
        return structs.replace(
            part,
            **{
                field: _of_field(field, getattr(part, field), names)
                for field in part.__struct_fields__
            },
        )
    if isinstance(part, Mapping):
        return {names.get(key, key): _renamed(value, names) for key, value in part.items()}
    if isinstance(part, Sequence) and not isinstance(part, str | bytes):
        return [_renamed(each, names) for each in part]
    return part


def _of_field(field: str, value: Any, names: Mapping[str, str]) -> Any:
    if field in ONE and isinstance(value, str):
        return names.get(value, value)
    if field in SEVERAL and isinstance(value, Sequence) and not isinstance(value, str):
        return [
            names.get(each, each) if isinstance(each, str) else _renamed(each, names)
            for each in value
        ]
    return _renamed(value, names)
