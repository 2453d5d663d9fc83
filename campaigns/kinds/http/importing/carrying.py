"""Find values that an answer gave and a later request sends. Pure; nothing is taken without being shown.

A value counts where it has at least 8 characters, and no request up to that answer sent it: otherwise the client knew it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec

from campaigns.kinds.http.importing.recorded import Reply
from campaigns.kinds.http.program.judging import set_cookies

SHORTEST = 8
MOST_BEFORE = 60
LEAST_BEFORE = 12
MOST_PATH = 300
"""Letters of the path of a value in an answer."""
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
                found[value] = Source(position, take())
    for value in tokens:
        if value not in found and (source := _within(value, replies[: first_sent[value]])):
            found[value] = source
    return found


def values_of(reply: Reply) -> Iterator[tuple[str, Callable[[], Take]]]:
    """Yield the values of an answer as texts, with what returns the take of each: few of them are sent again.

    A path is yielded without its server, too.
    """
    for name, text in reply.headers:
        if name.lower() not in DULL_HEADERS and len(text) >= SHORTEST:
            yield from _also_as_path(text, partial(_take, "header", name))
    for name, text in set_cookies([(key.lower().encode("latin-1", "replace"), text.encode("latin-1", "replace"))
                                   for key, text in reply.headers]):  # fmt: skip
        if len(text) >= SHORTEST:
            yield text, partial(_take, "cookie", name)
    if reply.body[:1] in ("{", "["):
        try:
            document = msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, RecursionError):
            return
        for place, text in _leaves(document):
            yield from _also_as_path(text, partial(_json, place))


def _take(what: str, name: str) -> Take:
    return {what: name}


def _json(place: "Place") -> Take:
    return {"json": place.path}


def _also_as_path(text: str, take: Callable[[], Take]) -> Iterator[tuple[str, Callable[[], Take]]]:
    yield text, take
    if text.startswith(("http://", "https://")):
        try:
            parts = urlsplit(text)
        except ValueError:
            return
        if len(parts.path) >= SHORTEST:
            yield parts.path + (f"?{parts.query}" if parts.query else ""), take


class Place(NamedTuple):
    """Where a value of a document is: its path is made when somebody wants it, as that of each item would repeat all above it."""

    above: "Place | None"
    key: str | int
    letters: int

    @property
    def path(self) -> str:
        """Return the keys from the top, with points between them."""
        keys, place = [], cast("Place | None", self)
        while place is not None:
            keys.append(str(place.key))
            place = place.above
        return ".".join(reversed(keys))


def _leaves(document: Any) -> Iterator[tuple[Place, str]]:
    """Yield place and text of the texts and whole numbers of a document, from the top; none below a path that is too long."""
    level: list[tuple[Place | None, Any]] = [(None, document)]
    while level:
        following: list[tuple[Place | None, Any]] = []
        for above, container in level:
            for key, value in _items(container):
                letters = (above.letters + 1 if above else 0) + len(str(key))
                if letters > MOST_PATH:
                    continue
                if isinstance(value, dict | list):
                    following.append((Place(above, key, letters), value))
                elif (text := _text_of(value)) is not None:
                    yield Place(above, key, letters), text
        level = following


def _items(container: dict[str, Any] | list[Any]) -> Iterable[tuple[str | int, Any]]:
    """Return the items of a container that a path can name."""
    if isinstance(container, list):
        return enumerate(container)
    return ((key, value) for key, value in container.items() if key and "." not in key)


def _text_of(value: Any) -> str | None:
    """Return a text or a whole number that is long enough to be recognised; None for anything else."""
    if isinstance(value, str):
        return value if len(value) >= SHORTEST else None
    if isinstance(value, int) and abs(value) >= 10 ** (SHORTEST - 1):
        return str(value)
    return None


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
