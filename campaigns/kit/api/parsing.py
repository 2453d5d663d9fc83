"""Reads JSON bodies strictly, so that nothing behind this line meets what PostgreSQL cannot hold."""

import json
import re
from collections.abc import Callable, Mapping
from typing import IO, Any, NoReturn

import msgspec
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

MOST_BYTES = 1_000_000
DEEPEST = 16
LARGEST = 1e18
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""Without one of these escapes, no text of a JSON document in UTF-8 is unstorable."""
NAME = re.compile(rb'"\s*:')
"""The end of each name in an object; texts may hold more such bytes."""


class TooLarge(APIException):
    """The body is larger than any campaign needs."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is larger than {MOST_BYTES:,} bytes."


class StrictJSONParser(BaseParser):
    """JSON in UTF-8 without NaN, Infinity, NUL, lone surrogates, or nesting beyond DEEPEST."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Give the value. Raise ParseError with a message for people, or TooLarge."""
        content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise TooLarge
        return strict_json(content)


def strict_json(content: bytes, *, names_once: bool = False) -> Any:
    """Return the value of a JSON document. Raise ParseError with a message for people.

    names_once: refuse an object that has a name twice, of which JSON keeps the last one only.
    """
    try:
        value = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = _explained(content)
    names = _require_storable(value, has_escapes=ESCAPED.search(content) is not None)
    if names_once and names != len(NAME.findall(content)):
        _explained(content, _names_once)
    return value


def _explained(content: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse with the standard library, which is slower, but can say where an error is."""
    try:
        return json.loads(
            content.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=pairs
        )
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except RecursionError:
        raise ParseError(f"The body is nested deeper than {DEEPEST} levels.") from None
    except ValueError as error:
        raise ParseError(f"The body is not JSON: {error}") from None


def _names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"“{name[:60]}” is there twice in one object.")
        found[name] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON.")


def _require_storable(value: Any, *, has_escapes: bool) -> int:
    """Walk through all levels without recursion, and count the names of objects.

    Raise ParseError at what cannot be stored. has_escapes: there may be texts that cannot.
    """
    names, level = 0, [value]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                names += len(item)
                below += item.values()
                below += item if has_escapes else ()
            elif kind is list:
                below += item
            elif kind is str:
                if has_escapes and UNSTORABLE.search(item):
                    raise ParseError("A text in the body holds U+0000 or half of a surrogate pair.")
            elif item is not None and not -LARGEST <= item <= LARGEST:
                raise ParseError("A number in the body is too large.")
        if not below:
            return names
        level = below
    raise ParseError(f"The body is nested deeper than {DEEPEST} levels.")
