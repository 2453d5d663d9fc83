"""Claim what is to be set back on targets that nothing measures."""

from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from campaigns.execution.restorations import due
from campaigns.models import FoundSetting, Target, TargetLease
from campaigns.targets.reaching import seconds_to_set

MARGIN_SECONDS = 30.0
"""From the end of the time that it may take to when another worker tries."""


def claim_restorations() -> list[int]:
    """Return the targets on which something is set back now."""
    leased = TargetLease.objects.exclude(attempt=None).values("address")
    free = due().filter(Q(claimed_until=None) | Q(claimed_until__lt=Now()))
    free = free.exclude(setting__target__address__in=leased).select_related("setting__target")
    by_target: dict[Target, list[FoundSetting]] = {}
    for row in free:
        by_target.setdefault(row.setting.target, []).append(row)
    for target, rows in by_target.items():
        seconds = seconds_to_set([row.setting for row in rows], target) + MARGIN_SECONDS
        FoundSetting.objects.filter(pk__in=[row.pk for row in rows]).update(
            claimed_until=Now() + timedelta(seconds=seconds)
        )
    return [target.pk for target in by_target]
