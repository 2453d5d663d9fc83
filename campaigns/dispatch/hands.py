"""Runs that wait for a hand: nothing is leased and no worker waits, however long it takes.

The server's queue waits with them, so that nobody changes it while something is measured on it.
"""

from typing import Any

from campaigns.announcing import announce
from campaigns.models import Announcement, HandRequest, LogLine, Run, Setting, TargetStep
from campaigns.queries.hands import needed, number_of_next_attempt


def waits_for_a_hand(run: Run) -> bool:
    """Whether something has to be done by hand before a run; asks for what nobody was asked yet."""
    target = run.campaign.target
    missing = needed(run)
    if target is None or not missing:
        return False
    number = number_of_next_attempt(run)
    new = []
    for what, value in missing:
        of: dict[str, Any] = {"setting": what, "value": value}
        if isinstance(what, TargetStep):
            of = {"step": what}
        asked, made = HandRequest.objects.get_or_create(
            run=run,
            attempt_number=number,
            done_at=None,
            **of,
            defaults={
                "target": target,
                "campaign": run.campaign,
                "words": _words(what, value),
            },
        )
        if made:
            new.append(asked.words)
            LogLine.objects.create(
                campaign=run.campaign,
                run=run,
                tone=LogLine.Tone.NOW,
                text=f"run {run.position} waits for a manual step on {target.name}: {asked.words}",
            )
    if new:
        announce(
            Announcement.Kind.CAMPAIGN_NEEDS_HAND,
            run.campaign.team,
            campaign=run.campaign,
            what=f"Run {run.position} of the campaign waits for a manual step on {target.name}.",
            words="\n".join(new),
        )
    return True


def _words(what: Setting | TargetStep, value: object) -> str:
    if isinstance(what, Setting):
        told = str(what.apply.get("words") or "")
        unit = f" {what.unit}" if what.unit else ""
        return f"Set {what.name} to {value}{unit}." + (f" {told}" if told else "")
    return str(what.action.get("words") or what.name)
