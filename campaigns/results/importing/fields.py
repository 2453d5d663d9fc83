"""Turns JSON into the structs that declare it. Everything that is wrong is noted at once, by its path."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

SHOWN = 60
"""Letters of a name in a path or a message."""
Kind = TypeVar("Kind", bound=msgspec.Struct)


class Problems(dict[str, list[str]]):
    """Messages by path."""

    def note(self, path: str, message: str) -> None:
        """Add a message to those of a path."""
        self.setdefault(path, []).append(message)


def converted(data: Mapping[str, Any], kind: type[Kind], problems: Problems) -> Kind:
    """Return an object of JSON as a struct, and note what is wrong.

    What is wrong is None in lists and objects, and has its default among the fields of a struct. msgspec stops at the
    first error, so what it refuses is looked through part by part, by the same declaration.
    """
    struct: Kind = _part(data, _declared(kind), "", problems)
    return struct


@cache
def _declared(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


def _part(
    data: Any, declared: inspect.Type, path: str, problems: Problems, message: str = ""
) -> Any:
    kind, extra = _plain(declared)
    message = message or extra.get("message", "")
    if isinstance(kind, inspect.UnionType):
        fitting = (each for each in kind.types if _fits(data, each))
        return _part(data, next(fitting, kind.types[0]), path, problems, message)
    match kind, data:
        case inspect.StructType(), dict():
            with suppress(msgspec.ValidationError):
                return msgspec.convert(data, kind.cls)
            return kind.cls(**dict(_fields(data, kind, path, problems)))
        case inspect.DictType(), dict():
            return {
                name: _part(each, kind.value_type, _below(path, name), problems)
                for name, each in data.items()
            }
        case inspect.ListType(), list():
            numbered = isinstance(_plain(kind.item_type)[0], inspect.StructType)
            return [
                _part(each, kind.item_type, _below(path, number) if numbered else path, problems)
                for number, each in enumerate(data)
            ]
    if problem := _problem(data, kind):
        problems.note(path, message or problem)
        return None
    return float(data) if isinstance(kind, inspect.FloatType) else data


def _fields(
    data: Mapping[str, Any], kind: inspect.StructType, path: str, problems: Problems
) -> Iterator[tuple[str, Any]]:
    known = [field.encode_name for field in kind.fields]
    for name in data:
        if name not in known:
            problems.note(
                _below(path, name),
                f"There is no field “{str(name)[:SHOWN]}” here; there are {', '.join(known)}.",
            )
    for field in kind.fields:
        bare, extra = _plain(field.type)
        at = _below(path, field.encode_name)
        sent = data.get(field.encode_name)
        as_missing = isinstance(bare, inspect.DictType | inspect.StructType | inspect.IntType)
        if field.encode_name in data and not (sent is None and as_missing):
            value = _part(sent, field.type, at, problems)
            if value is not None or field.required:
                yield field.name, value
        elif field.required:
            for where, message in ((path, "missing"), (at, "message")):
                if message in extra:
                    problems.note(where, extra[message])
            yield field.name, None


def _plain(kind: inspect.Type) -> tuple[inspect.Type, dict[str, str]]:
    """Return a type without what is noted beside it, and the messages that are."""
    extra: dict[str, str] = {}
    while isinstance(kind, inspect.Metadata):
        extra = {**(kind.extra or {}), **extra}
        kind = kind.type
    return kind, extra


def _fits(data: Any, declared: inspect.Type) -> bool:
    kind, _ = _plain(declared)
    if isinstance(data, dict):
        return isinstance(kind, inspect.StructType | inspect.DictType)
    if isinstance(data, list):
        return isinstance(kind, inspect.ListType)
    return not _problem(data, kind)


def _problem(data: Any, kind: inspect.Type) -> str:
    """Return what is wrong with a single value; empty where nothing is."""
    match kind:
        case inspect.AnyType():
            return ""
        case inspect.NoneType():
            return "" if data is None else "Send null."
        case inspect.BoolType():
            return "" if isinstance(data, bool) else "Send true or false."
        case inspect.StrType():
            if not isinstance(data, str):
                return "Send a text."
            most = kind.max_length
            return too_long(data, most) if most is not None and len(data) > most else ""
        case inspect.IntType():
            whole = isinstance(data, int) and not isinstance(data, bool)
            if (
                whole
                and (kind.ge is None or data >= kind.ge)
                and (kind.le is None or data <= kind.le)
            ):
                return ""
            limits = "" if kind.ge is None or kind.le is None else f", {kind.ge:,} to {kind.le:,}"
            return f"Send a whole number{limits}."
        case inspect.FloatType():
            is_number = isinstance(data, int | float) and not isinstance(data, bool)
            return "" if is_number else "Send a number."
        case inspect.LiteralType():
            return "" if data in kind.values else "Send one of the values that are documented."
    return "Send an object: names with their values."


def too_long(text: str, most: int) -> str:
    """Return the message for a text of more letters than are stored."""
    return f"It has {len(text):,} letters; at most {most} are stored."


def _below(path: str, name: Any) -> str:
    return f"{path}.{str(name)[:SHOWN]}".strip(".")
