"""The PULP_MANIFEST of a content, right or broken on purpose. Pure."""

import hashlib
from collections.abc import Callable
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


_Fields = tuple[bytes, bytes, bytes]

_OTHER_DIGEST = b"0" * 64
_BREAKERS: dict[Kind, Callable[[bytes, bytes, bytes], _Fields]] = {
    Kind.NOT_UTF8: lambda name, digest, size: (b"\xff\xfe" + name, digest, size),
    Kind.TRAVERSAL: lambda name, digest, size: (b"../" + name, digest, size),
    Kind.ABSOLUTE: lambda name, digest, size: (b"/" + name, digest, size),
    Kind.DUPLICATES: lambda name, digest, size: (
        b",".join((name, digest, size)) + b"\n" + name,
        _OTHER_DIGEST,
        size,
    ),
    Kind.NEGATIVE: lambda name, digest, size: (name, digest, b"-1"),
    Kind.ABSURD: lambda name, digest, size: (name, digest, b"9" * 30),
    Kind.BAD_HEX: lambda name, digest, size: (name, b"x" * 64, size),
    Kind.WRONG_SIZE: lambda name, digest, size: (name, digest, b"%d" % abs(int(size) - 1)),
    Kind.WRONG_DIGEST: lambda name, digest, size: (name, _OTHER_DIGEST, size),
}


_WITHOUT_BYTES = (Kind.EMPTY, Kind.MISSING, Kind.ERROR, Kind.HANG, Kind.REDIRECT)


class Abandoned(Exception):
    """Nobody waits for this manifest any more."""


def build(
    content: Content, kind: Kind = Kind.OK, abandoned: Callable[[], bool] = lambda: False
) -> bytes:
    """Write the manifest: one line `name,sha256,size` a file, the first one broken as `kind` says.

    About 3 µs a file and one pass over the largest file. Raise Abandoned once `abandoned` is true.
    """
    if kind in _WITHOUT_BYTES:
        return b""
    if kind is Kind.HTML:
        return PAGE.encode()
    good = _lines(content, _digests(content, abandoned))
    if kind is Kind.TRUNCATED:
        last = good.rfind(b"\n", 0, -1) + 1
        return good[: (last + len(good)) // 2]
    if kind not in _BREAKERS or not good:
        return good
    first, _, rest = good.partition(b"\n")
    return b",".join(_BREAKERS[kind](*first.rsplit(b",", 2))) + b"\n" + rest


def _lines(content: Content, digests: bytearray) -> bytes:
    lines = bytearray()
    for index in range(content.files):
        digest = digests[index * 32 : index * 32 + 32].hex()
        lines += f"{content.name(index)},{digest},{content.size(index)}\n".encode()
    return bytes(lines)


def _digests(content: Content, abandoned: Callable[[], bool]) -> bytearray:
    """Hash all files in order of size: each continues the pattern where the one before stopped."""
    digests = bytearray(32 * content.files)
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
        digests[index * 32 : index * 32 + 32] = whole.digest()
    return digests
