"""Sessions as the statistics mean them: stretches of runs without a long gap."""

from collections.abc import Sequence
from datetime import timedelta
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
