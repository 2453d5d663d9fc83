"""Reads what people write: YAML 1.2 or JSON, into plain data and the line of each field.

YAML is read strictly: `off`, `no`, 10:30 and 2026-01-01 are text, and no name occurs twice.
"""

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, MarkedYAMLFutureWarning, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

from perfdash_client.errors import BadUse

MOST_BYTES_OF_YAML = 1_000_000
MOST_BYTES = 200_000_000
MOST_NODES = 100_000
DEEPEST = 16
QUOTED = re.compile(r"(alias|anchor|tag handle) '[^']*'")
"""What a message repeats of a value that begins with *, & or !, as a password may."""


@dataclass(slots=True)
class Document:
    """Plain data, and the line on which each field stands, by its path: `factors.engine.0`."""

    name: str
    data: Any
    lines: dict[str, int] = field(default_factory=dict)


class _Constructor(RoundTripConstructor):
    """Days and instants stay what was written: text."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", RoundTripConstructor.construct_scalar)


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file; `-` is standard input. Raise BadUse."""
    name = name_of(path)
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(most + 1)
        else:
            with path.open("rb") as file:
                content = file.read(most + 1)
    except IsADirectoryError:
        raise BadUse(f"{name} is a directory. Name the file in it.") from None
    except FileNotFoundError:
        raise BadUse(f"There is no file {name}.") from None
    except (OSError, ValueError) as error:
        raise BadUse(f"{name} cannot be read: {getattr(error, 'strerror', error)}.") from None
    if len(content) > most:
        raise BadUse(f"{name} is larger than {most:,} bytes, the most that is read.")
    if not content.strip():
        raise BadUse(f"{name} is empty.")
    return content


def name_of(path: Path) -> str:
    """How messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Read a file of UTF-8. Raise BadUse."""
    content = read_bytes(path, most)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadUse(
            f"{name_of(path)}:{line}: byte {error.start + 1} is no UTF-8. Save the file as UTF-8."
        ) from None


def read_yaml(path: Path) -> Document:
    """Read one document of YAML or JSON. Raise BadUse with line and column."""
    name, text = name_of(path), read_text(path, MOST_BYTES_OF_YAML)
    reader = YAML(typ="rt", pure=True)
    reader.Constructor = _Constructor
    try:
        _refuse_depth(text, name)
        results = list(reader.load_all(text))
    except DuplicateKeyError as error:
        _refuse(name, error, str(error.problem).partition(" with value")[0] + "; take one out")
    except (MarkedYAMLError, MarkedYAMLFutureWarning) as error:
        _refuse(name, error, QUOTED.sub(r"\1", str(error.problem or error.context)))
    except RecursionError:
        raise BadUse(f"{name} is nested deeper than {DEEPEST} levels.") from None
    except YAMLError as error:
        raise BadUse(f"{name} is no YAML: {str(error).partition(chr(10))[0]}") from None
    except (ValueError, KeyError):  # of Python, which quote the value
        raise BadUse(
            f"{name} holds a number that is too long, or a value that its tag, such as !!int, does not"
            " allow."
        ) from None
    if len(results) != 1:
        raise BadUse(f"{name} holds {len(results)} documents (---); write one to a file.")
    document = Document(name, None)
    document.data = _Plain(document).value(results[0], "", 0)
    return document


def _refuse_depth(text: str, name: str) -> None:
    """Raise BadUse at the first bracket too many: the reader's time grows with the square of them."""
    depth = 0
    for event in YAML(typ="rt", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            line = event.start_mark.line + 1
            raise BadUse(f"{name}:{line}: this is nested deeper than {DEEPEST} levels.")


def require_mapping(document: Document, what: str) -> dict[str, Any]:
    """Give the fields of a document. Raise BadUse where it is something else."""
    if not isinstance(document.data, dict):
        raise BadUse(f"{document.name} is not {what}: it has no fields (name: value).")
    return document.data


def check_json(text: str, name: str) -> None:
    """Raise BadUse where a text is no JSON, has a name twice, or a number that is none."""
    try:
        json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise BadUse(f"{name}:{error.lineno}: column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise BadUse(f"{name} is nested too deeply.") from None
    except ValueError as error:
        raise BadUse(f"{name}: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    results = dict(pairs)
    if len(results) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"“{double}” stands twice in one object; take one out.")
    return results


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON.")


def _refuse(name: str, error: Any, what: str) -> NoReturn:
    mark = error.problem_mark or error.context_mark
    place = f"{name}:{mark.line + 1}: column {mark.column + 1}" if mark else name
    raise BadUse(f"{place}: {what}.") from None


class _Plain:
    """Turns what the reader gives into plain data, and notes lines. Bounded: aliases multiply."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = 0

    def value(self, node: Any, path: str, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MOST_NODES or depth > DEEPEST:
            self._stop(
                path,
                f"nested deeper than {DEEPEST} levels"
                if depth > DEEPEST
                else f"more than {MOST_NODES:,} values, once its aliases are written out",
            )
        if isinstance(node, CommentedMap):
            return {
                name: self.value(node[name], inner, depth + 1)
                for name, inner in self._named(node, path)
            }
        if isinstance(node, CommentedSeq):
            return [
                self.value(item, self._note(path, str(index), node.lc.item(index)), depth + 1)
                for index, item in enumerate(node)
            ]
        return self._scalar(node, path)

    def _named(self, node: CommentedMap, path: str) -> Iterator[tuple[str, str]]:
        for name in node:
            if not isinstance(name, str):
                self._stop(path, f"the name {name} is no text; write it in quotes")
            own = name in node.lc.data if node.lc.data else False  # others come by a merge, <<
            yield name, self._note(path, name, node.lc.key(name) if own else None)

    def _note(self, path: str, name: str, place: tuple[int, int] | None) -> str:
        inner = f"{path}.{name}".removeprefix(".")
        if place:
            self.document.lines[inner] = place[0] + 1
        return inner

    def _scalar(self, node: Any, path: str) -> Any:
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, str):
            return str(node)
        if isinstance(node, int):
            return bool(node) if type(node).__name__ == "ScalarBoolean" else int(node)
        if isinstance(node, float):
            if not math.isfinite(node):
                self._stop(path, "infinity and .nan are no values")
            return float(node)
        tagged = getattr(getattr(node, "tag", None), "value", None)
        what = "a value with a tag (!)" if tagged else type(node).__name__
        return self._stop(
            path, f"{what} cannot be read here; write text, a number, a list or fields"
        )

    def _stop(self, path: str, what: str) -> NoReturn:
        while path and path not in self.document.lines:
            path = path.rpartition(".")[0]
        line = f":{self.document.lines[path]}" if path else ""
        raise BadUse(f"{self.document.name}{line}: {path or 'the document'}: {what}.")
