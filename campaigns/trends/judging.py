"""What the sessions of one trend show: a screen of the newest, changes of level, a failure that is new. Pure.

All of it is within one environment, in the order of versions. A change between two sessions of one version is the machine's.
TRENDS 5.1 and 5.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from campaigns.stats import divisive
from campaigns.stats.divisive import SEGMENT, Drift, change_points
from campaigns.stats.screen import MOST_NEWEST, ScreenTest, screen
from campaigns.stats.units import Count, Key, OnLogs, Probability

Kind = Literal["screen", "change", "machine", "failing"]
Direction = Literal["worse", "better", ""]
OLDEST, ALIGNED = 100, 25
"""So many of the newest sessions are judged when one is added, and up to so many more: older changes stay as they were found."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One session of a trend. reading: its key; version: its place in the order of versions. once: not reproduced; fails: the criterion."""

    reading: Key
    version: int
    y: OnLogs | None
    once: bool = False
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Shift:
    """A difference between sessions, in the metric's own sign. at: the reading that it is of; good, bad: the last one before it, and the last that it may have come with."""

    kind: Kind
    direction: Direction
    at: Key
    good: Key
    bad: Key
    estimate: OnLogs | None = None
    low: OnLogs | None = None
    high: OnLogs | None = None
    p: Probability | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What is seen in a trend. more: sessions until the newest can be tested; before: those that it was tested against, in tests of k.

    present: the newest plateau is the one behind the last change. long: there are enough sessions to look for changes.
    """

    worse: Shift | None = None
    better: Shift | None = None
    more: Count = 0
    before: Count = 0
    k: Count = 0
    changes: Sequence[Shift] = ()
    failing: Shift | None = None
    drift: Drift | None = None
    long: bool = False


def judge(sessions: Sequence[Measured], sign: int) -> Judged:
    """Judge sessions in their order. sign: 1 where lower is better, -1 where higher is, 0 where neither is."""
    known = _with_values(sessions)
    logs = [_log(each) for each in known]
    places = between_versions([each.version for each in known], change_points(logs))
    changes = [_change(known, each, sign) for each in divisive.at_places(logs, places)]
    found = Judged(
        changes=changes,
        failing=_failing(sessions) if sign else None,
        drift=divisive.drift(logs, places),
        long=len(logs) >= divisive.FEWEST,
    )
    return _screened(found, known, places, sign) if sign and known else found


def between_versions(versions: Sequence[int], points: Sequence[divisive.ChangePoint]) -> list[int]:
    """Return the places of changes; one within a version is moved to its border where that is next to it.

    A change is found to one session, and a product changes only between versions.
    """
    places: list[int] = []
    for point in points:
        lowest = (places[-1] if places else 0) + SEGMENT
        near = [point.at, point.at + 1, point.at - 1]
        at = next(
            (
                each
                for each in near
                if lowest <= each <= len(versions) - SEGMENT
                and versions[each - 1] != versions[each]
            ),
            point.at,
        )
        places.append(at)
    return places


def _with_values(sessions: Sequence[Measured]) -> list[Measured]:
    """Return the sessions that tell a level: not those that fail a criterion which was kept before."""
    known, kept = [], False
    for each in sessions:
        if each.y is not None and not (kept and each.fails):
            known.append(each)
        kept = kept or (each.y is not None and not each.fails)
    return known


def _log(session: Measured) -> float:
    if session.y is None:
        raise ValueError("A session without a value has no log.")
    return session.y


def _change(known: Sequence[Measured], point: divisive.ChangePoint, sign: int) -> Shift:
    before, after = known[point.at - 1], known[point.at]
    return Shift(
        kind="machine" if before.version == after.version else "change",
        direction=_direction(point.estimate, sign),
        at=after.reading,
        good=before.reading,
        bad=after.reading,
        estimate=point.estimate,
        low=point.low,
        high=point.high,
        p=point.p,
    )


def _direction(estimate: float, sign: int) -> Direction:
    if not sign:
        return ""
    return "worse" if sign * estimate > 0 else "better"


def _failing(sessions: Sequence[Measured]) -> Shift | None:
    """Return that the newest session fails what an earlier one passed."""
    if not sessions or not sessions[-1].fails:
        return None
    passed = [at for at, each in enumerate(sessions) if each.y is not None and not each.fails]
    if not passed:
        return None
    good, first = sessions[passed[-1]], sessions[passed[-1] + 1]
    return Shift("failing", "worse", sessions[-1].reading, good.reading, first.reading)


def _screened(found: Judged, known: Sequence[Measured], places: Sequence[int], sign: int) -> Judged:
    """Test the newest sessions against the plateau that they stand on."""
    settled = [0, *(each for each in places if each < len(known) - MOST_NEWEST)]
    ends = [*settled, len(known)]
    logs = [sign * _log(each) for each in known]
    plateaus = [logs[start:end] for start, end in pairwise(ends)]
    once = [each.once for each in known[settled[-1] :]]
    worse = screen(plateaus[-1], plateaus[:-1], once)
    better = screen(
        [-each for each in plateaus[-1]],
        [[-each for each in plateau] for plateau in plateaus[:-1]],
        once,
    )
    best = worse.best
    return replace(
        found,
        worse=_newest(known, worse.best, worse.p, sign, "worse"),
        better=_newest(known, better.best, better.p, -sign, "better"),
        more=worse.more,
        before=best.before if best else 0,
        k=best.k if best else 0,
    )


def _newest(
    known: Sequence[Measured],
    test: ScreenTest | None,
    p: Probability | None,
    sign: int,
    direction: Direction,
) -> Shift | None:
    if test is None:
        return None
    tested = [at for at, each in enumerate(known) if not each.once][-test.k :]
    good, bad = known[tested[0] - 1], known[-1]
    low, high = sorted((sign * test.low, sign * test.high))
    return Shift(
        kind="machine" if good.version == bad.version else "screen",
        direction=direction,
        at=bad.reading,
        good=good.reading,
        bad=bad.reading,
        estimate=sign * test.estimate,
        low=low,
        high=high,
        p=p,
    )


def tail(readings: int) -> int:
    """Return from which place on so many sessions of an environment are judged when one is added."""
    return max(0, readings - OLDEST) // ALIGNED * ALIGNED
