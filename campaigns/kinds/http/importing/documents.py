"""The value of a text of JSON or YAML, as it was written. Pure.

YAML is read as its version 1.2: `NO`, a day, 12:30 and 010 are texts. A number remembers how it was written, since a text may be
wanted in its place. JSON may hold NaN, as some programs write it; that becomes null.
"""

import json
import re
from typing import Any

import msgspec
import yaml

from campaigns.kinds.http.importing.recorded import BadImport
from campaigns.kinds.http.program.reading import scalar_of

MOST_YAML_BYTES = 2 * 1024 * 1024
MOST_NODES = 1_000_000
"""Of YAML, what aliases stand for included."""
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE = re.compile(r"<<\Z")
TOO_DEEP = "The file is nested too deeply."
CUT_OFF = "The file ends in the middle, in line {:,}: it was cut off. Save it again."


class WrittenInt(int):
    """A whole number of YAML. text: as it was written."""

    text: str


class WrittenFloat(float):
    """A number of YAML. text: as it was written."""

    text: str


class _Loader(LOADER):  # type: ignore[misc]
    """Resolves nothing but merges (<<): `_scalar` says what a plain text is."""

    yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", MERGE)]}


def json_or_yaml(text: str) -> Any:
    """Return the value of a text of JSON or YAML. Raise BadImport."""
    return _of_json(text) if is_json(text) else _of_yaml(text)


def is_json(text: str) -> bool:
    """Return whether a text is an object or a list of JSON, as far as its first letter says."""
    return text.lstrip()[:1] in ("{", "[")


def as_json(value: Any) -> str:
    """Return a value that was read here as JSON."""
    return msgspec.json.encode(value, enc_hook=_encoded).decode()


def as_written(value: Any) -> Any:
    """Return the text of a number or of true and false, as it was written; other values as they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return getattr(value, "text", str(value))
    return value


def plain_number(value: float) -> int | float:
    """Return a number that forgot how it was written."""
    return int(value) if isinstance(value, int) else float(value)


def _encoded(value: Any) -> Any:
    return plain_number(value) if isinstance(value, WrittenInt | WrittenFloat) else str(value)


def _of_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        pass
    except RecursionError:
        raise BadImport(TOO_DEEP) from None
    try:  # which knows the line, and NaN
        value = json.loads(text, parse_constant=lambda _: None)
        msgspec.json.encode(value)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise BadImport(CUT_OFF.format(text.rstrip().count("\n") + 1)) from None
        raise BadImport(
            f"Line {error.lineno:,}, column {error.colno:,}: the file is no JSON from here on "
            f"({error.msg}). Save it again, or mend that line."
        ) from None
    except RecursionError:
        raise BadImport(TOO_DEEP) from None
    except ValueError as error:  # a number of too many digits, or half a letter
        raise BadImport(f"The file is no JSON ({str(error)[:80]}). Save it again.") from None
    return value


def _of_yaml(text: str) -> Any:
    if len(text) > MOST_YAML_BYTES:
        raise BadImport(
            f"The file has {len(text):,} characters of YAML; at most {MOST_YAML_BYTES:,} are read. Convert it to JSON."
        )
    try:
        if "&" in text and "*" in text:
            _refuse_bombs(text)
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except BadImport:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise BadImport(
            f"The file is no YAML ({where}{getattr(error, 'problem', None) or 'unreadable'})."
        ) from None
    except RecursionError:
        raise BadImport(TOO_DEEP) from None
    except (ValueError, TypeError, OverflowError) as error:
        raise BadImport(f"The file cannot be read ({type(error).__name__}).") from None


def _scalar(loader: Any, node: Any) -> Any:
    """Return what a scalar without a tag is: a quoted one is a text."""
    text = loader.construct_scalar(node)
    value = text if node.style else scalar_of(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = WrittenInt(value) if isinstance(value, int) else WrittenFloat(value)
    number.text = text
    return number


def _mapping(loader: Any, node: Any) -> Any:
    """Yield a mapping, then fill it: its keys are texts, as those of JSON."""
    result: dict[Any, Any] = {}
    yield result
    loader.flatten_mapping(node)
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(
                None, None, "the name of a field is no text", key.start_mark
            )
        result[loader.construct_scalar(key)] = loader.construct_object(value)


_Loader.add_constructor("tag:yaml.org,2002:str", _scalar)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def _refuse_bombs(text: str) -> None:
    """Raise BadImport for YAML whose aliases stand for far more than is written, or for what they are in."""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, 0))
            continue
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise BadImport(
                    f"Line {line}: *{str(event.anchor)[:40]} stands within itself, or for nothing; write it out."
                )
            anchor, size = None, sizes[event.anchor]
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.ScalarEvent):
            anchor, size = event.anchor, 0
        else:
            continue
        outer, others = open_nodes[-1]
        open_nodes[-1] = outer, others + size + 1
        if anchor is not None:
            sizes[anchor] = size
        if others + size > MOST_NODES:
            raise BadImport(
                f"The aliases (*name) of the file stand for more than {MOST_NODES:,} values; write out what is needed."
            )
