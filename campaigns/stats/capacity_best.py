"""The setting that carries the most, and those that carry nearly as much: comparisons with the best. Pure. CAPACITY 4, STATISTICS 3.5."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.best import Best, one_sided_dunnett
from campaigns.stats.capacity_by_conditions import Condition, capacity_of
from campaigns.stats.capacity_fit import Line
from campaigns.stats.capacity_ratio import Crossed, crossings, line_that_binds
from campaigns.stats.logs import pct_of

FEWEST_SETTINGS = 2
_RHO_STEPS = 20
"""In 1: correlations are rounded down to as many, so that few critical values have to be found."""


@dataclass(frozen=True, slots=True)
class BestCapacity(Best):
    """Settings against the one that carries the most. possibly: those that may carry the most."""

    possibly: tuple[int, ...]


def best_capacity(
    settings: Sequence[Sequence[Condition]], *, alpha: float = 0.05
) -> BestCapacity | None:
    """Bound how much less each setting carries than the one that truly carries the most, in % of its own capacity.

    Settings stand in the order of their cost, the cheapest first. None unless the line of one condition is claimed for all of them, and
    they share their blocks: capacities that are only bounds have no ranking.
    """
    if len(settings) < FEWEST_SETTINGS:
        return None
    found = [capacity_of(conditions, alpha=alpha) for conditions in settings]
    binding = [
        line_that_binds(conditions, each) for conditions, each in zip(settings, found, strict=True)
    ]
    lines = [each for each in binding if each is not None]
    if len(lines) < len(settings) or len({each.name for each in lines}) > 1:
        return None
    joint = crossings(lines)
    return _of_crossings(*joint, alpha) if joint else None


def _of_crossings(whole: Line, crossed: Sequence[Crossed], alpha: float) -> BestCapacity:
    """Compare ln C; the bends of both curves are added to each difference."""
    count = len(crossed)
    logs = np.array([each.log for each in crossed])
    errors, dfs = np.zeros((count, count)), np.full((count, count), np.inf)
    bends = np.array([[rival.late + own.early for rival in crossed] for own in crossed])
    for one in range(count):
        for other in range(count):
            if one != other:
                variance, df = whole.variance((crossed[other].g - crossed[one].g)[None, :])
                errors[one, other], dfs[one, other] = math.sqrt(float(variance[0])), float(df[0])
    rho = [_smallest_correlation(errors, control) for control in range(count)]
    fewest = math.floor(float(dfs.min()))
    critical = np.array([one_sided_dunnett(count - 1, fewest, alpha, each) for each in rho])
    others = ~np.eye(count, dtype=bool)
    less = logs[None, :] - logs[:, None]  # how much less the row carries than the column
    reach = less + critical[None, :] * errors + bends
    upper = np.maximum(0, np.where(others, reach, -np.inf).max(axis=1))
    rivals = less - critical[:, None] * errors - bends
    possible = np.where(others, rivals, -np.inf).max(axis=1) <= 0
    seen = int(logs.argmax())
    return BestCapacity(
        seen=seen,
        at_edge=seen == count - 1,
        cost_pct=tuple(pct_of(float(logs[seen] - each)) for each in logs),
        upper_pct=tuple(pct_of(float(bound)) for bound in upper),
        possibly=tuple(int(each) for each in np.flatnonzero(possible)),
        critical=tuple(float(each) for each in critical),
        rho=tuple(rho),
        df=fewest,
        sd=float(errors.max()) * math.sqrt(whole.blocks / 2),
        alpha=alpha,
    )


def _smallest_correlation(errors: NDArray[np.float64], control: int) -> float:
    """Return that of the differences to `control`, by their standard errors; at least 0, which is conservative (Slepian, 1962)."""
    others = [each for each in range(len(errors)) if each != control]
    if len(others) < FEWEST_SETTINGS:
        return 0.5
    found = []
    for place, one in enumerate(others):
        for other in others[place + 1 :]:
            own = errors[one, control] * errors[other, control]
            joint = errors[one, control] ** 2 + errors[other, control] ** 2
            joint -= errors[one, other] ** 2
            found.append(joint / 2 / own if own > 0 else 0.0)
    return max(0.0, math.floor(min(found) * _RHO_STEPS) / _RHO_STEPS)
