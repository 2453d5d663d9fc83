"""Why sessions began, and which blocks they part, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from campaigns.analysis.sessions import Begun
from campaigns.charts.formats import counted
from campaigns.models import Campaign
from campaigns.queries.environment import Change
from campaigns.queries.runs import ObservedRun

MOST_TOLD, MOST_FACTS, MOST_LETTERS = 3, 3, 40


def sessions_told(
    campaign: Campaign, runs: Sequence[ObservedRun], begun: Sequence[Begun]
) -> dict[str, Any] | None:
    """Say, as JSON holds it, why sessions began and how many blocks they part; None with one session.

    parted: blocks with values in several sessions; of pairs these are left out. changed: what is
    said of those that a change of the environment began; all: of every one.
    """
    if not begun:
        return None
    parted = _parted(campaign, runs)
    changed = [each for each in begun if each.changes]
    return {
        "begun": [asdict(each) for each in begun],
        "parted": parted,
        "changed": [*_begun(changed), *_lost(campaign, parted)] if changed else [],
        "all": [*_begun(begun), *_lost(campaign, parted)],
    }


def _parted(campaign: Campaign, runs: Sequence[ObservedRun]) -> int:
    if campaign.order not in (Campaign.Order.PAIRED, Campaign.Order.INTERLEAVED):
        return 0
    sessions: dict[int, set[int]] = {}
    for run in runs:
        if run.state == "ok" and run.value is not None:
            sessions.setdefault(run.block, set()).add(run.session)
    return sum(len(each) > 1 for each in sessions.values())


def _begun(begun: Sequence[Begun]) -> Iterator[str]:
    for each in begun[:MOST_TOLD]:
        yield f"A new session begins at run {each.position}: {_why(each)}."
    if len(begun) > MOST_TOLD:
        yield f"{len(begun) - MOST_TOLD} more begin later."


def _why(begun: Begun) -> str:
    why = [f"{begun.hours:.0f} h after the run before it"] if begun.hours else []
    why += [_change(change) for change in begun.changes[:MOST_FACTS]]
    if len(begun.changes) > MOST_FACTS:
        why.append(f"and {counted(len(begun.changes) - MOST_FACTS, 'more fact')}")
    return ", ".join(why)


def _change(change: Change) -> str:
    name = f"{change.name} ({change.side})"
    if max(len(change.before), len(change.after)) > MOST_LETTERS:
        return f"{name} is another one"
    return f"{name} {change.before} → {change.after}"


def _lost(campaign: Campaign, parted: int) -> Iterator[str]:
    if not parted:
        return
    if campaign.order == Campaign.Order.PAIRED:
        is_left = "is" if parted == 1 else "are"
        yield f"{counted(parted, 'pair')} with runs on both sides of a border {is_left} left out."
    else:
        lies = "lies" if parted == 1 else "lie"
        yield (
            f"{counted(parted, 'block')} {lies} on both sides of a border: runs are compared "
            "within each part only."
        )
