"""Which run may start now; the only place that sends a task, by its name.

Idempotent: look for free targets with a planned run, lease, queue. Called after every close, after
everything that a person starts, and by beat every few seconds, so that an emptied broker heals.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from campaigns import results
from campaigns.models import (
    Attempt,
    Campaign,
    Dispatcher,
    LogLine,
    Run,
    Target,
    TargetLease,
    Worker,
)

ONE_DISPATCHER = 7_363_001  # key of the advisory lock
ANALYSIS_SECONDS = 60
WORKER_SEEN_SECONDS = 20

log = logging.getLogger(__name__)


def dispatch() -> None:
    """Take lost leases back, close what is over, start what may start.

    A broker that is away is no error: what was queued is sent again when its lease has lapsed.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_DISPATCHER])
        if not _holding():
            _take_back_lost()
        _close_campaigns()
        analyses = _due_analyses()
        attempts = [] if _analysis_goes_on() else list(_queue_runs())
    for campaign in analyses:
        _send("campaigns.analyse", campaign, "control", ANALYSIS_SECONDS)
    for attempt, pool in attempts:
        _send("campaigns.execute_attempt", attempt, pool, settings.LEASE_SECONDS)


def request_probe(target: Target) -> None:
    """Ask the control workers to look at a target now."""
    _send("campaigns.probe_target", target.pk, "control", 30)


def request_analysis(campaign: Campaign) -> None:
    """Note that a campaign has new data; it is analysed between two runs, not beside one."""
    Campaign.objects.filter(pk=campaign.pk).update(
        analysis_requested_at=Now(), analysis_sent_at=None
    )


def block_ended(run: Run) -> bool:
    """Say whether the run was the last open one of its block."""
    return not Run.objects.filter(block=run.block_id).exclude(state__in=Run.CLOSED).exists()


def _send(name: str, argument: int, queue: str, expires: float) -> None:
    try:
        current_app.send_task(
            name, args=[argument], queue=queue, expires=expires, retry=False, ignore_result=True
        )
    except OperationalError as error:
        log.warning("The broker does not take %s(%s): %s", name, argument, error)


def _holding() -> bool:
    """Renew the heartbeat. True while no lease is taken as lost: after an outage.

    An outage is a new start of the database, or a longer silence of dispatch: keepers could not
    renew meanwhile, and get one full time to live.
    """
    silence = timedelta(seconds=3 * settings.DISPATCH_SECONDS + 5)
    hold = timedelta(seconds=settings.LEASE_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time(), now()")
        started, now = cursor.fetchone()
    row, made = Dispatcher.objects.get_or_create(
        pk=1, defaults={"ticked_at": now, "database_started_at": started}
    )
    if not made and (
        row.database_started_at != started or (row.ticked_at and now - row.ticked_at > silence)
    ):
        row.hold_until = now + hold
    row.ticked_at, row.database_started_at = now, started
    row.save()
    return row.hold_until is not None and row.hold_until > now


def _take_back_lost() -> None:
    """Close running attempts whose keeper has not renewed within time to live plus grace."""
    grace = timedelta(seconds=settings.LEASE_GRACE_SECONDS)
    lost = (
        Attempt.objects.select_for_update(of=("self",))
        .select_related("run__campaign")
        .filter(state=Attempt.State.RUNNING)
        .filter(Q(targetlease=None) | Q(targetlease__expires_at__lt=Now() - grace))
    )
    for attempt in lost:
        reason = f"lost with {attempt.worker}, which did not renew its lease"
        Attempt.objects.filter(pk=attempt.pk).update(
            state=Attempt.State.LOST, reason=reason, finished_at=Now()
        )
        results.release_leases(attempt.pk)
        results.settle(attempt.run, Attempt.State.LOST, reason)
        LogLine.objects.create(
            campaign=attempt.run.campaign,
            run=attempt.run,
            tone=LogLine.Tone.BAD,
            text=f"run {attempt.run.position} attempt {attempt.number} {reason}",
        )


def _close_campaigns() -> None:
    """Finish campaigns without an open run, and end a cancel whose load has stopped."""
    open_runs = Run.objects.filter(state__in=[Run.State.PLANNED, Run.State.RUNNING])
    launched = (Campaign.State.RUNNING, Campaign.State.PAUSED)
    over = Campaign.objects.filter(state__in=launched).exclude(
        pk__in=open_runs.values("campaign_id")
    )
    for campaign in over:
        _end(campaign, Campaign.State.FINISHED)
    open_attempts = Attempt.objects.filter(state__in=Attempt.OPEN)
    stopped = Campaign.objects.filter(state=Campaign.State.CANCELLING).exclude(
        pk__in=open_attempts.values("run__campaign_id")
    )
    for campaign in stopped:
        _end(campaign, Campaign.State.CANCELLED)


def _end(campaign: Campaign, state: Campaign.State) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state, closed_at=Now())
    LogLine.objects.create(campaign=campaign, text=f"campaign {state}")
    request_analysis(campaign)


def _due_analyses() -> list[int]:
    """Campaigns to be analysed now: where nothing is measured, or it has waited for long."""
    again = Q(analysis_sent_at=None) | Q(
        analysis_sent_at__lt=Now() - timedelta(seconds=ANALYSIS_SECONDS)
    )
    due = Campaign.objects.filter(again, analysis_requested_at__isnull=False)
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        due = due.filter(analysis_requested_at__lt=Now() - timedelta(seconds=2 * ANALYSIS_SECONDS))
    keys = list(due.values_list("pk", flat=True))
    Campaign.objects.filter(pk__in=keys).update(analysis_sent_at=Now())
    return keys


def _analysis_goes_on() -> bool:
    """True while an analysis was just sent: the next run waits, so that it is not disturbed."""
    return Campaign.objects.filter(
        analysis_requested_at__isnull=False,
        analysis_sent_at__gt=Now() - timedelta(seconds=ANALYSIS_SECONDS),
    ).exists()


def _queue_runs() -> Iterator[tuple[int, str]]:
    """Lease free targets for the next run of each; give (attempt, pool) to be sent."""
    room = _room_by_pool()
    served: set[str] = set()
    for run in _next_runs():
        campaign = run.campaign
        target = campaign.target
        if target is None or target.address in served or room.get(campaign.pool, 1) < 1:
            continue
        attempt = _lease(run, target.address)
        if attempt is not None:
            served.add(target.address)
            room[campaign.pool] = room.get(campaign.pool, 1) - 1
            yield attempt.pk, campaign.pool


def _next_runs() -> Iterator[Run]:
    """The first planned run of each campaign that may start one, oldest launch first."""
    waiting = Q(state=Campaign.State.RUNNING) | Q(
        state=Campaign.State.DRAFT,
        runs__purpose=Run.Purpose.TRIAL,
        runs__state=Run.State.PLANNED,
    )
    ready = (
        Campaign.objects.filter(waiting)
        .filter(Q(not_before=None) | Q(not_before__lte=Now()))
        .distinct()
        .order_by(F("launched_at").asc(nulls_first=True), "pk")
    )
    for campaign in ready:
        run = (
            campaign.runs.select_related("campaign__target")
            .filter(state=Run.State.PLANNED)
            .order_by("position")
            .first()
        )
        if run is not None:
            yield run


def _room_by_pool() -> dict[str, int]:
    """How many more attempts each pool can take: one a living worker, and one for a pool of none."""
    seen = Worker.objects.filter(seen_at__gt=Now() - timedelta(seconds=WORKER_SEEN_SECONDS))
    room: dict[str, int] = {}
    for worker in seen:
        for pool in worker.pools:
            room[pool] = room.get(pool, 0) + 1
    held = Attempt.objects.filter(state__in=Attempt.OPEN, targetlease__expires_at__gt=Now())
    for pool in held.values_list("pool", flat=True):
        room[pool] = room.get(pool, 1) - 1
    return room


def _lease(run: Run, address: str) -> Attempt | None:
    """Lease the target for a run's queued attempt, made where there is none. None: it is held."""
    TargetLease.objects.get_or_create(address=address)
    lease = TargetLease.objects.select_for_update().get(address=address)
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        (now,) = cursor.fetchone()
    if lease.attempt_id is not None:
        holder = Attempt.objects.get(pk=lease.attempt_id)
        lapsed = lease.expires_at is None or lease.expires_at < now
        if holder.state != Attempt.State.QUEUED or not lapsed:
            return None
    attempt = run.attempts.filter(state=Attempt.State.QUEUED).first()
    if attempt is None:
        attempt = Attempt(run=run, number=run.attempts.count() + 1, pool=run.campaign.pool)
    attempt.token = lease.token + 1
    attempt.save()
    TargetLease.objects.filter(attempt=attempt).exclude(pk=lease.pk).update(attempt=None)
    lease.attempt, lease.token = attempt, attempt.token
    lease.holder = f"run {run.position} of {run.campaign.name}"[:200]
    lease.expires_at = now + timedelta(seconds=settings.LEASE_SECONDS)
    lease.save()
    return attempt
