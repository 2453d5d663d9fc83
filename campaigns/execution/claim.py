"""Claim a queued attempt for a worker, together with the leases that it needs."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from campaigns.execution.leases import lease_host, renew_queued
from campaigns.kit.database_clock import database_now
from campaigns.models import Attempt, Campaign, LogLine, Run
from campaigns.planning import carried
from campaigns.planning.expected import budget_seconds_left
from campaigns.planning.lifecycle.rows import release_leases
from campaigns.targets import quiet


@transaction.atomic
def claim(attempt_pk: int, worker: str, host: str) -> Attempt | None:
    """Claim an attempt for this worker, or return None where it must not begin.

    That is so where the message is old, the lease has lapsed or is one of a former address, somebody paused
    or cancelled, quiet hours have begun, it may not overload the target any more, or the host measures
    another run. In the last cases the target is released, so that dispatch sends the attempt again when it may start.
    """
    _lock_run_of(attempt_pk)
    attempt = _attempts().filter(pk=attempt_pk, state=Attempt.State.QUEUED).first()
    target = None if attempt is None else attempt.run.target
    if attempt is None or target is None:
        return None
    if not renew_queued(attempt, target.address):
        return None
    now = database_now()
    if not _may_start(attempt.run, now) or not lease_host(attempt, host):
        release_leases([attempt.pk])
        return None
    attempt.state, attempt.claimed_at = Attempt.State.RUNNING, now
    attempt.worker, attempt.host = worker, host
    attempt.save(update_fields=["state", "claimed_at", "worker", "host"])
    attempt.run.state, attempt.run.started_at = Run.State.RUNNING, now
    attempt.run.save(update_fields=["state", "started_at"])
    claim_line(attempt).save()
    return attempt


@transaction.atomic
def leave_to_others(attempt_pk: int) -> None:
    """Release the target of an attempt that waits for a worker, so that dispatch sends it again at once.

    One that runs keeps its leases: another worker has claimed it, since a message may be sent more than once.
    """
    _lock_run_of(attempt_pk)
    if Attempt.objects.filter(pk=attempt_pk, state=Attempt.State.QUEUED).exists():
        release_leases([attempt_pk])


def _lock_run_of(attempt_pk: int) -> None:
    Run.objects.select_for_update(of=("self",), no_key=True).filter(attempts=attempt_pk).first()


def claim_line(attempt: Attempt) -> LogLine:
    """Return the line of the log that tells of a claim."""
    run = attempt.run
    return LogLine(
        campaign_id=run.campaign_id,
        run=run,
        text=f"run {run.position} claimed by {attempt.worker}, token {attempt.token}",
    )


def _attempts() -> QuerySet[Attempt]:
    return Attempt.objects.select_related(
        "run__campaign__target", "run__cell__target", "run__block"
    )


def _may_start(run: Run, now: datetime) -> bool:
    expected = Campaign.State.DRAFT if run.purpose == Run.Purpose.TRIAL else Campaign.State.RUNNING
    return (
        run.campaign.state == expected and run.state == Run.State.PLANNED and _within_time(run, now)
    )


def _within_time(run: Run, now: datetime) -> bool:
    """Return whether no quiet hours, end of the time budget or of allowed overload came since dispatch looked."""
    if carried.why_not_now(run, now):
        return False
    silent = run.target and quiet.on_by(run.target, now)
    return silent is None and budget_seconds_left(run.campaign, now) > 0
