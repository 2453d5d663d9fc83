"""Read a file of requests, whatever its format: HAR, OpenAPI as JSON or YAML, apipie, or curl commands. No Django.

REST and the form call `read_apart`: the worst file costs one request.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from campaigns.kinds.http.importing.apipie import is_apipie, read_apipie
from campaigns.kinds.http.importing.curl import is_curl, read_curl
from campaigns.kinds.http.importing.documents import is_json, json_or_yaml
from campaigns.kinds.http.importing.har import is_har, read_har
from campaigns.kinds.http.importing.looks import describes, other_document, other_text, packing_of
from campaigns.kinds.http.importing.openapi import is_openapi, read_openapi
from campaigns.kinds.http.importing.recorded import BadImport, Recording
from campaigns.kinds.http.importing.sketch import Sketch, sketch_of
from campaigns.kit import apart
from campaigns.kit.decoding import Undecodable, text_of

MOST_BYTES = 16 * 1024 * 1024
KNOWN = (
    "Give a HAR file, an OpenAPI document of version 3 (JSON or YAML), the apidoc/v2.json of a Foreman, or lines that begin "
    "with curl. Results of measurements are read by Import."
)
NO_END = "Line {:,}, the last one, does not end with a line break: if the file was cut off, requests are missing."
DOCUMENTS: Sequence[tuple[Callable[[Any], bool], Callable[[Any], Recording]]] = (
    (is_har, read_har),
    (is_openapi, read_openapi),
    (is_apipie, read_apipie),
)

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
    if packed := packing_of(data):
        raise BadImport(
            f"The file is packed ({packed}). Unpack it, and give what is in it. {KNOWN}"
        )
    try:
        text = text_of(data)
    except Undecodable as error:
        raise BadImport(f"{error} {KNOWN}") from None
    if not text.strip():
        raise BadImport(f"The file is empty. {KNOWN}")
    if is_curl(text):
        return read_curl(text)
    if other := other_text(text):
        raise BadImport(f"{other} {KNOWN}")
    document = _document(text)
    for is_format, read in DOCUMENTS:
        if is_format(document):
            recording = read(document)
            return recording if is_json(text) else _of_yaml(recording, text)
    raise BadImport(f"{other_document(document)} {KNOWN}")


def _document(text: str) -> Any:
    """Return the value of a text of JSON or YAML. Raise BadImport."""
    try:
        return json_or_yaml(text)
    except BadImport as wrong:
        if is_json(text) or describes(text):
            raise
        raise BadImport(f"It is none of the formats that are read here. {wrong} {KNOWN}") from None


def _of_yaml(recording: Recording, text: str) -> Recording:
    """Return a recording with a hint where its YAML may have been cut off, which YAML itself does not show."""
    if text.endswith(("\n", "\r", "...")):
        return recording
    return replace(recording, hints=[*recording.hints, NO_END.format(text.count("\n") + 1)])
