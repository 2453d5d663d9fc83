"""Stop runs where a time budget is used up, quiet hours begin, or the permission to overload ends.

Dispatch does it for all campaigns, and each keeper for its own attempt, so that a limit holds while the
broker is away. Both lock in the usual order, campaign, run, attempt, but wait for no row: a row that is
locked by others is checked the next time.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.outbox import announce
from campaigns.kit.units import written
from campaigns.models import Announcement, Attempt, Campaign, LogLine, Run
from campaigns.planning import carried
from campaigns.planning.expected import budget_seconds_left
from campaigns.planning.lifecycle.rows import log, stop_everything
from campaigns.targets import overload, quiet
from campaigns.targets.allowed import allowed_on
from campaigns.targets.names import target_name

WHAT_TO_DO = "Look at the target, then resume or cancel."
MOST_REMEMBERED = 100
_above: dict[int, bool] = {}
"""By the key of an attempt, whether it asks more than its target had carried; its levels do not change."""


@transaction.atomic
def apply_limits(attempt_pk: int) -> None:
    """Request that one attempt stops where a limit requires it; its keeper treats that like a cancellation."""
    attempt = measuring().filter(pk=attempt_pk).first()
    if attempt is None:
        return
    now = database_now()
    apply_budget(attempt.run.campaign, now)
    apply_quiet_hours(attempt, now)
    apply_overload(attempt, now)


def measuring() -> QuerySet[Attempt]:
    """Return the active attempts for which no stop was requested."""
    return Attempt.objects.filter(
        state=Attempt.State.RUNNING, interrupted_at=None, cancel_requested_at=None
    ).select_related("run__campaign__target", "run__cell__target")


def apply_quiet_hours(attempt: Attempt, now: datetime) -> None:
    """Stop an attempt where quiet hours have begun; its run starts again afterwards."""
    target = attempt.run.target
    silent = quiet.on_by(target, now) if target else None
    if target is not None and silent is not None:
        _interrupt(attempt, f"the quiet hours of {target_name(silent, target.team_id)} began")


def apply_overload(attempt: Attempt, now: datetime) -> None:
    """Stop an attempt above what its target has carried where the owner's permission to overload that has ended.

    In hours without it, the run starts again when the next begin. Where the permission is over or was taken back, the campaign
    is paused: nobody knows whether it will be given again.
    """
    target, campaign = attempt.run.target, attempt.run.campaign
    if target is None or not (campaign.search or allowed_on(target).production):
        return
    if not overload.why_not_now(target, now) or not _is_above(attempt):
        return
    if not overload.why_never(target, now):
        _interrupt(attempt, f"the hours in which {target.name} may be overloaded ended")
        return
    if campaign.state == Campaign.State.RUNNING and not _lock(campaign, Campaign.State.RUNNING):
        return
    if not _interrupt(attempt, f"the time in which {target.name} may be overloaded ended"):
        return
    if campaign.state == Campaign.State.RUNNING:
        pause_itself(
            campaign,
            f"{target.name} may not be overloaded any more, so the run that was on is stopped and will be repeated",
            to_do="Have the owner of the target allow it again, then resume; or cancel.",
        )


def _is_above(attempt: Attempt) -> bool:
    """Return whether an attempt asks more of its target than that had carried; looked up once for each attempt."""
    if attempt.pk not in _above:
        _above[attempt.pk] = carried.is_above(attempt.run)
        while len(_above) > MOST_REMEMBERED:
            del _above[next(iter(_above))]
    return _above[attempt.pk]


def apply_budget(campaign: Campaign, now: datetime) -> None:
    """Stop the active attempts of a campaign whose time budget is used up.

    A campaign that was paused, by a user or automatically, stays paused: a resumption starts a new budget,
    and the withdrawn runs continue then.
    """
    if budget_seconds_left(campaign, now) > 0:
        return
    if campaign.state == Campaign.State.RUNNING:
        end_budget(campaign)
    elif campaign.state == Campaign.State.PAUSED:
        _interrupt_active(campaign)


def end_budget(campaign: Campaign, details: str = "") -> None:
    """Start no further run of a campaign; it is finished when its active attempts have stopped."""
    if not _lock(campaign, Campaign.State.RUNNING):
        return
    open_runs = campaign.runs.filter(state__in=Run.OPEN)
    free = open_runs.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
    if len(free) < open_runs.count():
        return
    open_attempts = Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.RUNNING)
    if open_attempts.filter(cancel_requested_at__isnull=False).exists():
        return
    reason = f"{_over(campaign)}{details}"
    Campaign.objects.filter(pk=campaign.pk).update(state_reason=reason)
    stopped = open_attempts.exists()
    cancelled = stop_everything(campaign, reason)
    text = f"{reason}; {cancelled} planned runs are cancelled"
    if stopped:
        text += ", the current run is stopped"
    log(campaign, text, tone=LogLine.Tone.BAD)


def _interrupt_active(campaign: Campaign) -> None:
    if not _lock(campaign, Campaign.State.PAUSED):
        return
    for attempt in measuring().filter(run__campaign=campaign):
        if _interrupt(attempt, _over(campaign)):
            text = (
                f"{_over(campaign)}; the current run is stopped, and waits until the campaign is "
                "resumed"
            )
            log(campaign, text, attempt.run, LogLine.Tone.BAD)


def _interrupt(attempt: Attempt, reason: str) -> bool:
    """Request that an attempt stops; as at the shutdown of a worker, it does not count as a try."""
    runs = Run.objects.filter(pk=attempt.run_id, state=Run.State.RUNNING)
    if runs.select_for_update(no_key=True, skip_locked=True).first() is None:
        return False
    mine = measuring().filter(pk=attempt.pk)
    if not mine.update(interrupted_at=Now()):
        return False
    runs.update(reason=reason)
    return True


def _lock(campaign: Campaign, state: Campaign.State) -> bool:
    """Lock a campaign in this state, unless its row is locked already."""
    rows = Campaign.objects.filter(pk=campaign.pk, state=state)
    return rows.select_for_update(no_key=True, skip_locked=True).first() is not None


def _over(campaign: Campaign) -> str:
    return f"time budget of {written(campaign.time_budget_seconds or 0)} is over"


def pause_itself(campaign: Campaign, what: str, last: str = "", *, to_do: str = WHAT_TO_DO) -> None:
    """Pause a locked campaign without a person. what: the reason; last: why the last run ended."""
    ended = f", the last one: {last.rstrip('.')}" if last else ""
    reason = f"stopped automatically: {what}{ended}. {to_do}"
    campaign.state, campaign.state_reason = Campaign.State.PAUSED, reason
    campaign.save(update_fields=["state", "state_reason"])
    LogLine.objects.create(campaign=campaign, text=reason, tone=LogLine.Tone.BAD)
    record(Action.CAMPAIGN_STOPPED, user=None, campaign=campaign, reason=reason)
    announce(
        Announcement.Kind.CAMPAIGN_FAILED,
        campaign.team,
        campaign=campaign,
        what=f"The campaign paused automatically: {what}.",
        words=last,
        to_do=to_do,
    )
