"""Why no run of a campaign is executed: the decisions of dispatch as text, and the order of the queue."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q

from campaigns.execution.manual_steps import open_requests
from campaigns.execution.populations import addresses_at_work
from campaigns.execution.restore_settings import addresses_held
from campaigns.kit.database_clock import database_now
from campaigns.models import Attempt, Campaign, Run, Target, TargetLease, on_address
from campaigns.planning import analyses, carried
from campaigns.planning.expected import expected_seconds
from campaigns.planning.pools import needed_pools
from campaigns.planning.workers import present_by_pool
from campaigns.targets import quiet
from campaigns.targets.names import target_name

UNNAMED = "a campaign of another team"
ORDER = (F("queue_place").asc(nulls_first=True), F("launched_at").asc(nulls_first=True), "pk")


@dataclass(frozen=True, slots=True)
class Wait:
    """Why no run is executed. `open_end`: the duration is unknown."""

    why: str
    open_end: bool = False


def quoted_campaign(row: Campaign, team: int | None) -> str:
    """Return the name of a campaign for a sentence; other teams' campaigns are not named."""
    return f"“{row.name}”" if row.team_id == team else UNNAMED


def waiting_for(campaign: Campaign) -> Wait:
    """Return why no run is executed, and whether the duration is unknown."""
    now = database_now()
    if campaign.state == Campaign.State.PAUSED:
        why = campaign.state_reason or (
            "Paused: no further run begins until somebody resumes the campaign."
        )
        return Wait(_capitalised(why), open_end=True)
    if campaign.state == Campaign.State.CANCELLING:
        return Wait("Cancelling: the load is being stopped, and the target is being cleaned.")
    for pool in sorted(needed_pools(campaign) - present_by_pool().keys()):
        return Wait(
            f"No worker of the pool “{pool}” answers. Runs begin as soon as one does.",
            open_end=True,
        )
    if requests := list(open_requests(campaign).exclude(run=None)[:1]):
        return Wait(f"Waiting for a manual step: {requests[0].words}", open_end=True)
    if campaign.not_before is not None and campaign.not_before > now:
        return Wait(f"Cool-down until {campaign.not_before:%H:%M:%S} UTC.")
    return (
        _for_the_target(campaign, now)
        or _for_an_analysis(campaign)
        or Wait("Waiting for a worker to take the next run.")
    )


def _for_the_target(campaign: Campaign, now: datetime) -> Wait | None:
    """Return the reason in quiet hours, while it may not be overloaded or is in use, or while another campaign goes first."""
    planned = campaign.runs.filter(state=Run.State.PLANNED)
    following = (
        planned.select_related("cell__target", "campaign__target").order_by("position").first()
    )
    target = following.target if following is not None else None
    if target is None or following is None:
        return None
    if campaign.away_since is not None:
        until = campaign.away_since + timedelta(seconds=campaign.server_wait_seconds)
        return Wait(
            f"{target.name} does not answer since {campaign.away_since:%H:%M} UTC. The campaign goes on once it does, "
            f"and pauses {_at(until, now)} if it does not.",
            open_end=True,
        )
    if why := carried.why_not_now(following, now, expected_seconds(following)):
        return Wait(f"{_capitalised(why).rstrip('.')}.", open_end=True)
    if quiet.setters(target) and (
        why := quiet.holding_back(target, now, expected_seconds(following))
    ):
        return Wait(f"{_capitalised(why)}.", open_end=True)
    which = f" {target.name}" if len(campaign.targets) > 1 else ""
    leases = TargetLease.objects.filter(address=target.address, expires_at__gt=now)
    lease = leases.exclude(attempt__run__campaign=campaign).first()
    if lease is not None and lease.holder:
        return Wait(f"Waiting for the target{which}: it is held by {lease.holder}.", open_end=True)
    if target.address in addresses_held():
        return Wait(
            "Waiting for settings that an earlier campaign changed to be restored.", open_end=True
        )
    if target.address in addresses_at_work():
        return Wait(
            f"Waiting for the target{which}: hosts of a population are registered or deleted there.",
            open_end=True,
        )
    first = _first_at(target)
    if campaign.state == Campaign.State.RUNNING and first is not None and first != campaign:
        name = quoted_campaign(first, campaign.team_id)
        if first.state == Campaign.State.DRAFT:
            return Wait(f"Behind the try-out of {name} on the target{which}.", open_end=True)
        return Wait(
            f"Behind {name} in the queue of the target{which}{_elsewhere(first, target, campaign)}.",
            open_end=True,
        )
    return None


def _first_at(target: Target) -> Campaign | None:
    """Return the campaign that goes first on a server: a try-out of a draft, or the head of the queue."""
    planned = Q(state=Campaign.State.RUNNING, runs__state=Run.State.PLANNED)
    tried = Q(
        state=Campaign.State.DRAFT,
        runs__purpose=Run.Purpose.TRIAL,
        runs__state=Run.State.PLANNED,
    )
    queue = Campaign.objects.filter(on_address(target.address)).filter(planned | tried)
    return queue.distinct().order_by(*ORDER).first()


def _elsewhere(first: Campaign, target: Target, campaign: Campaign) -> str:
    """Return on which of its other targets the campaign ahead has its next run, and behind whom; empty where it is this one."""
    planned = first.runs.filter(state=Run.State.PLANNED).select_related("cell__target")
    following = planned.order_by("position").first()
    other = following.cell.target if following is not None else None
    if other is None or other.address == target.address:
        return ""
    ahead = _first_at(other)
    if ahead is None or ahead == first:
        return f", whose next run is on {target_name(other, campaign.team_id)}"
    name = quoted_campaign(ahead, campaign.team_id)
    return f", which waits behind {name} for {target_name(other, campaign.team_id)}"


def _for_an_analysis(campaign: Campaign) -> Wait | None:
    """Return the reason where an analysis decides whether it continues, or the next run would disturb one."""
    if not campaign.runs.filter(state__in=Run.OPEN).exists():
        if campaign.state != Campaign.State.RUNNING or campaign.analysis_requested_at is None:
            return None
        why = (
            "Waiting for the analysis of its runs, which decides whether another block is measured."
        )
        return Wait(f"{why} {analyses.nobody_computes()}".rstrip(), open_end=True)
    if Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.OPEN).exists():
        return None
    holding = list(analyses.holding_runs_back())
    if not holding:
        return None
    first = campaign if campaign in holding else holding[0]
    what = "its runs so far" if first == campaign else quoted_campaign(first, campaign.team_id)
    return Wait(
        f"Waiting for the analysis of {what}, which a run would disturb; "
        f"{analyses.HOLDING_SECONDS // 60} minutes at the longest.",
        open_end=True,
    )


def _at(instant: datetime, now: datetime) -> str:
    """Return when, as text in UTC; with the date where that is another one."""
    return (
        f"at {instant:%H:%M} UTC"
        if instant.date() == now.date()
        else f"on {instant:%Y-%m-%d at %H:%M} UTC"
    )


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
