"""The classes of failure of a request. Pure.

Nothing here repeats a request: a failure is counted, and a sequence may retry separately.
"""

import errno
import os
import ssl

FAILURES = {
    "connect": "no connection, or it was lost or reset",
    "tls": "no TLS connection that both sides trust",
    "timeout": "it took longer than allowed: what it would have taken is not known",
    "auth": "the server answered 401 or 403",
    "4xx": "the server answered another 400 to 499",
    "429": "the server answered 429: it limits the rate",
    "5xx": "the server answered 500 to 599",
    "check": "the answer was not what the scenario expects",
    "protocol": "the answer was no HTTP that can be used, was cut off, or was another one than expected",
}
"""Every class of failure, with its meaning."""

NO_RESOURCES = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM}
)


class LoadFailed(Exception):
    """A request, or a connection for it, failed. `kind` is one of FAILURES.

    unanswered: a reused connection was dropped before any byte of an answer; real clients repeat such a
    request once. exhausted: the generator itself had no descriptors, ports or memory left. status: of
    the answer, 0 where there was none. unquoted: a message that quotes nothing of answer and request, where the other does.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        unanswered: bool = False,
        exhausted: bool = False,
        status: int = 0,
        unquoted: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.unanswered = unanswered
        self.exhausted = exhausted
        self.status = status
        self.unquoted = unquoted

    def without_quotes(self) -> "LoadFailed":
        """Return the failure as it is told of a request that sends a secret."""
        return self.saying(self.unquoted) if self.unquoted else self

    def saying(self, message: str) -> "LoadFailed":
        """Return the failure with another message."""
        return LoadFailed(
            self.kind,
            message,
            unanswered=self.unanswered,
            exhausted=self.exhausted,
            status=self.status,
        )


def of_status(status: int) -> str:
    """Return the class of failure of a status; empty for success (200 to 299, and 304)."""
    if 200 <= status < 300 or status == 304:
        return ""
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "429"
    if 400 <= status < 500:
        return "4xx"
    return "5xx" if 500 <= status < 600 else "protocol"


def of_error(error: BaseException, doing: str) -> LoadFailed:
    """Return the failure for an exception of a socket; `doing` begins the message."""
    if isinstance(error, LoadFailed):
        return error
    if isinstance(error, ssl.SSLError | ssl.CertificateError):
        return LoadFailed("tls", f"{doing}: {error}")
    number = error.errno if isinstance(error, OSError) and error.errno in errno.errorcode else None
    what = os.strerror(number) if number else str(error) or type(error).__name__
    message = f"{doing}: {what}"
    if isinstance(error, TimeoutError):
        return LoadFailed("timeout", message)
    exhausted = isinstance(error, OSError) and error.errno in NO_RESOURCES
    return LoadFailed("connect", message, exhausted=exhausted)
