"""Read a file of requests, whatever its format: HAR, OpenAPI as JSON or YAML, or curl commands. Pure; what REST and the form call."""

from typing import Any
from urllib.parse import urlsplit

import msgspec
import yaml

from campaigns.kinds.http.importing.curl import is_curl, read_curl
from campaigns.kinds.http.importing.har import is_har, read_har
from campaigns.kinds.http.importing.openapi import is_openapi, read_openapi
from campaigns.kinds.http.importing.recorded import BadImport, Recording
from campaigns.kinds.http.importing.sketch import Sketch, sketch_of

MOST_BYTES = 16 * 1024 * 1024
MOST_YAML_BYTES = 2 * 1024 * 1024
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KNOWN = "Give a HAR file, an OpenAPI document of version 3 (JSON or YAML), or lines that begin with curl."


def read_sketch(data: bytes, base_url: str = "") -> Sketch:
    """Return the sketch of a file's requests to the server of a base URL, where it has such. Raise BadImport."""
    return sketch_of(read_recording(data), urlsplit(base_url).netloc.rpartition("@")[2])


def read_recording(data: bytes) -> Recording:
    """Return the requests of a file. Raise BadImport."""
    if len(data) > MOST_BYTES:
        raise BadImport(
            f"The file has {len(data):,} bytes; at most {MOST_BYTES:,} are read. Record less at once."
        )
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
        return yaml.load(text, LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise BadImport(
            f"The file is no YAML ({where}{getattr(error, 'problem', None) or 'unreadable'}). {KNOWN}"
        ) from None
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise BadImport(f"The file cannot be read ({type(error).__name__}). {KNOWN}") from None
