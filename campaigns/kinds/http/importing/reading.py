"""Read a file of requests, whatever its format: HAR, OpenAPI as JSON or YAML, or curl commands. No Django.

REST and the form call `read_apart`: the worst file costs one request.
"""

from typing import IO, Any
from urllib.parse import urlsplit

import msgspec
import yaml

from campaigns.kinds.http.importing.curl import is_curl, read_curl
from campaigns.kinds.http.importing.har import is_har, read_har
from campaigns.kinds.http.importing.openapi import is_openapi, read_openapi
from campaigns.kinds.http.importing.recorded import BadImport, Recording
from campaigns.kinds.http.importing.sketch import Sketch, sketch_of
from campaigns.kit import apart

MOST_BYTES = 16 * 1024 * 1024
MOST_YAML_BYTES = 2 * 1024 * 1024
MOST_NODES = 1_000_000
"""Of YAML, what aliases stand for included."""
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KNOWN = "Give a HAR file, an OpenAPI document of version 3 (JSON or YAML), or lines that begin with curl."


LIMITS = apart.Limits(memory_mb=1_000, seconds=20)


class _Answer(msgspec.Struct):
    """What the child says: what it read, or why the file cannot be read."""

    sketch: Sketch | None
    problem: str = ""


def read_apart(data: bytes, base_url: str = "") -> Sketch:
    """Return what `read_sketch` returns for the same, read in a process of its own. Raise BadImport."""
    if len(data) > MOST_BYTES:
        raise BadImport(too_large(len(data)))
    try:
        told = apart.work(answered, data, base_url, LIMITS)
    except apart.TookTooMuch as reason:
        raise BadImport(str(reason)) from None
    answer = msgspec.json.decode(told, type=_Answer)
    if answer.sketch is None:
        raise BadImport(answer.problem)
    return answer.sketch


def answered(file: IO[bytes], base_url: str) -> bytes:
    """Read a file, in the child."""
    try:
        return msgspec.json.encode(_Answer(read_sketch(file.read(), base_url)))
    except BadImport as refused:
        return msgspec.json.encode(_Answer(None, str(refused)))


def too_large(size: int) -> str:
    """Return the message about a file that is too large."""
    return f"The file has {size:,} bytes; at most {MOST_BYTES:,} are read. Record less at once."


def read_sketch(data: bytes, base_url: str = "") -> Sketch:
    """Return the sketch of a file's requests to the server of a base URL, where it has such. Raise BadImport."""
    try:
        return sketch_of(read_recording(data), urlsplit(base_url).netloc.rpartition("@")[2])
    except BadImport:
        raise
    except RecursionError:
        raise BadImport("The file is nested too deeply.") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadImport(
            f"The file is not as its format has it ({type(error).__name__}: {str(error)[:80]})."
        ) from None


def read_recording(data: bytes) -> Recording:
    """Return the requests of a file. Raise BadImport."""
    if len(data) > MOST_BYTES:
        raise BadImport(too_large(len(data)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadImport(f"The file is no text in UTF-8 (byte {error.start:,}). {KNOWN}") from None
    if not text.strip():
        raise BadImport(f"The file is empty. {KNOWN}")
    if is_curl(text):
        return read_curl(text)
    document = _document(text)
    if is_har(document):
        return read_har(document)
    if is_openapi(document):
        return read_openapi(document)
    raise BadImport(f"It is neither a HAR file nor an OpenAPI document. {KNOWN}")


def _document(text: str) -> Any:
    """Return the value of a text of JSON or YAML. Raise BadImport."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise BadImport(
                f"The file is no JSON ({error}). Save it again: it may have been cut off."
            ) from None
        except RecursionError:
            raise BadImport("The file is nested too deeply.") from None
    if len(text) > MOST_YAML_BYTES:
        raise BadImport(
            f"The file has {len(text):,} characters of YAML; at most {MOST_YAML_BYTES:,} are read. Convert it to JSON."
        )
    try:
        if "&" in text and "*" in text:
            _refuse_bombs(text)
        return yaml.load(text, LOADER)  # noqa: S506 - a safe loader
    except BadImport:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise BadImport(
            f"The file is no YAML ({where}{getattr(error, 'problem', None) or 'unreadable'}). {KNOWN}"
        ) from None
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise BadImport(f"The file cannot be read ({type(error).__name__}). {KNOWN}") from None


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
