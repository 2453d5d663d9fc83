"""Lock rows, withdraw runs, release leases and write the log, for all steps.

All code locks in the order campaign, run, attempt, leases.
"""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Max, QuerySet
from django.db.models.functions import Now

from campaigns.kit.mappings import Columns
from campaigns.models import Attempt, Campaign, GeneratorLease, LogLine, Run, TargetLease


def release_leases(attempts: Collection[int], *, targets: bool = True) -> None:
    """Release the leases of attempts; without `targets`, only those of generator hosts."""
    for lease in (TargetLease, GeneratorLease) if targets else (GeneratorLease,):
        lease.objects.filter(attempt__in=attempts).update(attempt=None, holder="", expires_at=None)


QUEUE = 7_363_002  # key of the advisory lock


def locked(campaign: Campaign) -> Campaign:
    """Lock the row of a campaign until the transaction ends, and return it."""
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)


def locked_run(run: Run) -> Run:
    """Lock the campaign of a run, then the run."""
    campaign = locked(run.campaign)
    run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    run.campaign = campaign
    return run


def lock_open_runs(campaign: Campaign) -> None:
    """Lock the open runs of a campaign: none is queued or claimed until the transaction ends."""
    list(campaign.runs.select_for_update(no_key=True).filter(state__in=Run.OPEN).values_list("pk"))


def open_for_dispatch(campaign: Campaign) -> None:
    """Queue a locked campaign for dispatch, after the campaigns that wait already.

    Of two that are opened at once the second waits for the first, so that no two get the same place.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [QUEUE])
    last = Campaign.objects.aggregate(Max("queue_place"))["queue_place__max"] or 0
    Campaign.objects.filter(pk=campaign.pk).update(
        state=Campaign.State.RUNNING,
        state_reason="",
        closed_at=None,
        queue_place=last + 1,
        **count_from_now(campaign),
    )


def count_from_now(campaign: Campaign) -> Columns:
    """Return the values that let failures and time budget count from now on. The campaign must be locked."""
    over = Attempt.objects.filter(run__campaign=campaign).exclude(state__in=Attempt.OPEN)
    last = over.aggregate(Max("pk"))["pk__max"] or 0
    return {"counted_from": Now(), "counted_after": last, "away_since": None}


def stop_everything(campaign: Campaign, reason: str) -> int:
    """Cancel planned runs, and request that active ones stop. Campaign and its open runs must be locked.

    Return the number of runs that were cancelled before they started.
    """
    open_attempts = Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.OPEN)
    withdraw_queued(open_attempts, reason)
    open_attempts.update(cancel_requested_at=Now())
    return campaign.runs.filter(state=Run.State.PLANNED).update(
        state=Run.State.CANCELLED, reason=reason, finished_at=Now()
    )


def withdraw_queued(attempts: QuerySet[Attempt], reason: str) -> None:
    """Cancel the attempts that no worker has claimed, and release their leases."""
    queued = dict(attempts.filter(state=Attempt.State.QUEUED).values_list("pk", "run_id"))
    Attempt.objects.filter(pk__in=queued).update(
        state=Attempt.State.CANCELLED, reason=reason, finished_at=Now()
    )
    Run.objects.filter(pk__in=queued.values()).update(
        state=Run.State.CANCELLED, reason=reason, finished_at=Now()
    )
    release_leases(queued)


def name_of(user: User | None) -> str:
    """Return the name of a user for the log."""
    return user.get_username() if user else "perfdash"


def log(
    campaign: Campaign, text: str, run: Run | None = None, tone: str = LogLine.Tone.PLAIN
) -> None:
    """Write one line of a campaign's log."""
    LogLine.objects.create(campaign=campaign, run=run, text=text, tone=tone)
