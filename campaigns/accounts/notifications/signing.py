"""Sign webhooks as Standard Webhooks 1.0 specifies (standardwebhooks.com). Pure."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import sha256
from secrets import token_bytes

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret of 256 bits, in the format of the specification."""
    return PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def headers(uid: str, timestamp: int, body: bytes, secrets: Iterable[str]) -> dict[str, str]:
    """Return the headers of one attempt. timestamp: of this attempt, in seconds since 1970.

    uid: the same at every attempt. While a secret is being replaced, there are two signatures.
    """
    signatures = " ".join(signature(uid, timestamp, body, secret) for secret in secrets)
    return {
        "webhook-id": uid,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signatures,
    }


def signature(uid: str, timestamp: int, body: bytes, secret: str) -> str:
    """Return the HMAC-SHA256 of `id.timestamp.body`: `v1,` and base64."""
    key = b64decode(secret.removeprefix(PREFIX))
    signed = f"{uid}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.new(key, signed, sha256).digest()).decode()
