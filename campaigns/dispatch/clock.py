"""Instants that lie too far ahead, because the database's clock was set back."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Model

from campaigns.models import Campaign, Delivery, Dispatcher, GeneratorLease, TargetLease, Worker
from campaigns.notifications.backoff import LONGEST_SECONDS
from campaigns.notifications.claiming import CLAIM_SECONDS

log = logging.getLogger(__name__)


def bring_back(now: datetime) -> bool:
    """Cap every instant that decides who may start; True where there was one too far ahead.

    `now` is the database's clock, read after every renewal that was confirmed: no lease ends sooner
    than its keeper relies on. A row that is locked is capped the next time.
    """
    soon = now + timedelta(seconds=settings.LEASE_SECONDS)
    found = [
        _cap(TargetLease, "expires_at", soon),
        _cap(GeneratorLease, "expires_at", soon),
        _cap(Dispatcher, "hold_until", soon),
        _cap(Worker, "seen_at", now),
        _cap(Campaign, "analysis_requested_at", now),
        _cap(Campaign, "analysis_sent_at", now),
        _cap(Campaign, "analysis_began_at", now),
        _cap(Campaign, "counted_from", now),
        _cap(Delivery, "claimed_until", now + timedelta(seconds=CLAIM_SECONDS)),
        _cap(Delivery, "not_before", now + timedelta(seconds=LONGEST_SECONDS)),
        *(
            _cap(Campaign, "not_before", now + timedelta(seconds=seconds), seconds)
            for seconds in _cool_downs_ahead(now)
        ),
    ]
    if any(found):
        log.warning("The database's clock was set back to %s; leases are cut to fit.", now)
    return any(found)


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
