"""How far the sessions of a trend differ where nothing changed: within one version and one environment. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from campaigns.stats.units import Count, OnLogs

Group = tuple[int, int | None]
"""An environment by its number, and the position of a version."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The pooled standard deviation of sessions, and of the runs within one, on logs; None where nothing tells it.

    repeated: the sessions of versions that were measured more than once in one environment.
    """

    between: OnLogs | None
    repeated: Count
    within: OnLogs | None


def noise_of(
    sessions: Sequence[tuple[Group, float]], within: Iterable[tuple[float | None, int]]
) -> Noise:
    """Pool the sessions of each group (y on logs), and the runs of each session (sd on logs, number of runs)."""
    groups: dict[Group, list[float]] = {}
    for group, y in sessions:
        groups.setdefault(group, []).append(y)
    repeated = [values for values in groups.values() if len(values) > 1]
    squares = sum(_squares(values) for values in repeated)
    df = sum(len(values) - 1 for values in repeated)
    return Noise(
        math.sqrt(squares / df) if df else None,
        sum(map(len, repeated)),
        _pooled(within),
    )


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _pooled(parts: Iterable[tuple[float | None, int]]) -> float | None:
    known = [(sd, n - 1) for sd, n in parts if sd is not None and n > 1]
    df = sum(each for _, each in known)
    return math.sqrt(sum(sd**2 * each for sd, each in known) / df) if df else None
