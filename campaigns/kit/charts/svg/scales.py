"""Where values stand on an axis of an SVG, and its ticks. Pure."""

import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from campaigns.kit.charts.axes import nice_step
from campaigns.kit.charts.formats import number

LETTER = 6.4
"""Pixels that a letter of an axis takes, about: 12 px, sans-serif."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis or one of logs: from `low` and `high` to pixels."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        shown = math.log10(value) if self.is_log else value
        return self.start + (shown - self.low) / (self.high - self.low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value can be drawn, and lies on the axis."""
        if self.is_log and value <= 0:
            return False
        shown = math.log10(value) if self.is_log else value
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= shown <= self.high + slack

    def inside(self, value: float) -> float:
        """The pixel of a value, or of the end of the axis beyond which it lies."""
        if self.is_log and value <= 0:
            return self.start
        low, high = sorted((self.start, self.end))
        return min(max(self.at(value), low), high)


def scale_of(axis: Mapping[str, Any], start: float, end: float) -> Scale:
    """Read the range of an axis; one without an extent is widened."""
    low, high = (float(bound) for bound in axis.get("range") or (0.0, 1.0))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    return Scale(low, high, start, end, axis.get("type") == "log")


def ticks_of(axis: Mapping[str, Any], scale: Scale) -> list[tuple[float, str]]:
    """(value, words) of each tick that lies on the axis."""
    suffix = axis.get("ticksuffix", "")
    if axis.get("tickvals"):
        places = zip(axis["tickvals"], axis["ticktext"], strict=True)
        return [(float(at), f"{said}{suffix}") for at, said in places if scale.holds(float(at))]
    if scale.is_log:
        powers = range(math.ceil(scale.low), math.floor(scale.high) + 1)
        return [(10.0**power, f"{number(10.0**power)}{suffix}") for power in powers]
    step = float(axis.get("dtick") or nice_step(scale.high - scale.low))
    first, last = math.ceil(scale.low / step), math.floor(scale.high / step)
    return [(step * each, f"{number(step * each)}{suffix}") for each in range(first, last + 1)]


def values_of(coded: Any) -> Sequence[Any]:
    """Read the values of a trace, as a list or as Plotly's typed array."""
    if not isinstance(coded, Mapping):
        return list(coded)
    held = np.frombuffer(b64decode(coded["bdata"]), dtype=f"<{coded['dtype']}")
    return [None if np.isnan(each) else float(each) for each in held.astype(float)]


def width_of(texts: Sequence[str]) -> float:
    """Pixels that the longest of some words takes, about."""
    return LETTER * max(map(len, texts), default=0)
