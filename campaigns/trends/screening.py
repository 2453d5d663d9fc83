"""What the trends of a line show: which newest sessions are suspected, where levels changed, and why nothing is told yet.

A suspicion decides only what is measured again; nobody is called for one. `suspicions` returns those that hold now. They are
rows of `TrendChange`, which are made again from the points of a trend whenever one of its readings is stored. A session that
was measured again and not reproduced has `Point.once` set: it stays in the plateau and in noise, and is none of the newest.
"""

from dataclasses import dataclass
from typing import Literal

from campaigns.models import Line, Reading, SubjectVersion, Trend, TrendChange
from campaigns.stats.units import OnLogs, Probability

SuspicionKind = Literal["screen", "change", "creep", "failing", "machine"]
Direction = Literal["worse", "better"]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A trend whose newest sessions, or whose level, stand out among the trends of its line.

    reading: the newest one that is suspected; of a `change` and `machine` the first of the new level. good, bad: the change
    came in a version behind good, in bad at the latest; the same where it came within one, None without versions.
    estimate, low, high: new over old on logs, in the metric's own sign, None of `failing`. p: adjusted among the trends.
    """

    trend: Trend
    reading: Reading
    direction: Direction
    good: SubjectVersion | None
    bad: SubjectVersion | None
    estimate: OnLogs | None
    low: OnLogs | None
    high: OnLogs | None
    p: Probability | None
    kind: SuspicionKind


def suspicions(line: Line) -> list[Suspicion]:
    """Return what is suspected in the trends of a line, worse and better, in the order of trends; one query.

    A better one is listed and never measured again by itself.
    """
    rows = TrendChange.objects.filter(trend__line=line, suspected=True)
    related = rows.select_related("trend", "reading", "good", "bad").order_by("trend", "pk")
    return [_suspicion(row) for row in related]


def _suspicion(row: TrendChange) -> Suspicion:
    return Suspicion(
        trend=row.trend,
        reading=row.reading,
        direction=_direction(row),
        good=row.good,
        bad=row.bad,
        estimate=row.estimate,
        low=row.low,
        high=row.high,
        p=row.adjusted,
        kind=_kind(row),
    )


def _direction(row: TrendChange) -> Direction:
    return "better" if row.direction == TrendChange.Direction.BETTER else "worse"


def _kind(row: TrendChange) -> SuspicionKind:
    return KINDS[row.kind]


KINDS: dict[str, SuspicionKind] = {
    "screen": "screen",
    "change": "change",
    "machine": "machine",
    "creep": "creep",
    "failing": "failing",
}
