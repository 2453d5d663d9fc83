"""What the trends of a line show: which newest sessions are suspected, where levels changed, and why nothing is told yet.

A suspicion decides only what is measured again; nobody is called for one. `suspicions` returns those that hold now. They are
rows of `TrendChange`, which are made again from the points of a trend whenever one of its readings is stored. A session that
was measured again and not reproduced has `Point.once` set: it stays in the plateau and in noise, and is none of the newest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q

from campaigns.models import Line, Reading, SubjectVersion, Trend, TrendChange
from campaigns.stats.units import OnLogs, Probability
from campaigns.trends.judging import ALIGNED, Judged, Measured, judge, tail
from campaigns.trends.summaries import (
    CURVE,
    Counts,
    Session,
    counted_anew,
    in_order,
    sessions_in,
    summary,
)
from campaigns.trends.suspecting import LEVELS, Rows

FAILS = frozenset({"too_many_failures", "fails_criterion"})

SuspicionKind = Literal["screen", "change", "creep", "failing", "machine"]
Direction = Literal["worse", "better"]
KINDS: Sequence[SuspicionKind] = ("failing", "change", "screen", "creep", "machine")
"""The most urgent one first."""


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


@transaction.atomic
def screen(line: Line) -> None:
    """Look at the newest sessions of a line again, after something was said of one of them (`Point.once`)."""
    line = Line.objects.select_for_update(of=("self",), no_key=True).get(pk=line.pk)
    look(line, readings_of(line), Counts())


def readings_of(line: Line) -> list[Reading]:
    """Return the readings of a line in the order of time, without their facts; each version is read once."""
    rows = Reading.objects.filter(line=line).only(*LIGHT).order_by("at", "pk")
    readings = list(rows)
    keys = {each.version_id for each in readings} - {None}
    versions = SubjectVersion.objects.in_bulk(keys)
    for reading in readings:
        reading.version = versions.get(reading.version_id) if reading.version_id else None
    return readings


LIGHT = ("line", "at", "facts", "version", "environment", "border")


def look(line: Line, readings: Sequence[Reading], gained: Counts | None) -> None:
    """Store what the trends of a line show. readings: all, in the order of time, with their versions.

    gained: the points that came since; then the newest sessions of the present environment are judged. None: all are.
    """
    ordered = in_order(readings)
    environments = _environments(ordered)
    present = environments[-1] if environments else []
    kept = _Kept(line, present, whole=gained is None)
    parts = environments if gained is None else [present[kept.start :]]
    keys = {each.pk for part in parts for each in part} | {each.pk for each in ordered[-CURVE:]}
    points = sessions_in(line, sorted(keys))
    places = _places(line, ordered)
    trends = list(Trend.objects.filter(line=line).order_by("pk"))
    rows = Rows(line, {each.pk: each for each in readings})
    newest: dict[Trend, Judged] = {}
    for trend in trends:
        own = points.get(trend.pk, {})
        for part in parts:
            sessions = [own[each.pk] for each in kept.judged(trend, part) if each.pk in own]
            newest[trend] = judge([_measured(each, places) for each in sessions], _sign(trend))
            rows.add_levels(trend, newest[trend])
    rows.suspect(newest)
    kept.replace_by(rows.rows)
    counts = counted_anew(line) if gained is None else gained
    versions = len({each.version_id for each in readings} - {None})
    shown = [each for each in ordered if each.pk in keys]
    for trend in trends:
        before = {} if gained is None else trend.state
        trend.state = {
            "sessions": before.get("sessions", 0) + counts.points[trend.pk],
            "told": before.get("told", 0) + counts.values[trend.pk],
            "versions": versions,
            **summary(points.get(trend.pk, {}), shown),
            **_seen(newest.get(trend), rows.of(trend)),
        }
    Trend.objects.bulk_update(trends, ["state"], batch_size=100)


def _environments(ordered: Sequence[Reading]) -> list[list[Reading]]:
    """Return the readings of each environment, the present one last."""
    parts: dict[int, list[Reading]] = {}
    for reading in ordered:
        parts.setdefault(reading.environment, []).append(reading)
    return [parts[number] for number in sorted(parts)]


def _places(line: Line, ordered: Sequence[Reading]) -> dict[int, int]:
    """Return the place of each reading's version; without a subject each reading has one of its own."""
    places: dict[int, int] = {}
    last = -1
    for at, reading in enumerate(ordered):
        if reading.version is not None:
            last = reading.version.position
        places[reading.pk] = last if line.subject else at
    return places


def _measured(session: Session, places: Mapping[int, int]) -> Measured:
    fails = not FAILS.isdisjoint(session.flags)
    return Measured(session.reading, places[session.reading], session.y, session.once, fails)


def _sign(trend: Trend) -> int:
    return {True: 1, False: -1, None: 0}[trend.lower_is_better]


class _Kept:
    """What stays as it was found when a session is added: changes before the sessions that are judged again, and at their begin."""

    def __init__(self, line: Line, present: Sequence[Reading], *, whole: bool) -> None:
        self.line, self.whole, self.present = line, whole, present
        self.start = 0 if whole else tail(len(present))
        first = present[self.start : self.start + ALIGNED] if self.start else []
        keys = {each.pk: at for at, each in enumerate(first)}
        self.rows = [
            (row, keys[row.reading_id])
            for row in TrendChange.objects.filter(
                trend__line=line, kind__in=LEVELS, reading__in=keys
            )
        ]
        self.begins = {row.trend_id: at for row, at in sorted(self.rows, key=lambda each: each[1])}

    def judged(self, trend: Trend, part: Sequence[Reading]) -> Sequence[Reading]:
        """Return the readings that are judged: from the last change that is kept on."""
        return part[self.begins.get(trend.pk, 0) :]

    def replace_by(self, rows: Sequence[TrendChange]) -> None:
        """Store rows in the place of all that was found before, and is not kept."""
        old = TrendChange.objects.filter(trend__line=self.line)
        if not self.whole:
            again = [each.pk for each in self.present[self.start :]]
            old = old.filter(~Q(kind__in=LEVELS) | Q(reading__in=again))
            old = old.exclude(pk__in=[row.pk for row, _ in self.rows])
        old.delete()
        moved = {row.trend_id for row in rows if row.kind in LEVELS}
        here = [each.pk for each in self.present]
        past = TrendChange.objects.filter(trend__line=self.line, kind__in=LEVELS, suspected=True)
        past.filter(Q(trend__in=moved) | ~Q(reading__in=here)).update(suspected=False)
        TrendChange.objects.bulk_create(rows, batch_size=500)


def _seen(judged: Judged | None, suspected: Sequence[TrendChange]) -> dict[str, Any]:
    """Return what the state of a trend tells of its newest sessions."""
    if judged is None:
        return {}
    kinds = [kind_of(row) for row in suspected if row.direction == TrendChange.Direction.WORSE]
    return {
        "p": judged.worse and judged.worse.p,
        "k": judged.k,
        "before": judged.before,
        "more": judged.more,
        "slope": judged.drift and judged.drift.slope,
        "suspected": min(kinds, key=KINDS.index, default=""),
    }


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
        kind=kind_of(row),
    )


def _direction(row: TrendChange) -> Direction:
    return "better" if row.direction == TrendChange.Direction.BETTER else "worse"


def kind_of(row: TrendChange) -> SuspicionKind:
    """Return what is suspected: a difference within one version is the machine's."""
    if row.kind == TrendChange.Kind.FAILING:
        return "failing"
    if row.good is not None and row.bad is not None and row.good.position == row.bad.position:
        return "machine"
    return KIND[row.kind]


KIND: Mapping[str, SuspicionKind] = {
    "screen": "screen",
    "change": "change",
    "machine": "machine",
    "creep": "creep",
}
