"""The checks of Pulp's serializers for fields of a request, with their messages."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.pulp.names import parted
from sandbox.pulp.store import Resource, Store

POLICIES = ("immediate", "on_demand", "streamed")
HIDDEN = ("client_key", "proxy_username", "proxy_password", "username", "password")
_REQUIRED, _NULL, _BLANK = (
    f"This field {rule}." for rule in ("is required", "may not be null", "may not be blank")
)
_UNIQUE = "This field must be unique."
_INTEGER = re.compile(r"[+-]?\d+")

Rule = Callable[[Any], Any]  # gives the value, or raises Rejected


class Rejected(Exception):
    """A value that a rule refuses; the message is Pulp's."""


class Broken(Exception):
    """A value that makes Pulp answer 500, seen on a real one."""


class Invalid(Exception):
    """A 400; `problems` is its body."""

    def __init__(self, problems: dict[str, Any]) -> None:
        super().__init__(str(problems))
        self.problems = problems


def text(value: Any) -> str:
    """Want a text that is not blank."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Rejected("Not a valid string.")
    if not str(value).strip():
        raise Rejected(_BLANK)
    return str(value)


def url(value: Any) -> str:
    """Want a text; only a file's path is looked at, as in Pulp."""
    path = text(value)
    if path.startswith("file://"):
        inside = path.removeprefix("file://")
        raise Rejected(f"The path '{inside}' does not start with any of the allowed import paths")
    return path


def web_url(value: Any) -> str:
    """Want what pulp_rpm takes for a URL."""
    path = url(value)
    if not path.startswith(("http", "https", "file")):
        schemes = "('http', 'https', 'file')"
        raise Rejected(f"The url '{path}' is not valid. It must start with: {schemes}.")
    return path


def choice(*choices: str) -> Rule:
    """Want one of the words."""

    def rule(value: Any) -> str:
        if value not in choices:
            raise Rejected(f'"{value}" is not a valid choice.')
        return str(value)

    return rule


def integer(least: int | None = None) -> Rule:
    """Want a whole number."""

    def rule(value: Any) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole and not (isinstance(value, str) and _INTEGER.fullmatch(value)):
            raise Rejected("A valid integer is required.")
        if least is not None and int(value) < least:
            raise Rejected(f"Ensure this value is greater than or equal to {least}.")
        return int(value)

    return rule


def seconds(value: Any) -> float:
    """Want a number from 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Rejected("A valid number is required.") from None
    if number < 0:
        raise Rejected("Ensure this value is greater than or equal to 0.0.")
    return number


def boolean(value: Any) -> bool:
    """Want true or false."""
    if value in (True, "true", "True", 1):
        return True
    if value in (False, "false", "False", 0):
        return False
    raise Rejected("Must be a valid boolean.")


def mapping(value: Any) -> dict[str, Any]:
    """Want an object."""
    if not isinstance(value, dict):
        raise Rejected(f'Expected a dictionary of items but got type "{type(value).__name__}".')
    return value


def listing(value: Any) -> list[Any]:
    """Want a list."""
    if not isinstance(value, list):
        raise Rejected(f'Expected a list of items but got type "{type(value).__name__}".')
    return value


def related(store: Store, kind: str) -> Rule:
    """Want the href of a resource."""

    def rule(value: Any) -> str:
        if not isinstance(value, str):
            raise Broken
        parts = parted(value)
        if not parts or not parts[0].startswith(f"{kind}/"):
            raise Rejected("Invalid hyperlink - No URL match.")
        if not store.at(value):
            raise Rejected("Invalid hyperlink - Object does not exist.")
        return value

    return rule


def anything(value: Any) -> Any:
    """Take what comes: a field of a plug-in that the simulator does not know."""
    return value


def checked(
    body: object,
    rules: Mapping[str, Rule],
    *,
    required: tuple[str, ...] = (),
    nullable: frozenset[str] = frozenset(),
    more: bool = False,
    others: Callable[[dict[str, Any]], dict[str, list[str]]] = lambda values: {},
) -> dict[str, Any]:
    """Return the values of a request. `more`: accept further fields. Raise Invalid."""
    if not isinstance(body, dict):
        name = type(body).__name__
        problem = f"Invalid data. Expected a dictionary, but got {name}."
        raise Invalid({"non_field_errors": [problem]})
    values: dict[str, Any] = {}
    problems: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if name not in body:
            if name in required:
                problems[name] = [_REQUIRED]
        elif body[name] is None:
            if name in nullable:
                values[name] = None
            else:
                problems[name] = [_NULL]
        else:
            try:
                values[name] = rule(body[name])
            except Rejected as problem:
                problems[name] = [str(problem)]
    problems |= others(values)
    if problems:
        raise Invalid(problems)
    unknown = {name: value for name, value in body.items() if name not in rules}
    if unknown and not more:
        raise Invalid({name: ["Unexpected field"] for name in unknown})
    return values | unknown


def unique(
    store: Store, kind: str, itself: Resource | None, *names: str
) -> Callable[[dict[str, Any]], dict[str, list[str]]]:
    """Want that no other resource of the kind has the same."""

    def others(values: dict[str, Any]) -> dict[str, list[str]]:
        used = [other for other in store.of(kind) if other is not itself]
        return {
            name: [_UNIQUE]
            for name in names
            if name in values and any(other.values.get(name) == values[name] for other in used)
        }

    return others
