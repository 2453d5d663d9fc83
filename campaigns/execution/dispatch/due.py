"""Send messages other than runs: to the generators that a run waits for, and to restore settings.

The run itself creates the rows of generators.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from campaigns.execution.parcels import key_of_attempt
from campaigns.execution.restore_settings import AGAIN_SECONDS as AGAIN_AFTER_FAILURE
from campaigns.execution.restore_settings import due
from campaigns.kit.messages import send
from campaigns.models import Attempt, FoundSetting, Generator, Target, TargetLease
from campaigns.targets.reaching import seconds_to_set

AGAIN_SECONDS = 10
"""Seconds after which a message is sent again, where nobody could claim the row."""

MARGIN_SECONDS = 30.0
"""Seconds after the end of its allowed time until another worker tries."""


def ask_generators(attempt_pk: int) -> None:
    """Send a message for every generator that an attempt waits for."""
    for generator, pool, attempt in due_generators(Q(attempt=attempt_pk)):
        send("campaigns.generate", generator, pool, key_of_attempt(attempt))


@transaction.atomic
def due_generators(which: Q | None = None) -> list[tuple[int, str, int]]:
    """Return generators for which a message is to be sent now, with their pools and attempts."""
    due = _wanted().filter(
        Q(sent_at=None) | Q(sent_at__lt=Now() - timedelta(seconds=AGAIN_SECONDS)), which or Q()
    )
    rows = due.select_for_update(of=("self",), no_key=True, skip_locked=True)
    results = list(rows.values_list("pk", "pool", "attempt"))
    Generator.objects.filter(pk__in=[key for key, *_ in results]).update(sent_at=Now())
    return results


def forget_messages(pools: list[str]) -> None:
    """Mark the messages for these pools to be sent again, since the broker may have lost them."""
    _wanted().filter(pool__in=pools).update(sent_at=None)


def _wanted() -> QuerySet[Generator]:
    return Generator.objects.filter(
        state=Generator.State.WANTED, stop_at=None, attempt__state=Attempt.State.RUNNING
    )


def claim_restorations() -> list[int]:
    """Claim and return the targets on which settings are restored now."""
    leased = TargetLease.objects.exclude(attempt=None).values("address")
    free = due().filter(Q(claimed_until=None) | Q(claimed_until__lt=Now()))
    by_target = _by_target(free.exclude(setting__target__address__in=leased))
    for target, rows in by_target.items():
        FoundSetting.objects.filter(pk__in=[row.pk for row in rows]).update(
            claimed_until=Now() + _time_of_claim(target, rows)
        )
    return [target.pk for target in by_target]


def cap_claims(now: datetime) -> bool:
    """Cap claims that end later than those of now would, after the clock was set back; return whether there were any."""
    found = False
    for target, rows in _by_target(due().filter(claimed_until__gt=now)).items():
        latest = now + max(_time_of_claim(target, rows), timedelta(seconds=AGAIN_AFTER_FAILURE))
        ahead = FoundSetting.objects.filter(
            pk__in=[row.pk for row in rows], claimed_until__gt=latest
        )
        found = bool(ahead.update(claimed_until=latest)) or found
    return found


def _by_target(found: QuerySet[FoundSetting]) -> dict[Target, list[FoundSetting]]:
    by_target: dict[Target, list[FoundSetting]] = {}
    for row in found.select_related("setting__target"):
        by_target.setdefault(row.setting.target, []).append(row)
    return by_target


def _time_of_claim(target: Target, rows: Sequence[FoundSetting]) -> timedelta:
    seconds = seconds_to_set([row.setting for row in rows], target) + MARGIN_SECONDS
    return timedelta(seconds=seconds)
