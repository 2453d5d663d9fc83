"""Unpack the metadata of a feed, up to a limit: what is small as it comes may be huge."""

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

from campaigns.kinds.base import DriverError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_METADATA = 512 * 1024 * 1024
MOST_MEMORY = 256 * 1024 * 1024
"""Of xz, whose files say themselves how much they need; zstd takes 128 MiB at most."""


class _Unpacker(Protocol):
    """One member of a file; a file may be several of them, one after the other."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


UNPACKERS: Mapping[str, Callable[[], _Unpacker]] = {
    "gz": lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16),
    "xz": lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY),
    "zst": zstd.ZstdDecompressor,
    "bz2": bz2.BZ2Decompressor,
}
BROKEN = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, EOFError)


def unpacked(body: bytes, name: str) -> bytes:
    """Unpack a document in the way that its name tells. Raise DriverError."""
    ending = name.rpartition(".")[2]
    if ending == "xml":
        return body
    if ending not in UNPACKERS:
        known = ", ".join(UNPACKERS)
        raise DriverError(
            f"{name} is compressed in a way that perfdash cannot unpack; it can: {known}. "
            "Let createrepo_c write one of these."
        )
    try:
        return _all_of(body, name, UNPACKERS[ending])
    except BROKEN as error:
        raise DriverError(f"{name} cannot be unpacked: {error}.") from None


def _all_of(body: bytes, name: str, unpacker: Callable[[], _Unpacker]) -> bytes:
    whole = bytearray()
    while body:
        member = unpacker()
        whole += member.decompress(body, MOST_METADATA + 1 - len(whole))
        if len(whole) > MOST_METADATA:
            raise DriverError(f"{name} has more than {MOST_METADATA} bytes unpacked.")
        if not member.eof:
            raise EOFError("it ends in the middle")
        body = member.unused_data.lstrip(b"\0")  # padding
    return bytes(whole)
