"""Time budgets of campaigns and quiet hours of targets: what ends, what waits."""

from datetime import datetime

from django.db.models.functions import Now

from campaigns.definition.life.rows import stop_everything
from campaigns.dispatch.untouched import untouched
from campaigns.models import Attempt, Campaign, LogLine, Run
from campaigns.queries import quiet
from campaigns.queries.expected import budget_seconds_left, expected_seconds
from campaigns.units import roughly, written


def end_used_up_budgets(now: datetime) -> None:
    """Stop what goes on, and cancel what is planned, where the time budget is over."""
    limited = Campaign.objects.filter(
        state=Campaign.State.RUNNING,
        time_budget_seconds__isnull=False,
        counted_from__isnull=False,
        runs__state__in=[Run.State.PLANNED, Run.State.RUNNING],
    )
    for campaign in limited.distinct():
        if budget_seconds_left(campaign, now) <= 0:
            _end_budget(campaign)


def interrupt_in_quiet_hours(now: datetime) -> None:
    """Stop runs that are on where quiet hours have begun; they go on afterwards.

    Like those of a worker that is shut down they do not count as a try.
    """
    measuring = Attempt.objects.filter(
        state=Attempt.State.RUNNING, interrupted_at=None, cancel_requested_at=None
    )
    for attempt in measuring.select_related("run__campaign__target"):
        target = attempt.run.campaign.target
        silent = target and quiet.on_by(target, now)
        if silent is None:
            continue
        run = Run.objects.select_for_update(no_key=True, skip_locked=True)
        if run.filter(pk=attempt.run_id, state=Run.State.RUNNING).first() is not None:
            reason = f"the quiet hours of {silent} began"
            Run.objects.filter(pk=attempt.run_id).update(reason=reason)
            Attempt.objects.filter(pk=attempt.pk).update(interrupted_at=Now())


def may_begin(run: Run, now: datetime) -> bool:
    """Whether a run may begin now and is expected to end in time; if not, act on it, or tell why."""
    campaign = run.campaign
    target = campaign.target
    limited = campaign.time_budget_seconds is not None and campaign.counted_from is not None
    if not limited and (target is None or not quiet.setters(target)):
        return True
    seconds = expected_seconds(run)
    if limited and budget_seconds_left(campaign, now) < seconds:
        if not Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.RUNNING).exists():
            left = roughly(max(0.0, budget_seconds_left(campaign, now)))
            _end_budget(campaign, f": a run takes about {roughly(seconds)}, with {left} left")
        return False
    waits = quiet.holding_back(target, now, seconds) if target else ""
    if waits:
        _tell_once(campaign, waits)
    return not waits


def _end_budget(campaign: Campaign, details: str = "") -> None:
    """Let nothing more of a campaign begin; it is finished when what is on has stopped.

    Rows that somebody else is changing are left for the next time.
    """
    locked = untouched(Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.RUNNING))
    if locked.first() is None:
        return
    open_runs = campaign.runs.filter(state__in=[Run.State.PLANNED, Run.State.RUNNING])
    free = open_runs.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
    if len(free) < open_runs.count():
        return
    open_attempts = Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.RUNNING)
    if open_attempts.filter(cancel_requested_at__isnull=False).exists():
        return
    budget = written(campaign.time_budget_seconds or 0)
    reason = f"time budget of {budget} is over{details}"
    Campaign.objects.filter(pk=campaign.pk).update(state_reason=reason)
    stopped = open_attempts.exists()
    cancelled = stop_everything(campaign, reason)
    text = f"{reason}; {cancelled} planned runs are cancelled"
    if stopped:
        text += ", the run that is on is told to stop"
    LogLine.objects.create(campaign=campaign, text=text, tone=LogLine.Tone.BAD)


def _tell_once(campaign: Campaign, text: str) -> None:
    """Write a line unless the last one says the same."""
    if campaign.log.order_by("-pk").values_list("text", flat=True).first() != text:
        LogLine.objects.create(campaign=campaign, text=text)
