"""From recorded requests to the draft of a scenario: proposals to tick, values to carry, and what was struck out. Pure.

`sketch_of` makes the sketch, which holds no secret; `written` writes the scenario of what was ticked. In between a sketch may go to a
browser and back as JSON. Texts of its steps hold marks (`recorded`) where a value is filled in.
"""

import binascii
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

import msgspec
import yaml
from msgspec import Struct

from campaigns.kinds.http.importing.carrying import SHORTEST, Source, sources
from campaigns.kinds.http.importing.recorded import (
    CLOSES,
    OPENS,
    BadImport,
    Recorded,
    Recording,
    named,
    quoted,
)
from campaigns.kinds.http.importing.secret_values import (
    STRUCK,
    TOKENS,
    is_one_time_code,
    is_password_name,
    is_random,
    is_secret_name,
    is_user_name,
)
from campaigns.kinds.http.program.judging import set_cookies
from campaigns.kinds.http.program.names import GIVEN, PASSWORD, RANDOM
from campaigns.kinds.http.program.reading import (
    CONTROL,
    HEADER_NAME,
    MOST_BYTES,
    is_latin,
    scalar_of,
)
from campaigns.kinds.http.program.scenario import METHODS, MOST_STEPS
from campaigns.kinds.http.program.striking import strike
from campaigns.kit.numbers import counted
from campaigns.kit.redaction import ORDINARY
from campaigns.kit.redaction import SHORTEST as SHORTEST_SECRET
from campaigns.kit.yaml_text import Dumper, as_yaml, written_text

MOST_PROPOSALS = 2000
"""A Pulp with its plug-ins has 1,000 operations, and a Katello 850."""
MOST_OFFERS = 200
MOST_LISTED = 5
"""Names in a message."""
MOST_TOKENS = 300
"""That are looked for within the texts of answers."""
MOST_PREFIXES = 20
MOST_BODY = 64 * 1024
MOST_BODIES = 1024 * 1024
LEAST_THINK = 0.05
LEAST_RANDOM = 10
"""Letters of a secret that is no password, from which on it is struck out wherever it stands."""
MOST_THINK = 3600.0
IN_PATHS = "/%:@!$'()*+,;=~-._"
DROPPED = frozenset({
    "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "accept-language", "user-agent", "referer",
    "origin", "cookie", "dnt", "upgrade-insecure-requests", "cache-control", "pragma", "priority", "te", "keep-alive",
    "proxy-connection", "x-client-data", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "range",
    "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "save-data", "expect",
})  # fmt: skip
"""Headers of the browser, and those that belong to the connection."""
OF_PAGES = "text/html,*/*;q=0.8"
"""What browsers accept when somebody opens a page, without the list of formats of pictures."""
OWN_PREFIXES = ("sec-", ":", "proxy-")
MARK = re.compile(f"{OPENS}(=?)([A-Za-z0-9_]+){CLOSES}")
BRACES = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?::[^{}]*)?)\}")
AN_ID = re.compile(r"\d+\Z|[0-9a-fA-F-]{8,}\Z|.*[%:@]|.{33,}")
FORM = "application/x-www-form-urlencoded"
NAMES = frozenset(
    {
        "name",
        "title",
        "label",
        "slug",
        "user_name",
        "username",
        "login",
        "hostname",
        "host_name",
        "email",
    }
)
"""Fields by which servers tell things apart: what is created a second time under the same one is often refused."""
ASKS = re.compile(
    r"search|find|query|login|log-?in|sign-?in|sign-?out|log-?out|token|auth|session|validate|check",
    re.IGNORECASE,
)
"""Paths of requests that create nothing, though they are a POST."""
LONGEST_NAME = 100
NEW = "new_name"
"""The mark behind a name of what is created; it becomes NEW_NAME."""
NEW_NAME = "-{attempt}-{number}"
Json = Any


class Offer(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A value to carry. source: the proposal whose answer gave it; uses: those that send it. fallback: what is sent without it."""

    name: str
    source: int
    take: dict[str, Any]
    uses: list[int]
    secret: bool = False
    fallback: Any = STRUCK


class Proposal(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A step that may be taken over. step: as the scenario has it, with marks. think: seconds since the one before."""

    step: dict[str, Any]
    line: str
    ticked: bool = True
    why: str = ""
    think: float = 0.0
    login: bool = False


class Sketch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A file that was read. left_out, struck, hints: sentences about it. host: whose requests were taken; hosts: all, by number.

    created: where names of what is created stand.
    """

    format: str
    proposals: list[Proposal]
    offers: list[Offer] = []
    columns: dict[str, Any] = {}
    cookies: bool = False
    host: str = ""
    hosts: dict[str, int] = {}
    left_out: list[str] = []
    struck: list[str] = []
    hints: list[str] = []
    created: list[str] = []


def sketch_of(recording: Recording, target_host: str = "") -> Sketch:
    """Return the sketch of a file's requests to one host: that of the target where the file has it. Raise BadImport."""
    return _Sketcher(recording, target_host).sketch()


def written(
    sketch: Sketch,
    steps: Collection[int],
    offers: Collection[int],
    *,
    think: bool = False,
    new_names: bool = True,
) -> str:
    """Return the scenario of the ticked proposals and offers, as YAML. Raise BadImport where none is ticked.

    think: with the pauses as recorded. new_names: with a name of its own for what each round creates.
    """
    chosen = [number for number in range(len(sketch.proposals)) if number in set(steps)]
    if not chosen:
        raise BadImport("No request is ticked; tick at least one.")
    if len(chosen) > MOST_STEPS:
        raise BadImport(
            f"{len(chosen)} requests are ticked; a scenario has at most {MOST_STEPS} steps."
        )
    carried = {
        number: offer
        for number, offer in enumerate(sketch.offers)
        if number in set(offers)
        and offer.source in chosen
        and any(use in chosen for use in offer.uses)
    }
    filler = _Filler(sketch.offers, carried, NEW_NAME if new_names else "")
    written_steps = []
    for number in chosen:
        proposal = sketch.proposals[number]
        step = filler.step(proposal.step)
        if think and proposal.think >= LEAST_THINK:
            step["think"] = {"seconds": proposal.think}
        takes = {offer.name: offer.take for offer in carried.values() if offer.source == number}
        if takes:
            step["take"] = takes
        written_steps.append(step)
    used = filler.columns
    scenario: dict[str, Any] = {}
    if data := {name: [value] for name, value in sketch.columns.items() if name in used}:
        scenario["data"] = data
    if headers := _hoisted(written_steps):
        scenario["headers"] = headers
    if any(sketch.proposals[number].login for number in chosen):
        scenario["login"] = "target"
    if sketch.cookies:
        scenario["cookies"] = "round"
    scenario["steps"] = written_steps
    if (size := len(msgspec.json.encode(scenario))) > MOST_BYTES:
        raise BadImport(
            f"The ticked requests make a scenario of {size:,} bytes; at most {MOST_BYTES:,} are read. Tick fewer, or those with smaller bodies."
        )
    return _yaml(scenario)


@dataclass
class _Draft:
    """A request that is taken over. cookies: those it sent. body: text, pairs, or a value of JSON, as `kind` says."""

    recorded: Recorded
    name: str
    path: str
    query: list[tuple[str, str]]
    headers: list[tuple[str, str]] = field(default_factory=list)
    cookies: dict[str, str] = field(default_factory=dict)
    authorization: tuple[str, str] = ("", "")
    kind: str = ""
    body: Json = ""


class _Sketcher:
    def __init__(self, recording: Recording, target_host: str) -> None:
        self.recording = recording
        self.left_out = list(recording.left_out)
        self.struck: dict[str, dict[str, None]] = {}
        self.hints = list(recording.hints)
        self.secrets: set[str] = set()
        self.hosts = Counter(filter(None, (_host(each.url) for each in recording.requests)))
        self.host = self._host(target_host.lower())
        self.names: set[str] = set()
        self.drafts = self._drafts()
        self.created: dict[str, str] = dict(self._created())
        self.cookies = False
        self.logins: set[int] = set()
        self.offers: list[Offer] = []
        self.marks: dict[str, str] = {}

    def sketch(self) -> Sketch:
        if not self.drafts:
            raise BadImport(
                f"No request of the {self.recording.format} file can be taken over. {' '.join(self.left_out)}".strip()
            )
        self._carry()
        proposals = self._proposals()
        self._hint()
        sketch = Sketch(
            format=self.recording.format,
            proposals=proposals,
            offers=self.offers,
            columns={
                name: value
                for draft in self.drafts
                for name, value in draft.recorded.columns.items()
            },
            cookies=self.cookies,
            host=self.host,
            hosts=dict(self.hosts.most_common(20)),
            left_out=[self._shown(each) for each in self.left_out],
            struck=[
                self._shown(f"{what}: {_listed(list(where))}.")
                for what, where in self.struck.items()
            ],
            hints=[self._shown(each) for each in self.hints],
            created=list(self.created.values()),
        )
        return self._without_secrets(sketch)

    # Which requests

    def _host(self, wanted: str) -> str:
        """Return the host whose requests are taken: the wanted one, or that of most requests that are no files."""
        if not self.hosts:
            return ""
        if _short(wanted) in self.hosts:
            return _short(wanted)
        likely = Counter(
            filter(None, (_host(each.url) for each in self.recording.requests if not each.why_not))
        )
        main = (likely or self.hosts).most_common(1)[0][0]
        if wanted:
            self.hints.append(
                f"No request of the file goes to {wanted}; those to {main} are taken over, and will go to the target."
            )
        return main

    def _drafts(self) -> list[_Draft]:
        drafts: list[_Draft] = []
        elsewhere: Counter[str] = Counter()
        others: Counter[str] = Counter()
        size = 0
        for recorded in self.recording.requests:
            host = _host(recorded.url)
            if host and host != self.host:
                elsewhere[host] += 1
            elif why := _unfit(recorded):
                others[why] += 1
            elif len(drafts) == MOST_PROPOSALS:
                others[f"beyond the first {MOST_PROPOSALS}"] += 1
            elif (size := size + len(recorded.body) + len(recorded.url)) > MOST_BODIES:
                others["beyond 1 MiB of bodies"] += 1
            else:
                drafts.append(self._draft(recorded))
        if elsewhere:
            listed = ", ".join(
                f"{host} ({count})" for host, count in elsewhere.most_common(MOST_LISTED)
            )
            more = (
                f", and {len(elsewhere) - MOST_LISTED} more" if len(elsewhere) > MOST_LISTED else ""
            )
            self.left_out.append(
                f"{counted(sum(elsewhere.values()), 'request')} to other hosts: {listed}{more}."
            )
        if others:
            listed = ", ".join(f"{why} ({count})" for why, count in others.most_common())
            self.left_out.append(
                f"{counted(sum(others.values()), 'request')} to {self.host or 'the target'}: {listed}."
            )
        return drafts

    def _draft(self, recorded: Recorded) -> _Draft:
        parts = urlsplit(recorded.url)
        path = quoted(parts.path or "/", IN_PATHS)
        if not path.startswith(OPENS):  # a path that is a column from its begin is whole
            path = f"/{path.lstrip('/')}"
        query = []
        for pair in parts.query.split("&") if parts.query else ():
            name, equals, value = pair.partition("=")
            query.append(
                (quote(name, safe=IN_PATHS + "[]?"), f"{equals}{quoted(value, IN_PATHS + '[]?')}")
            )
        draft = _Draft(recorded, self._name(recorded, path), path, query)
        draft.kind, draft.body = _body(recorded)
        login = parts.username is not None
        for name, text in recorded.headers:
            lower = name.lower()
            if not HEADER_NAME.match(name) or CONTROL.search(text) or not is_latin(text):
                if not lower.startswith(":"):
                    self.left_out.append(
                        f"The header {name[:40]!r} of “{draft.name}”, which cannot be sent so."
                    )
            elif lower == "cookie":
                draft.cookies |= _pairs_of_cookie(text)
            elif lower == "authorization":
                scheme, _, value = text.partition(" ")
                draft.authorization = (scheme, value.strip()) if value else ("", scheme)
            elif lower == "content-type":
                if draft.kind == "body" or (
                    draft.kind == "json"
                    and text.partition(";")[0].strip().lower() != "application/json"
                ):
                    draft.headers.append(("Content-Type", text))
            elif (
                lower not in DROPPED
                and not lower.startswith(OWN_PREFIXES)
                and (lower, text) != ("accept", "*/*")
            ):
                draft.headers.append(
                    (
                        name,
                        OF_PAGES if lower == "accept" and text.startswith(OF_PAGES[:9]) else text,
                    )
                )
        if (
            draft.kind == "body"
            and recorded.type
            and not any(name == "Content-Type" for name, _ in draft.headers)
        ):
            draft.headers.append(("Content-Type", recorded.type))
        if login and not any(draft.authorization):
            draft.authorization = ("Basic", "")
            self._remember(unquote(parts.password or ""))
        return draft

    def _name(self, recorded: Recorded, path: str) -> str:
        """Return a name for a step that no other has: what its author calls it, or method and the last part of the path that is no id."""
        words = recorded.name
        if not words:
            parts = [
                part
                for part in path.split("/")
                if part and OPENS not in part and not AN_ID.match(part)
            ]
            words = f"{recorded.method.lower()} {parts[-1] if parts else 'start'}"
        words = re.sub(r"[^A-Za-z0-9 _.-]+", " ", words).strip(" _.-")[:34].strip() or "step"
        name, number = words, 1
        while name.lower() in self.names:
            number += 1
            name = f"{words} {number}"
        self.names.add(name.lower())
        return name

    def _created(self) -> Iterator[tuple[str, str]]:
        """Yield the names of what is created, each with its place."""
        for draft in self.drafts:
            recorded = draft.recorded
            creates = recorded.status == 201 or (
                recorded.method == "POST"
                and recorded.status in (0, 200, 202)
                and not ASKS.search(draft.path)
            )
            if recorded.method not in ("POST", "PUT") or not creates or _has_password(draft):
                continue
            for name, value in _fields(draft):
                if not _is_name(name) or not isinstance(value, str):
                    continue
                if 0 < len(value) <= LONGEST_NAME and OPENS not in value and not is_random(value):
                    yield value, f"“{name}” of “{draft.name}”"

    def _new(self, value: str) -> str:
        """Return a name of what is created with the mark behind it, before the @ of an address."""
        user, at, host = value.partition("@")
        return f"{user}{named(NEW)}{at}{host}"

    # Values that come and go back

    def _carry(self) -> None:
        """Offer the values that an answer gave and a later request sends."""
        first: dict[str, int] = {}
        tokens: dict[str, str] = {}
        for position, draft in enumerate(self.drafts):
            for value, name in _sent(draft):
                first.setdefault(value, position)
                is_token = name and (
                    is_secret_name(name) or is_random(value) or name == "Authorization"
                )
                if is_token and (value in tokens or len(tokens) < MOST_TOKENS):
                    tokens.setdefault(value, name)
        known = sources([draft.recorded.reply for draft in self.drafts], first, tokens)
        names: set[str] = {
            *GIVEN,
            RANDOM,
            *(name for draft in self.drafts for name in draft.recorded.columns),
        }
        ordered = sorted(known.items(), key=lambda item: (item[1].position, first[item[0]]))
        ordered = [each for each in ordered if each[0] not in self.created]
        for value, source in ordered[:MOST_OFFERS]:
            name = _name_of_take(source, tokens.get(value, ""), names)
            names.add(name)
            secret = value in tokens or "cookie" in source.take or is_random(value)
            if secret:
                self._remember(value)
            self.marks[value] = str(len(self.offers))
            self.offers.append(
                Offer(
                    name,
                    source.position,
                    source.take,
                    [],
                    secret=secret,
                    fallback=STRUCK if secret else value,
                )
            )

    def _mark(self, value: str, position: int) -> str:
        """Return the mark of a value that is carried to a step; empty where it is none."""
        key = self.marks.get(value)
        if key is None:
            return ""
        offer = self.offers[int(key)]
        if offer.source >= position:
            return ""
        if position not in offer.uses:
            offer.uses.append(position)
        return f"{OPENS}{key}{CLOSES}"

    # Steps

    def _proposals(self) -> list[Proposal]:
        proposals = []
        set_before: set[str] = set()
        ended_at: float | None = None
        ticked = 0
        for position, draft in enumerate(self.drafts):
            recorded = draft.recorded
            self._cookies(draft, set_before)
            step = self._step(position, draft)
            why = recorded.why_not
            if not why and ticked >= MOST_STEPS:
                why = f"a scenario has {MOST_STEPS} steps"
            ticked += not why
            think = 0.0
            if recorded.began_at is not None and not recorded.why_not:
                if ended_at is not None:
                    think = round(min(MOST_THINK, max(0.0, recorded.began_at - ended_at)), 2)
                ended_at = recorded.began_at + recorded.seconds
            line = f"{recorded.method} {self._shown(step[recorded.method.lower()])}"
            proposals.append(
                Proposal(step, line[:300], not why, why, think, position in self.logins)
            )
            if recorded.reply:
                headers = [(name.lower().encode("latin-1", "replace"), text.encode("latin-1", "replace"))
                           for name, text in recorded.reply.headers]  # fmt: skip
                set_before |= {name for name, _ in set_cookies(headers)}
        return proposals

    def _step(self, position: int, draft: _Draft) -> dict[str, Any]:
        change = self._changer(position, draft)
        step: dict[str, Any] = {"name": draft.name}
        step[draft.recorded.method.lower()] = self._path(position, draft, change)
        headers = {
            name: changed
            for name, text in draft.headers
            if (changed := change("header", name, text))
        }
        if authorization := self._authorization(position, draft):
            headers["Authorization"] = authorization
        if headers:
            step["headers"] = headers
        if draft.kind == "json":
            step["json"] = _mapped(draft.body, "", lambda name, value: change("JSON", name, value))
        elif draft.kind == "form":
            step["form"] = {name: change("form field", name, text) for name, text in draft.body}
        elif draft.kind == "body":
            step["body"] = self._text(position, draft)
        status = draft.recorded.status
        if status >= 200 and status != 304:
            step["expect"] = {"status": status}
        return step

    def _changer(self, position: int, draft: _Draft) -> Callable[[str, str, Any], Any]:
        """Return what a value becomes at its place: a mark, what stands for a secret, or itself."""
        signs_in = _has_password(draft)

        def change(where: str, name: str, value: Any) -> Any:
            text = (
                value
                if isinstance(value, str)
                else str(value)
                if isinstance(value, int) and not isinstance(value, bool)
                else ""
            )
            is_named = where == "query" or (where != "header" and _is_name(name))
            if isinstance(value, str) and value in self.created and is_named:
                return self._new(value)
            if mark := text and self._mark(text, position):
                offer = self.offers[int(self.marks[text])]
                if not offer.secret:
                    offer.fallback = value
                return mark
            if where == "JSON" and text and not isinstance(value, str):
                value = text if is_password_name(name) else value
            place = f"{where} “{name[:40]}” of “{draft.name}”"
            if text and is_one_time_code(name, text):
                self._strike("One-time codes and PINs", place, text)
                return "" if where == "header" else STRUCK
            if not isinstance(value, str) or not value or OPENS in value:
                return value
            if where in ("JSON", "form field") and is_password_name(name):
                self._strike(
                    "Passwords, for which the target's is sent ({target_password})",
                    place,
                    value,
                    SHORTEST_SECRET,
                )
                return named(PASSWORD)
            if signs_in and where in ("JSON", "form field") and is_user_name(name):
                self._strike(
                    "User names, for which the target's is sent ({target_user})", place, ""
                )
                return named("target_user")
            if is_secret_name(name) or is_password_name(name):
                self._strike("Secrets by their names", place, value)
                return "" if where == "header" else STRUCK
            if is_random(value):
                self._strike("Values that look like secrets", place, value)
                return "" if where == "header" else STRUCK
            if (struck := _struck(value)) != value:
                self._strike("Secrets within texts", place, "")
            return struck

        return change

    def _path(self, position: int, draft: _Draft, change: Callable[[str, str, Any], Any]) -> str:
        """Return path and query, with marks for what is carried: all of it, its begin, or single parts."""
        query = "&".join(name + text for name, text in draft.query)
        path = draft.path
        whole = f"{path}?{query}" if query else path
        if mark := self._mark(whole, position):
            return mark
        begin = ""
        for prefix in _prefixes(path):
            if mark := self._mark(prefix, position):
                begin, path = mark, path[len(prefix) :]
                break
        parts = []
        for part in path.split("/"):
            text = unquote(part)
            mark = self._mark(text, position) if len(text) >= SHORTEST else ""
            if text in self.created and not text.isdigit():
                mark = quoted(self._new(text), IN_PATHS)
            if not mark and is_random(text):
                self._strike("Values that look like secrets", f"the path of “{draft.name}”", text)
                mark = STRUCK
            elif not mark and "=" in text and (struck := _struck(text)) != text:
                self._strike("Secrets within texts", f"the path of “{draft.name}”", "")
                mark = quote(struck, safe=IN_PATHS)
            parts.append(mark or part)
        pairs = []
        for name, text in draft.query:
            value = unquote_plus(text[1:])
            changed = change("query", unquote_plus(name), value)
            pairs.append(f"{name}={changed}" if changed != value else f"{name}{text}")
        return begin + "/".join(parts) + (f"?{'&'.join(pairs)}" if pairs else "")

    def _authorization(self, position: int, draft: _Draft) -> str:
        """Return the header of a token that is carried; note a login, and strike out what else signs in."""
        scheme, value = draft.authorization
        recorded = draft.recorded
        if recorded.basic or scheme.lower() == "basic":
            self.logins.add(position)
            if scheme:
                with suppress(binascii.Error, ValueError):
                    self._remember(b64decode(value).decode(errors="replace").partition(":")[2])
                self._strike(
                    "Basic authentication, for which the target's user and password are sent (login: target)",
                    f"“{draft.name}”",
                    value,
                )
            return ""
        if recorded.needs_token:
            self._hint_once(
                f'“{recorded.needs_token}” signs operations in: add a step that takes a token, and the header Authorization: "Bearer {{token}}".'
            )
        if not value:
            return ""
        if mark := self._mark(value, position):
            return f"{scheme} {mark}".strip()
        self._strike(
            "Tokens that no answer of the file gives",
            f"header “Authorization” of “{draft.name}”",
            value,
        )
        return ""

    def _cookies(self, draft: _Draft, set_before: set[str]) -> None:
        for name, value in draft.cookies.items():
            self._remember(value, LEAST_RANDOM)
            if name in set_before:
                self.cookies = True
            else:
                self._strike("Cookies that no answer of the file sets", f"“{name[:40]}”", value)

    def _text(self, position: int, draft: _Draft) -> str:
        """Return a body as text, with marks for what is carried."""
        text = TOKENS.sub(lambda match: self._mark(match[0], position) or match[0], draft.body)
        struck = _struck(text)
        if struck != text:
            self._strike("Secrets within texts", f"the body of “{draft.name}”", "")
        return struck

    def _shown(self, path: str) -> str:
        def shown(match: re.Match[str]) -> str:
            if match[2] == NEW:
                return NEW_NAME
            return f"{{{match[2] if match[1] else self.offers[int(match[2])].name}}}"

        return MARK.sub(shown, path)

    # What is said

    def _strike(self, what: str, where: str, value: str, least: int = LEAST_RANDOM) -> None:
        self._remember(value, least)
        self.struck.setdefault(what, {})[where] = None

    def _remember(self, value: str, least: int = SHORTEST_SECRET) -> None:
        """Note a secret, to strike it out elsewhere, too. least: letters; shorter ones may be ordinary words."""
        if len(value) >= least and value not in ORDINARY:
            self.secrets.add(value)

    def _hint_once(self, text: str) -> None:
        if text not in self.hints:
            self.hints.append(text)

    def _hint(self) -> None:
        if self.cookies:
            self._hint_once(
                "Answers set cookies that later requests send: each host keeps its own until the end of the round, and begins the "
                "next one without, as the recording does (cookies: round)."
            )
        signed = any(any(draft.authorization) or draft.cookies for draft in self.drafts)
        answers = any(
            name.lower() == "set-cookie"
            for draft in self.drafts
            if draft.recorded.reply
            for name, _ in draft.recorded.reply.headers
        )
        if self.recording.format == "HAR" and not signed and not answers:
            self._hint_once(
                "The file has neither cookies nor Authorization. Browsers leave them out unless asked: if the API has a sign-in, "
                "save the file again “with sensitive data”. perfdash stores none of it."
            )
        if self.logins or any("target_password" in what for what in self.struck):
            self._hint_once("Give the target the user and the password that hosts sign in with.")
        if any("header" in where for places in self.struck.values() for where in places):
            self._hint_once(
                "A key that is always the same may be the target's password: write {target_password} where it is sent."
            )
        if self.created:
            self._hint_once(
                f"Names of what is created end with {NEW_NAME}, so that no round creates the same once more: "
                f"{_listed([*self.created.values()])}."
            )
        if any(draft.recorded.columns for draft in self.drafts):
            self._hint_once("Values of paths stand in data, one each: put real ones there.")

    def _without_secrets(self, sketch: Sketch) -> Sketch:
        """Return the sketch without any secret that was met, wherever it stands; drop offers that would hold one."""
        long = sorted(self.secrets, key=len, reverse=True)
        if not long:
            return sketch
        forms = dict.fromkeys(form for each in long for form in (each, quote(each, safe="")))
        words = re.compile("|".join(rf"(?<![\w-]){re.escape(form)}(?![\w-])" for form in forms))
        plain = msgspec.to_builtins(sketch)
        clean = _mapped(
            plain,
            "",
            lambda _, value: words.sub(STRUCK, value) if isinstance(value, str) else value,
        )
        for proposal, before in zip(clean["proposals"], plain["proposals"], strict=True):
            for method in METHODS:  # a short password may be an ordinary word of a path
                if method in proposal["step"]:
                    proposal["step"][method] = _path_without(before["step"][method], long)
        return msgspec.convert(clean, Sketch)


def _path_without(path: str, secrets: Sequence[str]) -> str:
    known = set(secrets)
    parts = re.split(r"([/?&=])", path)
    return "".join(
        STRUCK if unquote_plus(part) in known and len(part) >= 12 else part for part in parts
    )


class _Filler:
    """Replaces marks. columns: names of columns that were met. new: what stands behind a name of what is created."""

    def __init__(
        self, offers: Sequence[Offer], carried: Mapping[int, Offer], new: str = ""
    ) -> None:
        self.offers = offers
        self.carried = carried
        self.new = new
        self.columns: set[str] = set()

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Return a step without marks. A header whose only value is a secret that is not carried is left out."""
        result: dict[str, Any] = {}
        for key, value in step.items():
            if key == "headers":
                headers = {
                    name: self.text(text)
                    for name, text in value.items()
                    if not self._lacks_secret(text)
                }
                if headers:
                    result[key] = headers
            elif key in METHODS:
                result[key] = self.text(value, path=True)
            elif key == "expect":
                result[key] = value
            else:
                result[key] = _mapped(
                    value,
                    "",
                    lambda _, inner: self.text(inner) if isinstance(inner, str) else inner,
                )
        return result

    def text(self, text: str, *, path: bool = False) -> Any:
        """Return a text without marks; a mark alone may become a number."""
        whole = MARK.fullmatch(text)
        if (
            whole
            and not whole[1]
            and (offer := self._offer(whole[2]))
            and int(whole[2]) not in self.carried
            and not path
        ):
            return (
                offer.fallback if not isinstance(offer.fallback, str) else _literal(offer.fallback)
            )
        result, end = "", 0
        for match in MARK.finditer(text):
            result += _literal(text[end : match.start()])
            end = match.end()
            result += self._filled(match, path=path)
        return result + _literal(text[end:])

    def _filled(self, match: re.Match[str], *, path: bool) -> str:
        if match[1] and match[2] == NEW:
            return self.new
        if match[1]:
            self.columns.add(match[2])
            return f"{{{match[2]}}}"
        offer = self._offer(match[2])
        if offer is None:
            return STRUCK
        if int(match[2]) in self.carried:
            return f"{{{offer.name}}}"
        fallback = str(offer.fallback)
        return quote(fallback, safe=IN_PATHS + "?&[]") if path else _literal(fallback)

    def _offer(self, key: str) -> Offer | None:
        return (
            self.offers[int(key)]
            if key.isdigit() and len(key) < 6 and int(key) < len(self.offers)
            else None
        )

    def _lacks_secret(self, text: str) -> bool:
        return any(
            not match[1]
            and int(match[2]) not in self.carried
            and (offer := self._offer(match[2])) is not None
            and offer.secret
            for match in MARK.finditer(text)
            if match[1] or match[2].isdigit()
        )


def _fields(draft: _Draft) -> Iterable[tuple[str, Any]]:
    """Return the fields of a body. Rails wraps those of a thing once more, as in `{"host": {"name": …}}`."""
    if draft.kind == "form":
        return cast(Iterable[tuple[str, Any]], draft.body)
    body = draft.body if draft.kind == "json" else None
    if (
        isinstance(body, dict)
        and len(body) == 1
        and isinstance(inner := next(iter(body.values())), dict)
    ):
        body = inner
    return body.items() if isinstance(body, dict) else ()


def _is_name(field: str) -> bool:
    """Return whether a field is one by which a server tells things apart."""
    return field.lower().replace("-", "_") in NAMES


def _unfit(recorded: Recorded) -> str:
    """Return why a request cannot be a step; empty where it can."""
    if recorded.url.startswith(("ws:", "wss:")):
        return "WebSocket"
    try:
        urlsplit(recorded.url)
    except ValueError:
        return "URLs that cannot be read"
    if recorded.method.lower() not in METHODS:
        return f"the method {recorded.method[:20]}"
    if "://" in recorded.url and not recorded.url.startswith(("http://", "https://")):
        return "no HTTP"
    if len(recorded.url) > 3500:
        return "URLs of more than 3,500 characters"
    types = [text for name, text in recorded.headers if name.lower() == "content-type"]
    if any(each.strip().lower().startswith("multipart/") for each in (recorded.type, *types)):
        return "uploads of files (multipart)"
    if len(recorded.body.encode(errors="replace")) > MOST_BODY:
        return "bodies of more than 64 KiB"
    if recorded.body and recorded.method == "GET":
        return "GET with a body"
    return ""


def _body(recorded: Recorded) -> tuple[str, Json]:
    """Return what a body is, and its value."""
    text, type_ = recorded.body, recorded.type.partition(";")[0].strip().lower()
    if not text:
        return "", ""
    if type_.endswith(("/json", "+json")) or (type_ in ("", FORM) and text[:1] in "{["):
        try:
            return "json", msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            if type_ != FORM:
                return "body", text
    if type_ == FORM:
        pairs = parse_qsl(text, keep_blank_values=True)
        if pairs and len(dict(pairs)) == len(pairs):
            return "form", pairs
    return "body", text


def _struck(text: str) -> str:
    """Return a text without the secrets within it: by their names, and what looks like one."""
    return TOKENS.sub(lambda match: STRUCK if is_random(match[0]) else match[0], strike(text))


def _sent(draft: _Draft) -> Iterator[tuple[str, str]]:
    """Yield the values that a request sends, with the name of their place; it is empty for paths."""
    query = "&".join(name + text for name, text in draft.query)
    if query:
        yield f"{draft.path}?{query}", ""
    for prefix in _prefixes(draft.path):
        yield prefix, ""
    for part in draft.path.split("/"):
        if len(text := unquote(part)) >= SHORTEST:
            yield text, ""
    leaves: list[tuple[str, Any]] = [
        (unquote_plus(name), unquote_plus(text[1:])) for name, text in draft.query
    ]
    leaves += draft.headers
    if draft.authorization[1] and draft.authorization[0].lower() != "basic":
        leaves.append(("Authorization", draft.authorization[1]))
    if draft.kind == "form":
        leaves += draft.body
    elif draft.kind == "json":
        leaves += list(_leaves(draft.body, ""))
    elif draft.kind == "body":
        leaves += [("body", match[0]) for match in TOKENS.finditer(draft.body)]
    for name, value in leaves:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if isinstance(text, str) and len(text) >= SHORTEST:
            yield text, name


def _prefixes(path: str) -> Iterator[str]:
    """Yield a path, and its begins of at least two parts, the longest first."""
    if path.count("/") > 1 and len(path) >= SHORTEST:
        yield path
        end = len(path) - 1
        for _ in range(MOST_PREFIXES):
            if (end := path.rfind("/", 0, end)) <= 0:
                return
            if end + 1 >= SHORTEST and path.count("/", 0, end) > 1:
                yield path[: end + 1]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the texts and numbers of JSON with the nearest key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield name, value


def _mapped(value: Any, name: str, change: Callable[[str, Any], Any]) -> Any:
    """Return JSON with each text and number changed; change: of the nearest key and the value."""
    if isinstance(value, dict):
        return {key: _mapped(inner, str(key), change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, name, change) for inner in value]
    return change(name, value)


def _has_password(draft: _Draft) -> bool:
    leaves = (
        draft.body
        if draft.kind == "form"
        else _leaves(draft.body, "")
        if draft.kind == "json"
        else ()
    )
    return any(is_password_name(name) and isinstance(value, str) for name, value in leaves)


def _name_of_take(source: Source, place: str, names: Collection[str]) -> str:
    """Return a name for a value: the last key of its place in the answer, or that of where it is sent."""
    take = source.take
    text = (
        str(take.get("json", "")).rpartition(".")[2]
        or str(take.get("header") or take.get("cookie") or "")
        or place
    )
    if text.isdigit():
        text = "value"
    text = "token" if text == "Authorization" else text
    name = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")[:34] or "value"
    name = f"its_{name}" if name in GIVEN or name == RANDOM or name[0].isdigit() else name
    unique, number = name, 1
    while unique in names:
        number += 1
        unique = f"{name}_{number}"
    return unique


def _hoisted(steps: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Take the headers that all steps have from the steps, and return them."""
    if len(steps) < 2:
        return {}
    common = dict(steps[0].get("headers", {}))
    for step in steps[1:]:
        common = {
            name: text for name, text in common.items() if step.get("headers", {}).get(name) == text
        }
    common = {name: text for name, text in common.items() if not BRACES.search(text)}
    for step in steps if common else ():
        step["headers"] = {
            name: text for name, text in step["headers"].items() if name not in common
        }
        if not step["headers"]:
            del step["headers"]
    return common


def _literal(text: str) -> str:
    """Return a text of a scenario that stands for itself: {name} is written {{name}}."""
    return BRACES.sub(r"{{\1}}", text)


def _host(url: str) -> str:
    """Return host and port of a URL, without the usual port; empty for a path."""
    if "://" not in url:
        return ""
    return _short(
        url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()
    )


def _short(host: str) -> str:
    return re.sub(r":(80|443)\Z", "", host)


def _pairs_of_cookie(text: str) -> dict[str, str]:
    pairs = (each.strip().partition("=") for each in text.split(";"))
    return {name: value for name, equals, value in pairs if equals}


def _listed(places: Sequence[str]) -> str:
    shown = ", ".join(places[:MOST_LISTED])
    more = len(places) - MOST_LISTED
    return f"{shown}, and {more} more" if more > 0 else shown


class _Dumper(Dumper):
    """Writes no aliases, which scenarios do not take."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _kept(dumper: Dumper, text: str) -> yaml.ScalarNode:
    """Return a text so that a scenario reads it as a text: PyYAML itself takes 1e3 for one, since its YAML is older."""
    if isinstance(scalar_of(text), str):
        return written_text(dumper, text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")


_Dumper.add_representer(str, _kept)


def _yaml(scenario: Mapping[str, Any]) -> str:
    """Return a scenario as YAML, with what is short in one line."""
    return as_yaml(scenario, _Dumper, default_flow_style=None, width=100_000)
