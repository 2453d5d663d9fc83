"""Check an answer, and take values from it. No clock, no network."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from campaigns.kinds.http.program.scenario import Check, Scalar, Step, Take
from campaigns.kinds.http.program.striking import strike
from campaigns.kinds.load.failures import LoadFailed, of_status
from campaigns.kit.redaction import begin_of

MISSING = object()
MOST_SHOWN = 100
MOST_BODY_SHOWN = 200
CHECK = "check"
NOT_TOLD = "what an answer to a secret holds is not told"
POSITION = re.compile(r"-?\d{1,9}\Z", re.ASCII)
Path = tuple[tuple[str, int | None], ...]
"""Where a value is in JSON: keys, each with the position that it is in a list."""


class Answer(Protocol):
    """An answer. `headers` have lower-case names; instants are of perf_counter_ns."""

    status: int
    sent_ns: int
    done_ns: int

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """Its headers, where the judge asks for them."""

    @property
    def body(self) -> bytes:
        """Its body, where the judge asks for it."""


class Judge:
    """What the answer of a step has to be, and what is taken from it. needs_headers, needs_body: what it looks at.

    tells_numbers: no number in an answer can come from the secret that the step sends.
    """

    def __init__(self, step: Step, *, tells_numbers: bool = True) -> None:
        expect = step.expect
        self._tells_numbers = tells_numbers
        self.name = step.name
        self.statuses = expect.statuses
        self._type = expect.type.lower().encode()
        self._texts = [text.encode() for text in expect.texts]
        self._most_ns = int((expect.most_milliseconds or 0) * 1_000_000)
        self._checks = [(path, path_of(path), check) for path, check in expect.json.items()]
        self._takes = [(name, take, path_of(take.json)) for name, take in step.take.items()]
        self._json = bool(self._checks) or any(take.json for take in step.take.values())
        self.needs_headers = bool(self._type) or any(
            take.header or take.cookie for take in step.take.values()
        )
        self.needs_body = (
            self._json or bool(self._texts) or any(take.between for take in step.take.values())
        )
        self.only_status = not (
            self.needs_headers or self.needs_body or self._most_ns or self._takes
        )

    def accepts(self, status: int) -> bool:
        """Return whether a status is right."""
        return status in self.statuses if self.statuses else not of_status(status)

    def judged(self, answer: Answer) -> dict[str, Any]:
        """Return what is taken from an answer. Raise LoadFailed for one that is not as expected."""
        if not self.accepts(answer.status):
            raise self._wrong_status(answer)
        if self.only_status:
            return {}
        if self._most_ns and answer.done_ns - answer.sent_ns > self._most_ns:
            raise self._too_slow(answer)
        if self._type and not header_of(answer.headers, b"content-type").lower().startswith(
            self._type
        ):
            shown = header_of(answer.headers, b"content-type").decode("latin-1")
            raise self._wrong(
                f"the type is {strike(shown)[:MOST_SHOWN] or 'not told'}, expected {self._type.decode()}"
            )
        for text in self._texts:
            if text not in answer.body:
                raise self._wrong(f"{text.decode()[:MOST_SHOWN]!r} is not in the body")
        value = self._decoded(answer.body) if self._json else None
        for path, keys, check in self._checks:
            found = value_at(value, keys)
            if problem := _problem(path, found, check):
                raise self._wrong(problem, "") if self._is_told(found) else self._wrong(problem)
        return {name: self._taken(take, keys, answer, value) for name, take, keys in self._takes}

    def judged_without_texts(self, answer: Answer) -> dict[str, Any]:
        """Return what is taken whole from an answer of which no text is looked at. Raise LoadFailed.

        For a try of a step that sends a secret: whether a text is in the answer, or what stands between two texts, would tell the
        secret letter by letter. Its status, its time, and numbers in it are checked.
        """
        if not self.accepts(answer.status):
            raise self._wrong_status(answer)
        if self._most_ns and answer.done_ns - answer.sent_ns > self._most_ns:
            raise self._too_slow(answer)
        whole = [(name, take, keys) for name, take, keys in self._takes if not take.between]
        value = None
        if self._checks or any(take.json for _, take, _ in whole):
            with suppress(LoadFailed):  # then nothing is where it should be, which is told
                value = self._decoded(answer.body)
        for path, keys, check in self._checks:
            found = value_at(value, keys)
            if self._is_told(found) and (problem := _problem(path, found, check)):
                raise self._wrong(problem, "")
        return {name: self._taken(take, keys, answer, value) for name, take, keys in whole}

    def _is_told(self, found: Any) -> bool:
        """Return whether a value is told of an answer to a secret."""
        return found is MISSING or found is None or (self._tells_numbers and _is_scalar(found))

    def _wrong(
        self, text: str, unquoted: str = f"the answer is not as expected; {NOT_TOLD}"
    ) -> LoadFailed:
        unquoted = unquoted and f"{self.name}: {unquoted}"
        return LoadFailed(CHECK, f"{self.name}: {text}", unquoted=unquoted)

    def _too_slow(self, answer: Answer) -> LoadFailed:
        spent, most = answer.done_ns - answer.sent_ns, self._most_ns
        text = f"took {spent / 1e6:.1f} ms, expected at most {most / 1e6:g} ms"
        return LoadFailed(CHECK, f"{self.name}: {text}")

    def _wrong_status(self, answer: Answer) -> LoadFailed:
        """Return the failure of a status: errors of the server by their class, others as a check."""
        kind = of_status(answer.status)
        kind = kind if kind and answer.status >= 400 else CHECK
        expected = (
            f", expected {' or '.join(map(str, sorted(self.statuses)))}" if self.statuses else ""
        )
        text = _begin(answer.body)
        shown = f": {text}" if text.strip() else ""
        message = f"{self.name}: the server answered {answer.status}{expected}"
        return LoadFailed(kind, message + shown, status=answer.status, unquoted=message)

    def _decoded(self, body: bytes) -> Any:
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            message = f"{self.name}: the body is no JSON"
            raise LoadFailed("protocol", f"{message}: {_begin(body)}", unquoted=message) from None

    def _taken(self, take: Take, keys: Path, answer: Answer, value: Any) -> Any:
        if take.json:
            found, where = value_at(value, keys), take.json
        elif take.header:
            name = take.header.lower().encode("latin-1", errors="replace")
            found = header_of(answer.headers, name).decode("latin-1") or MISSING
            where = f"the header {take.header}"
        elif take.cookie:
            found = next(
                (text for name, text in set_cookies(answer.headers) if name == take.cookie), MISSING
            )
            where = f"the cookie {take.cookie}"
        else:
            before, after = take.between
            found, where = _between(answer.body, before.encode(), after.encode()), f"{before!r}"
        if found is MISSING:
            # Which texts are not around it says something about the answer.
            unquoted = f"{self.name}: nothing to take; {NOT_TOLD}" if take.between else ""
            message = f"{self.name}: nothing at {where[:MOST_SHOWN]}"
            raise LoadFailed("protocol", message, unquoted=unquoted)
        return found


def _begin(body: bytes) -> str:
    """Return the begin of a body for a message. It is struck before it is cut: half a secret is one, too."""
    text = bytes(body[: 8 * MOST_BODY_SHOWN]).decode(errors="replace")
    return begin_of(strike(begin_of(text, 4 * MOST_BODY_SHOWN)), MOST_BODY_SHOWN)


def path_of(text: str) -> Path:
    """Return the keys of `results.0.href`, and the positions that they are where they are read in a list."""
    keys = text.split(".") if text else ()
    return tuple((key, int(key) if POSITION.match(key) else None) for key in keys)


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path; MISSING where there is none."""
    for key, position in path:
        if isinstance(value, dict):
            if key not in value:
                return MISSING
            value = value[key]
        elif (
            position is not None
            and isinstance(value, list)
            and -len(value) <= position < len(value)
        ):
            value = value[position]
        else:
            return MISSING
    return value


def header_of(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Return the first value of a header (lower-case name); empty where there is none."""
    return next((value for key, value in headers if key == name), b"")


def set_cookies(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return names and values of the cookies that an answer sets; one that it deletes is empty."""
    cookies = []
    for key, value in headers:
        if key != b"set-cookie":
            continue
        pair, *attributes = value.decode("latin-1").split(";")
        name, equals, text = pair.partition("=")
        gone = any(
            each.strip().lower().replace(" ", "") in ("max-age=0", "max-age=-1")
            for each in attributes
        )
        if equals and name.strip():
            cookies.append((name.strip(), "" if gone else text.strip()))
    return cookies


def _between(body: bytes, before: bytes, after: bytes) -> Any:
    start = body.find(before)
    if start < 0:
        return MISSING
    start += len(before)
    end = body.find(after, start)
    return body[start:end].decode(errors="replace") if end >= 0 else MISSING


def _problem(path: str, found: Any, check: Check | Scalar) -> str:
    """Return why a value is not what it has to be; empty where it is."""
    if not isinstance(check, Check):
        return "" if _same(found, check) else f"{path} is {_shown(found)}, expected {_shown(check)}"
    if check.present is not UNSET and check.present == (found is MISSING):
        return f"{path} is {'not there' if check.present else 'there'}"
    wanted: list[tuple[bool, str]] = []
    if check.is_ is not UNSET:
        wanted.append((_same(found, check.is_), _shown(check.is_)))
    if check.at_least is not UNSET:
        wanted.append(
            (_is_number(found) and found >= check.at_least, f"at least {check.at_least:g}")
        )
    if check.at_most is not UNSET:
        wanted.append((_is_number(found) and found <= check.at_most, f"at most {check.at_most:g}"))
    for right, expected in wanted:
        if not right:
            return f"{path} is {_shown(found)}, expected {expected}"
    return ""


def _same(found: Any, wanted: Any) -> bool:
    return isinstance(found, bool) == isinstance(wanted, bool) and bool(found == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _shown(value: Any) -> str:
    if value is MISSING:
        return "not there"
    text = msgspec.json.encode(value[: 8 * MOST_SHOWN] if isinstance(value, str) else value)
    begin = begin_of(text[: 8 * MOST_SHOWN].decode(errors="replace"), 4 * MOST_SHOWN)
    return begin_of(strike(begin), MOST_SHOWN)
