"""Positions of cells and their runs on the axis of levels. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.charts.cells import LevelCell, LevelsChart
from campaigns.kit.charts.axes import log_range, thinned, titled
from campaigns.kit.charts.figure import text

OFFSET = 0.02
"""Runs are drawn left of their level by this share of the axis ..."""
CROWDED_OFFSET = 0.035
"""... and by this share where there are boxes ..."""
LOG_OFFSET = 0.12
"""... but never by more than this share of the level, so that a log axis keeps them in place."""
NEAR_LOAD = 0.03
"""On a log axis of loads runs stand left of their load by this share of it at most."""
GAP_SHARE = 0.3
SPREAD, CROWDED_SPREAD = 0.25, 0.5
CATEGORY_WIDTH = 0.8
ROOM = 1.75
"""The room of a cell left of its mean, in units of `offset`."""
LONGEST_TICK = 24


@dataclass(frozen=True, slots=True)
class Place:
    """One cell: the place of its mean, the offset of its runs to the left, and their spread, in units of it."""

    cell: LevelCell
    series: int
    level: float
    x: float
    offset: float
    spread: float = SPREAD

    def run_x(self, index: int) -> float:
        """Return the place of the index-th run of the cell; equal values do not cover one another."""
        others = len(self.cell.runs) - 1
        at = 2 * index / others - 1 if others else 0.0
        return self.x - self.offset * (1 + self.spread * at)


def place_cells(chart: LevelsChart) -> list[Place]:
    """Return each cell its place: numbers where they belong, categories side by side."""
    series = {name: index for index, name in enumerate(chart.series)}
    levels = _levels(chart)
    positions = {level: _position(level, index, chart) for index, level in enumerate(levels)}
    ordered = list(positions.values())
    crowded = chart.is_crowded
    share, spread = (CROWDED_OFFSET, CROWDED_SPREAD) if crowded else (OFFSET, SPREAD)
    offsets = {
        level: _offset(level, ordered, len(series), share, is_numeric=chart.is_numeric)
        for level in ordered
    }
    places = []
    for cell in chart.cells:
        level = positions[cell.level]
        offset = offsets[level]
        if chart.on_logs:
            offset = min(offset, NEAR_LOAD * abs(level))
        slot = series[cell.series] - (len(series) - 1) / 2
        x = level + 2 * offset * slot
        places.append(Place(cell, series[cell.series], level, x, offset, spread))
    return places


def level_axis(chart: LevelsChart, title: str) -> dict[str, Any]:
    """Describe the axis of levels, linear."""
    levels = _levels(chart)
    positions = [_position(level, index, chart) for index, level in enumerate(levels)]
    low, high = (positions[0], positions[-1]) if positions else (0.0, 0.0)
    extent = (high - low) or (abs(high) or 1.0 if chart.is_numeric else 1.0)
    pad = 0.08 * extent if chart.is_numeric and len(levels) > 1 else 0.6
    if len(levels) == 1:
        pad = 0.6 * extent
    left, right = _ends(chart, low, high)
    stored = thinned(positions, extent) if chart.is_numeric else range(len(levels))
    ends = min(low - pad, left), max(high + pad, right)
    return titled(title, ends, **_ticks(chart, positions, stored))


def log_level_axis(chart: LevelsChart) -> dict[str, Any] | None:
    """Describe what a log axis of levels changes; None where the levels have no logs."""
    levels = _levels(chart)
    if not chart.is_numeric or not all(float(level) > 0 for level in levels):
        return None
    numbers = [float(level) for level in levels]
    left, right = _ends(chart, numbers[0] * (1 - LOG_OFFSET), numbers[-1])
    span = log_range(left if left > 0 else numbers[0] * (1 - LOG_OFFSET), right)
    return {
        "type": "log",
        "range": span,
        **_ticks(
            chart, numbers, thinned([math.log10(each) for each in numbers], span[1] - span[0])
        ),
    }


def _ends(chart: LevelsChart, low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis, widened to the runs next to its levels."""
    places = place_cells(chart)
    lefts = (place.x - ROOM * place.offset for place in places)
    rights = (place.x for place in places)
    return min([low, *lefts]), max([high, *rights])


def _ticks(chart: LevelsChart, positions: Sequence[float], stored: Iterable[int]) -> dict[str, Any]:
    labels = {cell.level: cell.label for cell in chart.cells}
    names = [text(labels[level], LONGEST_TICK) for level in _levels(chart)]
    stored = list(stored)
    return {
        "tickvals": [positions[index] for index in stored],
        "ticktext": [names[index] for index in stored],
    }


def _levels(chart: LevelsChart) -> list[float | str]:
    levels = list(dict.fromkeys(cell.level for cell in chart.cells))
    return sorted(levels, key=float) if chart.is_numeric else levels


def _position(level: float | str, index: int, chart: LevelsChart) -> float:
    return float(level) if chart.is_numeric else float(index)


def _offset(
    level: float, levels: Sequence[float], series: int, share: float, *, is_numeric: bool
) -> float:
    if not is_numeric:
        return CATEGORY_WIDTH / series / 2 if series > 1 else 0.12
    extent = (levels[-1] - levels[0]) or abs(level) or 1.0
    gap = min((abs(level - other) for other in levels if other != level), default=extent)
    near = LOG_OFFSET * abs(level) if level else extent
    return min(share * extent, near, GAP_SHARE * gap / series)
