"""Strike out secrets in what is shown of requests and answers: known ones, and those that their names give away. Pure."""

import re
from collections.abc import Iterable

from campaigns.kinds.http.program.scenario import Take
from campaigns.kit.redaction import REDACTED, redact

SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase|code)|token|secret|api[-_]?key|credential|authori[sz]ation|cookie|session|sessid|csrf"
    r"|private[-_]?key|(?<![a-z])(?:auth|cvc|cvv|jwt|otp|pass|pin|pw|pwd|sid|sig|signature|totp)(?![a-z])",
    re.IGNORECASE,
)
_NAMED = rf"(?:{SECRET_NAME.pattern})[\w.-]{{0,80}}"
"""A name from its secret word on: what stands before that stays, whatever it is."""
IN_QUOTES = re.compile(
    rf"""({_NAMED}["']?\s{{0,9}}[:=]\s{{0,9}}(["']))((?:(?!\2)[^\\]|\\.)*)""",
    re.IGNORECASE | re.DOTALL,
)
"""JSON, arguments of GraphQL, attributes of XML."""
IN_ESCAPED_QUOTES = re.compile(
    rf"""({_NAMED}\\["']\s{{0,9}}[:=]\s{{0,9}}\\["'])([^"'\\]*)""", re.IGNORECASE
)
"""JSON within JSON."""
IN_FORM = re.compile(rf"""({_NAMED}=)([^&;\s"'<>]+)""", re.IGNORECASE)
IN_ELEMENT = re.compile(
    rf"(<[\w.:-]{{0,80}}{_NAMED}(?:\s[^<>]{{0,200}})?>)(?=\s{{0,99}}[^<\s])([^<]+)", re.IGNORECASE
)
JWT = re.compile(r"(?<![\w-])((?:(?!\beyJ[\w-]{8})[\w-])*+)eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+")
"""With what stands before it in the same word: so each word is looked through once, however often it holds “eyJ”."""
SCHEMES = re.compile(r"\b(Basic|Bearer|Digest)\s+[\w.~+/=-]{4,}", re.IGNORECASE)
PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END|\Z)", re.DOTALL)


def strike(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without remembered secrets (`redaction`), these ones, and values whose names say that they are secret."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = redact(text)
    for pattern in (IN_QUOTES, IN_ESCAPED_QUOTES, IN_FORM, IN_ELEMENT):
        text = pattern.sub(rf"\1{REDACTED}", text)
    text = JWT.sub(rf"\1{REDACTED}", text)
    text = SCHEMES.sub(rf"\1 {REDACTED}", text)
    return PEM.sub(rf"\1{REDACTED}\2", text)


def strike_named(name: str, text: str, secrets: Iterable[str] = ()) -> str:
    """Return a value that has a name, such as a header; of one that is secret by its name only that it is there."""
    return REDACTED if SECRET_NAME.search(name) else strike(text, secrets)


def is_secret(name: str, take: Take) -> bool:
    """Return whether what a step takes is secret, by its own name or by that of its source."""
    sources = (name, take.json.rpartition(".")[2], take.header, *take.between[:1])
    return bool(take.cookie) or any(SECRET_NAME.search(source) for source in sources)
