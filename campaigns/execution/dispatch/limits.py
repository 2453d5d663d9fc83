"""Apply time budgets of campaigns and quiet hours of targets."""

from datetime import datetime

from django.db.models import Q

from campaigns.execution.dispatch.away import is_back
from campaigns.kit.units import roughly
from campaigns.models import Attempt, Campaign, LogLine, Run
from campaigns.planning import carried
from campaigns.planning.expected import budget_seconds_left, expected_seconds
from campaigns.planning.lifecycle.stopping import (
    apply_budget,
    apply_overload,
    apply_quiet_hours,
    end_budget,
    measuring,
)
from campaigns.targets import quiet


def end_used_up_budgets(now: datetime) -> None:
    """Stop open runs, and cancel planned ones, where the time budget is used up."""
    begun = Q(runs__state=Run.State.RUNNING)
    goes_on = Q(state=Campaign.State.RUNNING) & (begun | Q(runs__state=Run.State.PLANNED))
    limited = Campaign.objects.filter(
        goes_on | Q(state=Campaign.State.PAUSED) & begun,
        time_budget_seconds__isnull=False,
        counted_from__isnull=False,
    )
    for campaign in limited.distinct():
        apply_budget(campaign, now)


def interrupt_where_not_allowed(now: datetime) -> None:
    """Interrupt open runs where quiet hours have begun, or the permission to overload has ended; they are repeated."""
    for attempt in measuring():
        apply_quiet_hours(attempt, now)
        apply_overload(attempt, now)


def may_begin(run: Run, now: datetime) -> bool:
    """Return whether a run may begin now and is expected to end in time; if not, act on it, or log why."""
    campaign = run.campaign
    target = run.target
    if not is_back(run, now):
        return False
    waits = carried.why_not_now(
        run, now, expected_seconds(run) if target and target.overload_hours else 0.0
    )
    if waits:
        _log_once(campaign, waits)
        return False
    limited = campaign.time_budget_seconds is not None and campaign.counted_from is not None
    if not limited and (target is None or not quiet.setters(target)):
        return True
    seconds = expected_seconds(run)
    if limited and budget_seconds_left(campaign, now) < seconds:
        if not Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.RUNNING).exists():
            left = roughly(max(0.0, budget_seconds_left(campaign, now)))
            end_budget(campaign, f": a run takes about {roughly(seconds)}, with {left} left")
        return False
    waits = quiet.holding_back(target, now, seconds) if target else ""
    if waits:
        _log_once(campaign, waits)
    return not waits


def _log_once(campaign: Campaign, text: str) -> None:
    """Write a line unless the last one is equal."""
    if campaign.log.order_by("-pk").values_list("text", flat=True).first() != text:
        LogLine.objects.create(campaign=campaign, text=text)
