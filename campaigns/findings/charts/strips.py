"""Geometry of the small drawings in tables, in % of their cell, and of spark lines. Pure.

The template draws it as SVG that stretches with its column; rows that share a Scale are aligned.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle

from campaigns.findings.charts.sampling import evenly
from campaigns.kit.charts.figure import is_finite
from campaigns.kit.numbers import amount, change, change_span

ROWS = ("9", "14", "19")
"""Dots are drawn on three lines, so that equal values are seen."""
PAD = 0.04
MOST_LISTED = 12
MOST_DOTS = 25
"""Of more runs only some are drawn, evenly by rank."""
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 120, 32, 4


@dataclass(frozen=True, slots=True)
class Dot:
    """The place of a circle."""

    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Scale:
    """The common scale of a column, low < high."""

    low: float
    high: float

    def position(self, value: float) -> str:
        """Place a value, as "77.08%"; what lies outside stands at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(1.0, max(0.0, share)):.2f}%"

    @property
    def text(self) -> str:
        """Write both ends, of changes in percent."""
        ends = self.low, self.high
        return " to ".join(change(end, 0) for end in ends)

    def path(self, values: Sequence[float]) -> str:
        """Place values as the path of a pen that touches down at each, three lines high."""
        factor, low = 100 / (self.high - self.low), self.low
        rows = cycle(ROWS)
        return "".join(
            f"M{factor * (value - low):.1f} {row}h0"
            for value, row in zip(values, rows, strict=False)
        )


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of runs. Empty strings where there is no mean or no interval.

    path: runs in a view box of 100 x 28, where they are too many for a dot each; then `dots` is empty.
    """

    dots: tuple[Dot, ...]
    mean: str
    low: str
    high: str
    label: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Forest:
    """One row of a forest. Empty strings where there is no estimate or no interval."""

    zero: str
    estimate: str
    low: str
    high: str
    label: str


@dataclass(frozen=True, slots=True)
class Spark:
    """A small curve in a view box of 120 x 32: its points from left to right, high values at the top.

    dots: the points that are marked: all, unless there are so many that the marks would touch.
    """

    points: tuple[tuple[str, str], ...]

    @property
    def dots(self) -> tuple[tuple[str, str], ...]:
        return self.points if len(self.points) <= MOST_DOTS else ()

    @property
    def line(self) -> str:
        """Return the points in the form that a polyline of SVG has."""
        return " ".join(f"{x},{y}" for x, y in self.points)


def scale_of(values: Iterable[float | None], *, zero: bool = False) -> Scale:
    """Find the scale that holds all values, with a little room; `zero` is always in sight on demand."""
    known = [value for value in values if value is not None and is_finite(value)]
    if zero or not known:
        known.append(0.0)
    low, high = min(known), max(known)
    pad = PAD * (high - low) or PAD * abs(high) or 1.0
    return Scale(low - pad, high + pad)


def strip(
    values: Sequence[float | None],
    scale: Scale,
    *,
    unit: str,
    mean: float | None = None,
    interval: tuple[float, float] | None = None,
) -> Strip:
    """Place a cell's runs, their mean and the interval."""
    known = [value for value in values if value is not None and is_finite(value)]
    low, high = _bounds(scale, interval)
    many = len(known) > MOST_LISTED
    return Strip(
        dots=()
        if many
        else tuple(
            Dot(scale.position(value), ROWS[index % len(ROWS)]) for index, value in enumerate(known)
        ),
        path=scale.path(evenly(sorted(known), MOST_DOTS)) if many else "",
        mean=scale.position(mean) if mean is not None and is_finite(mean) else "",
        low=low,
        high=high,
        label=_listed(known, unit),
    )


def forest(change_pct: float | None, interval: tuple[float, float] | None, scale: Scale) -> Forest:
    """Place a change, its interval, and 0."""
    low, high = _bounds(scale, interval)
    known = change_pct is not None and is_finite(change_pct)
    label = change(change_pct) if known else "no value"
    if known and interval is not None:
        label = f"{label}, interval {change_span(interval, change_pct)}"
    return Forest(
        zero=scale.position(0.0),
        estimate=scale.position(change_pct) if change_pct is not None and known else "",
        low=low if known else "",
        high=high if known else "",
        label=label,
    )


def spark(values: Sequence[float | None]) -> Spark | None:
    """Place values evenly; a missing one leaves its place empty. None for fewer than two.

    Of more than two a pixel only some are drawn.
    """
    values = evenly(values, 2 * SPARK_WIDTH)
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    low, high = min(known), max(known)
    spread = (high - low) or 1.0
    step = (SPARK_WIDTH - 2 * SPARK_EDGE) / (len(values) - 1)
    bottom, room = SPARK_HEIGHT - SPARK_EDGE, SPARK_HEIGHT - 2 * SPARK_EDGE
    return Spark(
        tuple(
            (f"{SPARK_EDGE + index * step:.1f}", f"{bottom - (value - low) / spread * room:.1f}")
            for index, value in enumerate(values)
            if value is not None
        )
    )


def _bounds(scale: Scale, interval: tuple[float, float] | None) -> tuple[str, str]:
    if interval is None or not all(is_finite(bound) for bound in interval):
        return "", ""
    return scale.position(interval[0]), scale.position(interval[1])


def _listed(values: Sequence[float], unit: str) -> str:
    if not values:
        return "no value"
    if len(values) <= MOST_LISTED:
        return ", ".join(amount(value, unit) for value in values)
    return f"{len(values)} runs from {amount(min(values), unit)} to {amount(max(values), unit)}"
