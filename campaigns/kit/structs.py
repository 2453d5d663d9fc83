"""Read structs from JSON with every error at once, and describe them as JSON Schema; both by their declaration.

msgspec reads the types, and stops at the first error; so an object that it refuses is read part by part. What a type does not
say stands in `Meta(extra=…)` of an annotation:

message: the sentence for a value of another type. missing: the one for a field that is required and not there. may_be_empty:
null and an empty text are as good as nothing. field: the form field of a leaf, which cleans its value as a page does, and whose
limits the schema has.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from msgspec import Meta, inspect

from campaigns.kit.forms import takes
from campaigns.kit.mappings import Json, JsonSchema
from campaigns.kit.suggesting import nearest

SHOWN = 60
"""Characters of a name in a path or a message."""
MOST_UNKNOWN = 20
"""Messages about names that are not known, of one object."""
MOST_MEANT = 100
"""Names of one document that a message looks for the meant one of: each takes some 100 µs."""
LONGEST_BITS = 1023
"""Of a whole number that a float can hold."""
FEW = 15
"""Names that a message lists."""
MEANT = 0.8
"""How much a name is like another one that is meant: a slip of a letter or two."""
ONE_VALUE = "Give one value, not a list or an object."
Kind = TypeVar("Kind", bound=msgspec.Struct)


class Problems(dict[str, list[str]]):
    """Messages by path."""

    def __init__(self) -> None:
        super().__init__()
        self._meant: dict[tuple[str, tuple[str, ...]], str] = {}

    def note(self, path: str, message: str) -> None:
        """Add a message for a path."""
        self.setdefault(path, []).append(message)

    def meant(self, name: str, known: tuple[str, ...]) -> str:
        """Return the known name that a wrong one means, or ""; none after MOST_MEANT names, however long the document is."""
        if (name, known) not in self._meant and len(self._meant) < MOST_MEANT:
            self._meant[name, known] = nearest(name, known, MEANT)
        return self._meant.get((name, known), "")


def leaf(field: forms.Field) -> Meta:
    """Return the annotation of a leaf that a form field declares."""
    return Meta(extra={"field": field})


def converted(data: Any, kind: type[Kind], problems: Problems, path: str = "") -> Kind:
    """Return an object of JSON as a struct, and note what is wrong, each at its path below `path`.

    An invalid value is None in lists and objects, and has its default among the fields of a struct.
    """
    read: Kind | None = _part(data, _declared(kind), path, problems)
    return kind() if read is None else read


@cache
def _declared(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


@cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, forms.Field]:
    """Return the form fields of the leaves of a struct, by name, in the order of their declaration."""
    declared = _declared(kind)
    assert isinstance(declared, inspect.StructType)  # noqa: S101  nothing else has fields
    found = {field.encode_name: _plain(field.type)[1].get("field") for field in declared.fields}
    return {name: field for name, field in found.items() if field is not None}


def _part(
    data: Any, declared: inspect.Type, path: str, problems: Problems, message: str = ""
) -> Any:
    kind, extra = _plain(declared)
    if "field" in extra:
        return clean_leaf(data, extra["field"], path, problems)
    message = message or extra.get("message", "")
    if isinstance(kind, inspect.UnionType):
        fitting = (each for each in kind.types if _fits(data, each))
        return _part(data, next(fitting, kind.types[0]), path, problems, message)
    if problem := _too_many(data, kind):  # each part that is wrong takes its time
        problems.note(path, problem)
        return None
    match kind, data:
        case inspect.StructType(), Mapping():
            if not _has_leaves(kind.cls):
                with suppress(msgspec.ValidationError):
                    return msgspec.convert(data, kind.cls)
            return kind.cls(**dict(_fields(data, kind, path, problems)))
        case inspect.DictType(), Mapping():
            if isinstance(_plain(kind.value_type)[0], inspect.AnyType):
                return dict(data)
            return {
                name: _part(each, kind.value_type, below(path, name), problems)
                for name, each in data.items()
            }
        case inspect.ListType(), list() | tuple():
            numbered = isinstance(_plain(kind.item_type)[0], inspect.StructType)
            return [
                _part(each, kind.item_type, below(path, number) if numbered else path, problems)
                for number, each in enumerate(data)
            ]
    if problem := _problem(data, kind):
        problems.note(path, message or problem)
        return None
    return float(data) if isinstance(kind, inspect.FloatType) else data


@cache
def _has_leaves(kind: type[msgspec.Struct]) -> bool:
    """Return whether form fields clean values of a struct, which msgspec does not know of."""
    declared = _declared(kind)
    assert isinstance(declared, inspect.StructType)  # noqa: S101  nothing else has fields
    return any(_needs_fields(field.type) for field in declared.fields)


def _needs_fields(declared: inspect.Type) -> bool:
    kind, extra = _plain(declared)
    match kind:
        case inspect.UnionType():
            parts: Sequence[inspect.Type] = kind.types
        case inspect.ListType():
            parts = [kind.item_type]
        case inspect.DictType():
            parts = [kind.value_type]
        case inspect.StructType():
            return _has_leaves(kind.cls)
        case _:
            parts = []
    return "field" in extra or any(map(_needs_fields, parts))


def _fields(
    data: Json, kind: inspect.StructType, path: str, problems: Problems
) -> Iterator[tuple[str, Any]]:
    known = tuple(field.encode_name for field in kind.fields)
    for name in islice((name for name in data if name not in known), MOST_UNKNOWN):
        problems.note(below(path, name), _unknown(str(name), known, problems))
    for field in kind.fields:
        bare, extra = _plain(field.type)
        at = below(path, field.encode_name)
        sent = data.get(field.encode_name)
        as_missing = isinstance(bare, inspect.DictType | inspect.StructType | inspect.IntType)
        is_missing = sent in (None, "") if "may_be_empty" in extra else sent is None and as_missing
        if "field" in extra or (field.encode_name in data and not is_missing):
            value = _part(sent, field.type, at, problems)
            if value is not None or field.required:
                yield field.name, value
        elif field.required:
            for where, message in ((path, "missing"), (at, "message")):
                if message in extra:
                    problems.note(where, extra[message])
            yield field.name, None


def _too_many(data: Any, kind: inspect.Type) -> str:
    """Return what is wrong with a list or an object that is longer than its declaration allows, or ""."""
    if not isinstance(kind, inspect.ListType | inspect.DictType) or kind.max_length is None:
        return ""
    if not isinstance(data, list | tuple | Mapping) or len(data) <= kind.max_length:
        return ""
    return f"{len(data):,} are too many; send at most {kind.max_length:,}."


def _unknown(name: str, known: tuple[str, ...], problems: Problems) -> str:
    """Return the message for a name that is none of a struct's: with the one that is meant, or the few that there are."""
    if near := problems.meant(name, known):
        return f"There is no field “{name[:SHOWN]}” here. Did you mean “{near}”?"
    there = f"; there are {', '.join(known)}" if len(known) <= FEW else ""
    return f"There is no field “{name[:SHOWN]}” here{there}."


def clean_leaf(data: Any, field: forms.Field, path: str, problems: dict[str, list[str]]) -> Any:
    """Return a value as its form field cleans it; its initial value where it is empty. None: an error is noted."""
    if isinstance(data, list | tuple | Mapping) and not takes(field, data):
        problems.setdefault(path, []).append(ONE_VALUE)
        return None
    if isinstance(data, bool) and not isinstance(field, forms.BooleanField):
        problems.setdefault(path, []).append("Give a text or a number, not true or false.")
        return None
    try:
        value = field.clean(data)
    except ValidationError as error:
        problems.setdefault(path, []).extend(error.messages)
        return None
    return field.initial if value in (None, "") else value


def _plain(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """Return a type without its annotations, and what stands in them."""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra = {**(kind.extra or {}), **extra}
        kind = kind.type
    return kind, extra


def _fits(data: Any, declared: inspect.Type) -> bool:
    kind, _ = _plain(declared)
    if isinstance(data, Mapping):
        return isinstance(kind, inspect.StructType | inspect.DictType)
    if isinstance(data, list | tuple):
        return isinstance(kind, inspect.ListType)
    return not _problem(data, kind)


def _problem(data: Any, kind: inspect.Type) -> str:
    """Return what is wrong with a single value, or ""."""
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
            if not isinstance(data, int | float) or isinstance(data, bool):
                return "Send a number."
            is_too_large = isinstance(data, int) and data.bit_length() > LONGEST_BITS
            return "The number is too large; send an ordinary one." if is_too_large else ""
        case inspect.LiteralType():
            return "" if data in kind.values else "Send one of the values that are documented."
        case inspect.ListType():
            return "Send a list."
    return "Send an object: names with their values."


def too_long(text: str, most: int) -> str:
    """Return the message for a text with more characters than are stored."""
    return f"It has {len(text):,} letters; at most {most} are stored."


def below(path: str, name: Any) -> str:
    """Return the path of a part of an object or a list."""
    return f"{path}.{str(name)[:SHOWN]}".strip(".")


@cache
def schema_of(kind: type[msgspec.Struct]) -> JsonSchema:
    """Return the JSON Schema of a struct, without references; a leaf has the limits of its form field."""
    return _schema(_declared(kind))


def _schema(declared: inspect.Type) -> JsonSchema:
    kind, extra = _plain(declared)
    told: JsonSchema = {}
    while isinstance(declared, inspect.Metadata):
        told = {**(declared.extra_json_schema or {}), **told}
        declared = declared.type
    shape = _leaf_schema(extra["field"]) if "field" in extra else _shape(kind)
    return {**shape, **told}


def _leaf_schema(field: Any) -> JsonSchema:
    shape: JsonSchema = field.schema()
    if not field.required:
        shape = _one_of([*shape.get("anyOf", [shape]), {"type": "null"}])
    initial = {} if field.initial is None else {"default": field.initial}
    text = " ".join(_sentence(str(text)) for text in (field.label, field.help_text) if text)
    return {**shape, **initial, **({"description": text} if text else {})}


def _sentence(text: str) -> str:
    return text if text[-1] in ".?!" else f"{text}."


def _one_of(parts: Sequence[JsonSchema]) -> JsonSchema:
    """Return the schema of several types, as one of two types where the other one is null."""
    null, others = {"type": "null"}, [part for part in parts if part != {"type": "null"}]
    if {"type": "number"} in others:
        others = [part for part in others if part != {"type": "integer"}]
    if len(others) == 1 and null in parts and isinstance(others[0].get("type"), str):
        return {**others[0], "type": [others[0]["type"], "null"]}
    return {"anyOf": [*others, *([null] if null in parts else [])]}


def _shape(kind: inspect.Type) -> JsonSchema:
    match kind:
        case inspect.StructType():
            required = [field.encode_name for field in kind.fields if field.required]
            return {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    field.encode_name: {
                        "description": f"{field.encode_name.replace('_', ' ').capitalize()}.",
                        **_schema(field.type),
                    }
                    for field in kind.fields
                },
                **({"required": required} if required else {}),
            }
        case inspect.DictType():
            return {"type": "object", "additionalProperties": _schema(kind.value_type)}
        case inspect.ListType():
            lengths = {"minItems": kind.min_length, "maxItems": kind.max_length}
            return {
                "type": "array",
                "items": _schema(kind.item_type),
                **{name: length for name, length in lengths.items() if length},
            }
        case inspect.UnionType():
            return _one_of([_schema(each) for each in kind.types])
        case inspect.AnyType():
            return {}
        case inspect.NoneType():
            return {"type": "null"}
    return {"type": TYPES[type(kind)]}


TYPES: Mapping[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
}
