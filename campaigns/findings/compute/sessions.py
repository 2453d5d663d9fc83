"""Split runs into sessions: runs without a long gap, in one environment."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from campaigns.findings.values import (
    BegunSession,
    Confirmation,
    FactChange,
    SessionsFinding,
    Within,
)
from campaigns.models import Block, Campaign, Cell
from campaigns.results.environment import Change, Stretches
from campaigns.results.values import ObservedRun
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.sessions import SessionFindings, Standing
from campaigns.stats.verdict import Contrast, interval_of

EXPLORED = "explored"
"""The state of a run of a search that chose the loads: it is stored and drawn, and enters no finding."""
JUDGED = (Block.Phase.NONE, Block.Phase.CONFIRM)
GAP = timedelta(hours=12)
"""A longer gap between runs begins another session (STATISTICS 2.7)."""
ONE_ENVIRONMENT = Stretches({}, ())


@dataclass(frozen=True, slots=True)
class Begun:
    """A session after the first: its first run, and why it began.

    hours: of the gap before it; None where that was short. changes: of the environment.
    """

    session: int
    position: int
    hours: float | None
    changes: tuple[Change, ...]


def in_sessions(
    by_metric: Mapping[str, Sequence[ObservedRun]], stretches: Stretches = ONE_ENVIRONMENT
) -> tuple[dict[str, list[ObservedRun]], list[Begun]]:
    """Number the sessions from 1, and split blocks that cross a border between sessions.

    An extension that is made soon, in the same environment, belongs to the session before it.
    """
    every = next(iter(by_metric.values()), [])
    numbers, begun = _numbered(every, stretches)
    result = {
        name: [replace(run, session=numbers[run.run]) for run in runs]
        for name, runs in by_metric.items()
    }
    return {name: in_parts(runs) for name, runs in result.items()}, begun


def without_exploring(
    by_metric: Mapping[str, Sequence[ObservedRun]],
) -> dict[str, list[ObservedRun]]:
    """Mark the runs that a search made to find out which loads to confirm."""
    return {
        name: [
            run if run.phase in JUDGED or run.state == "open" else replace(run, state=EXPLORED)
            for run in runs
        ]
        for name, runs in by_metric.items()
    }


def judged_cells(
    campaign: Campaign, runs: Sequence[ObservedRun]
) -> tuple[list[Cell], Sequence[ObservedRun]]:
    """Return the cells and their runs, in order, without loads at which a search only explored."""
    cells = list(campaign.cells.all())
    explored = {run.cell for run in runs if run.state == EXPLORED}
    explored -= {run.cell for run in runs if run.state != EXPLORED}
    if not explored:
        return cells, runs
    return [cell for cell in cells if cell.pk not in explored], [
        run for run in runs if run.cell not in explored
    ]


def sessions_finding(
    campaign: Campaign, runs: Sequence[ObservedRun], begun: Sequence[Begun]
) -> SessionsFinding | None:
    """Return why sessions began and how many blocks they split; None with one session."""
    if not begun:
        return None
    return SessionsFinding(
        begun=[
            BegunSession(
                each.session,
                each.position,
                each.hours,
                [FactChange(**asdict(change)) for change in each.changes],
            )
            for each in begun
        ],
        parted=_parted(campaign, runs),
        paired=campaign.order == Campaign.Order.PAIRED,
    )


def _parted(campaign: Campaign, runs: Sequence[ObservedRun]) -> int:
    """Return how many blocks have values in several sessions."""
    if campaign.order not in (Campaign.Order.PAIRED, Campaign.Order.INTERLEAVED):
        return 0
    sessions: dict[int, set[int]] = {}
    for run in runs:
        if run.state == "ok" and run.value is not None:
            sessions.setdefault(run.block, set()).add(run.session)
    return sum(len(each) > 1 for each in sessions.values())


def in_parts(runs: Sequence[ObservedRun]) -> list[ObservedRun]:
    """Number the parts of blocks, each within one session, in the order of blocks."""
    places = sorted({(run.block, run.session) for run in runs})
    parts = {place: part for part, place in enumerate(places, 1)}
    return [replace(run, part=parts[run.block, run.session]) for run in runs]


def split_sessions(runs: Sequence[ObservedRun]) -> list[list[ObservedRun]]:
    """Split runs by the session that they are in; sessions without one of them are left out."""
    result: dict[int, list[ObservedRun]] = {}
    for run in runs:
        result.setdefault(run.session, []).append(run)
    return [result[number] for number in sorted(result)]


def same_session(one: ObservedRun, other: ObservedRun) -> bool:
    """Return whether two runs of a block were made close together: one may have been run again."""
    if one.session != other.session:
        return False
    if one.started_at is None or other.started_at is None:
        return True
    return abs(one.started_at - other.started_at) <= GAP


def confirmation_of(session_findings: SessionFindings | None, sessions: int) -> Confirmation:
    """Return whether sessions agree; sessions: of the campaign, with or without an estimate."""
    if session_findings is None:
        reason = "across_sessions" if sessions > 1 else "not_enough_sessions"
        return Confirmation(str(Standing.NOT_CONFIRMED), reason, 0)
    return Confirmation(
        standing=str(session_findings.standing),
        reason=session_findings.reason,
        sessions=len(session_findings.each),
        word=session_findings.verdict.word,
        ci_pct=session_findings.verdict.ci_pct,
        each=[each.word for each in session_findings.each],
        each_pct=[pct_of(each) for each in session_findings.estimates],
        between=session_findings.by_session,
        within=_within(session_findings.within, session_findings.alpha),
        differ=session_findings.differ,
        differ_p=session_findings.differ_p,
    )


def _within(contrast: Contrast | None, alpha: float) -> Within | None:
    if contrast is None:
        return None
    bounds = interval_of(contrast, alpha)
    interval = Interval(pct_of(bounds.low), pct_of(bounds.high))
    return Within(pct_of(contrast.estimate), interval, contrast.df)


def _numbered(
    runs: Sequence[ObservedRun], stretches: Stretches
) -> tuple[dict[int, int], list[Begun]]:
    """Return the session of each run by its key. A run without an instant is in that of the run planned before it."""
    in_plan = sorted(runs, key=lambda run: run.position)
    timed = [(run.started_at, run) for run in in_plan if run.started_at]
    timed.sort(key=lambda each: each[0])
    made: list[tuple[datetime | None, ObservedRun]] = [*timed] or [(None, run) for run in in_plan]
    numbers: dict[int, int] = {}
    begun: list[Begun] = []
    latest: datetime | None = None
    stretch = 0
    for started_at, run in made:
        gap = started_at - latest if started_at and latest else timedelta()
        own = max(stretch, stretches.of_run.get(run.position, stretch))
        if numbers and (gap > GAP or own > stretch):
            hours = gap / timedelta(hours=1) if gap > GAP else None
            changes = chain.from_iterable(stretches.begun[stretch:own])
            begun.append(Begun(len(begun) + 2, run.position, hours, tuple(changes)))
        numbers[run.run] = len(begun) + 1
        latest, stretch = started_at or latest, own
    session = 1
    for run in in_plan:
        session = numbers.setdefault(run.run, session)
    return numbers, begun
