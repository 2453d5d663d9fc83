"""Bring what a source read onto the clock of a run: offset of the clocks, rates of counters, equal steps. Pure.

0 of a run's clock is the start of the measurement. MONITORING 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor, inf, nan

import numpy as np
from numpy.typing import NDArray

from campaigns.targets.watches.base import ClockReading, Event, Key
from campaigns.targets.watches.catalog import CATALOG, Kind
from campaigns.targets.watches.recording import Recording

BATCH_SECONDS = 20.0
"""Readings of a clock that are so near to one another are one batch, of which the quickest counts."""
SET_SECONDS = 0.1
"""By how much a clock may leave the time since the start of its machine, before it counts as set."""
MOST_DRIFT = 1e-3
"""By how much a clock may leave another in a second, without being set."""
OUTSIDE_SECONDS = 60.0
"""How far outside of the time in which it was read a frame may lie: a wrong clock must not make a grid of years."""
GAP_STEPS = 3.0
LONGEST_SAMPLES = 3600
STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600)
"""By how much the steps of a long series are multiplied."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a source: its offset from the worker's monotonic clock at some instants of the latter.

    offset, uncertainty: seconds, of the first batch and of the worst. drift: last offset minus the first.
    was_set: it jumped against the uptime of its machine or the worker's clock, so that nothing can be judged by it.
    """

    instants: Sequence[float]
    offsets: Sequence[float]
    uncertainty: float
    was_set: bool = False

    @property
    def offset(self) -> float:
        """Return the first offset."""
        return self.offsets[0]

    @property
    def drift(self) -> float:
        """Return by how much the offset changed."""
        return self.offsets[-1] - self.offsets[0]

    def to_worker(self, at: Floats) -> Floats:
        """Return instants of the source as monotonic seconds of the worker."""
        near = at - self.offsets[0]
        return at - np.interp(near, self.instants, self.offsets)


@dataclass(frozen=True, slots=True)
class AlignedSeries:
    """Values of one quantity at equal steps; not a number where nothing is known. first, last: of a counter."""

    key: Key
    start_seconds: float
    step_seconds: float
    values: Floats
    first: float | None = None
    last: float | None = None

    def within(self, begin: float, end: float) -> Floats:
        """Return the values of the steps that lie in a span."""
        first = max(0, round((begin - self.start_seconds) / self.step_seconds))
        last = max(first, round((end - self.start_seconds) / self.step_seconds))
        return self.values[first:last]

    def on_grid(self, begin: float, step: float, count: int) -> Floats:
        """Return the values of another grid, as `resampled` does."""
        return resampled(self.values, self.start_seconds, self.step_seconds, (begin, step, count))


def resampled(values: Floats, start: float, step: float, grid: tuple[float, float, int]) -> Floats:
    """Return the means of values within the steps of a grid, which is (begin, step, count); a coarse series is held."""
    begin, wide, count = grid
    result: Floats = np.full(count, np.nan)
    if step >= wide:
        places = np.floor((begin + (np.arange(count) + 0.5) * wide - start) / step).astype(int)
        inside = (places >= 0) & (places < len(values))
        result[inside] = values[places[inside]]
        return result
    cells = np.floor((start + (np.arange(len(values)) + 0.5) * step - begin) / wide).astype(int)
    known = (cells >= 0) & (cells < count) & np.isfinite(values)
    sums = np.bincount(cells[known], values[known], minlength=count)
    numbers = np.bincount(cells[known], minlength=count)
    np.divide(sums, numbers, out=result, where=numbers > 0)
    return result


@dataclass(frozen=True, slots=True)
class Aligned:
    """What one source saw of a run, on the run's clock. gaps: pairs of seconds without frames."""

    clock: Clock | None
    series: Sequence[AlignedSeries] = ()
    events: Sequence[Event] = ()
    gaps: Sequence[tuple[float, float]] = ()
    frames: int = 0
    facts: Mapping[str, str | float] = field(default_factory=dict)

    def is_certain(self, step: float) -> bool:
        """Return whether the run can be judged by it: its clock is known to a step, and was not set."""
        return self.clock is not None and not self.clock.was_set and self.clock.uncertainty <= step


def clock_of(readings: Sequence[ClockReading], was_set: bool = False) -> Clock | None:
    """Return the clock by the quickest reading of each batch; None without readings."""
    batches: list[list[ClockReading]] = []
    for reading in sorted(readings, key=lambda each: each.asked):
        if batches and reading.asked - batches[-1][0].asked <= BATCH_SECONDS:
            batches[-1].append(reading)
        else:
            batches.append([reading])
    best = [min(batch, key=lambda each: each.answered - each.asked) for batch in batches]
    if not best:
        return None
    instants = [(each.asked + each.answered) / 2 for each in best]
    offsets = [each.clock - at for each, at in zip(best, instants, strict=True)]
    halves = [(each.answered - each.asked) / 2 for each in best]
    # A source that tells no uptime is found out by its clock alone.
    was_set = was_set or any(
        abs(offsets[after] - offsets[place])
        > SET_SECONDS
        + halves[place]
        + halves[after]
        + MOST_DRIFT * (instants[after] - instants[place])
        for place, after in pairwise(range(len(best)))
    )
    return Clock(instants=instants, offsets=offsets, uncertainty=max(halves), was_set=was_set)


def align(
    recording: Recording, zero: float, step: float, span: tuple[float, float] = (-inf, inf)
) -> Aligned:
    """Bring a recording onto the clock of a run that started at `zero`, in the worker's monotonic seconds.

    span: from when to when it was made, by the same clock. A frame that its source puts a minute outside of that is left out.
    """
    at, received, uptimes = recording.instants()
    clock = clock_of(recording.readings, _was_set(at, uptimes))
    trusted = clock is not None and not clock.was_set
    places = (clock.to_worker(at) if clock and trusted else received) - zero
    inside = (places >= span[0] - zero - OUTSIDE_SECONDS) & (
        places <= span[1] - zero + OUTSIDE_SECONDS
    )
    places = np.where(inside, places, np.nan)

    def place(instant: float) -> float:
        if not inside.any():
            return nan
        nearest = int(np.argmin(np.where(inside, np.abs(at - instant), inf)))
        return float(places[nearest] + instant - at[nearest])

    events = [
        Event(
            event.kind,
            event.text,
            place(event.at),
            None if event.until is None else place(event.until),
            event.touches,
        )
        for event in recording.events
    ]
    series = []
    for key, (numbers, values) in recording.columns().items():
        found = _series(key, places[numbers], values, step)
        if found is not None:
            series.append(found)
    return Aligned(
        clock=clock,
        series=sorted(series, key=lambda each: each.key),
        events=sorted(events, key=lambda each: each.at),
        gaps=_gaps(places[inside], step),
        frames=int(inside.sum()),
        facts=dict(recording.facts),
    )


def _was_set(at: Floats, uptimes: Floats) -> bool:
    """Return whether the clock jumped against the uptime of its machine, which falls where that starts again."""
    known = np.isfinite(uptimes)
    runs_on = np.diff(uptimes[known]) >= 0
    jumps = np.abs(np.diff((at - uptimes)[known]))[runs_on]
    return bool(np.any(jumps > SET_SECONDS))


def _gaps(places: Floats, step: float) -> list[tuple[float, float]]:
    """Return the spans between frames that are far apart."""
    apart = np.diff(places)
    return [
        (round(float(places[index]), 3), round(float(places[index + 1]), 3))
        for index in np.flatnonzero(apart > GAP_STEPS * step)
    ]


def _series(key: Key, places: Floats, values: Floats, step: float) -> AlignedSeries | None:
    """Return one quantity at equal steps; None where a source gave what the catalog does not have, or one counter alone."""
    quantity = CATALOG.get(key.quantity)
    good = np.isfinite(values) & np.isfinite(places)
    places, values = places[good], values[good]
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    counter = quantity is not None and quantity.kind is Kind.COUNTER
    if quantity is None or len(places) < (2 if counter else 1):
        return None
    usual = float(np.median(np.diff(places))) if len(places) > 1 else step
    longest = GAP_STEPS * max(step, usual)
    step = _step_of(step, float(places[-1] - places[0]))
    begin = floor(float(places[0]) / step) * step
    count = max(1, int(np.ceil((float(places[-1]) - begin) / step - 1e-9)))
    if counter:
        cells = _rates(places, values, longest, begin, step, count)
        ends = (float(values[0]), float(values[-1]))
    else:
        cells = _held(places, values, longest, begin, step, count)
        ends = (None, None)  # type: ignore[assignment]
    return AlignedSeries(key, begin, step, cells, *ends)


def _step_of(step: float, seconds: float) -> float:
    """Return the step of a series of so many seconds: longer where it would have too many samples."""
    return next(
        (step * times for times in STEPS if seconds / (step * times) <= LONGEST_SAMPLES),
        step * STEPS[-1],
    )


def _rates(
    places: Floats, values: Floats, longest: float, begin: float, step: float, count: int
) -> Floats:
    """Return the rate of a counter in each step: what it grew, spread over the steps between two readings.

    A fall is a restart, and a long time between two readings a gap: neither says anything of the steps in it.
    """
    apart, grown = np.diff(places), np.diff(values)
    known = (apart > 0) & (grown >= 0) & (apart <= longest)
    edges = begin + np.arange(count + 1) * step
    # What grew, and the time of which that is known, since the first reading: both are straight between two readings.
    total = np.diff(np.interp(edges, places, _summed(np.where(known, grown, 0.0))))
    covered = np.diff(np.interp(edges, places, _summed(np.where(known, apart, 0.0))))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(covered >= step / 2 - 1e-9, np.maximum(total, 0.0) / covered, np.nan)


def _summed(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _held(
    places: Floats, values: Floats, longest: float, begin: float, step: float, count: int
) -> Floats:
    """Return a gauge in each step: the mean of its readings there, else the last one before, if that is not long ago."""
    cells = np.clip(np.floor((places - begin) / step).astype(int), 0, count - 1)
    sums, numbers = np.bincount(cells, values, count), np.bincount(cells, minlength=count)
    middles = begin + (np.arange(count) + 0.5) * step
    last = np.searchsorted(places, begin + np.arange(count) * step, side="right") - 1
    held = (last >= 0) & (middles - places[np.maximum(last, 0)] <= longest)
    result = np.where(held, values[np.maximum(last, 0)], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(numbers > 0, sums / numbers, result)
