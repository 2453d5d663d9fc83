"""JSON web tokens of registrations, signed with a key of this start (HS256)."""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

SCOPES = ("registration#global", "registration#host")
_HEAD = {"typ": "JWT", "alg": "HS256"}


class BadToken(Exception):
    """A token that is none of ours, or whose time is over."""


@dataclass(slots=True, eq=False)
class Tokens:
    """Issues tokens, and checks them."""

    now: Callable[[], datetime]
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def give(self, hours: float | None) -> str:
        """Make a token for registrations; None: it never expires."""
        at = int(self.now().timestamp())
        claims: dict[str, Any] = {
            "user_id": 4,
            "iat": at,
            "jti": secrets.token_hex(16),
            "scope": " ".join(SCOPES),
        }
        if hours is not None:
            claims["exp"] = at + round(hours * 3600)
        signed = f"{_packed(json.dumps(_HEAD).encode())}.{_packed(json.dumps(claims).encode())}"
        return f"{signed}.{self._sign(signed)}"

    def check(self, header: str) -> None:
        """Let the holder of a token pass, as the header Authorization has it. Raise BadToken."""
        scheme, _, token = header.partition(" ")
        signed, _, signature = token.strip().rpartition(".")
        if scheme.lower() != "bearer" or not hmac.compare_digest(
            signature.encode(), self._sign(signed).encode()
        ):
            raise BadToken
        try:
            claims = json.loads(base64.urlsafe_b64decode(signed.partition(".")[2] + "=="))
        except (ValueError, binascii.Error):
            raise BadToken from None
        if claims.get("exp", float("inf")) <= self.now().timestamp():
            raise BadToken

    def _sign(self, signed: str) -> str:
        return _packed(hmac.digest(self._key, signed.encode(), hashlib.sha256))


def _packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
