"""Percentiles of the runs of one cell, each run's one observation. Pure. STATISTICS 7.

Nothing is pooled for inference: requests of one run are not independent. The sum of all histograms
of a cell is given beside it, to look further out, and has no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from campaigns.kit.histogram import SHARES, VALUES_ABOVE, Counts, added
from campaigns.stats import student
from campaigns.stats.logs import ratio_of

HALVINGS, STEPS = 24, 4
"""The axis goes on by halves of what is left above, each cut into so many steps."""
FEWEST_RUNS = 3
"""The interval of two runs is uselessly wide."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A percentile over runs, in microseconds. low, high: 95 % interval of three runs or more."""

    share: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PercentileCurve:
    """counts: values in all runs. points: as far as the run with the fewest values allows.

    together: (share, microseconds) of all runs' values in one histogram, as far as these bear it.
    """

    runs: int
    counts: int
    fewest: int
    points: tuple[CurvePoint, ...]
    together: tuple[tuple[float, float], ...]


def shares_borne(count: int) -> list[float]:
    """Return the shares of the axis that so many values allow: at least ten lie above each."""
    return [float(share) for share, needed in _AXIS if count >= needed]


def curve_of(runs: Sequence[Counts], alpha: float = 0.05) -> PercentileCurve | None:
    """Return the curve of one cell; None where no run has a value."""
    known = [run for run in runs if run.total]
    if not known:
        return None
    whole, fewest = added(known), min(run.total for run in known)
    far = shares_borne(whole.total)
    return PercentileCurve(
        runs=len(known),
        counts=whole.total,
        fewest=fewest,
        points=_over_runs(known, shares_borne(fewest), alpha),
        together=tuple(zip(far, map(float, whole.at(far)), strict=True)) if far else (),
    )


def _over_runs(
    runs: Sequence[Counts], shares: Sequence[float], alpha: float
) -> tuple[CurvePoint, ...]:
    if not shares:
        return ()
    table = np.array([run.at(shares) for run in runs], dtype=float)
    return tuple(
        _point(share, column, alpha) for share, column in zip(shares, table.T, strict=True)
    )


def _point(share: float, values: NDArray[np.float64], alpha: float) -> CurvePoint:
    """Return the geometric mean with its t interval; with a value of 0, which has no log, the mean alone."""
    if not (values > 0).all():
        return CurvePoint(share, float(values.mean()), None, None)
    logs = np.log(values)
    mean = float(logs.mean())
    if values.size < FEWEST_RUNS:
        return CurvePoint(share, ratio_of(mean), None, None)
    half = (
        student.quantile(1 - alpha / 2, values.size - 1)
        * float(logs.std(ddof=1))
        / values.size**0.5
    )
    return CurvePoint(share, ratio_of(mean), ratio_of(mean - half), ratio_of(mean + half))


def _axis() -> tuple[tuple[Fraction, Fraction], ...]:
    """Return shares with the values that they take, exactly: 1 - 0.99 in binary is not 0.01."""
    steps = {
        1 - Fraction(1, 2**halving) * (1 - Fraction(step, 2 * STEPS))
        for halving in range(HALVINGS)
        for step in range(STEPS)
    }
    shares = sorted(steps | {Fraction(str(share)) for share in (*SHARES, 0.9999)})
    return tuple((share, VALUES_ABOVE / (1 - share)) for share in shares)


_AXIS = _axis()
