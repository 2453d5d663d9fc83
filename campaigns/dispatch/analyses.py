"""When a campaign is analysed: between two runs, not beside one; and who goes first.

The request is a mark on the campaign, so there is one however often it is made. A message is sent only
where a worker is free for it: those who wait do so in the database, in their order, and not in the broker.
"""

from datetime import timedelta

from django.db.models import Case, F, Q, QuerySet, Subquery, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest, Now

from campaigns.dispatch.sending import untouched
from campaigns.importers import waiting
from campaigns.models import Attempt, Campaign, Finding, Run
from campaigns.queries import workers
from campaigns.queries.analyses import (
    BESIDE_SECONDS,
    POOL,
    awaited_by_runs,
    failures,
    lost,
    under_way,
)
from campaigns.reviews.reopening import look_again
from campaigns.stats.methods import METHODS

REST_SECONDS_A_RUN = 0.05
MOST_REST_SECONDS = 60


def request_analysis(campaign: Campaign) -> None:
    """Note that a campaign has new data; it is analysed between two runs, not beside one.

    A request that waits already keeps its age: however often it is repeated, its turn comes. What was
    concluded from the data of before is re-opened at once, in the transaction of the caller.
    """
    _request(campaign, Now())
    look_again(campaign)


def request_analysis_of_received(campaign: Campaign, runs: int) -> None:
    """Request one of a campaign to which runs were added: not before it has rested from the last.

    campaign: as it was read when it was locked. runs: how many it has. They may come one by one, many
    a second: where a request waits already, nothing is asked of the database.
    """
    if campaign.analysis_requested_at is not None and campaign.analysis_began_at is None:
        return
    rest = timedelta(seconds=min(MOST_REST_SECONDS, runs * REST_SECONDS_A_RUN))
    last = Finding.objects.filter(campaign=campaign).order_by("-computed_at").values("computed_at")
    _request(campaign, Coalesce(Greatest(Now(), Subquery(last[:1]) + rest), Now()))
    look_again(campaign)


def _request(campaign: Campaign, at: Combinable) -> None:
    """Request one, unless a request waits that nobody has begun with: whoever begins reads all there is."""
    untaken = Q(analysis_began_at=None) | Q(analysis_requested_at__gt=F("analysis_began_at"))
    waits = When(
        untaken | lost(), analysis_requested_at__isnull=False, then=F("analysis_requested_at")
    )
    Campaign.objects.filter(pk=campaign.pk).update(analysis_requested_at=Case(waits, default=at))


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
    recent = Finding.objects.filter(
        campaign=run.campaign_id, computed_at__gt=Now() - rest, computed_at__lte=Now()
    )
    if not recent.exists():
        request_analysis(run.campaign)


def request_outdated() -> int:
    """Request analyses where other methods computed findings, or it failed; say of how many campaigns."""
    outdated = Finding.objects.exclude(versions__contains={"methods": METHODS}).values("campaign")
    again = Q(pk__in=outdated) | Q(pk__in=failures().values("campaign"))
    campaigns = Campaign.objects.filter(again, analysis_requested_at=None)
    return campaigns.update(analysis_requested_at=Now(), analysis_sent_at=None)


def due_for_runs() -> list[int]:
    """Campaigns to be analysed before the next run begins; each is noted as sent."""
    due = _due().filter(awaited_by_runs())
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        due = _after_a_long_wait(due)
    on = Campaign.objects.filter(under_way(), awaited_by_runs()).count()
    return _send(due.order_by("analysis_requested_at", "pk"), _workers() - on)


def due_beside_runs() -> tuple[list[int], list[int]]:
    """Files to be read and campaigns to be analysed that no run waits for; each is noted as sent.

    Campaigns have their turn while nothing is measured: first those that were measured here.
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
    """Have what was sent for analysis sent again, where no other worker could have it."""
    if _workers() > 1:
        return
    waits = Campaign.objects.filter(analysis_requested_at__isnull=False)
    waits.update(analysis_sent_at=None, analysis_began_at=None)
    waiting.forget_sent()


def _due() -> QuerySet[Campaign]:
    return Campaign.objects.filter(analysis_requested_at__lte=Now()).exclude(under_way())


def _after_a_long_wait(due: QuerySet[Campaign]) -> QuerySet[Campaign]:
    return due.filter(analysis_requested_at__lt=Now() - timedelta(seconds=BESIDE_SECONDS))


def _workers() -> int:
    """Each computes one analysis that runs wait for, and does one thing that they do not, at a time."""
    return workers.present_by_pool().get(POOL, 0)


def _send(due: QuerySet[Campaign], most: int) -> list[int]:
    if most < 1:
        return []
    keys = list(untouched(due).values_list("pk", flat=True)[:most])
    Campaign.objects.filter(pk__in=keys).update(analysis_sent_at=Now(), analysis_began_at=None)
    return keys
