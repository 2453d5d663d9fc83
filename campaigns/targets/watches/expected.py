"""Ask the watches of a target what is known to happen there soon: timers and cron jobs."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic

from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.errors import TooBusy
from campaigns.kit.numbers import duration
from campaigns.kit.redaction import redact
from campaigns.kit.ssh.access import ActionFailed
from campaigns.models import Target, Watch
from campaigns.targets.places import place
from campaigns.targets.watches.base import Access, Event, Source, Span, WatchFailed
from campaigns.targets.watches.registry import UnknownSource, source_of
from campaigns.targets.watches.rows import access_of, watches_in_use

MOST_SECONDS = 15.0
LONGEST_SPAN = 7 * 86400.0
MOST_EVENTS = 100


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """What will happen on a target, and in how many seconds from now."""

    target: str
    kind: str
    text: str
    at: datetime
    in_seconds: float

    @property
    def sentence(self) -> str:
        """Return it as a sentence: “dnf-makecache.timer in 4:00 min”."""
        return f"{self.text} in {duration(max(0.0, self.in_seconds))}"


@dataclass(slots=True)
class Expected:
    """What is known, in the order of time; failures: why a watch could not say. more: events that are left out."""

    events: list[ExpectedEvent] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    more: int = 0


def knows_events(watch: Watch) -> bool:
    """Return whether a watch's source knows what will happen."""
    try:
        source = source_of(watch.source)
    except UnknownSource:
        return False
    return type(source).expected_events is not Source.expected_events


def asked_on(target: Target) -> list[Watch]:
    """Return the watches of a target that know what will happen."""
    return [watch for watch in watches_in_use(target) if knows_events(watch)]


def expected_on(targets: Sequence[Target], seconds: float) -> Expected:
    """Return what is known to happen on targets from now on within `seconds`. It takes 15 s at most."""
    watches = [watch for target in targets for watch in asked_on(target)]
    if not watches:
        return Expected()
    try:
        with place(None, "the schedule of a target"):
            return _expected(watches, seconds)
    except TooBusy as busy:
        return Expected(failures=[str(busy)])


def _expected(watches: Sequence[Watch], seconds: float) -> Expected:
    now = datetime.now(UTC)
    span = Span(now.timestamp(), now.timestamp() + min(seconds, LONGEST_SPAN))
    result, threads = Expected(), []
    answers: list[tuple[Watch, list[Event] | str]] = []
    for watch in watches:
        try:
            source, access = source_of(watch.source), access_of(watch)
        except (SecretUnreadable, UnknownSource) as error:
            result.failures.append(f"{watch.target.name}: {error}")
            continue
        thread = threading.Thread(
            target=_ask, args=(watch, source, access, span, answers), daemon=True
        )
        thread.start()
        threads.append((watch, thread))
    ends = monotonic() + MOST_SECONDS
    for watch, thread in threads:
        thread.join(max(0.0, ends - monotonic()))
        if thread.is_alive():
            result.failures.append(f"{watch.target.name}: {watch} did not answer in time.")
    for watch, answer in answers:
        if isinstance(answer, str):
            result.failures.append(f"{watch.target.name}: {answer}")
            continue
        result.events += [
            ExpectedEvent(
                watch.target.name,
                event.kind,
                redact(event.text),
                now + timedelta(seconds=event.at - span.begin),
                event.at - span.begin,
            )
            for event in answer
            if span.begin <= event.at <= span.end
        ]
    result.events.sort(key=lambda each: each.in_seconds)
    result.more = max(0, len(result.events) - MOST_EVENTS)
    del result.events[MOST_EVENTS:]
    return result


def _ask(
    watch: Watch,
    source: Source,
    access: Access,
    span: Span,
    answers: list[tuple[Watch, list[Event] | str]],
) -> None:
    try:
        answers.append((watch, list(source.expected_events(access, span))))
    except (WatchFailed, ActionFailed) as error:
        answers.append((watch, redact(str(error))))
    except Exception as error:  # noqa: BLE001 - whatever it is, the launch goes on without it
        answers.append((watch, redact(f"{type(error).__name__}: {error}")))
