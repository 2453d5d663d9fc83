"""Try a watch: read a few frames, and return what was seen. Only the outcome of the last try is stored."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from statistics import fmean
from time import monotonic

from django.contrib.auth.models import User
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import NotPossible
from campaigns.kit.network import NetworkError
from campaigns.kit.numbers import amount
from campaigns.kit.redaction import redact, storable
from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused
from campaigns.models import Watch
from campaigns.targets.places import place
from campaigns.targets.probes import busy
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Event,
    Frame,
    Key,
    Source,
    Span,
    WatchFailed,
)
from campaigns.targets.watches.catalog import CATALOG, Kind, shown_unit, text_of
from campaigns.targets.watches.registry import UnknownSource, source_of
from campaigns.targets.watches.rows import access_of

LEAST_SECONDS, MOST_SECONDS = 7.0, 20.0
"""How long a source is read: processes are read every 5 s. One that is silent is given up after the most."""
LEAST_FRAMES = 3
LEAVE_SECONDS = 3.0
AGO_SECONDS = 600.0
"""What a source that is asked afterwards is asked for."""
GROUP = "group."


@dataclass(frozen=True, slots=True)
class Seen:
    """A quantity of one label that was read, and its value as text."""

    quantity: str
    label: str
    text: str
    value: str


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """A group of processes; figures are None where the source does not know them."""

    name: str
    cores: float | None
    memory_bytes: float | None
    processes: float | None


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a try. failure: why nothing more was read; offered: a host key to accept, as a line of OpenSSH.

    offset_seconds: the source's clock minus the worker's, uncertain by uncertainty_seconds. cost_cores: the part of a
    core of the target that watching took.
    """

    failure: str = ""
    offered: str = ""
    frames: int = 0
    seconds: float = 0.0
    seen: Sequence[Seen] = ()
    groups: Sequence[SeenGroup] = ()
    facts: Mapping[str, str | float] = field(default_factory=dict)
    events: Sequence[str] = ()
    offset_seconds: float | None = None
    uncertainty_seconds: float | None = None
    cost_cores: float | None = None


class Notes:
    """A sink that keeps what a source reads."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.clocks: list[tuple[ClockReading, float]] = []
        self.facts: dict[str, str | float] = {}
        self.events: list[Event] = []
        self.costs: list[tuple[float, float]] = []

    def frame(self, frame: Frame) -> None:
        """Take a frame."""
        self.frames.append(frame)

    def clock(self, reading: ClockReading) -> None:
        """Take a reading of the clock, with the worker's clock now."""
        if not isfinite(reading.clock):
            return
        self.clocks.append((reading, _epoch() - monotonic()))

    def fact(self, name: str, value: str | float) -> None:
        """Take a fact."""
        if not isinstance(value, str) and not isfinite(value):
            return
        self.facts[name] = value

    def event(self, event: Event) -> None:
        """Take an event."""
        self.events.append(event)

    def cost(self, cpu_seconds: float) -> None:
        """Take the processor time that watching has used so far."""
        self.costs.append((monotonic(), cpu_seconds))


def _epoch() -> float:
    return datetime.now(UTC).timestamp()


def try_watch(watch: Watch, user: User) -> Tried:
    """Read the source for some seconds, and store whether that worked.

    Raise NotPossible while the target is measured, TooBusy while others try something.
    """
    if held_up := busy(watch.target, database_now(), 0.0):
        raise NotPossible(f"{held_up.why} Try again when that is over.")
    with place(user, "a watch"):
        record(Action.WATCH_TRIED, subject=watch, target=watch.target.name)
        try:
            tried = read_some(source_of(watch.source), access_of(watch))
        except (UnknownSource, SecretUnreadable) as error:
            tried = Tried(failure=str(error))
    Watch.objects.filter(pk=watch.pk).update(
        tried_at=Now(), try_failure=storable(tried.failure), offered_key=tried.offered
    )
    return tried


def read_some(source: Source, access: Access, seconds: float = LEAST_SECONDS) -> Tried:
    """Read a source until it has shown enough, or its time is over."""
    notes, begun = Notes(), monotonic()
    over = threading.Event()
    problems: list[Exception] = []

    def stopped(wait: float) -> bool:
        ends = monotonic() + wait
        while not over.is_set():
            now = monotonic()
            if now - begun > MOST_SECONDS or (
                len(notes.frames) >= LEAST_FRAMES and now - begun >= seconds
            ):
                over.set()
            if now >= ends:
                break
            over.wait(min(0.2, ends - now))
        return over.is_set()

    def work() -> None:
        try:
            if source.live:
                source.sample(access, notes, stopped)
            else:
                source.fetch(access, notes, Span(_epoch() - AGO_SECONDS, _epoch()))
        except Exception as error:  # noqa: BLE001 - told to the person who tries
            problems.append(error)

    thread = threading.Thread(target=work, name="trying a watch", daemon=True)
    thread.start()
    thread.join(MOST_SECONDS + LEAVE_SECONDS)
    over.set()
    failure, offered = "", ""
    if thread.is_alive():
        failure = f"It did not answer within {MOST_SECONDS:g} s."
    elif problems:
        failure, offered = _failure(problems[0])
    elif not notes.frames:
        failure = "It answered, but showed nothing. Check its address and options."
    return _tried(notes, failure, offered, monotonic() - begun)


def _failure(error: BaseException) -> tuple[str, str]:
    """Return the message of an error, and the host key that waits to be accepted."""
    refused = next((each for each in _chain(error) if isinstance(each, HostKeyRefused)), None)
    if refused is not None:
        return redact(str(refused)), refused.key
    if isinstance(error, WatchFailed | ActionFailed | NetworkError):
        return redact(str(error)), ""
    return redact(f"It cannot be read: {type(error).__name__}: {error}"), ""


def _chain(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _tried(notes: Notes, failure: str, offered: str, seconds: float) -> Tried:
    values = _values(notes.frames)
    groups = sorted({key.label for key in values if key.quantity.startswith(GROUP)})
    offset, uncertainty = _offset(notes)
    return Tried(
        failure=failure,
        offered=offered,
        frames=len(notes.frames),
        seconds=seconds,
        seen=[
            Seen(key.quantity, key.label, text_of(key.quantity), shown(key.quantity, value))
            for key, value in sorted(values.items())
            if not key.quantity.startswith(GROUP)
        ],
        groups=[
            SeenGroup(
                name,
                values.get(Key("group.cpu", name)),
                values.get(Key("group.memory", name)),
                values.get(Key("group.processes", name)),
            )
            for name in groups
        ],
        facts=dict(notes.facts),
        events=[redact(event.text) for event in notes.events],
        offset_seconds=offset,
        uncertainty_seconds=uncertainty,
        cost_cores=_cost(notes),
    )


def shown(quantity: str, value: float) -> str:
    """Return a value of a quantity as text, with its unit."""
    return amount(value, shown_unit(quantity))


def _values(frames: Sequence[Frame]) -> dict[Key, float]:
    """Return rates of counters between their first and last reading, and means of gauges."""
    read: dict[Key, list[tuple[float, float]]] = {}
    for frame in frames:
        for key, value in frame.values.items():
            read.setdefault(key, []).append((frame.at, value))
    result: dict[Key, float] = {}
    for key, points in read.items():
        known = CATALOG.get(key.quantity)
        if known is None or known.kind == Kind.GAUGE:
            result[key] = fmean(value for _, value in points)
            continue
        (began, first), (ended, last) = points[0], points[-1]
        if ended > began and last >= first:
            result[key] = (last - first) / (ended - began)
    return result


def _offset(notes: Notes) -> tuple[float | None, float | None]:
    """Return offset and uncertainty by the quickest question."""
    if not notes.clocks:
        return None, None
    best, epoch = min(notes.clocks, key=lambda each: each[0].answered - each[0].asked)
    middle = (best.asked + best.answered) / 2 + epoch
    return best.clock - middle, (best.answered - best.asked) / 2


def _cost(notes: Notes) -> float | None:
    """Return the cores that watching took, between the first report of its cost and the last."""
    if len(notes.costs) < 2:
        return None
    (began, first), (ended, last) = notes.costs[0], notes.costs[-1]
    return (last - first) / (ended - began) if ended > began else None
