"""Take and renew leases: of a target by dispatch, of a generator host by the worker that measures.

A lease has one holder until it expires by the database's clock. Its token grows by one with each
holder, and every write of a run names it, so that a worker whose lease was lost writes nothing.
Leases are released by `planning.lifecycle.rows.release_leases`, since a campaign that is cancelled
releases them too. Those of lost workers end in `dispatch.lost_workers`.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from campaigns.models import Attempt, GeneratorLease, Run, TargetLease


def lease_target(run: Run, address: str) -> Attempt | None:
    """Lease the target for a run's queued attempt, which is created where there is none. None: not now."""
    lapsed = ~Q(attempt__state=Attempt.State.RUNNING) & Q(expires_at__lt=Now())
    free = TargetLease.objects.select_for_update(
        of=("self",), no_key=True, skip_locked=True
    ).filter(Q(attempt=None) | lapsed, address=address)
    lease = free.first()
    if lease is None and TargetLease.objects.get_or_create(address=address)[1]:
        lease = free.first()
    planned = Run.objects.select_for_update(no_key=True, skip_locked=True).filter(
        pk=run.pk, state=Run.State.PLANNED
    )
    if lease is None or planned.first() is None:
        return None
    attempts = list(run.attempts.all())
    attempt = next((each for each in attempts if each.state == Attempt.State.QUEUED), None)
    if attempt is None:
        attempt = Attempt(run=run, number=len(attempts) + 1, pool=run.campaign.pool)
    attempt.token = lease.token + 1
    attempt.save()
    TargetLease.objects.filter(attempt=attempt).update(attempt=None)
    TargetLease.objects.filter(pk=lease.pk).update(
        attempt=attempt,
        token=attempt.token,
        holder=_holder(run),
        expires_at=_end_of_term(),
    )
    return attempt


def lease_host(attempt: Attempt, host: str) -> bool:
    """Lease a generator host for a run, unless it measures another one.

    However old the other lease is: only dispatch declares a holder lost, with all that it holds. A run may
    hold several hosts, and have several generators on each.
    """
    lease = GeneratorLease.objects.filter(host=host)

    def take() -> int:
        return lease.filter(attempt=None).update(
            attempt=attempt,
            holder=_holder(attempt.run),
            token=F("token") + 1,
            expires_at=_end_of_term(),
        )

    if take() or (GeneratorLease.objects.get_or_create(host=host)[1] and take()):
        return True
    return lease.filter(attempt=attempt).exists()


def hand_over(ended: Attempt, run: Run, number: int, now: datetime) -> Attempt:
    """Claim a locked planned run with the leases of an attempt that has just ended, and return the new attempt.

    The caller has looked whether `ended` holds them.
    """
    attempt = Attempt.objects.create(
        run=run,
        number=number,
        state=Attempt.State.RUNNING,
        pool=ended.pool,
        worker=ended.worker,
        host=ended.host,
        token=ended.token + 1,
        claimed_at=now,
    )
    for lease in (TargetLease, GeneratorLease):
        lease.objects.filter(attempt=ended).update(
            attempt=attempt,
            token=F("token") + 1,
            holder=_holder(run),
            expires_at=_end_of_term(),
        )
    run.state, run.started_at = Run.State.RUNNING, now
    Run.objects.filter(pk=run.pk).update(state=run.state, started_at=now)
    return attempt


def renew_queued(attempt: Attempt, address: str) -> bool:
    """Renew the target's lease of an attempt that is about to start; False where it has expired."""
    held = TargetLease.objects.filter(
        attempt=attempt, token=attempt.token, address=address, expires_at__gt=Now()
    )
    return bool(held.update(expires_at=_end_of_term()))


def renew(attempt: Attempt) -> bool:
    """Renew all leases of a running attempt; False where another attempt holds the target's."""
    held = TargetLease.objects.filter(attempt=attempt, token=attempt.token)
    if not held.update(expires_at=_end_of_term()):
        return False
    GeneratorLease.objects.filter(attempt=attempt).update(expires_at=_end_of_term())
    return True


def _holder(run: Run) -> str:
    return f"run {run.position} of {run.campaign.name}"[:200]


def _end_of_term() -> CombinedExpression:
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)
