"""Parsing of bodies: strict JSON that PostgreSQL can store, and large bodies in bounded, decompressed pieces."""

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NoReturn, Protocol

import msgspec
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from campaigns.kit.mappings import Json, JsonObject

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


MOST_BYTES = 1_000_000
DEEPEST = 16
LARGEST = 1e18
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""Without one of these escapes, no text of a JSON document in UTF-8 is unstorable."""
NAME = re.compile(rb'"\s*:')
"""The end of each name in an object; texts may hold more such bytes."""


class TooLarge(APIException):
    """The body is larger than any campaign needs."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is larger than {MOST_BYTES:,} bytes."


class StrictJSONParser(BaseParser):
    """Parse JSON in UTF-8 without NaN, Infinity, NUL, lone surrogates, or nesting beyond DEEPEST."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Json | None = None,
    ) -> Any:
        """Return the value. Raise ParseError or TooLarge."""
        content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise TooLarge
        return strict_json(content)


def strict_json(content: bytes, *, names_once: bool = False) -> Any:
    """Return the value of a JSON document. Raise ParseError.

    names_once: refuse an object that has a name twice; parsers otherwise ignore all but the last.
    """
    try:
        value = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = _explained(content)
    names = _require_storable(value, has_escapes=ESCAPED.search(content) is not None)
    if names_once and names != len(NAME.findall(content)):
        _explained(content, _names_once)
    return value


def _explained(content: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse with the standard library, which is slower, but reports the place of an error."""
    try:
        return json.loads(
            content.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=pairs
        )
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except RecursionError:
        raise ParseError(f"The body is nested deeper than {DEEPEST} levels.") from None
    except ValueError as error:
        raise ParseError(f"The body is not JSON: {error}") from None


def _names_once(pairs: list[tuple[str, Any]]) -> JsonObject:
    values: JsonObject = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"“{name[:60]}” is there twice in one object.")
        values[name] = value
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON.")


def _require_storable(value: Any, *, has_escapes: bool) -> int:
    """Return the number of names in all objects. Raise ParseError for what PostgreSQL cannot store.

    has_escapes: whether there may be texts that cannot be stored. Not recursive, so that depth does no harm.
    """
    names, level = 0, [value]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                names += len(item)
                below += item.values()
                below += item if has_escapes else ()
            elif kind is list:
                below += item
            elif kind is str:
                if has_escapes and UNSTORABLE.search(item):
                    raise ParseError("A text in the body holds U+0000 or half of a surrogate pair.")
            elif item is not None and not -LARGEST <= item <= LARGEST:
                raise ParseError("A number in the body is too large.")
        if not below:
            return names
        level = below
    raise ParseError(f"The body is nested deeper than {DEEPEST} levels.")


PIECE = 1 << 16
BROKEN = (zlib.error, zstd.ZstdError, EOFError)


class UnknownEncoding(APIException):
    """The Content-Encoding of the body is not supported."""

    status_code = status.HTTP_415_UNSUPPORTED_MEDIA_TYPE


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


def unpacked(request: Request, stream: Readable, most: int) -> Iterator[bytes]:
    """Yield the body in pieces, decompressed. Raise TooLarge above `most` decompressed bytes."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    count = 0
    for piece in _decoded(_pieces(stream), encoding):
        count += len(piece)
        if count > most:
            raise TooLarge(
                f"The body is larger than {most:,} bytes, unpacked. Send it in several parts."
            )
        yield piece


def _pieces(stream: Readable) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


def _decoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    match encoding:
        case "identity" | "":
            yield from pieces
        case "gzip" | "x-gzip":
            yield from _decompressed(pieces, _Gzip, encoding)
        case "zstd":
            yield from _decompressed(pieces, zstd.ZstdDecompressor, encoding)
        case _:
            raise UnknownEncoding(
                f"Content-Encoding {encoding[:40]!r} is not read; send gzip, zstd, or nothing packed."
            )


class _Gzip:
    """zlib with the interface of ZstdDecompressor."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _decompressed(
    pieces: Iterator[bytes], begin: Callable[[], Any], encoding: str
) -> Iterator[bytes]:
    """Decompress one stream, a bounded piece at a time. Raise ParseError where it is damaged."""
    decompressor = begin()
    try:
        for piece in pieces:
            if decompressor.eof:
                raise ParseError(f"Something follows the end of what {encoding} packed.")
            yield decompressor.decompress(piece, PIECE)
            while not decompressor.eof and not decompressor.needs_input:
                yield decompressor.decompress(b"", PIECE)
    except BROKEN as error:
        raise ParseError(f"The body is damaged, it cannot be unpacked: {error}") from None
    if not decompressor.eof or decompressor.unused_data:
        raise ParseError(f"The body is damaged: what {encoding} packed does not end where it does.")
