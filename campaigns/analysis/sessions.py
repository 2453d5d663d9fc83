"""Sessions as the statistics mean them: stretches of runs without a long gap."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from campaigns.queries.runs import ObservedRun
from campaigns.stats.criteria import Criteria
from campaigns.stats.sessions import SessionEstimate, Standing, over_sessions

GAP = timedelta(hours=12)
"""After a longer gap between runs the target is taken for another one (STATISTICS 2.7)."""


def same_session(one: ObservedRun, other: ObservedRun) -> bool:
    """Say whether two runs of a block were made close together: one may have been run again."""
    if one.started_at is None or other.started_at is None:
        return True
    return abs(one.started_at - other.started_at) <= GAP


def split_sessions(runs: Sequence[ObservedRun]) -> list[list[ObservedRun]]:
    """Split runs at long gaps; an extension made sooner belongs to the session before it.

    Runs without an instant stay with what was made with them.
    """
    by_number: dict[int, list[ObservedRun]] = {}
    for run in runs:
        by_number.setdefault(run.session, []).append(run)
    found: list[list[ObservedRun]] = []
    latest: datetime | None = None
    for number in sorted(by_number):
        timed = [(run.started_at, run) for run in by_number[number] if run.started_at]
        untimed = [run for run in by_number[number] if not run.started_at]
        for started_at, run in sorted(timed, key=lambda each: each[0]):
            if latest is None or started_at - latest > GAP:
                found.append([])
            found[-1].append(run)
            latest = max(latest or started_at, started_at)
        if untimed:
            if not found:
                found.append([])
            found[-1] += untimed
    return found


def standing_of(
    estimates: Sequence[SessionEstimate],
    sessions: int,
    *,
    lower_is_better: bool,
    criteria: Criteria,
) -> dict[str, Any]:
    """Say, as JSON holds it, whether sessions agree; sessions: of the campaign, with or without an estimate."""
    judged = over_sessions(estimates, lower_is_better=lower_is_better, criteria=criteria)
    if judged is None:
        reason = "across_sessions" if sessions > 1 else "not_enough_sessions"
        return {"standing": str(Standing.NOT_CONFIRMED), "reason": reason, "sessions": 0}
    return {
        "standing": str(judged.standing),
        "reason": judged.reason,
        "sessions": len(estimates),
        "word": str(judged.verdict.word),
        "ci_pct": list(judged.verdict.ci_pct) if judged.verdict.ci_pct else None,
        "each": [str(each.word) for each in judged.each],
        "differ": judged.differ,
        "differ_p": judged.differ_p,
    }
