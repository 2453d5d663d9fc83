"""Read a scenario and its table of data, strictly: each message names line, step and name. Pure.

`read_scenario(text, table, fixed)` is what form, REST, engine and importers call. The text is YAML 1.2's core: no anchors, no
tags, no dates, and `yes` is a text. Its types are those of `scenario`; what types cannot say is checked here.
"""

import csv
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Any, get_args

import msgspec
import yaml

from campaigns.kinds.http.program.names import (
    GIVEN,
    PASSWORD,
    RANDOM,
    names_in,
    range_of,
    split,
    texts_in,
)
from campaigns.kinds.http.program.scenario import METHODS, Scalar, Scenario, Step
from campaigns.kit.suggesting import listed, nearest

MOST_BYTES = 256 * 1024
MOST_TABLE_BYTES = 1024 * 1024
MOST_ROWS = 10_000
MOST_COLUMNS = 100
MOST_DEPTH = 40
MOST_NODES = 200_000
MOST_MESSAGES = 20
"""Messages that are looked for: a person mends these first, and a text of mistakes costs no more."""
FORBIDDEN_HEADERS = {
    "host": "it is the target's",
    "content-length": "it is counted",
    "transfer-encoding": "bodies have a length",
    "connection": "connections are a parameter of the campaign",
    "authorization": "write login: target, or a scheme and one name (Bearer {token}), so that no password is in the file",
    "cookie": "write cookies: keep, or round",
    "expect": "bodies are sent at once",
    "proxy-authorization": "no password is in the file",
    "upgrade": "connections stay HTTP/1.1",
}
OF_A_NAME = re.compile(r"([A-Za-z][A-Za-z0-9-]* )?\{[A-Za-z_][A-Za-z0-9_]*\}\Z")
"""A header Authorization that holds no secret itself."""
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}\Z")
INTEGER = re.compile(r"[-+]?\d{1,40}\Z")
NUMBER = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d{1,3})?\Z")
COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
PLACE = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[\.\.\.\]")

Place = tuple[str | int, ...]
"""Keys and positions from the root of the document."""
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadScenario(ValueError):
    """A scenario, its data, or what is set for all hosts is wrong. `where`: scenario, data or fixed."""

    def __init__(self, messages: Sequence[str], where: str = "scenario") -> None:
        self.messages = list(messages)[:MOST_MESSAGES]
        super().__init__(" ".join(self.messages))
        self.where = where


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checked scenario with the values of its columns, by name. digest: of both, whatever their layout."""

    scenario: Scenario
    columns: Mapping[str, Sequence[Scalar]]
    digest: str


def read_scenario(text: str, table: str = "", fixed: str = "") -> Loaded:
    """Return a scenario that was checked. Raise BadScenario with the first MOST_MESSAGES messages.

    table: CSV with the names of the columns in its first line. fixed: `name=value, …`, which replace columns for all hosts.
    """
    found = _found(text, table, fixed)
    if isinstance(found, BadScenario):
        raise BadScenario(found.messages, found.where)  # of its own, as each has its traceback
    return found


@lru_cache(maxsize=16)
def _found(text: str, table: str, fixed: str) -> Loaded | BadScenario:
    """Read, once for all cells of a campaign and for all that a form asks, also what is wrong."""
    try:
        return _read(text, table, fixed)
    except BadScenario as error:
        return error.with_traceback(None)


def _read(text: str, table: str, fixed: str) -> Loaded:
    value, lines = _document(text)
    try:
        scenario = msgspec.convert(value, Scenario, strict=True)
    except msgspec.ValidationError as error:
        raise BadScenario([_worded(error, value, lines)]) from None
    columns = _columns(scenario, _table(table), lines, value)
    for name, each in fixed_values(fixed).items():
        if name not in columns:
            known = f"; there are {listed(columns)}" if columns else ": the scenario has no data"
            raise BadScenario([f"There is no column “{name}”{known}."], "fixed")
        columns[name] = [each]
    if messages := list(islice(_Checks(scenario, columns, lines).messages(), MOST_MESSAGES)):
        raise BadScenario(messages)
    content = msgspec.json.encode([scenario, columns], order="deterministic")
    return Loaded(scenario, columns, sha256(content).hexdigest())


def fixed_values(text: str) -> dict[str, Scalar]:
    """Return the values of `size=10, kind=file`. Raise BadScenario."""
    values: dict[str, Scalar] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not COLUMN.match(name.strip()):
            raise BadScenario(
                [f"“{part[:60]}” sets nothing; write name=value, and a comma between two."], "fixed"
            )
        values[name.strip()] = scalar_of(value.strip())
    return values


def scalar_of(text: str) -> Scalar:
    """Return the value of a plain text: null, true, false, a number, or the text itself."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if INTEGER.match(text) and not re.match(r"[-+]?0\d", text):
        return int(text)
    if NUMBER.match(text) and not INTEGER.match(text):
        return float(text)
    return text


# The document


@lru_cache(maxsize=4)
def _document(text: str) -> tuple[Any, Mapping[Place, int]]:
    """Return the value of a YAML document, and the line of each key and item. Raise BadScenario."""
    size = len(text.encode(errors="replace"))
    if size > MOST_BYTES:
        raise BadScenario(
            [
                f"The scenario has {size:,} bytes; at most {MOST_BYTES:,} are allowed. Put rows into data."
            ]
        )
    try:
        return _Document(text).read()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = f"Line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BadScenario([f"{line}this is no YAML ({problem})."]) from None
    except UnicodeError:
        raise BadScenario(["The scenario holds characters that are no text."]) from None


class _Document:
    """Builds the value from the events of the parser, without recursion."""

    def __init__(self, text: str) -> None:
        self.events = yaml.parse(text, Loader=LOADER)
        self.lines: dict[Place, int] = {}
        self.nodes = 0
        self.flow: set[int] = set()  # mappings in braces, by id

    def read(self) -> tuple[Any, Mapping[Place, int]]:
        root: list[Any] = []
        stack: list[tuple[Any, Place]] = [(root, ())]
        keys: list[tuple[bool, Any]] = [(False, None)]  # whether a key is known, and which
        documents = 0
        for event in self.events:
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise BadScenario(
                        [f"Line {line}: one file holds one scenario; take the rest out."]
                    )
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                stack.pop()
                keys.pop()
            elif isinstance(event, yaml.AliasEvent):
                raise BadScenario([f"Line {line}: aliases (*name) are not taken; write it out."])
            elif isinstance(event, yaml.NodeEvent):
                self._node(event, line, stack, keys)
        if not root:
            raise BadScenario(["The scenario is empty; it needs steps."])
        return root[0], self.lines

    def _node(
        self,
        event: yaml.NodeEvent,
        line: int,
        stack: list[tuple[Any, Place]],
        keys: list[tuple[bool, Any]],
    ) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES or len(stack) > MOST_DEPTH:
            raise BadScenario([f"Line {line}: the scenario is nested too deeply, or too long."])
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            raise BadScenario([f"Line {line}: tags ({tag[:60]}) are not taken."])
        inside, place = stack[-1]
        known, key = keys[-1]
        if isinstance(inside, dict) and not known:
            keys[-1] = True, self._key(event, line, inside)
            self.lines[(*place, keys[-1][1])] = line
            return
        value: Any = self._value(event)
        if value is None and not getattr(event, "value", "") and id(inside) in self.flow:
            advice = (
                f'{{{key}}} needs quotes in YAML: "{{{key}}}", if it is a name.'
                if COLUMN.match(str(key))
                else f"“{str(key)[:60]}” has no value; within braces a text with a comma needs quotes."
            )
            raise BadScenario([f"Line {line}: {advice}"])
        if isinstance(event, yaml.MappingStartEvent) and event.flow_style:
            self.flow.add(id(value))
        if isinstance(inside, dict):
            inside[key] = value
            keys[-1] = False, None
            at: Place = (*place, key)
        else:
            at = (*place, len(inside)) if place or len(stack) > 1 else ()
            inside.append(value)
            self.lines[at] = line
        if isinstance(value, dict | list):
            stack.append((value, at))
            keys.append((False, None))

    @staticmethod
    def _key(event: yaml.NodeEvent, line: int, inside: dict[str, Any]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise BadScenario(
                [f"Line {line}: a text that begins with {{ or [ needs quotes in YAML."]
            )
        if event.value in inside:
            raise BadScenario([f"Line {line}: “{event.value[:60]}” is there twice."])
        return str(event.value)

    @staticmethod
    def _value(event: yaml.NodeEvent) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return {}
        if isinstance(event, yaml.SequenceStartEvent):
            return []
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - there is no other
        return event.value if event.style else scalar_of(event.value)


def _worded(error: msgspec.ValidationError, value: Any, lines: Mapping[Place, int]) -> str:
    """Return the message of a wrong type with line and step."""
    text, _, where = str(error).partition(" - at ")
    place: list[str | int] = []
    for match in PLACE.finditer(where):
        if match[1]:
            place.append(match[1])
        elif match[2]:
            place.append(int(match[2]))
        else:
            break
    if missing := re.match(r"Object missing required field `(\w+)`", text):
        text = f"“{missing[1]}” is missing"
    elif unknown := re.match(r"Object contains unknown field `(.*)`\Z", text):
        name, known = unknown[1], _known_fields(place)
        close = nearest(name, known)
        text = f"there is no “{name[:60]}” here"
        text += f"; did you mean “{close}”" if close else ""
        if (*place, name) in lines:
            place.append(name)
    elif "got `object`" in text and "`str" in text:
        text += "; a text that begins with { needs quotes in YAML"
    elif most := re.match(r"Expected `(?:array|object)` of length <= (\d+)", text):
        text = f"at most {int(most[1]):,} are allowed"
    elif text.startswith("Invalid enum value") and (choices := _choices(place)):
        text = f"“{place[-1]}” is one of {', '.join(choices)}"
    elif "matching regex" in text:
        text = (
            "a step's name has at most 40 letters, digits, blanks and “_.-”, a letter or digit first"
            if place[-1:] == ["name"]
            else "a name has at most 40 letters, digits and “_”, no digit first"
        )
    named = f" ({'.'.join(str(part) for part in place[2:] or place)})" if place else ""
    text = text[:300] if "“" in text else f"{text[:300]}{named}"
    end = "?" if "did you mean" in text else "."
    return f"{_where(tuple(place), value, lines)}{text[:1].lower()}{text[1:]}{end}"


def _known_fields(place: Sequence[str | int]) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields that an object at a place may have, by name: those of steps, or of the scenario."""
    kinds: dict[int, type[msgspec.Struct]] = {0: Scenario, 2: Step}
    kind = kinds.get(len(place))
    fields = msgspec.structs.fields(kind) if kind else ()
    return {each.encode_name: each for each in fields}


def _choices(place: Sequence[str | int]) -> tuple[str, ...]:
    """Return the values of the field at a place; none where it has no list of them."""
    field = _known_fields(place[:-1]).get(str(place[-1])) if place else None
    of_field = get_args(field.type) if field else ()
    return get_args(of_field[0]) if of_field else ()


def _where(place: Place, value: Any, lines: Mapping[Place, int]) -> str:
    """Return line and step of a place: “Line 12, step 3 “read”: ”."""
    line = next(
        (lines[place[:end]] for end in range(len(place), -1, -1) if place[:end] in lines), 1
    )
    step = ""
    if len(place) > 1 and place[0] in ("before", "steps", "after") and isinstance(place[1], int):
        try:
            name = value[place[0]][place[1]]["name"]
        except (LookupError, TypeError):
            name = ""
        kind = "step" if place[0] == "steps" else f"step of {place[0]}"
        step = f", {kind} {place[1] + 1}" + (f" “{str(name)[:40]}”" if name else "")
    return f"Line {line}{step}: "


# The data


@lru_cache(maxsize=4)
def _table(text: str) -> Mapping[str, list[Scalar]]:
    """Return the columns of a CSV text. Raise BadScenario."""
    if not text.strip():
        return {}
    size = len(text.encode(errors="replace"))
    if size > MOST_TABLE_BYTES:
        raise BadScenario(
            [f"The data have {size:,} bytes; at most {MOST_TABLE_BYTES:,} are allowed."], "data"
        )
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        names = [name.strip() for name in next(reader)]
        _check_names(names)
        rows: list[list[str]] = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise BadScenario(
                    [
                        f"Line {reader.line_num} of the data has {len(row)} values; the first line names "
                        f"{len(names)} columns."
                    ],
                    "data",
                )
            rows.append(row)
    except csv.Error as error:
        raise BadScenario(
            [f"Line {reader.line_num} of the data is no CSV ({error})."], "data"
        ) from None
    if not 0 < len(rows) <= MOST_ROWS:
        raise BadScenario([f"The data have {len(rows):,} rows; give 1 to {MOST_ROWS:,}."], "data")
    return {name: [_cell(row[place]) for row in rows] for place, name in enumerate(names)}


def _cell(text: str) -> Scalar:
    """Return a value of the table. Numbers are numbers if they would be sent as they stand there; 1.10 and 12e4 are texts."""
    stripped = text.strip()
    value = scalar_of(stripped)
    if value is None or isinstance(value, bool):
        return text
    return value if str(value) == stripped else stripped


def _check_names(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise BadScenario([f"The data have {len(names)} columns; at most {MOST_COLUMNS}."], "data")
    for name in names:
        if not COLUMN.match(name):
            raise BadScenario(
                [
                    f"“{name[:60]}” in line 1 of the data is no name of a column: use letters, digits and “_”."
                ],
                "data",
            )
        if name in GIVEN or name == RANDOM:
            raise BadScenario([f"The column “{name}” has a name that perfdash uses."], "data")
        if names.count(name) > 1:
            raise BadScenario([f"The column “{name}” is there twice."], "data")


def _columns(
    scenario: Scenario, table: Mapping[str, list[Scalar]], lines: Mapping[Place, int], value: Any
) -> dict[str, list[Scalar]]:
    """Return all columns: of the scenario, and of the table. Raise BadScenario."""
    wrong = _wrong_columns(scenario, table, lines, value)
    if messages := list(islice(wrong, MOST_MESSAGES)):
        raise BadScenario(messages)
    own = {name: [*each] for name, each in scenario.data.items() if isinstance(each, list)}
    return {**table, **own}


def _wrong_columns(
    scenario: Scenario, table: Mapping[str, list[Scalar]], lines: Mapping[Place, int], value: Any
) -> Iterator[str]:
    """Yield what is wrong with the columns that the scenario has, or asks for."""
    there = f"they have {listed(table)}" if table else "there are none"
    for name, column in scenario.data.items():
        where = _where(("data", name), value, lines)
        if name in GIVEN or name == RANDOM:
            yield f"{where}“{name}” is a name that perfdash uses; choose another."
        elif isinstance(column, list):
            if name in table:
                yield f"{where}“{name}” is a column of the data, too; take one away."
        elif name not in table:
            yield f"{where}the data need a column “{name}” ({column[:60]}); {there}."


# What types cannot say


@dataclass(frozen=True, slots=True)
class _Checks:
    scenario: Scenario
    columns: Mapping[str, Sequence[Scalar]]
    lines: Mapping[Place, int]

    def messages(self) -> Iterator[str]:
        """Yield what is wrong, in the order of the file."""
        if CONTROL.search(self.scenario.name):
            yield self._say(("name",), "the name holds a control character.")
        yield from self._headers(("headers",), self.scenario.headers)
        given = dict.fromkeys([*GIVEN, *self.columns])
        for name in names_of_headers(self.scenario.headers):
            yield from self._name(("headers",), name, given, "headers")
        yield from self._names_of_steps()
        taken: dict[str, dict[str, None]] = {"before": {}, "steps": {}, "after": {}}
        for part, place, step in self.scenario.parts():
            known = ChainMap(taken[part], taken["before"], given)
            yield from self._step((part, place), step, known)
            taken[part].update(dict.fromkeys(step.take))
        yield from self._proofs(given)

    def _say(self, place: Place, text: str) -> str:
        value = {
            part: [{"name": step.name} for step in getattr(self.scenario, part)]
            for part in ("before", "steps", "after")
        }
        return f"{_where(place, value, self.lines)}{text}"

    def _names_of_steps(self) -> Iterator[str]:
        seen: set[str] = set()
        for place, step in enumerate(self.scenario.steps):
            if step.name.lower() in seen:
                yield self._say(("steps", place, "name"), "another step has that name.")
            seen.add(step.name.lower())

    def _step(self, place: Place, step: Step, known: Mapping[str, None]) -> Iterator[str]:
        requests = step.requests
        if len(requests) != 1:
            methods = ", ".join(METHODS)
            which = " and ".join(method.lower() for method, _ in requests)
            yield self._say(
                place, f"a step has one of {methods}" + (f", not {which}." if which else ".")
            )
            return
        method, path = requests[0]
        at: Place = (*place, method.lower())
        yield from self._path(at, path)
        bodies = [
            name
            for name, there in (
                ("json", step.json is not msgspec.UNSET),
                ("form", step.form is not None),
                ("body", step.body is not None),
            )
            if there
        ]
        if len(bodies) > 1:
            yield self._say(place, f"a step has one body, not {' and '.join(bodies)}.")
        if bodies and method == "GET":
            yield self._say((*place, bodies[0]), "get sends no body; use another method.")
        if place[0] != "steps" and (step.weight != 1 or step.think is not None):
            yield self._say(
                place, "steps before and after the load have no weight and no think time."
            )
        yield from self._headers((*place, "headers"), step.headers)
        yield from self._think(place, step)
        yield from self._takes(place, step, known)
        yield from self._expectations(place, step)
        yield from self._names(place, at, step, path, known)

    def _names(
        self, place: Place, at: Place, step: Step, path: str, known: Mapping[str, None]
    ) -> Iterator[str]:
        method = at[-1]
        for name in names_in(path):
            if name == PASSWORD:
                yield self._say(at, f"a password has no place in a path; take {{{name}}} out.")
            else:
                yield from self._name(at, name, known, str(method))
        for header, text in step.headers.items():
            for name in names_in(text):
                yield from self._name(
                    (*place, "headers", header), name, known, f"header {header[:60]}"
                )
        bodies = (
            ("json", [] if step.json is msgspec.UNSET else texts_in(step.json)),
            ("form", texts_in(step.form or {})),
            ("body", [step.body or ""]),
        )
        for what, texts in bodies:
            for text in texts:
                for name in names_in(text):
                    yield from self._name((*place, what), name, known, what)

    def _name(self, place: Place, name: str, known: Mapping[str, None], what: str) -> Iterator[str]:
        kind = name.partition(":")[0]
        if kind == RANDOM:
            if range_of(name) is None:
                yield self._say(
                    place, f"{{{name[:60]}}} in {what} is no range; write {{random:1-100}}."
                )
            return
        if name in known:
            return
        close = nearest(name, known, 0.5)
        hint = (
            f"Did you mean {{{close}}}?" if close else f"Known are {listed(known)}, random:1-100."
        )
        later = ""
        if any(name in step.take for step in self.scenario.steps):
            later = " A step that comes later takes it."
        text = f"the name {{{name[:60]}}} in {what} is not known here.{later} {hint}"
        yield self._say(place, f"{text} For the text itself write {{{{{name[:60]}}}}}.")

    def _path(self, place: Place, path: str) -> Iterator[str]:
        name = next((text for text, is_name in split(path)[:1] if is_name), "")
        begins_with_name = bool(name)
        if name in GIVEN or name.startswith(f"{RANDOM}:"):
            yield self._say(
                place,
                f"{{{name[:60]}}} is no path that a path could begin with; write /{{{name[:60]}}}.",
            )
        if path.startswith("//") or not (path.startswith("/") or begins_with_name):
            yield self._say(
                place, f"“{path[:80]}” is no path on the target; it begins with / and has no host."
            )
        if CONTROL.search(path) or any(mark in path for mark in " \t#\\"):
            yield self._say(
                place,
                f"“{path[:80]}” holds blanks, #, \\ or control characters; encode them (%20).",
            )

    def _headers(self, place: Place, headers: Mapping[str, str]) -> Iterator[str]:
        for name, text in headers.items():
            at = (*place, name)
            of_a_name = name.lower() == "authorization" and OF_A_NAME.match(text)
            if (why := FORBIDDEN_HEADERS.get(name.lower())) and not of_a_name:
                yield self._say(at, f"the header {name} is not given here: {why}.")
            elif not HEADER_NAME.match(name):
                yield self._say(at, f"“{name[:60]}” is no name of a header.")
            if CONTROL.search(text.replace("\t", " ")):
                yield self._say(
                    at, f"the header {name[:60]} holds a line end or control character."
                )
            elif not is_latin(text):
                yield self._say(at, f"the header {name[:60]} holds characters beyond Latin-1.")

    def _think(self, place: Place, step: Step) -> Iterator[str]:
        think = step.think
        if think is not None and (think.seconds is None) == (think.exponential is None):
            yield self._say((*place, "think"), "think has either seconds or exponential.")

    def _takes(self, place: Place, step: Step, known: Mapping[str, None]) -> Iterator[str]:
        for name, take in step.take.items():
            at = (*place, "take", name)
            given = [each for each in (take.json, take.header, take.between, take.cookie) if each]
            if len(given) != 1:
                yield self._say(at, f"take {name} has one of json, header, between, cookie.")
            if take.between and len(take.between) != 2:
                yield self._say(at, f"take {name}: between has two texts, before and after.")
            if name in GIVEN or name == RANDOM or name in self.columns:
                yield self._say(at, f"“{name}” is taken already; choose another name.")
            if step.answer == "discard" and (take.json or take.between):
                yield self._say(at, f"take {name} needs the body, and the step discards it.")

    def _expectations(self, place: Place, step: Step) -> Iterator[str]:
        expect = step.expect
        if step.answer == "discard" and (expect.json or expect.texts):
            yield self._say((*place, "expect"), "it looks into the body, and the step discards it.")
        for path in expect.json:
            if not path:
                yield self._say((*place, "expect", "json"), "name the value: count: {at_least: 1}.")

    def _proofs(self, given: Mapping[str, None]) -> Iterator[str]:
        names = [step.name for step in self.scenario.steps]
        for number, proof in enumerate(self.scenario.counters):
            at: Place = ("prove", number) if isinstance(self.scenario.prove, list) else ("prove",)
            yield from self._path((*at, "get"), proof.get)
            for name in names_in(proof.get):
                yield from self._name((*at, "get"), name, given, "prove")
            if proof.delta != "requests" and proof.delta not in names:
                yield self._say(
                    (*at, "delta"), f"there is no step “{proof.delta[:40]}”; name one, or requests."
                )


def names_of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that headers ask for."""
    for text in headers.values():
        yield from names_in(text)


def is_latin(text: str) -> bool:
    """Return whether a text may be a header."""
    try:
        text.encode("latin-1")
    except UnicodeError:
        return False
    return True
