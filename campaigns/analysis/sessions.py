"""Sessions as the statistics mean them: stretches of runs without a long gap."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from campaigns.queries.runs import ObservedRun

GAP = timedelta(hours=12)
"""After a longer gap between runs the target is taken for another one (STATISTICS 2.7)."""


def number_of_sessions(runs: Sequence[ObservedRun]) -> int:
    """Count the sessions that the values come from; 1 where no instants are known."""
    starts = sorted(run.started_at for run in runs if run.state == "ok" and run.started_at)
    return 1 + sum(after - before > GAP for before, after in pairwise(starts))


def same_session(one: ObservedRun, other: ObservedRun) -> bool:
    """Say whether two runs of a block were made close together: one may have been run again."""
    if one.started_at is None or other.started_at is None:
        return True
    return abs(one.started_at - other.started_at) <= GAP


def split_sessions(runs: Sequence[ObservedRun]) -> list[list[ObservedRun]]:
    """Split runs at extensions and at long gaps; those without an instant stay with their session."""
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
