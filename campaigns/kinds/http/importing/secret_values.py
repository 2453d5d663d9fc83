"""Recognise secrets in recorded requests, by the names of their places and by how random they are. Pure."""

import re
from collections import Counter
from itertools import pairwise
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
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d[a-z]+|\d+")
OF_CODES = frozenset(
    {
        "otp",
        "totp",
        "hotp",
        "mfa",
        "2fa",
        "tfa",
        "pin",
        "tan",
        "passcode",
        "cvc",
        "cvv",
        "onetimecode",
    }
)
"""Words in names of one-time codes and the like, whatever else stands there."""
PAIRS_OF_CODES = frozenset(
    {
        ("one", "time"),
        ("two", "factor"),
        ("2", "factor"),
        ("verification", "code"),
        ("verify", "code"),
    }
)
AT_CODES = frozenset(
    {
        "auth",
        "access",
        "backup",
        "confirm",
        "confirmation",
        "email",
        "login",
        "recovery",
        "security",
        "sms",
        "verification",
    }
)
"""Words beside “code” in names of such codes; a code of a country or a product has others."""
ONE_TIME = re.compile(r"(?=[\dA-Z -]*\d)[\dA-Z]{3,10}(?:[ -][\dA-Z]{3,5})?\Z")
"""What such codes look like: numbers, or letters and numbers."""
DIGITS = re.compile(r"\d{4,10}\Z")
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


def is_one_time_code(name: str, text: str) -> bool:
    """Return whether a field holds a one-time code or a PIN, by its name and what is in it; “code” alone takes digits."""
    words = [word.lower() for word in WORDS.findall(name)]
    if words == ["code"] or words == ["onetime"]:
        return bool(DIGITS.match(text))
    named = (
        not OF_CODES.isdisjoint(words)
        or not PAIRS_OF_CODES.isdisjoint(pairwise(words))
        or "onetime" in words
        or ("code" in words and not AT_CODES.isdisjoint(words))
    )
    return named and bool(ONE_TIME.match(text))


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
