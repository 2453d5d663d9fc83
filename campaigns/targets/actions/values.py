"""Parse a stored or sent action, and list its errors. Pure.

PLACE stands for the value. In a JSON body a text that is PLACE becomes the value as JSON; in a command an
argument that is PLACE, or ends with `=` and PLACE, becomes one argument; by SQL the value of the parameter is quoted as a
literal. The value is never inserted into a text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from campaigns.kit.mappings import FieldValues, JsonObject
from campaigns.targets.actions.errors import BadAction
from campaigns.targets.actions.parameters import UNITS

HTTP, COMMAND, SQL, MANUAL = "http", "command", "sql", "manual"
WAYS = (HTTP, COMMAND, SQL, MANUAL)
PLACE = "{value}"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
MOST_SECONDS = 3600.0
USUAL_SECONDS = 60.0
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?\Z")
"""The name of a parameter of PostgreSQL; one with a dot is of an extension."""
LONGEST_PARAMETER = 126
MOST_ARGUMENTS, MOST_LETTERS, MOST_BODY = 100, 2000, 20_000

DEEPEST = 16


class Role(StrEnum):
    """The purpose of an action."""

    APPLY = "apply"
    READ = "read_back"
    RESET = "reset"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Action:
    """One action. Only the fields of its way are used.

    url: a path on the target's own address, or a whole URL. login: send the target's user with it.
    at: the path of the value in a JSON response, names and numbers with dots; empty: all of it.
    expect: the value there when the server is ready; None: any successful response.
    parameter, unit: of PostgreSQL, by SQL; without a unit its values have that of pg_settings. arguments: a program with its
    arguments; by SQL the one that restarts the server, for parameters that take a restart.
    words: the instructions to a person.
    """

    way: str
    seconds: float = USUAL_SECONDS
    method: str = "GET"
    url: str = ""
    body: Any = None
    login: bool = False
    at: str = ""
    expect: Any = None
    arguments: tuple[str, ...] = ()
    words: str = ""
    parameter: str = ""
    unit: str = ""

    def to_json(self) -> JsonObject:
        """Return the action as input of `parse`, without empty fields."""
        shown: JsonObject = {"way": self.way}
        if self.way == HTTP:
            shown |= {"method": self.method, "url": self.url}
            shown |= {"body": self.body} if self.body is not None else {}
            shown |= {"login": True} if self.login else {}
        elif self.way == COMMAND:
            shown |= {"arguments": list(self.arguments)}
        elif self.way == SQL:
            shown |= {"parameter": self.parameter} | ({"unit": self.unit} if self.unit else {})
            shown |= {"arguments": list(self.arguments)} if self.arguments else {}
        elif self.words:
            shown |= {"words": self.words}
        if self.way != MANUAL:
            shown |= {"at": self.at} if self.at else {}
            shown |= {"expect": self.expect} if self.expect is not None else {}
            shown |= {"seconds": self.seconds}
        return shown


FIELDS = {
    HTTP: ("way", "method", "url", "body", "login", "at", "expect", "seconds"),
    COMMAND: ("way", "arguments", "at", "expect", "seconds"),
    SQL: ("way", "parameter", "unit", "arguments", "seconds"),
    MANUAL: ("way", "words"),
}
"""The fields of an action, by its way: of the page, the REST API and `parse`."""
ROLES_WITH_PLACE = (Role.APPLY,)


def parse(data: Any, role: Role) -> Action:
    """Return the action of an input. Raise BadAction with all errors."""
    if not isinstance(data, Mapping):
        raise BadAction({"": 'Give an action, such as {"way": "http", "url": "/settings/a"}.'})
    way = data.get("way")
    if way not in WAYS:
        raise BadAction({"way": f"Choose one of {', '.join(WAYS)}."})
    errors = {
        str(name): f"An action by {way} has no field “{name}”."
        for name in data
        if name not in FIELDS[way]
    }
    if way == MANUAL and role == Role.READY:
        errors["way"] = (
            "A manual step cannot tell whether the server is ready: ask it by HTTP or SSH."
        )
    if way == SQL and role not in (Role.APPLY, Role.READ):
        errors["way"] = "SQL sets and reads parameters of PostgreSQL: take HTTP or a command here."
    action = Action(
        way=way,
        seconds=_seconds(data.get("seconds"), errors),
        words=_text(data, "words", errors),
    )
    if way == HTTP:
        action = _http(data, role, action, errors)
    elif way == COMMAND:
        action = _command(data, role, action, errors)
    elif way == SQL:
        action = _sql(data, role, action, errors)
    if action.expect is not None and role != Role.READY:
        errors["expect"] = "Only a look whether the server is ready expects something."
    if errors:
        raise BadAction(errors)
    return action


def flaws_together(apply: Action, read: Action) -> dict[str, str]:
    """Return what is wrong with how a value is read back that is set so, by field: by SQL it is one parameter in one unit."""
    if not apply.way == SQL == read.way:
        return {}
    pairs = {"parameter": (apply.parameter.lower(), read.parameter.lower())}
    pairs["unit"] = (apply.unit, read.unit)
    return {
        name: f"It reads {read_one or 'that of pg_settings'}, and sets {set_one or 'that of pg_settings'}: that cannot work."
        for name, (set_one, read_one) in pairs.items()
        if set_one != read_one
    }


def _http(data: FieldValues, role: Role, action: Action, errors: dict[str, str]) -> Action:
    usual = {Role.APPLY: "PUT", Role.RESET: "POST"}.get(role, "GET")
    method = data.get("method") or usual
    if method not in METHODS:
        errors["method"] = f"Choose one of {', '.join(METHODS)}."
    elif role in (Role.READ, Role.READY) and method != "GET":
        errors["method"] = "What only looks is a GET."
    url = _text(data, "url", errors)
    if "url" not in errors:
        errors |= _wrong_url(url)
    body, login = data.get("body"), data.get("login", False)
    if body is not None and method in ("GET", "DELETE"):
        errors["body"] = f"A {method} has no body."
    elif flaw := flaw_of(body):
        errors["body"] = flaw
    elif len(json.dumps(body)) > MOST_BODY:
        errors["body"] = f"The body is longer than {MOST_BODY:,} letters."
    else:
        errors |= _wrong_places(body, role)
    if not isinstance(login, bool):
        errors["login"] = "Give true or false."
    elif login and not url.startswith("/"):
        errors["login"] = (
            "The target's login is sent to the target alone: give the path, without a host."
        )
    return Action(
        way=HTTP,
        seconds=action.seconds,
        method=str(method),
        url=url,
        body=body,
        login=bool(login),
        at=_text(data, "at", errors),
        expect=_scalar(data, errors),
    )


def _command(data: FieldValues, role: Role, action: Action, errors: dict[str, str]) -> Action:
    texts = _arguments(data, errors)
    if "arguments" not in errors:
        errors |= _wrong_arguments(texts, role)
    return Action(
        way=COMMAND,
        seconds=action.seconds,
        at=_text(data, "at", errors),
        expect=_scalar(data, errors),
        arguments=tuple(texts),
    )


def _sql(data: FieldValues, role: Role, action: Action, errors: dict[str, str]) -> Action:
    name, unit = _text(data, "parameter", errors), _text(data, "unit", errors)
    if "parameter" not in errors and not (PARAMETER.match(name) and len(name) <= LONGEST_PARAMETER):
        errors["parameter"] = "Give the name of a parameter of PostgreSQL, such as work_mem."
    if unit and unit not in UNITS:
        errors["unit"] = f"Choose one of {', '.join(UNITS)}; or none, for the one of pg_settings."
    texts = _arguments(data, errors) if data.get("arguments") else []
    if texts and role != Role.APPLY:
        errors["arguments"] = "Reading a parameter restarts nothing: leave the program out."
    elif any(PLACE in text for text in texts):
        errors["arguments"] = f"The value goes by SQL; the program that restarts has no {PLACE}."
    return Action(
        way=SQL, seconds=action.seconds, parameter=name, unit=unit, arguments=tuple(texts)
    )


def _arguments(data: FieldValues, errors: dict[str, str]) -> list[str]:
    """Return a program and its arguments."""
    value = data.get("arguments")
    arguments: Sequence[Any] = value if isinstance(value, list | tuple) else ()
    texts = [text for text in arguments if isinstance(text, str)]
    if not texts or len(texts) != len(arguments) or not texts[0].strip():
        errors["arguments"] = "Give the program and its arguments as a list of texts."
    elif len(texts) > MOST_ARGUMENTS or max(map(len, texts)) > MOST_LETTERS:
        errors["arguments"] = (
            f"At most {MOST_ARGUMENTS} arguments of at most {MOST_LETTERS:,} letters each."
        )
    elif any("\0" in text for text in texts):
        errors["arguments"] = "No argument can hold the character U+0000."
    return texts


def _wrong_arguments(texts: Sequence[str], role: Role) -> dict[str, str]:
    """Return what is wrong with the places of the value."""
    odd = [text for text in texts if PLACE in text and not is_place(text)]
    holders = [text for text in texts if PLACE in text]
    text = ""
    if odd:
        text = (
            f"In “{odd[0][:60]}” the value would be pasted into a text. Make it one argument, "
            f"“{PLACE}”, or the end of one, “--option={PLACE}”."
        )
    elif is_place(texts[0]):
        text = "The program itself cannot be the value."
    elif is_program(texts):
        text = (
            f"A shell would run the value as a program. Give it the program first, and “{PLACE}” "
            f'behind it: sh, -c, echo "$1", sh, {PLACE}.'
        )
    elif holders and role not in ROLES_WITH_PLACE:
        text = f"There is no value here to stand for {PLACE}."
    elif not holders and role in ROLES_WITH_PLACE:
        text = f"Say where the value stands: one argument “{PLACE}”."
    return {"arguments": text} if text else {}


def is_place(argument: str) -> bool:
    """Return whether an argument is the value, or an option that ends with it."""
    option, equals, rest = argument.partition("=")
    return argument == PLACE or (bool(equals) and rest == PLACE and option.startswith("-"))


def is_program(arguments: Sequence[str]) -> bool:
    """Return whether a shell among the arguments would run the value."""
    if PLACE not in arguments:
        return False
    before = arguments[: arguments.index(PLACE)]
    shells = [place for place, text in enumerate(before) if text.rpartition("/")[2] in SHELLS]
    return bool(shells) and all(text.startswith("-") for text in before[shells[0] + 1 :])


def _wrong_url(url: str) -> dict[str, str]:
    if not url:
        return {"url": "Give a path on the target, such as /settings/a, or a whole URL."}
    if PLACE in url:
        return {"url": "The value does not go into a URL; put it into the body."}
    if any(letter.isspace() for letter in url):
        return {"url": "A URL holds no blanks; write %20."}
    if url.startswith("/") and not url.startswith("//"):
        return {}
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return {"url": f"The URL cannot be read ({error}); give http(s)://host:port/."}
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return {"url": "Give a path that begins with /, or a URL with http:// or https://."}
    if "@" in parts.netloc:
        return {"url": "Give the URL without a user name; the target's login may be sent."}
    return {}


def _wrong_places(body: Any, role: Role) -> dict[str, str]:
    texts = list(_texts(body))
    odd = [text for text in texts if PLACE in text and text != PLACE]
    if odd:
        return {
            "body": f"In “{odd[0][:60]}” the value would be pasted into a text; let the text be "
            f"“{PLACE}” alone, which becomes the value."
        }
    if PLACE in texts and role not in ROLES_WITH_PLACE:
        return {"body": f"There is no value here to stand for {PLACE}."}
    if PLACE not in texts and role in ROLES_WITH_PLACE:
        return {"body": f'Say where the value stands, such as {{"value": "{PLACE}"}}.'}
    return {}


def _texts(body: Any) -> list[str]:
    if isinstance(body, str):
        return [body]
    if isinstance(body, Mapping):
        return [text for each in body.values() for text in _texts(each)] + [
            key for key in body if PLACE in key and key != PLACE
        ]
    if isinstance(body, list | tuple):
        return [text for each in body for text in _texts(each)]
    return []


def _seconds(values: Any, errors: dict[str, str]) -> float:
    if values in (None, ""):
        return USUAL_SECONDS
    try:
        seconds = float(values)
    except (TypeError, ValueError, OverflowError):
        seconds = 0.0
    if isinstance(values, bool) or not 1 <= seconds <= MOST_SECONDS:
        errors["seconds"] = f"Give 1 to {MOST_SECONDS:g} seconds."
        return USUAL_SECONDS
    return seconds


def _text(data: FieldValues, name: str, errors: dict[str, str]) -> str:
    value = data.get(name) or ""
    if not isinstance(value, str) or len(value) > MOST_LETTERS or "\0" in value:
        errors[name] = f"Give a text of at most {MOST_LETTERS:,} letters."
        return ""
    return value.strip()


def _scalar(data: FieldValues, errors: dict[str, str]) -> Any:
    value = data.get("expect")
    if isinstance(value, list | dict):
        errors["expect"] = "Give one value, not a list or an object."
        return None
    if flaw := flaw_of(value):
        errors["expect"] = flaw
    return None if value == "" else value


def flaw_of(body: Any, depth: int = 0) -> str:
    """Return why a body can be neither stored nor sent; empty where it can."""
    if depth > DEEPEST:
        return f"It is nested deeper than {DEEPEST} levels."
    if isinstance(body, float):
        return "" if isfinite(body) else "It holds a number that JSON does not have."
    if isinstance(body, str):
        return _flaw_of_text(body)
    parts = [*body, *body.values()] if isinstance(body, Mapping) else body
    if not isinstance(parts, list | tuple):
        return ""
    return next((flaw for part in parts if (flaw := flaw_of(part, depth + 1))), "")


def _flaw_of_text(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        return "It holds U+0000 or half of a surrogate pair."
    return ""
