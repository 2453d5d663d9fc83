"""The observed window of a run, and what holds in it: means over the window, and over its parts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.binding import (
    LIMITS,
    Caveat,
    Figure,
    Observed,
    Resource,
    ResourceState,
    Series,
    Sign,
    State,
    Unit,
)

LARGEST = 1e18
"""A larger value is no observation, in whatever unit."""
PARTS, SAMPLES_OF_PART = 10, 3
"""Parts of the window that are judged each, so that a resource of half the run is seen, and the least samples of one, so that a
noisy sample is not."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure over the window, and over each of its parts. None, not a number: not observed."""

    whole: float | None = None
    parts: Series = field(default_factory=lambda: np.full(0, np.nan))

    def less(self, other: "Measure") -> "Measure":
        """Return what is left of a share beside another that is a part of it."""
        if self.whole is None or other.whole is None or len(self.parts) != len(other.parts):
            return self
        parts = np.maximum(self.parts - np.nan_to_num(other.parts), 0.0)
        return Measure(max(self.whole - other.whole, 0.0), parts)


@dataclass(frozen=True, slots=True)
class Indicator:
    """A figure by which a resource is judged: it binds where the figure and all that it needs reach their limits, in the same parts.

    label: what the figure is of.
    """

    name: str
    measure: Measure
    limit: float
    sign: Sign
    unit: Unit = Unit.SHARE
    label: str = ""
    needs: Sequence[tuple[Measure, float]] = ()

    def at_limit(self) -> NDArray[np.bool_]:
        """Return in which parts of the window it holds."""
        parts = self.measure.parts
        holds = parts >= self.limit
        for measure, limit in self.needs:
            same = len(measure.parts) == len(parts)
            holds &= measure.parts >= limit if same else (measure.whole or 0.0) >= limit
        return holds

    def holds(self) -> bool:
        """Return whether it holds over the window, or in enough of its parts."""
        if self.measure.whole is None:
            return False
        whole = self.measure.whole >= self.limit and all(
            (measure.whole or 0.0) >= limit for measure, limit in self.needs
        )
        known = np.count_nonzero(~np.isnan(self.measure.parts))
        if not known:
            return whole
        held = np.count_nonzero(self.at_limit())
        return (whole and int(held) > 0) or int(held) >= LIMITS.part * int(known) - 1e-9

    def share(self) -> float | None:
        """Return the part of the window in which it holds; None where only the whole window is judged."""
        known = np.count_nonzero(~np.isnan(self.measure.parts))
        return float(np.count_nonzero(self.at_limit()) / known) if known else None

    def figure(self) -> Figure:
        """Return the figure, its mean over the window."""
        return Figure(self.name, self.measure.whole or 0.0, self.unit, self.limit, self.label)

    def judged(self) -> Figure:
        """Return the figure where it is at its limit, if it is."""
        held = self.at_limit()
        if not held.any() or (held | np.isnan(self.measure.parts)).all():
            return self.figure()
        return replace(self.figure(), value=float(self.measure.parts[held].mean()))


def judged(
    state: ResourceState, indicators: Sequence[Indicator], informs: Sequence[Figure] = ()
) -> ResourceState:
    """Return a resource as its indicators judge it: by the first that holds, else by the first that is known.

    informs: figures that only inform. The reason of a resource are its figures, each once.
    """
    known = [each for each in indicators if each.measure.whole is not None]
    holds = [each for each in known if each.holds()]
    # Of two indicators of one figure, the one that holds tells the limit.
    told = {each.name: each.figure() for each in (*reversed(known), *reversed(holds))}
    names = dict.fromkeys(each.name for each in known)
    state = replace(state, figures=[*(told[name] for name in names), *informs])
    if not known:
        return state
    if not holds:
        return replace(state, judged_by=known[0].figure())
    first = holds[0]
    shares = [share for each in holds if (share := each.share()) is not None]
    return replace(
        state,
        state=State.BINDS,
        sign=first.sign,
        judged_by=first.judged(),
        at_limit=max(shares, default=None),
    )


class Window:
    """The observed series without what cannot be: negative rates, and values that are no numbers, are gaps."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.step = observed.step_seconds
        self.samples = max((len(values) for values in observed.series.values()), default=0)
        self._series = {key: self._clean(values) for key, values in observed.series.items()}

    def _clean(self, values: Series) -> Series:
        clean = np.full(self.samples, np.nan)
        clean[: len(values)] = values
        clean[~((clean >= 0) & (clean <= LARGEST))] = np.nan
        return clean

    def has_gaps(self) -> bool:
        """Return whether a part of the window was not observed.

        The machine's own series, without a label, are there from the start. Others may begin within the window, as an event that
        somebody waits for does, or a replica.
        """
        for (_, label), values in self._series.items():
            known = np.flatnonzero(~np.isnan(values))
            first = next(iter(known), len(values)) if label else 0
            if len(known) < len(values) - first:
                return True
        return False

    def labels(self, quantity: str) -> list[str]:
        """Return the labels of a quantity, the machine's own empty one left out."""
        return sorted(label for name, label in self._series if name == quantity and label)

    def has(self, quantity: str, label: str = "") -> bool:
        """Return whether a source has a series, however few its samples."""
        return (quantity, label) in self._series

    def names(self, *quantities: str) -> bool:
        """Return whether a source has any of these quantities, however few its samples."""
        return any(name in quantities for name, _ in self._series)

    def series(self, quantity: str, label: str = "") -> Series | None:
        """Return a series; None where it was not observed in enough of the window."""
        values = self._series.get((quantity, label))
        return None if values is None else self.enough(values)

    def any(self, quantity: str, label: str = "") -> Series | None:
        """Return a series, however few its samples."""
        return self._series.get((quantity, label))

    def enough(self, values: Series) -> Series | None:
        """Return values unless too many are gaps."""
        known = np.count_nonzero(~np.isnan(values))
        return values if known and known >= LIMITS.coverage * self.samples else None

    def mean(self, quantity: str, label: str = "") -> float | None:
        """Return the mean of a series; None where it was not observed."""
        return mean_of(self.series(quantity, label))

    def count(self, quantity: str, label: str = "") -> float | None:
        """Return how much a counter grew in the window."""
        values = self.series(quantity, label)
        return None if values is None else float(np.nansum(values)) * self.step

    def measure(self, quantity: str, label: str = "") -> Measure:
        """Return a series as a measure."""
        return measure_of(self.series(quantity, label))

    def share(self, quantity: str, label: str = "") -> Measure:
        """Return a series of shares as a measure: rounding of clocks may give a little more than 1."""
        values = self.series(quantity, label)
        return measure_of(None if values is None else np.minimum(values, 1.0))

    def most(self, quantity: str) -> tuple[Measure, str]:
        """Return the largest share, of the machine or of a group that is not perfdash's, and its label."""
        shares = [
            (self.share(quantity, label), label)
            for label in ["", *self.labels(quantity)]
            if label not in self.observed.load_groups
        ]
        known = [each for each in shares if each[0].whole is not None]
        return max(known, key=lambda each: (each[0].whole or 0.0, each[1]), default=(Measure(), ""))

    def largest_group(self, quantity: str) -> tuple[str, float] | None:
        """Return the group with the largest mean."""
        means = [
            (mean, label)
            for label in self.labels(quantity)
            if (mean := self.mean(quantity, label)) is not None
        ]
        if not means:
            return None
        mean, label = max(means)
        return (label, mean) if mean > 0 else None


def mean_of(values: Series | None) -> float | None:
    """Return the mean without gaps."""
    return None if values is None else float(np.nanmean(values))


def measure_of(values: Series | None) -> Measure:
    """Return a series as a measure: its means, gaps left out."""
    return Measure() if values is None else ratio_of(values, np.ones(len(values)))


def ratio_of(above: Series, below: Series) -> Measure:
    """Return a ratio of two series as a measure: of their sums, over the window and each part; 0 where both are."""
    known = ~np.isnan(above) & ~np.isnan(below)
    number = max(1, min(PARTS, len(above) // SAMPLES_OF_PART))
    places = np.array_split(np.arange(len(above)), number)
    parts = np.array([_ratio(above, below, known, place) for place in places])
    whole = _ratio(above, below, known, np.arange(len(above)))
    return Measure(None if np.isnan(whole) else whole, parts)


def _ratio(
    above: Series, below: Series, known: NDArray[np.bool_], place: NDArray[np.int_]
) -> float:
    place = place[known[place]]
    if not len(place):
        return float("nan")
    total = float(below[place].sum())
    return float(above[place].sum()) / total if total > 0 else 0.0


def happens(values: Series | None, holds: NDArray[np.bool_] | None) -> Measure:
    """Return the part of the samples, gaps left out, in which something holds."""
    if values is None or holds is None:
        return Measure()
    return measure_of(np.where(np.isnan(values), np.nan, holds.astype(float)))


def informing(*figures: tuple[str, float | None, Unit]) -> list[Figure]:
    """Return the figures that are known, which only inform."""
    return [Figure(name, value, unit) for name, value, unit in figures if value is not None]


def unknown(resource: Resource, label: str = "", *caveats: Caveat) -> ResourceState:
    """Return a resource of which nothing is known."""
    return ResourceState(resource, label, State.UNKNOWN, caveats=list(caveats))
