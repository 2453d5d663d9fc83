"""Which run may start now; the only place that sends a task, by its name.

Idempotent: look for free targets with a planned run, lease, queue. Called after every close, after
everything that a person starts, and by beat every few seconds, so that an emptied broker heals.

Everybody else locks rows in the order campaign, run, attempt, leases. Dispatch waits for none: a
row that is locked is being changed, and is looked at the next time.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta
from time import sleep

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from campaigns import results
from campaigns.models import (
    Attempt,
    Campaign,
    Dispatcher,
    Finding,
    GeneratorLease,
    LogLine,
    Run,
    Target,
    TargetLease,
    Worker,
)

ONE_DISPATCHER = 7_363_001  # key of the advisory lock
WAIT_SECONDS = 2.0
STUCK_SECONDS = 15
ANALYSIS_SECONDS = 60
REST_SECONDS_A_RUN = 0.05
WORKER_SEEN_SECONDS = 20
MESSAGE_SECONDS = 600  # by the clocks of two machines; an old message is harmless, only useless
CONTROL = "control"

log = logging.getLogger(__name__)


def dispatch() -> None:
    """Take lost leases back, close what is over, start what may start.

    A broker that is away is no error: what was queued is sent again when its lease has lapsed.
    """
    with transaction.atomic():
        if not _alone():
            log.warning("Another dispatch has not ended yet; a later one will look again.")
            return
        if not _holding():
            _take_back_lost()
        _close_campaigns()
        analyses = _due_analyses()
        attempts = [] if _analysis_goes_on() else list(_queue_runs())
    for campaign in analyses:
        _send("campaigns.analyse", campaign, CONTROL)
    for attempt, pool in attempts:
        _send("campaigns.execute_attempt", attempt, pool)


@transaction.atomic
def send_again(pools: list[str]) -> None:
    """Let what is queued in these pools lapse now: nobody knows whether the broker still has it."""
    leases = TargetLease.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    queued = leases.filter(attempt__state=Attempt.State.QUEUED, attempt__pool__in=pools)
    keys = list(queued.values_list("pk", flat=True))
    TargetLease.objects.filter(pk__in=keys).update(expires_at=Now())


def request_probe(target: Target) -> None:
    """Ask the control workers to look at a target now."""
    _send("campaigns.probe_target", target.pk, CONTROL)


def request_analysis(campaign: Campaign) -> None:
    """Note that a campaign has new data; it is analysed between two runs, not beside one.

    A request that waits already keeps its age: however often it is repeated, its turn comes.
    """
    waiting = When(
        analysis_requested_at__isnull=False,
        analysis_sent_at__isnull=True,
        then=F("analysis_requested_at"),
    )
    Campaign.objects.filter(pk=campaign.pk).update(
        analysis_requested_at=Case(waiting, default=Now()), analysis_sent_at=None
    )


def request_analysis_after(run: Run) -> None:
    """Request one where the run ended its block, unless the last one was just now.

    An analysis takes the longer the more runs there are, and the next run waits for it: the rest
    between two grows with them, so that a large campaign measures more than it computes.
    """
    block = Run.objects.filter(block=run.block_id)
    if run.purpose == Run.Purpose.TRIAL or block.exclude(state__in=Run.CLOSED).exists():
        return
    closed = Run.objects.filter(campaign=run.campaign_id, state__in=Run.CLOSED).count()
    rest = timedelta(seconds=closed * REST_SECONDS_A_RUN)
    recent = Finding.objects.filter(campaign=run.campaign_id, computed_at__gt=Now() - rest)
    if not recent.exists():
        request_analysis(run.campaign)


def _send(name: str, argument: int, queue: str) -> None:
    try:
        current_app.send_task(
            name,
            args=[argument],
            queue=queue,
            expires=MESSAGE_SECONDS,
            retry=False,
            ignore_result=True,
        )
    except OperationalError as error:
        log.warning("The broker does not take %s(%s): %s", name, argument, error)


def _alone() -> bool:
    """Become the only dispatcher until the transaction ends. False: another one does not end.

    One whose process is stopped in the middle is cut off by the database after STUCK_SECONDS.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', %s, true)",
            [f"{STUCK_SECONDS}s"],
        )
        for _ in range(20):
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_DISPATCHER])
            if cursor.fetchone() == (True,):
                return True
            sleep(WAIT_SECONDS / 20)
    return False


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
        Attempt.objects.select_for_update(
            of=("self", "run", "run__campaign"), no_key=True, skip_locked=True
        )
        .select_related("run__campaign")
        .filter(state=Attempt.State.RUNNING)
        .filter(Q(targetlease=None) | Q(targetlease__expires_at__lt=Now() - grace))
    )
    for attempt in lost:
        reason = f"lost with {attempt.worker}, which did not renew its lease"
        Attempt.objects.filter(pk=attempt.pk).update(
            state=Attempt.State.LOST, reason=reason, finished_at=Now()
        )
        results.release_leases([attempt.pk])
        results.settle(attempt, attempt.run, Attempt.State.LOST, reason)
        LogLine.objects.create(
            campaign=attempt.run.campaign,
            run=attempt.run,
            tone=LogLine.Tone.BAD,
            text=f"run {attempt.run.position} attempt {attempt.number} {reason}",
        )


def _close_campaigns() -> None:
    """Finish campaigns without an open run, and end a cancel whose load has stopped."""
    open_runs = Run.objects.filter(state__in=[Run.State.PLANNED, Run.State.RUNNING])
    open_attempts = Attempt.objects.filter(state__in=Attempt.OPEN)
    launched = Campaign.objects.filter(state__in=[Campaign.State.RUNNING, Campaign.State.PAUSED])
    for campaign in _untouched(launched.exclude(pk__in=open_runs.values("campaign"))):
        if not open_runs.filter(campaign=campaign).exists():  # nor since it is locked
            _end(campaign, Campaign.State.FINISHED)
    cancelling = Campaign.objects.filter(state=Campaign.State.CANCELLING)
    for campaign in _untouched(cancelling.exclude(pk__in=open_attempts.values("run__campaign"))):
        _end(campaign, Campaign.State.CANCELLED)


def _untouched(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Lock those that nobody else is changing."""
    return campaigns.select_for_update(no_key=True, skip_locked=True)


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
    keys = list(_untouched(due).values_list("pk", flat=True))
    Campaign.objects.filter(pk__in=keys).update(analysis_sent_at=Now())
    return keys


def _analysis_goes_on() -> bool:
    """True while an analysis was just sent: the next run waits, so that it is not disturbed.

    It does not wait where nobody takes analyses, nor for ever for one that never comes through.
    """
    sent = Campaign.objects.filter(
        analysis_requested_at__gt=Now() - timedelta(seconds=3 * ANALYSIS_SECONDS),
        analysis_sent_at__gt=Now() - timedelta(seconds=ANALYSIS_SECONDS),
    )
    return sent.exists() and _living().filter(pools__contains=CONTROL).exists()


def _queue_runs() -> Iterator[tuple[int, str]]:
    """Lease free targets for the next run of each; give (attempt, pool) to be sent."""
    room = _room_by_pool()
    served: set[str] = set()
    for run in _next_runs():
        campaign = run.campaign
        target = campaign.target
        if target is None or target.address in served or room.get(campaign.pool, 0) < 1:
            continue
        attempt = _lease(run, target.address)
        if attempt is not None:
            served.add(target.address)
            room[campaign.pool] -= 1
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


def _living() -> QuerySet[Worker]:
    """Workers that answered just now."""
    return Worker.objects.filter(seen_at__gt=Now() - timedelta(seconds=WORKER_SEEN_SECONDS))


def _room_by_pool() -> dict[str, int]:
    """How many more attempts each pool can take: one a host of it that measures nothing."""
    busy = set(GeneratorLease.objects.exclude(attempt=None).values_list("host", flat=True))
    free: dict[str, set[str]] = {}
    for worker in _living():
        for pool in worker.pools:
            free.setdefault(pool, set()).update({worker.host} - busy)
    room = {pool: len(hosts) for pool, hosts in free.items()}
    queued = Attempt.objects.filter(
        state=Attempt.State.QUEUED, targetlease__expires_at__gt=Now()
    ).values_list("pool", flat=True)
    for pool in queued:
        room[pool] = room.get(pool, 0) - 1
    return room


def _lease(run: Run, address: str) -> Attempt | None:
    """Lease the target for a run's queued attempt, made where there is none. None: not now."""
    TargetLease.objects.get_or_create(address=address)
    lapsed = ~Q(attempt__state=Attempt.State.RUNNING) & Q(expires_at__lt=Now())
    lease = (
        TargetLease.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
        .filter(Q(attempt=None) | lapsed, address=address)
        .first()
    )
    planned = Run.objects.select_for_update(no_key=True, skip_locked=True).filter(
        pk=run.pk, state=Run.State.PLANNED
    )
    if lease is None or planned.first() is None:
        return None
    attempt = run.attempts.filter(state=Attempt.State.QUEUED).first()
    if attempt is None:
        attempt = Attempt(run=run, number=run.attempts.count() + 1, pool=run.campaign.pool)
    attempt.token = lease.token + 1
    attempt.save()
    TargetLease.objects.filter(attempt=attempt).update(attempt=None)
    TargetLease.objects.filter(pk=lease.pk).update(
        attempt=attempt,
        token=attempt.token,
        holder=f"run {run.position} of {run.campaign.name}"[:200],
        expires_at=Now() + timedelta(seconds=settings.LEASE_SECONDS),
    )
    return attempt
