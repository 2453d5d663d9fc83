"""Density of the values of one cell, with its modes. Pure. STATISTICS 8.4.

On logarithms where every value is above 0, as effects are; Silverman 1986 for the width.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.logs import is_number
from campaigns.stats.units import InMetric, Share

FEWEST = 20
"""With fewer values a curve only shows the width of its kernel."""
SMALLEST_MODE = 0.1
GRID = 512
SILVERMAN = 0.75**-0.2
"""The factor of the width of a kernel in standard deviations (Silverman), for one dimension."""
PROMINENCE = 0.1
NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Mode:
    """One mode: where it lies, in the unit of the values, and its share of them (of 1)."""

    at: InMetric
    share: Share


@dataclass(frozen=True, slots=True)
class Density:
    """The curve on an even grid from `low` to `high`, of logs where `on_logs`; the highest peak is 1.

    Empty heights where all values are equal. modes: ascending.
    """

    low: float
    high: float
    on_logs: bool
    heights: tuple[float, ...]
    modes: tuple[Mode, ...]


def density_of(values: Sequence[float]) -> Density | None:
    """Estimate density and modes; None with too few values, or one that is no number."""
    array = np.array(values, dtype=float)
    if array.size < FEWEST or not is_number(array).all():
        return None
    on_logs = bool((array > 0).all())
    if np.ptp(array) < NO_SPREAD * max(1.0, float(np.abs(array).max())):
        at = float(array[0])
        return Density(at, at, on_logs=False, heights=(), modes=(Mode(at, 1.0),))
    scaled = np.log(array) if on_logs else array
    width = SILVERMAN * array.size**-0.2 * float(scaled.std(ddof=1))
    grid = np.linspace(scaled.min() - 3 * width, scaled.max() + 3 * width, GRID)
    heights = np.exp(-0.5 * np.square((grid[:, None] - scaled) / width)).sum(axis=1)
    return Density(
        low=float(grid[0]),
        high=float(grid[-1]),
        on_logs=on_logs,
        heights=tuple((heights / heights.max()).tolist()),
        modes=_modes(scaled, grid, heights, on_logs=on_logs),
    )


def _modes(
    values: NDArray[np.float64],
    grid: NDArray[np.float64],
    heights: NDArray[np.float64],
    *,
    on_logs: bool,
) -> tuple[Mode, ...]:
    """Return prominent peaks that hold at least a tenth of the values between their valleys."""
    peaks, _ = scipy.signal.find_peaks(heights, prominence=PROMINENCE * heights.max())
    places = [float(np.exp(grid[peak]) if on_logs else grid[peak]) for peak in peaks]
    valleys = [float(grid[a + int(heights[a:b].argmin())]) for a, b in itertools.pairwise(peaks)]
    counts = np.bincount(np.searchsorted(valleys, values), minlength=len(places))
    return tuple(
        Mode(place, float(count) / values.size)
        for place, count in zip(places, counts, strict=True)
        if count >= SMALLEST_MODE * values.size
    )
