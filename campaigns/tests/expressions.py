"""The regular expressions of the source, and the inputs on which a slow one shows itself. No Django."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as code
from re import _parser as parser
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("campaigns", "perfdash", "client")
METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
LONG = 100
"""Repetitions from which on a repeat counts as one without an end."""
MOST_UNITS = 25


@dataclass(frozen=True)
class Expression:
    """An expression, where it is, and how it is used: match, fullmatch, or search for all that looks further."""

    where: str
    pattern: Any
    used: frozenset[str]


def sources() -> Iterator[Path]:
    """Yield the modules of the product, without tests and migrations."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not {"tests", "migrations"} & set(path.parts) and not path.name.startswith("test_"):
                yield path


def expressions_of(path: Path, names: dict[str, Any]) -> Iterator[Expression]:
    """Yield the expressions of a module. names: what its imported module holds, for those that are put together."""
    text = path.read_text()
    place = str(path.relative_to(ROOT))
    for name, value in names.items():
        for number, pattern in enumerate(_patterns_in(value)):
            suffix = f".{number}" if number else ""
            yield Expression(f"{place} {name}{suffix}", pattern, _used(name, text))
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of, first = node.func.value, node.args[0] if node.args else None
        if not (isinstance(of, ast.Name) and of.id == "re" and node.func.attr in METHODS):
            continue
        if isinstance(first, ast.Constant):
            pattern = re.compile(first.value, _flags(node))
            yield Expression(f"{place} {first.value!r}", pattern, frozenset({_way(node.func.attr)}))


def _patterns_in(value: Any) -> Iterator[Any]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns_in(each)


def _used(name: str, text: str) -> frozenset[str]:
    """Return how a module uses what it calls so; as a search where that cannot be seen."""
    called = [name, *re.findall(rf"\bfor (\w+)\b[^\n]* in {re.escape(name)}\b", text)]
    ways = [way for each in called for way in re.findall(rf"\b{each}\.(\w+)\(", text)]
    if re.search(rf"\bcount_unknown\([^\n]*, {re.escape(name)}\b", text):
        ways.append("match")  # of each line
    return frozenset(_way(way) for way in ways if way in METHODS) or frozenset({"search"})


def _way(method: str) -> str:
    return method if method in ("match", "fullmatch") else "search"


def _flags(node: ast.Call) -> int:
    flags = 0
    for each in ast.walk(node):
        if not (isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)):
            continue
        if each.value.id == "re" and each.attr.isupper():
            flags |= int(getattr(re, each.attr))
    return flags


def attacks(pattern: Any, letters: int) -> Iterator[Any]:
    """Yield texts of so many letters that make an expression try in vain: its own beginnings, over and over, and its repeats."""
    is_bytes = isinstance(pattern.pattern, bytes)
    written = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    whole, repeats = _sample(
        parser.parse(written, pattern.flags & ~re.DEBUG & ~(re.UNICODE * is_bytes))
    )
    units = {whole[:end] for end in range(1, len(whole) + 1)}
    for start, pump in repeats:
        units |= {pump, whole[:start] + pump, whole[:start] + pump + whole[start : start + 1]}
    texts = [unit * (letters // len(unit)) + "\0" for unit in sorted(units, key=len)[:MOST_UNITS]]
    for start, pump in repeats:
        texts.append(whole[:start] + pump * (letters // len(pump)) + "\0")
    for text in texts:
        yield text.encode("latin-1", "replace") if is_bytes else text


def _sample(tree: Any) -> tuple[str, list[tuple[int, str]]]:
    """Return a text that an expression may match, and its repeats: where each begins, and a letter of it."""
    text, repeats = "", list[tuple[int, str]]()

    def took(part: Any, times: int = 1) -> None:
        nonlocal text
        inner, inside = _sample(part)
        repeats.extend((len(text) + start, pump) for start, pump in inside)
        text += inner * times

    for operation, argument in tree:
        if operation is code.LITERAL:
            text += chr(argument)
        elif operation is code.NOT_LITERAL:
            text += "b" if argument == ord("a") else "a"
        elif operation is code.ANY:
            text += "a"
        elif operation is code.IN:
            text += _letters(argument)[0]
        elif operation in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            least, most, part = argument
            if most is code.MAXREPEAT or most >= LONG:
                repeats.extend((len(text), pump) for pump in _pumps(part))
            took(part, max(1, least))
        elif operation is code.SUBPATTERN:
            took(argument[3])
        elif operation is code.ATOMIC_GROUP:
            took(argument)
        elif operation is code.BRANCH:
            for each in argument[1][1:]:
                repeats.extend((len(text) + start, pump) for start, pump in _sample(each)[1])
            took(argument[1][0])
        elif operation is code.GROUPREF:
            text += '"'
    return text, repeats


def _pumps(part: Any) -> set[str]:
    """Return texts that a repeat may repeat."""
    found = {_sample(part)[0]}
    if len(part) == 1 and part[0][0] is code.IN:
        found |= set(_letters(part[0][1]))
    if len(part) == 1 and part[0][0] in (code.ANY, code.NOT_LITERAL):
        found |= set('a ."')
    return found - {""}


CATEGORIES = {
    code.CATEGORY_DIGIT: "1",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_NOT_WORD: ".",
}


def _letters(items: Any) -> list[str]:
    """Return letters of a set."""
    negated = items[0][0] is code.NEGATE
    named: list[str] = []
    for operation, argument in items:
        if operation is code.LITERAL:
            named.append(chr(argument))
        elif operation is code.RANGE:
            named += [chr(argument[0]), chr(argument[1])]
        elif operation is code.CATEGORY:
            named.append(CATEGORIES.get(argument, "a"))
    if not negated:
        return named or ["a"]
    return [letter for letter in 'a1 .-/"{:=@' if letter not in named][:3] or ["b"]
