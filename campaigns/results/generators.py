"""What is kept of the generators of an attempt that has ended."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Max
from django.db.models.functions import Now

from campaigns.models import Attempt, Generator


def loaded_until(attempt: Attempt) -> datetime | None:
    """Until when generators of an attempt may still load the target; None where none can.

    That is so only where the run's keeper could not wait for their end.
    """
    loading = Generator.objects.filter(
        attempt=attempt, state__in=Generator.LOADING, expires_at__gt=Now()
    )
    found: datetime | None = loading.aggregate(latest=Max("expires_at"))["latest"]
    return found


def put_away(attempts: Collection[int]) -> None:
    """Delete what the programs were asked for, and the samples that the attempt has by now.

    One that has not ended is told to stop by its attempt's end.
    """
    rows = Generator.objects.filter(attempt__in=attempts)
    rows.update(request="", samples=None)
    rows.filter(state__in=Generator.OPEN).update(
        state=Generator.State.FAILED, reason="the attempt has ended", finished_at=Now()
    )
