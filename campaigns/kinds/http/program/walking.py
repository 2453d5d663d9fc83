"""Do steps once, one after the other, on one connection, and note each request and answer: before and after the load, and for a try.

Not measured, and not part of the load. No Django.
"""

import asyncio
import random
import ssl
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid5

import msgspec

from campaigns.kinds.http.program.compiling import (
    COOKIES,
    Compiled,
    Place,
    Values,
    compiled_steps,
    text_of,
)
from campaigns.kinds.http.program.judging import path_of, set_cookies, value_at
from campaigns.kinds.http.program.names import PASSWORD, RANDOM
from campaigns.kinds.http.program.playing import UUIDS
from campaigns.kinds.http.program.reading import Loaded
from campaigns.kinds.http.program.scenario import Prove, Step
from campaigns.kinds.http.program.striking import is_secret, strike, strike_named
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.wire import MOST_STORED_BYTES, Answer, Wire, open_connection
from campaigns.kinds.programs.pinned import Pinned
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.network import Rules
from campaigns.kit.redaction import ORDINARY, REDACTED, SHORTEST, begin_of, forms_of

MOST_SHOWN_BYTES = 4096
MOST_DISCARDED_BYTES = 64 * 1024 * 1024
LOOK_SECONDS = 0.1
LEFT_OUT = "left out: a try takes no text from within an answer to a secret (take: between)"


@dataclass(frozen=True, slots=True)
class Shown:
    """A request or an answer as it may be shown: bounded, without secrets. bytes: of the whole body."""

    line: str
    headers: list[tuple[str, str]]
    body: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """A step that was done, or was left out. failure: its class; empty where the answer is as expected.

    withheld: request or answer hold a secret, or what came from an answer to one; of the answer only the status is there, of what is taken the names.
    """

    step: str
    request: Shown | None
    answer: Shown | None
    milliseconds: float | None
    taken: dict[str, str]
    failure: str = ""
    message: str = ""
    withheld: bool = False


@dataclass(slots=True)
class Walk:
    """How steps are done once: where, as whom, how long, and with which values. check: called all the while.

    trying: somebody sees the exchanges, and may choose what is asked; see `Judge.judged_without_texts`. secrets: values that were
    taken or set on the way, and are not shown. secret_names: of the target's password, and of what was taken from answers to it.
    pieces: names that a try does not take.
    """

    loaded: Loaded
    pinned: Pinned
    rules: Rules
    tls_context: ssl.SSLContext | None
    check: Callable[[], None] = lambda: None
    sender: str = "perfdash"
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    signs_in: bool = False
    attempt: int = 0
    timeout_seconds: float = 10.0
    most_per_second: float | None = None
    taken: dict[str, Any] = field(default_factory=dict)
    trying: bool = False
    secrets: list[str] = field(default_factory=list)
    secret_names: set[str] = field(default_factory=set)
    pieces: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.password:
            self.secret_names.add(PASSWORD)

    @property
    def place(self) -> Place:
        """What requests tell of target and sender."""
        return Place(
            self.pinned.scheme,
            self.pinned.host_header,
            self.sender,
            self.user,
            self.password,
            token=self.token,
            signs_in=self.signs_in,
        )

    def values(self) -> Values:
        """Return the values that every step may use: those of host 0 and its first round."""
        seed = self.loaded.scenario.seed
        return {
            **{name: column[0] for name, column in self.loaded.columns.items()},
            **self.taken,
            "host": 0,
            "round": 0,
            "number": 0,
            "uuid": str(uuid5(UUIDS, f"{seed} 0")),
            "attempt": self.attempt,
            "target_user": self.user,
            "target_password": self.password,
            RANDOM: random.Random(f"{seed} 0"),
            COOKIES: {},
        }


@dataclass(frozen=True, slots=True)
class Walked:
    """What came of it. taken: the values by name, unlike those of exchanges whole."""

    exchanges: list[Exchange]
    taken: dict[str, Any]

    @property
    def failed(self) -> Exchange | None:
        """The first step that failed."""
        return next((each for each in self.exchanges if each.failure), None)


def walk(walk: Walk, steps: Sequence[Step], seconds: float, *, to_the_end: bool = False) -> Walked:
    """Do steps once within a number of seconds; the first that fails ends it, unless to_the_end.

    What `walk.check` raises ends it, too. No other thread sees its event loop.
    """
    return asyncio.run(_checked(walk, _Walker(walk, steps, seconds, to_the_end=to_the_end).go()))


def counter(walk: Walk, proof: Prove, seconds: float) -> float:
    """Return the number that a counter of the target shows. Raise LoadFailed."""
    step = Step(name="prove", get=proof.get)
    walker = _Walker(walk, [step], seconds, to_the_end=False)
    asyncio.run(_checked(walk, walker.go()))
    if walker.problem is not None:
        raise walker.problem
    assert walker.last is not None  # noqa: S101 - there is an answer without a problem
    try:
        value = value_at(walker.decoded(), path_of(proof.json))
    except ValueError:
        raise LoadFailed("protocol", f"{proof.get}: the body is no JSON") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LoadFailed("protocol", f"{proof.get}: no number at {proof.json}")
    return float(value)


async def _checked(walk: Walk, doing: Coroutine[Any, Any, Walked]) -> Walked:
    """Wait for it, and call the check all the while."""
    task = asyncio.ensure_future(doing)
    try:
        while not task.done():
            walk.check()
            await asyncio.wait([task], timeout=LOOK_SECONDS)
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


class _Walker:
    def __init__(
        self, walk: Walk, steps: Sequence[Step], seconds: float, *, to_the_end: bool
    ) -> None:
        self.walk = walk
        self.until = time.monotonic() + seconds
        self.to_the_end = to_the_end
        self.steps = compiled_steps(walk.loaded.scenario, steps, walk.place, walk.taken)
        self.values = walk.values()
        self.taken: dict[str, Any] = {}
        self.wire: Wire | None = None
        self.pacer = Pacer(walk.most_per_second)
        self.last: Answer | None = None
        self.problem: LoadFailed | None = None
        self.has_secret_cookies = False
        secrets = (walk.password, walk.token) if walk.trying else ()
        self.forms = [form for secret in secrets for form in _forms_of(secret)]

    def decoded(self) -> Any:
        """Return the JSON of the last answer. Raise ValueError."""
        assert self.last is not None  # noqa: S101
        try:
            return msgspec.json.decode(self.last.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(str(error)) from None

    async def go(self) -> Walked:
        exchanges = []
        try:
            for step in self.steps:
                exchange = await self._one(step)
                exchanges.append(exchange)
                if exchange.failure and not self.to_the_end:
                    break
        finally:
            if self.wire is not None:
                self.wire.close()
        return Walked(exchanges, self.taken)

    async def _one(self, step: Compiled) -> Exchange:
        walk, secret = self.walk, self._sends_secret(step)
        if missing := sorted(step.needs - self.values.keys()):
            if walk.pieces.issuperset(missing):
                walk.pieces |= step.step.take.keys()
                return Exchange(step.name, None, None, None, {}, "", LEFT_OUT, withheld=True)
            message = f"not done: {', '.join(missing)} was not taken"
            return Exchange(step.name, None, None, None, {}, "skipped", message)
        request: bytes = b""
        answer: Answer | None = None
        taken: dict[str, Any] = {}
        self.problem = None
        try:
            request = step.build(self.values)
            answer = self.last = await self._asked(request, discard=step.step.answer == "discard")
            secret = secret or self._holds_password(answer)
            if secret:
                self._note_names(step)
            self._keep_cookies(answer, secret=secret)
            judge = step.judge
            taken = (
                judge.judged_without_texts(answer)
                if secret and walk.trying
                else judge.judged(answer)
            )
        except LoadFailed as failure:
            self.problem = failure.without_quotes() if secret else failure
        self.values |= taken
        self.taken |= taken
        self._note_secrets(step.step, taken, answer, secret=secret)
        secrets = walk.secrets
        shown = None
        if answer is not None:
            shown = (
                Shown(str(answer.status), [], "", 0) if secret else _shown_answer(answer, secrets)
            )
        values = {
            name: REDACTED if secret else _shown_value(name, value, secrets)
            for name, value in taken.items()
        }
        return Exchange(
            step=step.name,
            request=self._shown_request(step, request),
            answer=shown,
            milliseconds=None if answer is None else (answer.done_ns - answer.sent_ns) / 1e6,
            taken=values,
            failure=self.problem.kind if self.problem else "",
            message=strike(str(self.problem), secrets)[:500] if self.problem else "",
            withheld=secret,
        )

    def _sends_secret(self, step: Compiled) -> bool:
        """Return whether a request holds the target's password, or what came from an answer to it."""
        cookies = self.has_secret_cookies and COOKIES in step.named
        return step.signs_in or cookies or bool(step.named & self.walk.secret_names)

    def _holds_password(self, answer: Answer) -> bool:
        """Return whether an answer holds the password, which an earlier step may have stored at the target."""
        parts = (answer.body, *(value for _, value in answer.headers))
        return any(form in part for form in self.forms for part in parts)

    def _note_names(self, step: Compiled) -> None:
        """Note what a step takes, whether it is there or not: that would tell something, too."""
        takes = step.step.take
        self.walk.secret_names |= takes.keys()
        if self.walk.trying:
            self.walk.pieces |= {name for name, take in takes.items() if take.between}

    def _shown_request(self, step: Compiled, request: bytes) -> Shown | None:
        """Return a request as it may be shown: without what came from answers to a secret, and without its length."""
        if not request:
            return None
        hidden = step.named & self.walk.secret_names
        if hidden:
            try:
                request = step.build({**self.values, **dict.fromkeys(hidden, REDACTED)})
            except LoadFailed:  # it begins the path
                return Shown(f"{step.step.method} {REDACTED} HTTP/1.1", [], "", 0)
        return _shown(request, self.walk.secrets)

    async def _asked(self, request: bytes, *, discard: bool) -> Answer:
        left = self.until - time.monotonic()
        if left <= 0:
            raise LoadFailed("timeout", "the time for all steps was over")
        while (wait := self.pacer.left()) > 0:
            await asyncio.sleep(wait)
        self.pacer.begin(self.pacer.clock())
        seconds = min(left, self.walk.timeout_seconds)
        if self.wire is None or not (self.wire.open and self.wire.keep_alive):
            self.wire = await open_connection(
                self.walk.pinned, self.walk.rules, self.walk.tls_context, seconds, seconds
            )
        self.wire.most_bytes = MOST_DISCARDED_BYTES if discard else MOST_STORED_BYTES
        return await self.wire.ask(request, seconds)

    def _note_secrets(
        self, step: Step, taken: Mapping[str, Any], answer: Answer | None, *, secret: bool
    ) -> None:
        """Note what is not shown from here on: cookies, and what is secret by its name or source."""
        found = [
            text_of(taken[name]) for name in taken if secret or is_secret(name, step.take[name])
        ]
        if answer is not None:
            found += [text for _, text in set_cookies(answer.headers)]
        known = self.walk.secrets
        known += [text for text in found if len(text) >= SHORTEST and text not in known]

    def _keep_cookies(self, answer: Answer, *, secret: bool) -> None:
        if self.walk.loaded.scenario.cookies == "drop":
            return
        self.has_secret_cookies |= secret
        for name, text in set_cookies(answer.headers):
            if text:
                self.values[COOKIES][name] = text
            else:
                self.values[COOKIES].pop(name, None)


def _forms_of(password: str) -> list[bytes]:
    """Return the forms of a password by which it is found in an answer; none of one that is found in ordinary words."""
    if len(password) < SHORTEST or password in ORDINARY:
        return []
    return [form.encode(errors="surrogateescape") for form in set(forms_of(password)) if form]


def _shown(request: bytes, secrets: Sequence[str]) -> Shown:
    head, _, body = request.partition(b"\r\n\r\n")
    line, *headers = head.decode("latin-1").split("\r\n")
    pairs = [(name, text) for name, _, text in (each.partition(": ") for each in headers)]
    shown = _shown_headers(pairs, secrets)
    return Shown(strike(line, secrets), shown, _shown_body(body, secrets), len(body))


def _shown_answer(answer: Answer, secrets: Sequence[str]) -> Shown:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
    shown = _shown_headers(pairs, secrets)
    return Shown(str(answer.status), shown, _shown_body(answer.body, secrets), len(answer.body))


def _shown_headers(
    pairs: Sequence[tuple[str, str]], secrets: Sequence[str]
) -> list[tuple[str, str]]:
    return [(name, strike_named(name, text, secrets)[:1000]) for name, text in pairs[:100]]


def _shown_body(body: bytes, secrets: Sequence[str]) -> str:
    """Return the begin of a body, if it is text. It is struck before it is cut: half a secret is one, too."""
    text = begin_of(body[: 8 * MOST_SHOWN_BYTES].decode(errors="replace"), 4 * MOST_SHOWN_BYTES)
    if text.count("\N{REPLACEMENT CHARACTER}") > len(text) // 20:
        return "(no text)" if text else ""
    return strike(text, secrets)[:MOST_SHOWN_BYTES]


def _shown_value(name: str, value: Any, secrets: Sequence[str]) -> str:
    return strike_named(name, text_of(value), secrets)[:200]
