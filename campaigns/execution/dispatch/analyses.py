"""Decide when a campaign is analysed: between two runs, never during one.

The request is a mark on the campaign, so there is one however often it is made. A message is sent only
where a worker is free for it: requests wait in the database, in their order, not in the broker.
"""

from datetime import timedelta

from django.db.models import Case, QuerySet, When
from django.db.models.functions import Now

from campaigns.kit.messages import ANALYSIS
from campaigns.models import Attempt, Campaign
from campaigns.planning import workers
from campaigns.planning.analyses import OVERDUE_SECONDS, awaited_by_runs, under_way
from campaigns.results.importing import waiting


def untouched(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Lock the rows that nobody else is changing."""
    return campaigns.select_for_update(no_key=True, skip_locked=True)


def due_for_runs() -> list[int]:
    """Return campaigns to be analysed before the next run begins, and mark them as sent."""
    due = _due().filter(awaited_by_runs())
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        due = _after_a_long_wait(due)
    on = Campaign.objects.filter(under_way(), awaited_by_runs()).count()
    return _send(due.order_by("analysis_requested_at", "pk"), _workers() - on)


def due_analyses() -> tuple[list[int], list[int]]:
    """Return files to be read and campaigns to be analysed for which no run waits, and mark them as sent.

    Campaigns are analysed while nothing is measured: first those that perfdash measured.
    """
    due = _due().exclude(awaited_by_runs())
    if Attempt.objects.filter(state__in=Attempt.OPEN).exists():
        due = _after_a_long_wait(due)
    on = Campaign.objects.filter(under_way()).exclude(awaited_by_runs()).count()
    free = _workers() - on - waiting.being_read()
    files = waiting.due(free)
    received = Case(When(counted_from=None, then=1), default=0)
    ordered = due.order_by(received, "analysis_requested_at", "pk")
    return files, _send(ordered, free - len(files))


def forget_sent() -> None:
    """Mark analyses that were sent to be sent again, where no other worker could have them."""
    if _workers() > 1:
        return
    waits = Campaign.objects.filter(analysis_requested_at__isnull=False)
    waits.update(analysis_sent_at=None, analysis_began_at=None)
    waiting.forget_sent()


def _due() -> QuerySet[Campaign]:
    return Campaign.objects.filter(analysis_requested_at__lte=Now()).exclude(under_way())


def _after_a_long_wait(due: QuerySet[Campaign]) -> QuerySet[Campaign]:
    return due.filter(analysis_requested_at__lt=Now() - timedelta(seconds=OVERDUE_SECONDS))


def _workers() -> int:
    """Return the number of workers: each takes one analysis that runs wait for, and one other task."""
    return workers.present_by_pool().get(ANALYSIS, 0)


def _send(due: QuerySet[Campaign], most: int) -> list[int]:
    if most < 1:
        return []
    keys = list(untouched(due).values_list("pk", flat=True)[:most])
    Campaign.objects.filter(pk__in=keys).update(analysis_sent_at=Now(), analysis_began_at=None)
    return keys
