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
from campaigns.results.readers.base.source import Source
from campaigns.results.readers.base.texts import clean
from campaigns.results.readers.base.values import Scalar

MOST_NUMBER = 1e300
"""No measured value is larger; sums of such numbers stay finite."""

MOST_VALUES = 100_000
MOST_ELEMENTS = 2_000_000
"""Values and brackets in one document; each takes memory, however short its text is."""

MOST_DOCUMENTS = 10_000

MOST_DAMAGED = 100
OBJECT = re.compile(rb"^[ \t]{0,40}\{", re.MULTILINE)
DOCUMENT = re.compile(rb"^[ \t]{0,40}(?:\{|\[(?=\s{0,99}\{))", re.MULTILINE)
BRACKET = re.compile(r"^[{\[]", re.MULTILINE)
SPACE = re.compile(r"[ \t\n\r\ufeff]*")
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}


class Node:
    """A value in a JSON document, and the path to it."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        self.value, self.path = value, path

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def at(self, key: str) -> "Node":
        """Return the value of a key. Raise BadFile if there is none, or if it is there twice with different values."""
        if key not in self:
            refuse(self._where(), f"There is no “{key}” here; the file is not whole.")
        if self.is_twice(key):
            refuse(self._where(), f"The key “{key}” is there twice in one object; which one holds?")
        return Node(self.value[key], self._below(key))

    def get(self, key: str) -> "Node | None":
        """Return the value of a key, or None."""
        return self.at(key) if key in self else None

    def is_twice(self, key: str) -> bool:
        """Return whether an object has a key twice, with different values."""
        return isinstance(self.value, _Doubled) and key in self.value.keys_twice

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
        if value != value:  # NaN; math.isnan fails at a whole number of 400 digits
            refuse(self._where(), "There is NaN, which is no number: nothing was measured.")
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


def parsed(text: str, where: str = "") -> Node:
    """Parse JSON, in which NaN and Infinity may stand where nobody reads them. Raise BadFile: no JSON, or nested too deeply."""
    with _text(text, where):
        return Node(DECODER.decode(text), where)


def begins_document(head: bytes) -> bool:
    """Return whether a line begins an object of JSON; lines of a runner may stand above it."""
    return bool(OBJECT.search(head))


def documents(source: Source, text: str | None = None) -> list[Node]:
    """Parse the JSON documents of a file, one after the other. text: of the file, if it was changed before.

    Lines around them, such as those of a runner, and documents that are cut or damaged are left out, which the
    source notes. The path of each begins with its line, unless it is the only one. Raise BadFile if none is whole.
    """
    text = source.text(whole=True) if text is None else text
    found: list[tuple[Any, str]] = []
    damaged: list[BadFile] = []
    around: list[int] = []
    place, line, counted = _end_of_space(text, 0), 1, 0
    while place < len(text):
        line, counted = line + text.count("\n", counted, place), place
        if len(found) >= MOST_DOCUMENTS:
            refuse("", f"The file has more than {MOST_DOCUMENTS:,} JSON documents; split it.")
        if text[place] not in "{[":
            around.append(line)
            place = _next_line(text, place)
        else:
            try:
                value, place = _document(text, place, line)
                found.append((value, f"line {line}"))
            except BadFile as problem:
                damaged.append(problem)
                place = _after_damage(source, text, place, line, problem, around)
                if len(damaged) > MOST_DAMAGED:
                    raise damaged[0] from None
        place = _end_of_space(text, place)
    if len(around) > 1:
        source.note(
            f"{len(around):,} lines around the JSON are left out, the first is line {around[0]}."
        )
    elif around:
        source.note(f"Line {around[0]}, which is not JSON, is left out.")
    if damaged and not found:
        raise damaged[0]
    if not found:
        refuse("", "There is no JSON document in the file.")
    return [Node(value, where if len(found) > 1 else "") for value, where in found]


def _document(text: str, place: int, line: int) -> tuple[Any, int]:
    """Return a document and where it ends."""
    with _text(text, "", line, place):
        value, end = DECODER.raw_decode(text, place)
    rest = text[end : _next_line(text, end)].strip()
    if isinstance(value, list) and rest and rest[0] not in "{[":
        refuse(f"line {line}", "This is not JSON, but a line of a log.")
    return value, end


def _after_damage(
    source: Source, text: str, place: int, line: int, problem: BadFile, around: list[int]
) -> int:
    """Note a damaged document, and return where the next one may begin.

    What is damaged in its first line is a line of something else, such as “[INFO] …”, and comes to those `around`. Otherwise the next document begins
    where a bracket is the first letter of a line: those inside of a document are indented, or follow other text.
    """
    where, reason = problem.problems[0]
    following = _next_line(text, place)
    if where == f"line {line}" and following < len(text):
        around.append(line)
        return following
    source.note(clean(f"The JSON that begins in line {line} is left out. {reason}", 300))
    matched = BRACKET.search(text, following)
    return matched.start() if matched else len(text)


def _next_line(text: str, place: int) -> int:
    return text.find("\n", place) + 1 or len(text)


def from_document(head: bytes) -> bytes:
    """Return a text from the line that begins JSON; lines of something else may stand above it."""
    matched = DOCUMENT.search(head)
    return head[matched.start() :] if matched else b""


def json_lines(source: Source) -> Iterator[tuple[str, Node]]:
    """Yield “line n” and the document of each line that is not empty.

    Lines that are no JSON, such as those of a runner, are counted; the last one, if it has no end and is cut, is
    left out. The source notes both.
    """
    for number, line in source.lines(whole=True):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            node = parsed(line, where)
        except BadFile:
            if line.endswith("\n"):
                source.unknown(number)
            else:
                source.note(f"Line {number}, the last one, is cut and left out.")
            continue
        if isinstance(node.value, dict):
            yield where, node
        else:
            source.unknown(number)


class _Doubled(dict[str, Any]):
    """An object in which keys stand twice with different values; it has the last one. Whoever reads one of them is refused."""

    keys_twice: frozenset[str]


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    doubled = _Doubled(result)
    doubled.keys_twice = frozenset(key for key, value in pairs if repr(value) != repr(result[key]))
    return doubled


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _end_of_space(text: str, place: int) -> int:
    matched = SPACE.match(text, place)
    return matched.end() if matched else place


@contextmanager
def _text(text: str, where: str, line: int = 1, place: int = 0) -> Iterator[None]:
    """Raise BadFile for the errors of the parser. line: that of `place`, where parsing begins."""
    if not place and sum(map(text.count, ",[{")) > MOST_ELEMENTS:
        refuse(where, f"The JSON has more than {MOST_ELEMENTS:,} values; split the file.")
    try:
        yield
    except json.JSONDecodeError as error:
        at = where or f"line {line + text.count(chr(10), place, error.pos)}"
        refuse(at, f"This is not JSON: {error.msg} (column {error.colno}). Is the file whole?")
    except RecursionError:
        refuse(where or f"line {line}", "The JSON is nested too deeply; no such tool writes that.")
    except ValueError:
        refuse(where or f"line {line}", "The JSON has a number with thousands of digits.")
