"""Take back leases and attempts whose keeper is gone."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import F, Model, Q
from django.db.models.functions import Now

from campaigns.accounts.notifications.backoff import LONGEST_SECONDS
from campaigns.accounts.notifications.claiming import CLAIM_SECONDS
from campaigns.execution.dispatch.due import cap_claims
from campaigns.execution.populations import LONGEST_PAUSE_SECONDS
from campaigns.models import (
    Attempt,
    Campaign,
    Delivery,
    Dispatcher,
    Generator,
    GeneratorLease,
    LogLine,
    Population,
    Submission,
    TargetLease,
    Worker,
)
from campaigns.planning.lifecycle.rows import release_leases
from campaigns.results.closing import clear_generators
from campaigns.results.settling import settle

log = logging.getLogger(__name__)


def holding() -> bool:
    """Renew the heartbeat. True while no lease is declared lost: after an outage.

    An outage is a new start of the database, or a longer silence of dispatch: keepers could not renew
    meanwhile, and get one full time to live. A clock that was set forward looks like a silence; one that
    was set back leaves instants in the future, which are capped. Nobody looked for an absent server in a silence:
    it does not count as a time in which the server did not answer.
    """
    silence = timedelta(seconds=_silence_seconds())
    hold = timedelta(seconds=settings.LEASE_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time(), clock_timestamp()")
        started, now = cursor.fetchone()
    row, made = Dispatcher.objects.get_or_create(
        pk=1, defaults={"ticked_at": now, "database_started_at": started}
    )
    if row.ticked_at and row.ticked_at > now and bring_back(now):
        row.refresh_from_db()
        return _is_held(row, now)  # until nothing is left, the next dispatch looks again
    unseen = now - row.ticked_at if row.ticked_at else timedelta(0)
    if unseen > silence:
        _wait_longer(unseen)
    if not made and (row.database_started_at != started or unseen > silence):
        row.hold_until = now + hold
    row.ticked_at, row.database_started_at = now, started
    row.save()
    return _is_held(row, now)


def _silence_seconds() -> float:
    """A clock that is set forward by less leaves every lease that was just renewed within its grace."""
    harmless = settings.LEASE_SECONDS + settings.LEASE_GRACE_SECONDS - settings.RENEW_SECONDS
    return min(3 * settings.DISPATCH_SECONDS + 5, harmless)


def _is_held(row: Dispatcher, now: datetime) -> bool:
    return row.hold_until is not None and row.hold_until > now


def _wait_longer(unseen: timedelta) -> None:
    """Let campaigns that wait for their servers wait for as much longer; a locked one is not moved."""
    waiting = Campaign.objects.filter(away_since__isnull=False)
    keys = list(
        waiting.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
    )
    Campaign.objects.filter(pk__in=keys).update(away_since=F("away_since") + unseen)


def take_back_lost() -> None:
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
        release_leases([attempt.pk])
        clear_generators([attempt.pk])
        settle(attempt, attempt.run, Attempt.State.LOST, reason)
        LogLine.objects.create(
            campaign=attempt.run.campaign,
            run=attempt.run,
            tone=LogLine.Tone.BAD,
            text=f"run {attempt.run.position} attempt {attempt.number} {reason}",
        )


def bring_back(now: datetime) -> bool:
    """Cap every instant that decides who may start; True where there was one too far ahead.

    `now` is the database's clock, read after every renewal that was confirmed: no lease ends sooner
    than its keeper relies on. A row that is locked is capped the next time.
    """
    soon = now + timedelta(seconds=settings.LEASE_SECONDS)
    items = [
        _cap(TargetLease, "expires_at", soon),
        _cap(GeneratorLease, "expires_at", soon),
        _cap(Dispatcher, "hold_until", soon),
        _cap(Worker, "seen_at", now),
        _cap(Campaign, "analysis_requested_at", now),
        _cap(Campaign, "analysis_sent_at", now),
        _cap(Campaign, "analysis_began_at", now),
        _cap(Campaign, "counted_from", now),
        _cap(Campaign, "away_since", now),
        _cap(Generator, "sent_at", now),
        _cap(Submission, "sent_at", now),
        cap_claims(now),
        _cap(Population, "claimed_until", soon),
        _cap(Population, "due_at", now + timedelta(seconds=LONGEST_PAUSE_SECONDS)),
        _cap(Delivery, "claimed_until", now + timedelta(seconds=CLAIM_SECONDS)),
        _cap(Delivery, "not_before", now + timedelta(seconds=LONGEST_SECONDS)),
        *(
            _cap(Campaign, "not_before", now + timedelta(seconds=seconds), seconds)
            for seconds in _cool_downs_ahead(now)
        ),
    ]
    if any(items):
        log.warning("The database's clock was set back to %s; leases are cut to fit.", now)
    return any(items)


def _cap(model: type[Model], field: str, latest: datetime, cool_down: float | None = None) -> bool:
    ahead = model._default_manager.filter(**{f"{field}__gt": latest})
    if cool_down is not None:
        ahead = ahead.filter(cool_down_seconds=cool_down)
    untouched = ahead.select_for_update(no_key=True, skip_locked=True)
    keys = list(untouched.values_list("pk", flat=True))
    model._default_manager.filter(pk__in=keys).update(**{field: latest})
    return bool(keys) or ahead.exists()


def _cool_downs_ahead(now: datetime) -> list[float]:
    waiting = Campaign.objects.filter(not_before__gt=now)
    return list(waiting.order_by().values_list("cool_down_seconds", flat=True).distinct())
