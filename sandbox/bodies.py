"""Bodies that are read piece by piece, never made whole. Pure."""

import hashlib
from typing import Protocol

PIECE = 256 * 1024
"""The most that one piece holds, bytes."""

PERIOD = 1024 * 1024
_PATTERN = hashlib.shake_128(b"perfdash sandbox").digest(PERIOD)
# One piece longer than the period, so that a piece can begin anywhere in it.
_SHARED = memoryview(_PATTERN + _PATTERN[:PIECE])


def pattern(start: int, end: int) -> memoryview:
    """Give the endless pattern from `start`, up to `end` but at most PIECE bytes, not copied."""
    offset = start % PERIOD
    return _SHARED[offset : offset + min(end - start, PIECE)]


class Body(Protocol):
    """Bytes of known length."""

    length: int

    def piece(self, start: int, end: int) -> memoryview | bytes:
        """Give bytes from `start`, up to `end` but as few as is handy (one at least)."""


class FileBody:
    """A head (often none), so many bytes of the start of the pattern, then a tail."""

    __slots__ = ("head", "length", "prefix", "tail")

    def __init__(self, prefix: int, tail: bytes, head: bytes = b"") -> None:
        self.head = head
        self.prefix = prefix
        self.tail = tail
        self.length = len(head) + prefix + len(tail)

    def piece(self, start: int, end: int) -> memoryview | bytes:
        """See Body."""
        if self.head:
            if start < len(self.head):
                return self.head[start:end]
            start, end = start - len(self.head), end - len(self.head)
        if start < self.prefix:
            return pattern(start, min(end, self.prefix))
        return self.tail[start - self.prefix : end - self.prefix]

    def corrupted(self) -> "FileBody":
        """Give a body of the same length with another last byte; an empty one stays empty."""
        wrong = bytes(byte ^ 0xFF for byte in self.tail[-1:])
        return FileBody(self.prefix, self.tail[:-1] + wrong, self.head)

    def longer(self) -> "FileBody":
        """Give a body with one byte more."""
        return FileBody(self.prefix, self.tail + b"!", self.head)


class WholeBody:
    """Bytes that exist anyway: a manifest, a sentence."""

    __slots__ = ("_bytes", "length")

    def __init__(self, whole: bytes) -> None:
        self._bytes = memoryview(whole)
        self.length = len(whole)

    def piece(self, start: int, end: int) -> memoryview | bytes:
        """See Body."""
        return self._bytes[start : min(end, start + PIECE)]


class EndlessBody:
    """The same bytes again and again, 8 EiB of them."""

    __slots__ = ("_bytes", "length")

    def __init__(self, once: bytes) -> None:
        self._bytes = memoryview(once)
        self.length = 2**63

    def piece(self, start: int, end: int) -> memoryview | bytes:
        """See Body."""
        offset = start % len(self._bytes)
        return self._bytes[offset : offset + min(end - start, PIECE)]
