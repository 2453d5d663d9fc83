"""Who may ask: basic authentication, sessions, and the rule against forged requests."""

import base64
import binascii
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiohttp import web

from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.names import Clock

SESSION, TOKEN = "sessionid", "csrftoken"
_READS = ("GET", "HEAD", "OPTIONS")
_ANONYMOUS = "Authentication credentials were not provided."
_NOT_ALLOWED = "You do not have permission to perform this action."
_WRONG = "Invalid username/password."


class Refused(Exception):
    """A request that may not be made; the message is Pulp's."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True, eq=False)
class Access:
    """The sessions, and how often a password was checked."""

    behaviour: Callable[[], Behaviour]
    now: Clock
    passwords: int = 0  # requests with basic authentication
    _sessions: dict[str, datetime] = field(default_factory=dict)

    def check(self, request: web.BaseRequest) -> None:
        """Let the request pass, or raise Refused."""
        self._check_who(request)
        writes = request.method not in _READS and not request.path.endswith("/login/")
        if writes and not self.behaviour().may_write:
            raise Refused(403, _NOT_ALLOWED)

    def _check_who(self, request: web.BaseRequest) -> None:
        header = request.headers.get("Authorization", "")
        if header.lower().startswith("basic "):
            self.passwords += 1
            self._check_password(header[6:])
            return
        ends = self._sessions.get(request.cookies.get(SESSION, ""))
        if ends is None or ends <= self.now():
            raise Refused(401, _ANONYMOUS)
        if request.method not in _READS:
            self._check_token(request)

    def _check_password(self, encoded: str) -> None:
        try:
            user, _, password = base64.b64decode(encoded).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise Refused(401, "Invalid basic header. Credentials not correctly base64 encoded.")  # noqa: B904 - it says all
        behaviour = self.behaviour()
        right = hmac.compare_digest(password.encode(), behaviour.password.encode())
        if user != behaviour.user or not right:
            raise Refused(401, _WRONG)

    def _check_token(self, request: web.BaseRequest) -> None:
        cookie = request.cookies.get(TOKEN, "")
        token = request.headers.get("X-CSRFToken", "")
        source = "CSRF token from the 'X-Csrftoken' HTTP header"
        if not cookie:
            raise Refused(403, "CSRF Failed: CSRF cookie not set.")
        if not token:
            raise Refused(403, "CSRF Failed: CSRF token missing.")
        if len(token) not in (len(cookie), 2 * len(cookie)):
            raise Refused(403, f"CSRF Failed: {source} has incorrect length.")
        if token != cookie:
            raise Refused(403, f"CSRF Failed: {source} incorrect.")

    def log_in(self, answer: web.Response) -> None:
        """Give the answer the cookies of a new session."""
        seconds = self.behaviour().session_seconds
        session = secrets.token_hex(16)
        self._sessions[session] = self.now() + timedelta(seconds=seconds)
        answer.set_cookie(SESSION, session, max_age=int(seconds), httponly=True, samesite="Lax")
        token = secrets.token_hex(16)
        answer.set_cookie(TOKEN, token, max_age=31_449_600, samesite="Lax")

    def log_out(self, request: web.BaseRequest, answer: web.Response) -> None:
        """End the session of the request."""
        self._sessions.pop(request.cookies.get(SESSION, ""), None)
        answer.del_cookie(SESSION)

    def expire(self) -> None:
        """End all sessions, as a password reset does."""
        self._sessions.clear()
