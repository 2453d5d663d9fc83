"""Strike out secrets in what is shown of requests and answers: known ones, and those that their names give away. Pure."""

import re
from collections.abc import Iterable

from campaigns.kinds.http.program.scenario import Take
from campaigns.kit.redaction import REDACTED, redact

SECRET_NAME = re.compile(
    r"pass(word|wd|phrase)|token|secret|api[-_]?key|credential|authori[sz]ation|cookie|session|csrf|private[-_]?key",
    re.IGNORECASE,
)
_NAMED = rf"[\w.-]*(?:{SECRET_NAME.pattern})[\w.-]*"
IN_JSON = re.compile(rf'("{_NAMED}"\s*:\s*")((?:[^"\\]|\\.)*)', re.IGNORECASE)
IN_FORM = re.compile(rf"((?:^|[?&;\s]){_NAMED}=)([^&;\s]+)", re.IGNORECASE)
SCHEMES = re.compile(r"\b(Basic|Bearer|Digest)\s+[\w.~+/=-]{4,}", re.IGNORECASE)
PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END|\Z)", re.DOTALL)


def strike(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without remembered secrets (`redaction`), these ones, and values whose names say that they are secret."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = IN_JSON.sub(rf"\1{REDACTED}", redact(text))
    text = IN_FORM.sub(rf"\1{REDACTED}", text)
    text = SCHEMES.sub(rf"\1 {REDACTED}", text)
    return PEM.sub(rf"\1{REDACTED}\2", text)


def strike_named(name: str, text: str, secrets: Iterable[str] = ()) -> str:
    """Return a value that has a name, such as a header; of one that is secret by its name only that it is there."""
    return REDACTED if SECRET_NAME.search(name) else strike(text, secrets)


def is_secret(name: str, take: Take) -> bool:
    """Return whether what a step takes is secret, by its own name or by that of its source."""
    sources = (name, take.json.rpartition(".")[2], take.header, *take.between[:1])
    return bool(take.cookie) or any(SECRET_NAME.search(source) for source in sources)
