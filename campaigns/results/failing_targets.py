"""What becomes of a campaign with several targets when one of them fails: the others go on.

The rest of its visit in the block is void, since the block goes on without it. After two blocks in a row without a
value the target is out: nothing more is measured on it, and its cells keep what they have.
"""

from django.db.models.functions import Now

from campaigns.kit.outbox import announce
from campaigns.models import Announcement, CampaignTarget, LogLine, Run

BLOCKS_UNTIL_OUT = 2
BAD = (Run.State.FAILED, Run.State.VOID)


def note_end(run: Run) -> None:
    """Draw the consequences of a run that has ended for its target. Campaign and run must be locked."""
    place = CampaignTarget.objects.filter(
        campaign=run.campaign_id, target=run.cell.target_id, out_at=None
    ).first()
    if place is None or run.state not in BAD:
        return
    mine = Run.objects.filter(campaign=run.campaign_id, cell__target=run.cell.target_id)
    if run.state == Run.State.VOID:
        given_up = mine.filter(block=run.block_id, state=Run.State.PLANNED).update(
            state=Run.State.VOID,
            reason=f"{place.level} failed earlier in this block, at run {run.position}",
            finished_at=Now(),
        )
        if given_up:
            _log(run, f"{place.level}: {given_up} more runs of this block are given up")
    others = CampaignTarget.objects.filter(campaign=run.campaign_id, out_at=None)
    if others.exclude(pk=place.pk).exists() and _lost_blocks(run) >= BLOCKS_UNTIL_OUT:
        _leave_out(place, run)


def _lost_blocks(run: Run) -> int:
    """Return in how many of the latest blocks, one after another, the run's target has ended without a value."""
    rows = Run.objects.filter(
        campaign=run.campaign_id,
        cell__target=run.cell.target_id,
        purpose=Run.Purpose.MEASURED,
        block__number__lte=run.block.number,
    )
    states: dict[int, set[str]] = {}
    for number, state in rows.values_list("block__number", "state"):
        states.setdefault(number, set()).add(state)
    count = 0
    for number in sorted(states, reverse=True):
        if states[number] & {*Run.OPEN, Run.State.DONE} or not states[number] & {*BAD}:
            break
        count += 1
    return count


def _leave_out(place: CampaignTarget, run: Run) -> None:
    why = run.reason.rstrip(".") or "its runs failed"
    CampaignTarget.objects.filter(pk=place.pk).update(out_at=Now(), out_reason=why)
    left = Run.objects.filter(
        campaign=run.campaign_id, cell__target=place.target_id, state=Run.State.PLANNED
    ).update(state=Run.State.CANCELLED, reason=f"{place.level} is out: {why}", finished_at=Now())
    text = (
        f"{place.level} is out after {BLOCKS_UNTIL_OUT} blocks in a row without a value; {left} runs "
        f"are cancelled, the other targets go on. The last reason: {why}"
    )
    _log(run, text)
    announce(
        Announcement.Kind.CAMPAIGN_FAILED,
        run.campaign.team,
        campaign=run.campaign,
        what=f"{place.level} is out of the campaign; the other targets go on.",
        words=run.reason,
        to_do=f"Look at {place.level}. An extension of the campaign measures it again.",
    )


def _log(run: Run, text: str) -> None:
    LogLine.objects.create(campaign=run.campaign, run=run, text=text, tone=LogLine.Tone.BAD)
