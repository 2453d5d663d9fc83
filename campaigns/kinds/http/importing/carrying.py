"""Find values that an answer gave and a later request sends. Pure; nothing is taken without being shown.

A value counts where it has at least 8 characters, and no request up to that answer sent it: otherwise the client knew it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec

from campaigns.kinds.http.importing.recorded import Reply
from campaigns.kinds.http.program.judging import set_cookies

SHORTEST = 8
MOST_BEFORE = 60
LEAST_BEFORE = 12
DULL_HEADERS = frozenset({
    "date", "server", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive",
    "cache-control", "expires", "last-modified", "vary", "via", "age", "accept-ranges", "set-cookie", "strict-transport-security",
    "content-security-policy", "x-frame-options", "x-content-type-options", "x-xss-protection", "referrer-policy", "allow",
    "pragma", "p3p", "alt-svc", "access-control-allow-origin", "access-control-allow-headers", "access-control-allow-methods",
})  # fmt: skip
Take = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from: the position of the request, and what takes the value from its answer."""

    position: int
    take: Take


def sources(
    replies: Sequence[Reply | None], first_sent: dict[str, int], tokens: Iterable[str]
) -> dict[str, Source]:
    """Return the first answer of each value that is sent after it.

    first_sent: values that requests send, with the position of the first. tokens: those that are looked for within texts, too.
    """
    found: dict[str, Source] = {}
    for position, reply in enumerate(replies):
        if reply is None:
            continue
        for value, take in values_of(reply):
            if value not in found and first_sent.get(value, -1) > position:
                found[value] = Source(position, take)
    for value in tokens:
        if value not in found and (source := _within(value, replies[: first_sent[value]])):
            found[value] = source
    return found


def values_of(reply: Reply) -> Iterator[tuple[str, Take]]:
    """Yield the values of an answer as texts, with what takes them. A path is yielded without its server, too."""
    for name, text in reply.headers:
        if name.lower() not in DULL_HEADERS and len(text) >= SHORTEST:
            yield from _also_as_path(text, {"header": name})
    for name, text in set_cookies([(key.lower().encode("latin-1", "replace"), text.encode("latin-1", "replace"))
                                   for key, text in reply.headers]):  # fmt: skip
        if len(text) >= SHORTEST:
            yield text, {"cookie": name}
    if reply.body[:1] in ("{", "["):
        try:
            document = msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, RecursionError):
            return
        for path, text in _leaves(document):
            yield from _also_as_path(text, {"json": path})


def _also_as_path(text: str, take: Take) -> Iterator[tuple[str, Take]]:
    yield text, take
    if text.startswith(("http://", "https://")):
        try:
            parts = urlsplit(text)
        except ValueError:
            return
        if len(parts.path) >= SHORTEST:
            yield parts.path + (f"?{parts.query}" if parts.query else ""), take


def _leaves(document: Any) -> Iterator[tuple[str, str]]:
    """Yield path and text of the texts and whole numbers of a document, from the top."""
    level: list[tuple[str, Any]] = [("", document)]
    while level:
        following: list[tuple[str, Any]] = []
        for path, value in level:
            if isinstance(value, str):
                if len(value) >= SHORTEST and path:
                    yield path, value
            elif isinstance(value, int):
                if abs(value) >= 10 ** (SHORTEST - 1) and path:
                    yield path, str(value)
            elif isinstance(value, dict):
                dot = f"{path}." if path else ""
                following += [
                    (f"{dot}{key}", inner) for key, inner in value.items() if key and "." not in key
                ]
            elif isinstance(value, list):
                dot = f"{path}." if path else ""
                following += [(f"{dot}{place}", inner) for place, inner in enumerate(value)]
        level = following


def _within(value: str, replies: Sequence[Reply | None]) -> Source | None:
    """Return what takes a value from the first text that holds it, by the texts around it."""
    for position, reply in enumerate(replies):
        if reply is None or (at := reply.body.find(value)) < 0:
            continue
        end = at + len(value)
        line = max(reply.body.rfind("\n", 0, at), reply.body.rfind("\r", 0, at)) + 1
        after = reply.body[end : end + 1]
        if not after or re.match(r"[\w-]", after):
            continue
        for length in range(LEAST_BEFORE, MOST_BEFORE + 1):
            begin = max(line, at - length)
            before = reply.body[begin:at]
            if begin > line and re.match(r"\w\w", reply.body[begin - 1 : begin + 1]):
                continue  # it would begin within a word
            if before and reply.body.find(before) == at - len(before):
                return Source(position, {"between": [before, after]})
    return None
