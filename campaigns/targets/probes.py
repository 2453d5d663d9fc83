"""Decide whether a server may be probed now: one probe at a time, not soon after another, not during a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from campaigns.kit.database_clock import database_now
from campaigns.kit.messages import CONTROL, send
from campaigns.models import Attempt, Target, TargetLease
from campaigns.targets.names import quoted_target


def request_probe(target: Target) -> str:
    """Request a probe of a target from the control workers; return why not, or an empty text."""
    result = busy(target, database_now(), BETWEEN_SECONDS)
    if result is not None and not result.its_turn_comes:
        return result.why
    send("campaigns.probe_target", target.pk, CONTROL)
    return ""


def request_look(target: Target) -> str:
    """Request that the control workers read a target's settings back; return why not, or an empty text."""
    result = busy(target, database_now(), 0.0)
    if result is not None:
        return result.why
    send("campaigns.look_at_settings", target.pk, CONTROL)
    return ""


BETWEEN_SECONDS = 5.0
"""The least time between the end of a probe and the next one on request."""
GIVEN_UP_SECONDS = 60.0
"""The time after which an unfinished probe is dead; others end much earlier."""


@dataclass(frozen=True, slots=True)
class Busy:
    """The reason why a target is not probed now; `its_turn_comes`: it waits for the probe of another target."""

    why: str
    its_turn_comes: bool = False


def busy(target: Target, now: datetime, between: float) -> Busy | None:
    """Return why a target is not probed now; None where it may be. `between`: seconds.

    An instant far ahead comes from a clock that was set back since, and is ignored.
    """
    on = TargetLease.objects.filter(address=target.address, attempt__state=Attempt.State.RUNNING)
    if on.exists():
        return Busy(f"“{target}” is being measured, and left alone meanwhile.")
    rows = Target.objects.filter(address=target.address).order_by("pk")
    results = [each for row in rows for each in _of(row, target, now, between)]
    return min(results, key=lambda each: each.its_turn_comes, default=None)


def _of(row: Target, target: Target, now: datetime, between: float) -> Iterator[Busy]:
    is_itself = row.pk == target.pk
    name = quoted_target(row, target.team_id)
    known = name if is_itself else f"The same server, {name},"
    if row.probe_began_at and _seconds(now, row.probe_began_at) < GIVEN_UP_SECONDS:
        yield Busy(f"{known} is being probed already.", not is_itself)
    elif row.probed_at and (ago := _seconds(now, row.probed_at)) < between:
        yield Busy(
            f"{known} was probed {round(ago)} s ago; {between:g} s after a probe comes the next.",
            not is_itself,
        )


def _seconds(now: datetime, at: datetime) -> float:
    return abs((now - at).total_seconds())
