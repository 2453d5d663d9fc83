"""What the watches of a target saw of an attempt: brought to the run's clock, judged, stored, and read.

`watched_run` works without the database, before the transaction that closes the attempt.
"""

import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite

import msgspec
import numpy as np
from numpy.typing import NDArray

from campaigns.kit import redaction
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.redaction import storable
from campaigns.models import (
    Attempt,
    Binding,
    Phase,
    Watched,
    WatchedEvent,
    WatchedSeries,
    WatchedSummary,
)
from campaigns.stats.binding import RULE, Observed, RunBinding
from campaigns.stats.binding_rule import judge
from campaigns.targets.watches.align import LONGEST_SAMPLES, Aligned, AlignedSeries, align
from campaigns.targets.watches.base import Event, Key
from campaigns.targets.watches.catalog import CATALOG
from campaigns.targets.watches.collect import Collected

BEFORE, MEASURE, STEADY = "before", "measure", "steady"
PHASES = (BEFORE, MEASURE, STEADY)
EDGE = 0.1
"""The part of the measurement at either end that is left out of the window that is judged."""
COSTLY_EVENT = 0.02
"""Events of this part of the window's time, or more, are caveats."""
CAVEATS = frozenset({"oom", "swap", "restart", "steal", "throttled", "clock", "read_only"})
"""Kinds of events that are caveats however short."""
LEVEL = 6
FEWEST_STEPS = 3
QUEUES = "queue."

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Summary:
    """A quantity in one phase of a run."""

    key: Key
    phase: str
    mean: float
    p50: float
    p95: float
    largest: float

    @property
    def unit(self) -> str:
        """Return its unit."""
        return CATALOG[self.key.quantity].unit


@dataclass(frozen=True, slots=True)
class WatchedSource:
    """What one watch gave in one run: the columns of Watched, and its series."""

    source: str
    address: str
    state: str
    step_seconds: float
    reason: str = ""
    offset_seconds: float | None = None
    uncertainty_seconds: float | None = None
    drift_seconds: float | None = None
    frames: int = 0
    gaps: Sequence[tuple[float, float]] = ()
    cpu_seconds: float | None = None
    worker_cpu_seconds: float | None = None
    facts: Mapping[str, str | float] = field(default_factory=dict)
    series: Sequence[AlignedSeries] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event on the run's clock. matters: it is a caveat of the run."""

    kind: str
    text: str
    at_seconds: float
    until_seconds: float | None = None
    matters: bool = False


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """All that the watches of a target saw of one run. binding: None where nothing was measured."""

    sources: Sequence[WatchedSource]
    summaries: Sequence[Summary] = ()
    events: Sequence[RunEvent] = ()
    binding: RunBinding | None = None

    def series(self) -> Iterable[AlignedSeries]:
        """Yield the series of all sources."""
        for source in self.sources:
            yield from source.series

    def summary_of(self, quantity: str, label: str = "", phase: str = STEADY) -> Summary | None:
        """Return one summary."""
        wanted = Key(quantity, label), phase
        return next((each for each in self.summaries if (each.key, each.phase) == wanted), None)


def watched_run(
    collected: Sequence[Collected],
    zero: float | None,
    seconds: float | None,
    wall_minus_monotonic: float,
    not_read: Sequence[WatchedSource] = (),
) -> WatchedRun:
    """Bring what was collected onto the run's clock, and judge it.

    not_read: watches that could not be used at all; what they would have told is missing.
    zero: when the measurement began, in the worker's monotonic seconds, and how many `seconds` it took; None: it never did.
    wall_minus_monotonic: the worker's clock minus its monotonic seconds, by which offsets are stored.
    """
    begin = min((each.began for each in collected), default=0.0) if zero is None else zero
    sources: list[WatchedSource] = []
    events: list[Event] = []
    for watch in collected:
        span = (watch.made, watch.ended or time.monotonic())
        if not watch.source.live:
            span = (min(each.made for each in collected), span[1])
        aligned = align(watch.recording, begin, watch.access.step_seconds, span)
        sources.append(_source(watch, aligned, begin, seconds, wall_minus_monotonic))
        events += aligned.events
    sources += not_read
    binding = None
    summaries: list[Summary] = []
    if zero is not None and seconds:
        summaries = _summaries(sources, seconds)
        binding = judge(observed(sources, seconds))
    return WatchedRun(
        sources=sources,
        summaries=summaries,
        events=_events(events, seconds or 0.0, binding),
        binding=binding,
    )


def _source(
    watch: Collected, aligned: Aligned, zero: float, seconds: float | None, wall: float
) -> WatchedSource:
    clock, step = aligned.clock, watch.access.step_seconds
    certain = aligned.is_certain(max(step, 1.0))
    reason = watch.failure
    if aligned.frames and not certain and not reason:
        reason = _why_uncertain(aligned)
    state = Watched.State.WHOLE
    if not aligned.frames:
        state = Watched.State.NOT
        reason = reason or "It gave nothing while the run went on."
    elif reason or not _covers(aligned, seconds or 0.0, step):
        state = Watched.State.PARTLY
    return WatchedSource(
        source=watch.source.name,
        address=watch.access.address,
        state=state,
        reason=reason,
        step_seconds=step,
        offset_seconds=None if clock is None else clock.offset - wall,
        uncertainty_seconds=None if clock is None else clock.uncertainty,
        drift_seconds=None if clock is None else clock.drift,
        frames=aligned.frames,
        gaps=aligned.gaps,
        cpu_seconds=watch.recording.cpu_seconds,
        worker_cpu_seconds=watch.worker_cpu_seconds,
        facts=aligned.facts,
        # As they are stored, so that a run that is judged anew gets the same word.
        series=[replace(each, values=as_stored(each.values)) for each in aligned.series],
        certain=certain,
    )


def _why_uncertain(aligned: Aligned) -> str:
    if aligned.clock is None:
        return "The clock of the source is not known: shown by the time of arrival, and judged by nothing."
    if aligned.clock.was_set:
        return "The clock of the target was set during the run: shown by the time of arrival, and judged by nothing."
    return (
        f"The clock of the source is uncertain by {aligned.clock.uncertainty:.2g} s, more than a sample's step: "
        "shown, and judged by nothing."
    )


def _covers(aligned: Aligned, seconds: float, step: float) -> bool:
    """Return whether there are frames all the time that is judged."""
    ends = [
        (each.start_seconds, each.start_seconds + len(each.values) * each.step_seconds)
        for each in aligned.series
    ]
    first, last = min((a for a, _ in ends), default=inf), max((b for _, b in ends), default=-inf)
    return (
        first <= EDGE * seconds + step
        and last >= (1 - EDGE) * seconds - step
        and not any(begin < seconds and end > 0 for begin, end in aligned.gaps)
    )


def _spans(seconds: float) -> dict[str, tuple[float, float]]:
    return {
        BEFORE: (-inf, 0.0),
        MEASURE: (0.0, seconds),
        STEADY: (EDGE * seconds, (1 - EDGE) * seconds),
    }


def _summaries(sources: Sequence[WatchedSource], seconds: float) -> list[Summary]:
    result: dict[tuple[Key, str], Summary] = {}
    for source in sources:
        for series in source.series:
            for phase, (begin, end) in _spans(seconds).items():
                values = series.within(max(begin, series.start_seconds), end)
                known = values[np.isfinite(values)]
                if len(known) and (series.key, phase) not in result:
                    p50, p95 = np.percentile(known, [50, 95])
                    result[series.key, phase] = Summary(
                        series.key,
                        phase,
                        float(known.mean()),
                        float(p50),
                        float(p95),
                        float(known.max()),
                    )
    return list(result.values())


def observed(sources: Sequence[WatchedSource], seconds: float) -> Observed:
    """Return what the rule judges: the steady window of all sources whose clocks are certain, on one grid.

    The first source that has a quantity counts, in the order of the target's watches, whatever its labels: two name the same
    disk otherwise. Queues are each their own. One that is read less than three times in the window says nothing of it, and
    does not make the grid of the others coarse. A second one of the same kind, of which nothing counts, is missing: it
    may be of another machine.
    """
    begin, end = _spans(seconds)[STEADY]
    certain = [source for source in sources if source.frames and source.certain]
    fine = [each for each in certain if (end - begin) / each.step_seconds >= FEWEST_STEPS]
    certain = fine or certain
    step = max((source.step_seconds for source in certain), default=1.0)
    count = max(1, int((end - begin) / step))
    series: dict[tuple[str, str], Floats] = {}
    facts: dict[str, str | float] = {}
    owners: dict[str, int] = {}
    used: list[WatchedSource] = []
    for place, source in enumerate(certain):
        facts = {**source.facts, **facts}
        taken = False
        for each in source.series:
            key = (each.key.quantity, each.key.label)
            first = owners.setdefault(each.key.quantity, place) == place
            if key not in series and (first or each.key.quantity.startswith(QUEUES)):
                series[key] = each.on_grid(begin, step, count)
                taken = True
        if taken or all(each.source != source.source for each in used):
            used.append(source)
    return Observed(
        step_seconds=step,
        series=series,
        facts=facts,
        sources=[source.source for source in used],
        missing=[source.source for source in sources if not any(source is each for each in used)],
    )


def _events(events: Sequence[Event], seconds: float, binding: RunBinding | None) -> list[RunEvent]:
    bound = {str(each.resource) for each in binding.strongest} if binding else set()
    result = []
    for event in sorted(events, key=lambda each: each.at):
        if not isfinite(event.at):
            continue
        until = event.at if event.until is None else event.until
        inside = until >= 0 and event.at <= seconds
        lasts = (min(until, seconds) - max(event.at, 0.0)) >= COSTLY_EVENT * seconds
        result.append(
            RunEvent(
                event.kind,
                event.text,
                event.at,
                event.until,
                inside and (lasts or event.kind in CAVEATS or event.touches in bound),
            )
        )
    return result


def store_watched(attempt: Attempt, run: WatchedRun) -> None:
    """Store what the watches of the target saw of an attempt. Texts are stored without secrets."""
    rows = Watched.objects.bulk_create(
        Watched(
            attempt=attempt,
            source=source.source,
            address=source.address,
            state=source.state,
            reason=storable(redaction.redact(source.reason)),
            step_seconds=source.step_seconds,
            offset_seconds=source.offset_seconds,
            uncertainty_seconds=source.uncertainty_seconds,
            drift_seconds=source.drift_seconds,
            is_certain=source.certain,
            frames=source.frames,
            gaps=[list(gap) for gap in source.gaps],
            cpu_seconds=source.cpu_seconds,
            worker_cpu_seconds=source.worker_cpu_seconds,
            facts=redaction.redact_all(
                {name: _fact(value) for name, value in source.facts.items()}
            ),
        )
        for source in run.sources
    )
    WatchedSeries.objects.bulk_create(
        (
            WatchedSeries(
                watched=row,
                quantity=series.key.quantity,
                label=_label(series.key.label),
                start_seconds=series.start_seconds,
                step_seconds=series.step_seconds,
                count=len(series.values),
                first=series.first,
                last=series.last,
                values=pack(series.values),
            )
            for row, source in zip(rows, run.sources, strict=True)
            for series in source.series
        ),
        ignore_conflicts=True,  # two labels that differ behind their 100th letter
    )
    WatchedSummary.objects.bulk_create(
        (
            WatchedSummary(
                attempt=attempt,
                quantity=summary.key.quantity,
                label=_label(summary.key.label),
                phase=summary.phase,
                unit=summary.unit,
                mean=summary.mean,
                p50=summary.p50,
                p95=summary.p95,
                largest=summary.largest,
            )
            for summary in run.summaries
        ),
        ignore_conflicts=True,
    )
    WatchedEvent.objects.bulk_create(
        WatchedEvent(
            attempt=attempt,
            kind=event.kind,
            text=storable(redaction.redact(event.text))[:300],
            at_seconds=event.at_seconds,
            until_seconds=event.until_seconds,
            matters=event.matters,
        )
        for event in run.events
    )
    if run.binding is not None:
        Binding.objects.create(attempt=attempt, rule=RULE, result=_as_stored(run.binding))


def _as_stored(binding: RunBinding) -> JsonObject:
    result: JsonObject = redaction.redact_all(msgspec.to_builtins(binding))
    return result


def _label(label: str) -> str:
    return storable(redaction.redact(label))[:100]


def _fact(value: str | float) -> str | float:
    return storable(value) if isinstance(value, str) else value


def pack(values: Floats) -> bytes:
    """Encode values as float32, little-endian, compressed."""
    return zlib.compress(values.astype("<f4").tobytes(), LEVEL)


def as_stored(values: Floats) -> Floats:
    """Round values to what is stored of them."""
    return values.astype("<f4").astype(float)


def unpack(stored: bytes, count: int) -> Floats:
    """Decode what `pack` has encoded."""
    count = min(count, 2 * LONGEST_SAMPLES)
    values = zlib.decompressobj().decompress(stored, 4 * count)  # of a bundle it may be anything
    result: Floats = np.full(count, np.nan)
    found = np.frombuffer(values[: len(values) // 4 * 4], dtype="<f4")
    result[: len(found)] = found
    return result


def binding_of(attempt: Attempt) -> RunBinding | None:
    """Return the stored judgement of an attempt; None where it was not watched."""
    row = Binding.objects.filter(attempt=attempt).first()
    return None if row is None else binding_from(row.result)


def judge_again(attempt: Attempt) -> RunBinding | None:
    """Judge an attempt by its stored series and today's rule, and store that. None where the series are deleted."""
    measured = Phase.objects.filter(
        attempt=attempt, of=Phase.Of.ATTEMPT, name=Attempt.Phase.MEASURE
    ).first()
    run = watched_of(attempt)
    if measured is None or not any(run.series()):
        return None
    binding = judge(observed(run.sources, measured.seconds))
    Binding.objects.filter(attempt=attempt).update(rule=RULE, result=_as_stored(binding))
    return binding


def binding_from(stored: Json) -> RunBinding | None:
    """Return a stored judgement; None where it is none of this version, as a bundle may have."""
    try:
        return msgspec.convert(stored, RunBinding)
    except msgspec.ValidationError:
        return None


def watched_of(attempt: Attempt) -> WatchedRun:
    """Return what is stored of the watches of an attempt, in five queries; without sources where there were none."""
    rows = list(Watched.objects.filter(attempt=attempt).order_by("pk"))
    series: dict[int, list[AlignedSeries]] = {row.pk: [] for row in rows}
    found = (
        WatchedSeries.objects.filter(watched__in=rows).order_by("quantity", "label") if rows else ()
    )
    for each in found:
        series[each.watched_id].append(
            AlignedSeries(
                Key(each.quantity, each.label),
                each.start_seconds,
                each.step_seconds,
                unpack(bytes(each.values), each.count),
                each.first,
                each.last,
            )
        )
    if not rows:
        return WatchedRun(sources=())
    return WatchedRun(
        sources=[
            WatchedSource(
                source=row.source,
                address=row.address,
                state=row.state,
                reason=row.reason,
                step_seconds=row.step_seconds,
                offset_seconds=row.offset_seconds,
                uncertainty_seconds=row.uncertainty_seconds,
                drift_seconds=row.drift_seconds,
                frames=row.frames,
                gaps=[(begin, end) for begin, end in row.gaps],
                cpu_seconds=row.cpu_seconds,
                worker_cpu_seconds=row.worker_cpu_seconds,
                facts=row.facts,
                series=series[row.pk],
                certain=row.is_certain,
            )
            for row in rows
        ],
        summaries=[
            Summary(
                Key(row.quantity, row.label), row.phase, row.mean, row.p50, row.p95, row.largest
            )
            for row in WatchedSummary.objects.filter(attempt=attempt).order_by("quantity", "label")
        ],
        events=[
            RunEvent(row.kind, row.text, row.at_seconds, row.until_seconds, row.matters)
            for row in WatchedEvent.objects.filter(attempt=attempt)
        ],
        binding=binding_of(attempt),
    )
