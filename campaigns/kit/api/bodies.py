"""Large bodies, read in pieces, unpacked and bounded; a body that lies about its size costs nothing."""

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request

from campaigns.kit.api.parsing import TooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE = 1 << 16
BROKEN = (zlib.error, zstd.ZstdError, EOFError)


class UnknownEncoding(APIException):
    """The body is packed in a way that nobody here unpacks."""

    status_code = status.HTTP_415_UNSUPPORTED_MEDIA_TYPE


class LengthRequired(APIException):
    """Nobody said how long the body is."""

    status_code = status.HTTP_411_LENGTH_REQUIRED


class Readable(Protocol):
    """What a body comes from."""

    def read(self, size: int = -1, /) -> bytes:
        """Give at most so many bytes; none at its end."""


def unpacked(request: Request, stream: Readable, most: int) -> Iterator[bytes]:
    """Give the body in pieces, unpacked. Raise TooLarge above `most` bytes, packed or not."""
    if request.headers.get("Transfer-Encoding") and not request.headers.get("Content-Length"):
        raise LengthRequired("Say how long the body is: send Content-Length.")
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
            yield from _of_packed(pieces, _Gzip, encoding)
        case "zstd":
            yield from _of_packed(pieces, zstd.ZstdDecompressor, encoding)
        case _:
            raise UnknownEncoding(
                f"Content-Encoding {encoding[:40]!r} is not read; send gzip, zstd, or nothing packed."
            )


class _Gzip:
    """zlib, which gives back what it was not asked for."""

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


def _of_packed(pieces: Iterator[bytes], begin: Callable[[], Any], encoding: str) -> Iterator[bytes]:
    """Unpack one stream, a bounded piece at a time. Raise ParseError where it is damaged."""
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
