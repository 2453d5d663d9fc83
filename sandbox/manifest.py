"""The PULP_MANIFEST of a content, right or broken on purpose; how lists can be wrong. Pure."""

import hashlib
from collections.abc import Callable, Sequence
from enum import StrEnum

from sandbox.bodies import pattern
from sandbox.content import Content

NAME = "PULP_MANIFEST"
PAGE = "<!doctype html>\n<title>Sign in</title>\n<p>Sign in to this network.\n"


class Kind(StrEnum):
    """What is wrong with a manifest. Where the bytes are good, the answer is not."""

    OK = "ok"
    EMPTY = "empty"
    HTML = "html"
    TRUNCATED = "truncated"
    CORRUPT = "corrupt"
    NOT_UTF8 = "notutf8"
    TRAVERSAL = "traversal"
    ABSOLUTE = "absolute"
    DUPLICATES = "duplicates"
    NEGATIVE = "negative"
    ABSURD = "absurd"
    BAD_HEX = "badhex"
    WRONG_SIZE = "wrongsize"
    WRONG_DIGEST = "wrongdigest"
    MISSING = "missing"
    ERROR = "error"
    ENDLESS = "endless"
    HANG = "hang"
    RESET = "reset"
    REDIRECT = "redirect"


_Entry = tuple[bytes, bytes, bytes]
"""Name, digest in hex, size."""

_OTHER_DIGEST = b"0" * 64
_BREAKERS: dict[Kind, Callable[[bytes, bytes, bytes], Sequence[_Entry]]] = {
    Kind.NOT_UTF8: lambda name, digest, size: [(b"\xff\xfe" + name, digest, size)],
    Kind.TRAVERSAL: lambda name, digest, size: [(b"../" + name, digest, size)],
    Kind.ABSOLUTE: lambda name, digest, size: [(b"/" + name, digest, size)],
    Kind.DUPLICATES: lambda name, digest, size: [
        (name, digest, size),
        (name, _OTHER_DIGEST, size),
    ],
    Kind.NEGATIVE: lambda name, digest, size: [(name, digest, b"-1")],
    Kind.ABSURD: lambda name, digest, size: [(name, digest, b"9" * 30)],
    Kind.BAD_HEX: lambda name, digest, size: [(name, b"x" * 64, size)],
    Kind.WRONG_SIZE: lambda name, digest, size: [(name, digest, b"%d" % abs(int(size) - 1))],
    Kind.WRONG_DIGEST: lambda name, digest, size: [(name, _OTHER_DIGEST, size)],
}
_WITHOUT_BYTES = (Kind.EMPTY, Kind.MISSING, Kind.ERROR, Kind.HANG, Kind.REDIRECT)


def of_an_entry(kind: Kind) -> bool:
    """Say whether the first entry of a list is wrong, and not the whole document."""
    return kind in _BREAKERS


def broken(kind: Kind, name: bytes, digest: bytes, size: bytes) -> Sequence[_Entry]:
    """Give what stands in a list instead of its first entry; the entry itself where it is good."""
    breaker = _BREAKERS.get(kind)
    return breaker(name, digest, size) if breaker else [(name, digest, size)]


def spoiled(kind: Kind, document: bytes) -> bytes:
    """Give what is served instead of a document; the document itself where that is good."""
    if kind in _WITHOUT_BYTES:
        return b""
    match kind:
        case Kind.HTML:
            return PAGE.encode()
        case Kind.TRUNCATED:
            return document[: len(document) // 2]
        case Kind.CORRUPT:
            return document[:-1] + bytes(byte ^ 0xFF for byte in document[-1:])
    return document


class Abandoned(Exception):
    """Nobody waits for this manifest any more."""


def build(
    content: Content, kind: Kind = Kind.OK, abandoned: Callable[[], bool] = lambda: False
) -> bytes:
    """Write the manifest: one line `name,sha256,size` a file, the first one broken as `kind` says.

    About 3 µs a file and one pass over the largest file. Raise Abandoned once `abandoned` is true.
    """
    if kind in _WITHOUT_BYTES or kind is Kind.HTML:
        return spoiled(kind, b"")
    good = _lines(content, digests(content, abandoned))
    if kind is Kind.TRUNCATED:
        last = good.rfind(b"\n", 0, -1) + 1
        return good[: (last + len(good)) // 2]
    if not of_an_entry(kind) or not good:
        return spoiled(kind, good)
    first, _, rest = good.partition(b"\n")
    name, digest, size = first.rsplit(b",", 2)
    entries = [b",".join(entry) + b"\n" for entry in broken(kind, name, digest, size)]
    return b"".join((*entries, rest))


def _lines(content: Content, hashed: bytearray) -> bytes:
    lines = bytearray()
    for index in range(content.files):
        digest = hashed[index * 32 : index * 32 + 32].hex()
        lines += f"{content.name(index)},{digest},{content.size(index)}\n".encode()
    return bytes(lines)


def digests(content: Content, abandoned: Callable[[], bool]) -> bytearray:
    """Give the SHA-256 of all files, one after the other, 32 bytes each.

    Hashes in order of size: each file continues the pattern where the one before stopped. Raise
    Abandoned once `abandoned` is true.
    """
    result = bytearray(32 * content.files)
    varies = content.smallest != content.largest and content.total is None
    order = sorted(range(content.files), key=content.size) if varies else range(content.files)[::-1]
    state, hashed = hashlib.sha256(), 0
    for index in order:
        body = content.body(index)
        while hashed < body.prefix and not abandoned():
            piece = pattern(hashed, body.prefix)
            state.update(piece)
            hashed += len(piece)
        if abandoned():
            raise Abandoned
        whole = state.copy()
        whole.update(body.tail)
        result[index * 32 : index * 32 + 32] = whole.digest()
    return result
