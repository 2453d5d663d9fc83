"""Compile the steps of a scenario into constant bytes and what fills the gaps. No clock, no network.

A request is a row of pieces: bytes, or a function of the round's values. One without names is a single `bytes`. What its answer
has to be is in `judging`.
"""

import random
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import msgspec

from campaigns.kinds.http.program.judging import Judge
from campaigns.kinds.http.program.names import (
    GIVEN,
    PASSWORD,
    RANDOM,
    names_in,
    range_of,
    split,
    texts_in,
)
from campaigns.kinds.http.program.scenario import Scenario, Step
from campaigns.kinds.http.program.striking import strike
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kit.redaction import begin_of

Values = dict[str, Any]
"""Values of a round by name; under RANDOM the host's random numbers, under COOKIES its cookies."""
Fill = Callable[[Values], bytes]
Piece = bytes | Fill

COOKIES = " cookies"
CARRY_BODIES = frozenset({"POST", "PUT", "PATCH"})
IDEMPOTENT = frozenset({"GET", "PUT", "DELETE", "OPTIONS"})
"""Methods whose requests are sent once more where a kept connection was dropped before any answer."""
MOST_SHOWN = 80
SAFE = "/?&=%:@!$'()*+,;~-._[]"
"""What stands in a path as it is, besides letters and digits."""
UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*\Z")
PATH = re.compile(rf"[A-Za-z0-9{re.escape(SAFE)}]*\Z")
"""Texts that need no percent-encoding."""
LIKE_JSON = re.compile(r"[-+.0-9eE]+\Z|.*[][{},\"\s]", re.DOTALL)
"""Passwords that a body written as JSON could turn into a number, or into several values."""


class Unsendable(ValueError):
    """A value cannot stand where the scenario puts it."""


@dataclass(frozen=True, slots=True)
class Place:
    """What requests tell of target and sender. close: a connection for each request.

    user, password: of the target, or of the credential that takes its place; token: of a credential, in place of both.
    signs_in: each request is signed in, also where the scenario does not say so.
    """

    scheme: str
    host_header: str
    sender: str = "perfdash"
    user: str = ""
    password: str = field(default="", repr=False)
    close: bool = False
    token: str = field(default="", repr=False)
    signs_in: bool = False

    @property
    def secret(self) -> str:
        """The secret that signs a request in; empty where there is none."""
        return self.token or self.password

    @property
    def authorization(self) -> bytes:
        """The header that signs a request in."""
        if self.token:
            return b"Authorization: Bearer %b\r\n" % self.token.encode()
        login = b64encode(f"{self.user}:{self.password}".encode())
        return b"Authorization: Basic %b\r\n" % login


@dataclass(frozen=True, slots=True)
class Compiled:
    """A step as it is executed. data: the whole request where it has no names; else empty.

    named: the names in it. needs: those of them that other steps take, without which it cannot be done. signs_in: it sends the
    password of the target as its login. sends_secret: it may send that password, or what was taken from an answer to it.
    """

    step: Step
    head: Fill
    body: Fill | None
    named: frozenset[str]
    needs: frozenset[str]
    judge: Judge
    signs_in: bool = False
    sends_secret: bool = False
    data: bytes = b""

    @property
    def name(self) -> str:
        """The step's name."""
        return self.step.name

    @property
    def may_repeat(self) -> bool:
        """Whether its request may be sent once more after a dropped connection."""
        return self.step.method in IDEMPOTENT

    def build(self, values: Values) -> bytes:
        """Return the request of a round. Raise LoadFailed where a value cannot stand where it should."""
        if self.data:
            return self.data
        try:
            head = self.head(values)
            if self.body is None:
                return head
            body = self.body(values)
        except Unsendable as problem:
            unquoted = f"{self.name}: a value cannot stand where the step puts it"
            raise LoadFailed("protocol", f"{self.name}: {problem}", unquoted=unquoted) from None
        return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


def compiled_steps(
    scenario: Scenario, steps: Sequence[Step], place: Place, known: Iterable[str] = ()
) -> list[Compiled]:
    """Compile steps that are done in this order. known: names of values that are there in any case."""
    there = frozenset(known) | GIVEN.keys()
    taken = frozenset(name for _, _, step in scenario.parts() for name in step.take) - there
    secret = secret_names(scenario, place)
    return [
        replace(compiled, sends_secret=compiled.signs_in or bool(compiled.named & secret))
        for compiled in (_compiled(scenario, step, place, taken) for step in steps)
    ]


def secret_names(scenario: Scenario, place: Place) -> frozenset[str]:
    """Return the names whose values are the target's password, or may come from an answer to it, in any round."""
    if not place.secret:
        return frozenset()
    names, size = {PASSWORD}, 0
    steps = [(step, _named(scenario, step)) for _, _, step in scenario.parts()]
    while len(names) > size:
        size = len(names)
        for step, named in steps:
            if named & names or _signs_in(scenario, step, place):
                names.update(step.take)
                if scenario.cookies != "drop":
                    names.add(COOKIES)
    return frozenset(names)


def _signs_in(scenario: Scenario, step: Step, place: Place) -> bool:
    """Return whether a step sends the password of the target as its login."""
    has_own = any(name.lower() == "authorization" for name in (*scenario.headers, *step.headers))
    return asks_for_login(scenario, place) and bool(place.secret) and not has_own


def asks_for_login(scenario: Scenario, place: Place) -> bool:
    """Return whether requests are signed in, unless they have a header of their own."""
    return place.signs_in or scenario.login == "target"


def _named(scenario: Scenario, step: Step) -> frozenset[str]:
    """Return the names that a request of a step asks for."""
    cookies = () if scenario.cookies == "drop" else (COOKIES,)
    return frozenset((*_names_of(scenario, step), *cookies))


def _compiled(scenario: Scenario, step: Step, place: Place, taken: frozenset[str]) -> Compiled:
    body, content_type = _body(step)
    pieces: list[Piece] = [f"{step.method} ".encode(), *_path(step.path, place), b" HTTP/1.1\r\n"]
    headers = _headers(scenario, step, place, content_type)
    for name, text in headers:
        pieces += [f"{name}: ".encode("latin-1"), *_header(text), b"\r\n"]
    has_own = any(name.lower() == "authorization" for name, _ in headers)
    if asks_for_login(scenario, place) and not has_own:
        pieces.append(place.authorization)
    if place.close:
        pieces.append(b"Connection: close\r\n")
    named = _named(scenario, step)
    if scenario.cookies != "drop":
        pieces.append(_cookies)
    if body is None:
        empty = b"Content-Length: 0\r\n" if step.method in CARRY_BODIES else b""
        pieces.append(empty + b"\r\n")
    compiled = Compiled(
        step=step,
        head=_filler(pieces),
        body=None if body is None else _filler(body),
        named=named,
        needs=named & taken,
        judge=Judge(step, tells_numbers=not LIKE_JSON.match(place.secret)),
        signs_in=_signs_in(scenario, step, place),
    )
    return compiled if named else replace(compiled, data=compiled.build({}))


def _headers(
    scenario: Scenario, step: Step, place: Place, content_type: str
) -> list[tuple[str, str]]:
    """Return the headers of a request; those of the step replace the scenario's, and both ours."""
    ours = {
        "Host": place.host_header,
        "User-Agent": place.sender,
        "Accept": "*/*",
    }
    if content_type:
        ours["Content-Type"] = content_type
    merged: dict[str, tuple[str, str]] = {}
    for headers in (ours, scenario.headers, step.headers):
        for name, text in headers.items():
            merged[name.lower()] = (name, text)
    return list(merged.values())


def _names_of(scenario: Scenario, step: Step) -> Iterator[str]:
    yield from names_in(step.path)
    for text in (*scenario.headers.values(), *step.headers.values(), step.body or ""):
        yield from names_in(text)
    for value in (step.form, None if step.json is msgspec.UNSET else step.json):
        for text in texts_in(value):
            yield from names_in(text)


# Pieces


def _filler(pieces: Iterable[Piece]) -> Fill:
    """Return what writes the pieces with the values of a round: a request's cost, so one `%` instead of a join."""
    parts: list[bytes] = []
    fills: list[Fill] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            parts.append(piece.replace(b"%", b"%%"))
        else:
            parts.append(b"%b")
            fills.append(piece)
    template = b"".join(parts)
    if len(fills) == 1:
        (fill,) = fills
        return lambda values: template % fill(values)
    return lambda values: template % tuple([fill(values) for fill in fills])


def _filled(
    text: str, constant: Callable[[str], bytes], encode: Callable[[Any], bytes]
) -> list[Piece]:
    """Return the pieces of a text. constant, encode: of its own parts, and of values."""
    return [_value(part, encode) if is_name else constant(part) for part, is_name in split(text)]


def _value(name: str, encode: Callable[[Any], bytes]) -> Piece:
    """Return what gives the value of a name, encoded."""
    if (bounds := range_of(name)) is not None:
        low, high = bounds
        return lambda values: encode(values[RANDOM].randint(low, high))
    return lambda values: encode(values[name])


def text_of(value: Any) -> str:
    """Return a value as text: true and false in small letters, null as nothing, objects as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(
        value, (bool, list, dict)
    ):  # a third of the time of `bool | list | dict`, for each request
        return msgspec.json.encode(value).decode()
    return str(value)


def _path(path: str, place: Place) -> list[Piece]:
    """Return the pieces of a path. Values are percent-encoded; one at the beginning is a path that the server sent."""

    def constant(text: str) -> bytes:
        return quote(text, safe=SAFE).encode()

    def encoded(value: Any) -> bytes:
        text = text_of(value)
        return (text if UNRESERVED.match(text) else quote(text, safe="")).encode()

    def sent(value: Any) -> bytes:
        return _own_path(text_of(value), place).encode()

    parts = split(path)
    pieces = _filled(path, constant, encoded)
    if parts and parts[0][1]:
        pieces[0] = _value(parts[0][0], sent)
    return pieces


def _own_path(text: str, place: Place) -> str:
    """Return a path that the server sent, which may be a whole URL on it. Raise Unsendable where it leads elsewhere."""
    if not text.startswith("/") or text.startswith("//"):
        try:
            parts = urlsplit(text)
        except ValueError:
            raise Unsendable(f"{_begin(text)!r} is no path on the target") from None
        scheme = parts.scheme or place.scheme
        if not parts.netloc or (scheme, parts.netloc.lower()) != (
            place.scheme,
            place.host_header.lower(),
        ):
            raise Unsendable(f"{_begin(text)!r} is no path on the target")
        text = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return text if PATH.match(text) else quote(text.partition("#")[0], safe=SAFE)


def _begin(text: str) -> str:
    """Return the begin of a value for a message. It is struck before it is cut: half a secret is one, too."""
    return begin_of(strike(begin_of(text, 4 * MOST_SHOWN)), MOST_SHOWN)


def _header(text: str) -> list[Piece]:
    def encoded(value: Any) -> bytes:
        written = text_of(value)
        if any(mark in written for mark in "\r\n\0"):
            raise Unsendable(f"a header may hold no line end: {_begin(written)!r}")
        return written.encode("latin-1", errors="replace")

    return _filled(text, lambda part: part.encode("latin-1"), encoded)


def _cookies(values: Values) -> bytes:
    jar: dict[str, str] = values[COOKIES]
    if not jar:
        return b""
    return f"Cookie: {'; '.join(f'{name}={text}' for name, text in jar.items())}\r\n".encode(
        "latin-1"
    )


def _body(step: Step) -> tuple[list[Piece] | None, str]:
    """Return the pieces of the body, None without one, and its content type."""
    if step.json is not msgspec.UNSET:
        return _json(step.json), "application/json"
    if step.form is not None:
        return list(_form(step.form)), "application/x-www-form-urlencoded"
    if step.body is not None:
        return _filled(step.body, str.encode, lambda value: text_of(value).encode()), ""
    return None, ""


def _json(value: Any) -> list[Piece]:
    """Return the pieces of JSON; a text that is one name alone keeps the type of its value."""
    if isinstance(value, str):
        parts = split(value)
        if len(parts) == 1 and parts[0][1]:
            return [_value(parts[0][0], msgspec.json.encode)]
        return _text(value)
    if isinstance(value, dict):
        members = [[*_text(str(key)), b":", *_json(inner)] for key, inner in value.items()]
        return [b"{", *_separated(members, b","), b"}"]
    if isinstance(value, list):
        return [b"[", *_separated([_json(inner) for inner in value], b","), b"]"]
    return [msgspec.json.encode(value)]


def _text(text: str) -> list[Piece]:
    return [b'"', *_filled(text, _inside_text, lambda each: _inside_text(text_of(each))), b'"']


def _inside_text(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def _form(fields: dict[str, Any]) -> Iterator[Piece]:
    def filled(text: str) -> list[Piece]:
        return _filled(text, _plus, lambda each: _plus(text_of(each)))

    members = [[*filled(name), b"=", *filled(text_of(value))] for name, value in fields.items()]
    return _separated(members, b"&")


def _plus(text: str) -> bytes:
    return quote_plus(text).encode()


def _separated(members: Sequence[Sequence[Piece]], separator: bytes) -> Iterator[Piece]:
    for number, member in enumerate(members):
        if number:
            yield separator
        yield from member


def random_numbers(seed: int, host: int) -> random.Random:
    """Return the random numbers of a host, the same in each run."""
    return random.Random(f"{seed} {host}")
