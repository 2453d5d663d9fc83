"""Read JSON strictly, and look values up with their path for messages."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import JsonObject
from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.texts import clean
from campaigns.results.readers.base.values import Scalar

MOST_NUMBER = 1e300
"""No measured value is larger; sums of such numbers stay finite."""

MOST_VALUES = 100_000
MOST_ELEMENTS = 2_000_000
"""Values and brackets in one document; each takes memory, however short its text is."""

MOST_DOCUMENTS = 10_000

KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}


class Node:
    """A value in a JSON document, and the path to it."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        self.value, self.path = value, path

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def at(self, key: str) -> "Node":
        """Return the value of a key. Raise BadFile if there is none."""
        if key not in self:
            refuse(self._where(), f"There is no “{key}” here; the file is not whole.")
        return Node(self.value[key], self._below(key))

    def get(self, key: str) -> "Node | None":
        """Return the value of a key, or None."""
        return self.at(key) if key in self else None

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """Yield the keys and values of an object. Raise BadFile for anything else."""
        for key, value in self._as(dict).items():
            yield key, Node(value, self._below(key))

    def elements(self) -> list["Node"]:
        """Return the elements of a list, at most MOST_VALUES. Raise BadFile for anything else."""
        if isinstance(self.value, list) and len(self.value) > MOST_VALUES:
            refuse(
                self._where(), f"The list has more than {MOST_VALUES:,} elements; split the file."
            )
        return [Node(value, f"{self.path}[{i}]") for i, value in enumerate(self._as(list))]

    def number(self) -> float:
        """Return a finite number. Raise BadFile for anything else."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            refuse(self._where(), f"There is {self._kind()} where a number is due.")
        if not abs(value) <= MOST_NUMBER:
            refuse(self._where(), "The number is larger than anything that can be measured.")
        return float(value)

    def seconds(self, factor: float = 1.0) -> float:
        """Return a time, at least 0, in seconds."""
        number = self.number()
        if number < 0:
            refuse(self._where(), f"The time {number:g} is negative.")
        return number * factor

    def count(self) -> int:
        """Return a whole number, at least 0."""
        number = self.number()
        if number < 0 or number != math.floor(number) or number > 1e15:
            refuse(self._where(), f"{number:g} is no count; counts are whole numbers from 0.")
        return int(number)

    def text(self) -> str:
        """Return a text of at most 2,000 letters. Raise BadFile for anything else."""
        return clean(self._as(str))

    def scalar(self) -> Scalar:
        """Return a level: a text, number or boolean; anything nested becomes JSON."""
        value = self.value
        if isinstance(value, bool):
            return value
        if isinstance(value, int) and abs(value) < 1e15:
            return value
        if isinstance(value, int | float):
            return self.number()
        return clean(value if isinstance(value, str) else json.dumps(value))

    def _as(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            refuse(self._where(), f"There is {self._kind()} where {KINDS[kind]} is due.")
        return self.value

    def _kind(self) -> str:
        if self.value is None:
            return "nothing (null)"
        return KINDS.get(type(self.value), "a number")

    def _below(self, key: str) -> str:
        return f"{self.path}.{key}"[:300].lstrip(".")

    def _where(self) -> str:
        return clean(self.path) or "the whole file"


def parsed(text: str, where: str = "", nan: bool = False) -> Node:
    """Parse JSON. Raise BadFile: no JSON, duplicate keys, NaN, Infinity, nested or too large.

    nan: accept NaN, too, which the tool writes for a missing value.
    """
    with _text(text, where):
        return Node(_decoder(nan).decode(text), where)


def documents(text: str, nan: bool = False) -> list[Node]:
    """Parse concatenated JSON documents.

    The path of each begins with its line, unless it is the only one. Raise BadFile as `parsed` does.
    """
    result: list[tuple[Any, str]] = []
    decoder, place = _decoder(nan), _end_of_space(text, 0)
    line = 1 + text.count("\n", 0, place)
    with _text(text, ""):
        while place < len(text):
            if len(result) >= MOST_DOCUMENTS:
                refuse("", f"The file has more than {MOST_DOCUMENTS:,} JSON documents; split it.")
            value, end = decoder.raw_decode(text, place)
            result.append((value, f"line {line}"))
            following = _end_of_space(text, end)
            line += text.count("\n", place, following)
            place = following
    if not result:
        refuse("", "There is no JSON document in the file.")
    return [Node(value, where if len(result) > 1 else "") for value, where in result]


def _decoder(nan: bool) -> json.JSONDecoder:
    constant = (
        (lambda name: math.nan if name == "NaN" else _no_constant(name)) if nan else _no_constant
    )
    return json.JSONDecoder(object_pairs_hook=_no_doubles, parse_constant=constant)


def _end_of_space(text: str, place: int) -> int:
    matched = re.compile(r"[ \t\n\r]*").match(text, place)
    return matched.end() if matched else place


@contextmanager
def _text(text: str, where: str) -> Iterator[None]:
    """Raise BadFile for the errors of the parser."""
    if sum(map(text.count, ",[{")) > MOST_ELEMENTS:
        refuse(where, f"The JSON has more than {MOST_ELEMENTS:,} values; split the file.")
    try:
        yield
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno}"
        refuse(place, f"This is not JSON: {error.msg} (column {error.colno}). Is the file whole?")
    except RecursionError:
        refuse(where, "The JSON is nested too deeply; no such tool writes that.")
    except BadFile as problem:
        raise BadFile([(where, text) for _, text in problem.problems]) from None
    except ValueError:
        refuse(where, "The JSON has a number with thousands of digits.")


def _no_doubles(pairs: list[tuple[str, Any]]) -> JsonObject:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        refuse("", f"The key “{clean(double)[:80]}” is there twice in one object; which one holds?")
    return result


def _no_constant(name: str) -> None:
    refuse("", f"The file holds {name}, which is no number in JSON; remove that result.")
