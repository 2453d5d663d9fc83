"""Who may ask: a password, or the session that it began."""

import base64
import binascii
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiohttp import web

from sandbox.katello.answers import denied, unauthorized
from sandbox.katello.behaviour import KatelloBehaviour

SESSION = "_session_id"


@dataclass(slots=True, eq=False)
class Access:
    """The sessions, and how often a password was checked."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    passwords: int = 0
    _sessions: dict[str, datetime] = field(default_factory=dict)

    def check(self, request: web.BaseRequest) -> str:
        """Let the request pass and give a new session, empty where it has one. Raise Problem."""
        session = request.cookies.get(SESSION, "")
        ends = self._sessions.get(session)
        if ends is not None and ends > self.now():
            session = ""
        else:
            self._check_password(request.headers.get("Authorization", ""))
            session = secrets.token_hex(16)
            self._sessions[session] = self.now() + timedelta(
                seconds=self.behaviour().session_seconds
            )
        if request.method != "GET" and not self.behaviour().may_write:
            raise denied("sync_products")
        return session

    def _check_password(self, header: str) -> None:
        if not header.lower().startswith("basic "):
            raise unauthorized("")
        self.passwords += 1
        try:
            user, _, password = base64.b64decode(header[6:]).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise unauthorized("") from None
        behaviour = self.behaviour()
        right = hmac.compare_digest(password.encode(), behaviour.password.encode())
        if user != behaviour.user or not right:
            raise unauthorized(user)

    def expire(self) -> None:
        """End all sessions."""
        self._sessions.clear()
