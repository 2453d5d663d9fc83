"""Turns errors of the server and of the connection into messages that say what to do."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from perfdash_client.errors import NoConnection, Refused

Lines = Mapping[str, int]
MOST_ERRORS = 30
REMEDIES = {
    401: "Make a token on the page Account, then: perfdash login",
    413: "Send less at a time.",
    429: "Ask less often, or wait longer: --patience.",
}
AWAY = frozenset({502, 503, 504})


def refusal(response: httpx.Response, lines: Lines | None = None, file: str = "") -> Exception:
    """Give the error for an answer of 400 and above, or for one that is none of perfdash's.

    lines: where in `file` each field stands, so that a message names its line.
    """
    problem = problem_of(response)
    if problem is None:
        return stranger(response)
    status = response.status_code
    text = str(problem.get("detail") or problem.get("title") or f"status {status}")
    parts = [text, *errors_of(problem, lines or {}, file)]
    if status in REMEDIES:
        parts.append(REMEDIES[status])
    if request := problem.get("request"):
        parts.append(f"The server's log tells more of request {request}.")
    if status in AWAY:
        return NoConnection(f"perfdash is away ({status}): " + "\n  ".join(parts))
    return Refused(f"refused ({status}): " + "\n  ".join(parts), status, problem)


def problem_of(response: httpx.Response) -> dict[str, Any] | None:
    """Read problem+json; None where it is none."""
    if "json" not in response.headers.get("Content-Type", ""):
        return None
    try:
        problem = response.json()
    except (ValueError, httpx.HTTPError):
        return None
    return problem if isinstance(problem, dict) else None


def errors_of(problem: Mapping[str, Any], lines: Lines, file: str) -> Iterator[str]:
    """One line a field: where it stands, what is wrong with it."""
    errors = problem.get("errors")
    errors = (
        [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    )
    for error in errors[:MOST_ERRORS]:
        path = str(error.get("field", ""))
        line = line_of(path, lines)
        place = f"{file}:{line}: " if line else ""
        yield f"{place}{path}: {error.get('message', '')}".removeprefix(": ")
    if len(errors) > MOST_ERRORS:
        yield f"… and {len(errors) - MOST_ERRORS} more."


def line_of(path: str, lines: Lines) -> int | None:
    """Find the line of a field, or of the nearest one above it."""
    while path:
        if path in lines:
            return lines[path]
        path = path.rpartition(".")[0]
    return None


def stranger(response: httpx.Response) -> NoConnection:
    """Say that what answered is no perfdash."""
    url, status = _origin(response.request.url), response.status_code
    if response.is_redirect:
        where = response.headers.get("Location", "")
        return NoConnection(
            f"{url} sends us on to {where}. Use the address of perfdash itself:"
            " perfdash login URL, or PERFDASH_URL."
        )
    if status in AWAY:
        return NoConnection(
            f"{url} answers {status}: perfdash is not running behind it, or restarts."
        )
    kind = response.headers.get("Content-Type", "no type").partition(";")[0]
    return NoConnection(
        f"{url} answers {status} with {kind}, which is not perfdash's API. Is this the address of"
        " perfdash, or of a proxy or sign-in page before it?"
    )


def silence(error: httpx.TransportError, url: httpx.URL | str) -> NoConnection:
    """Say why nobody answered."""
    origin = _origin(httpx.URL(url))
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return NoConnection(
            f"{origin} has a certificate that cannot be trusted: {cause.verify_message}. Name the"
            " authority that signed it in the variable SSL_CERT_FILE."
        )
    if isinstance(cause, ssl.SSLError):
        return NoConnection(f"{origin} does not speak TLS as it should: {cause.reason or cause}.")
    if isinstance(cause, socket.gaierror):
        return NoConnection(f"There is no host “{httpx.URL(url).host}”: {cause.strerror}.")
    if isinstance(error, httpx.ConnectTimeout):
        return NoConnection(f"{origin} does not answer: no connection within 10 seconds.")
    if isinstance(error, httpx.TimeoutException):
        return NoConnection(f"{origin} took the request, and did not answer in time.")
    if isinstance(error, httpx.ProxyError):
        return NoConnection(
            f"The proxy refuses the way to {origin}: {error}. Look at HTTPS_PROXY and NO_PROXY."
        )
    if isinstance(cause, ConnectionRefusedError):
        return NoConnection(
            f"Nobody listens at {origin} (connection refused). Is perfdash running?"
        )
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return NoConnection(f"{origin} cannot be asked: {error}.")
    return NoConnection(
        f"The connection to {origin} broke off: {str(error).rstrip('.') or type(error).__name__}."
    )


def is_passing(error: httpx.TransportError) -> bool:
    """Whether trying again may help: not for a name that nobody has, or a bad certificate."""
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError | httpx.ProxyError):
        return False
    return not isinstance(_cause(error), ssl.SSLError)


def _cause(error: BaseException) -> BaseException:
    """The error of the machine below that of the libraries."""
    seen = [error]
    while (below := seen[-1].__cause__ or seen[-1].__context__) and below not in seen:
        seen.append(below)
    kinds = (OSError,)
    return next((result for result in reversed(seen) if isinstance(result, kinds)), seen[-1])


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"
