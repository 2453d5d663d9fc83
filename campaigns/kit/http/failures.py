"""Headers of all HTTP requests, and the classes of their failures. Pure.

`campaigns.kit.http.guarded` sends requests with the library requests; engines use other libraries and programs.
"""

import errno
from collections.abc import Iterator

from campaigns.kit.network import Refused

ANONYMOUS = "perfdash"
CHUNK_BYTES = 64 * 1024
NO_RESOURCES = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM}
)
FAILURES = {
    "dns": "the name of the server was not resolved",
    "connect": "no connection, or it was lost before the file was whole",
    "tls": "no trusted TLS connection",
    "timeout": "connecting took too long, nothing came for too long, or the whole file did not come in time",
    "4xx": "the server answered 400 to 499",
    "5xx": "the server answered 500 to 599",
    "protocol": "the answer was not valid HTTP",
    "size": "another size than the manifest says",
    "digest": "another SHA-256 than the manifest says",
    "disk_full": "no space left, a quota, or a limit of file size",
    "disk": "the file could not be written for another reason",
    "address": "the rules of allowed addresses exclude the server, or it redirects to another one",
    "generator": "the generator ran out of file descriptors, ports or memory",
}
"""The meaning of every class of failure."""

NO_LENGTH = (
    "the length that the answer announces (Content-Length) is no number of bytes that a file has"
)
LENGTH_MESSAGES = (
    "Content-Length overflow",
    "Invalid character in Content-Length",
    "Invalid Content-Length",
    "Content-Length must be positive integer",
)
"""Messages of libraries and programs that mean NO_LENGTH."""
MOST_DIGITS, MOST_LENGTH = 19, 2**63 - 1
ErrorClasses = tuple[tuple[type[BaseException], str], ...]


class FileFailed(Exception):
    """One file could not be downloaded; the run continues."""

    def __init__(self, failure: str, message: str) -> None:
        """`failure`: a key of FAILURES."""
        super().__init__(message)
        self.failure = failure


def took_too_long(longest_seconds: float) -> FileFailed:
    """Return the failure of a file that was not whole in time."""
    return FileFailed("timeout", f"it was not whole after {longest_seconds:g} s")


def normalised_message(message: str) -> str:
    """Return the message of a library or program; one text for what all engines report."""
    return NO_LENGTH if any(text in message for text in LENGTH_MESSAGES) else message


def refuse_length(announced: str) -> None:
    """Raise FileFailed where a header Content-Length is not a number of bytes.

    Libraries differ: some ignore such a header, some wait for that many bytes.
    """
    if announced and not all(map(_is_length, announced.split(","))):
        raise FileFailed("protocol", NO_LENGTH)


def _is_length(written: str) -> bool:
    digits = written.strip()
    if not (digits.isascii() and digits.isdigit()):
        return False
    return len(digits.lstrip("0")) <= MOST_DIGITS and int(digits) <= MOST_LENGTH


def headers(sender: str) -> dict[str, str]:
    """Return the headers of every engine; `sender` tells the server's owner where the load comes from."""
    return {"User-Agent": sender, "Accept": "*/*", "Accept-Encoding": "identity"}


def classified(error: BaseException, classes: ErrorClasses) -> FileFailed:
    """Return the failure that an exception of a library means; its innermost cause decides."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, FileFailed):
            return cause
        if isinstance(cause, Refused):
            return FileFailed("address", str(cause))
        if isinstance(cause, OSError) and cause.errno in NO_RESOURCES:
            return FileFailed("generator", f"the generator has no more resources: {cause}")
    for kind, name in classes:
        for cause in causes:
            if isinstance(cause, kind):
                return FileFailed(name, normalised_message(f"{type(cause).__name__}: {cause}"))
    return FileFailed("protocol", f"{type(error).__name__}: {error}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, in whatever attribute libraries keep them."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            waiting += [cause.__cause__, cause.__context__, getattr(cause, "reason", None)]
            waiting += cause.args
