"""The header of an RPM package: numbered fields, an index of them, then their data. Pure.

Format: the file format version 4 of rpm (its docs/manual/format_v4.md, format_header.md). Big endian.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

_MAGIC = bytes.fromhex("8eade80100000000")
_ENTRY = struct.Struct(">IIiI")


class _Type(IntEnum):
    INT16 = 3
    INT32 = 4
    STRING = 6
    BINARY = 7
    STRINGS = 8
    TRANSLATED = 9


_ALIGNMENT = {_Type.INT16: 2, _Type.INT32: 4}


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its number (rpm calls it a tag), and its values as they are stored."""

    tag: int
    type: _Type
    count: int
    data: bytes


def string(tag: int, text: str) -> Field:
    """Hold one text."""
    return Field(tag, _Type.STRING, 1, text.encode() + b"\0")


def strings(tag: int, *texts: str) -> Field:
    """Hold texts."""
    return Field(tag, _Type.STRINGS, len(texts), _joined(texts))


def translated(tag: int, text: str) -> Field:
    """Hold a text in the one language that there is."""
    return Field(tag, _Type.TRANSLATED, 1, text.encode() + b"\0")


def int16s(tag: int, *values: int) -> Field:
    """Hold numbers, 0 to 65535."""
    return Field(tag, _Type.INT16, len(values), struct.pack(f">{len(values)}H", *values))


def int32s(tag: int, *values: int) -> Field:
    """Hold numbers, 0 to 2**32 - 1."""
    return Field(tag, _Type.INT32, len(values), struct.pack(f">{len(values)}I", *values))


def _joined(texts: Sequence[str]) -> bytes:
    return b"".join(text.encode() + b"\0" for text in texts)


def header(region: int, fields: Sequence[Field]) -> bytes:
    """Write a header whose `fields` stand in order of their tags; `region` spans all of them."""
    index, data = bytearray(), bytearray()
    for field in fields:
        data += bytes(-len(data) % _ALIGNMENT.get(field.type, 1))
        index += _ENTRY.pack(field.tag, field.type, len(data), field.count)
        data += field.data
    count = len(fields) + 1
    first = _ENTRY.pack(region, _Type.BINARY, len(data), _ENTRY.size)
    data += _ENTRY.pack(region, _Type.BINARY, -count * _ENTRY.size, _ENTRY.size)
    return b"".join((_MAGIC, struct.pack(">II", count, len(data)), first, index, data))
