"""Recognise secrets in recorded requests, by the names of their places and by how random they are. Pure."""

import re
from collections import Counter
from math import log2

from campaigns.kinds.http.program.striking import SECRET_NAME

STRUCK = "struck-out"
"""What stands for a secret that nobody gives."""
PASSWORD_NAME = re.compile(
    r"(?:^|[^a-z])(?:pass|passwd|password|passwort|passphrase|pwd|pw)(?:$|[^a-z])|password",
    re.IGNORECASE,
)
USER_NAME = re.compile(
    r"(?:^|[^a-z])(?:user|username|user_?name|login|email|e-mail|account|uid)(?:$|[^a-z])|username",
    re.IGNORECASE,
)
TOKENS = re.compile(r"[A-Za-z0-9_~+/=.-]{20,}")
JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*\Z")
HEX = re.compile(r"[0-9a-fA-F-]+\Z")
LEAST_BITS = 4.2
"""Bits a character, by which texts of at least 24 characters with capitals, small letters and digits count as random."""


def is_secret_name(name: str) -> bool:
    """Return whether what has this name is secret: a token, a key, a session."""
    return bool(SECRET_NAME.search(name))


def is_password_name(name: str) -> bool:
    """Return whether a field of this name holds a password."""
    return bool(PASSWORD_NAME.search(name))


def is_user_name(name: str) -> bool:
    """Return whether a field of this name, beside a password, holds the name of the user."""
    return bool(USER_NAME.search(name))


def is_random(text: str) -> bool:
    """Return whether a value looks like a key: a JWT, or long, mixed and without a pattern; digests and UUIDs do not."""
    if JWT.match(text):
        return True
    if len(text) < 24 or HEX.match(text) or not TOKENS.fullmatch(text) or "/" in text[:1]:
        return False
    kinds = (any(map(str.isupper, text)), any(map(str.islower, text)), any(map(str.isdigit, text)))
    if not all(kinds):
        return False
    counts = Counter(text)
    return (
        -sum(count / len(text) * log2(count / len(text)) for count in counts.values()) >= LEAST_BITS
    )
