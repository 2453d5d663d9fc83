"""When a campaign is analysed: between two runs, not beside one."""

from datetime import timedelta

from django.db.models import Case, F, Q, Subquery, When
from django.db.models.functions import Coalesce, Greatest, Now

from campaigns.dispatch.sending import CONTROL
from campaigns.dispatch.untouched import untouched
from campaigns.models import Attempt, Campaign, Finding, Run
from campaigns.queries import workers
from campaigns.queries.analyses import failures
from campaigns.reviews.reopening import look_again
from campaigns.stats.methods import METHODS

ANALYSIS_SECONDS = 60
REST_SECONDS_A_RUN = 0.05
MOST_REST_SECONDS = 60


def request_analysis(campaign: Campaign) -> None:
    """Note that a campaign has new data; it is analysed between two runs, not beside one.

    A request that waits already keeps its age: however often it is repeated, its turn comes. What was
    concluded from the data of before is re-opened at once, in the transaction of the caller.
    """
    waiting = When(
        analysis_requested_at__isnull=False,
        analysis_sent_at__isnull=True,
        then=F("analysis_requested_at"),
    )
    Campaign.objects.filter(pk=campaign.pk).update(
        analysis_requested_at=Case(waiting, default=Now()), analysis_sent_at=None
    )
    look_again(campaign)


def request_analysis_of_received(campaign: Campaign, runs: int) -> None:
    """Request one of a campaign to which runs were added: not before it has rested from the last.

    campaign: as it was read when it was locked. runs: how many it has. They may come one by one, many
    a second: where a request waits already, nothing is asked of the database.
    """
    if campaign.analysis_requested_at is not None and campaign.analysis_sent_at is None:
        return
    rest = timedelta(seconds=min(MOST_REST_SECONDS, runs * REST_SECONDS_A_RUN))
    last = Finding.objects.filter(campaign=campaign).order_by("-computed_at").values("computed_at")
    rested = Coalesce(Greatest(Now(), Subquery(last[:1]) + rest), Now())
    Campaign.objects.filter(pk=campaign.pk).update(
        analysis_requested_at=rested, analysis_sent_at=None
    )
    look_again(campaign)


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


def due_analyses() -> list[int]:
    """Campaigns to be analysed now: where nothing is measured, or it has waited for long."""
    again = Q(analysis_sent_at=None) | Q(
        analysis_sent_at__lt=Now() - timedelta(seconds=ANALYSIS_SECONDS)
    )
    due = Campaign.objects.filter(again, analysis_requested_at__lte=Now())
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        due = due.filter(analysis_requested_at__lt=Now() - timedelta(seconds=2 * ANALYSIS_SECONDS))
    keys = list(untouched(due).values_list("pk", flat=True))
    Campaign.objects.filter(pk__in=keys).update(analysis_sent_at=Now())
    return keys


def analysis_goes_on() -> bool:
    """True while an analysis was just sent: the next run waits, so that it is not disturbed.

    It does not wait where nobody takes analyses, nor for ever for one that never comes through.
    """
    sent = Campaign.objects.filter(
        analysis_requested_at__gt=Now() - timedelta(seconds=3 * ANALYSIS_SECONDS),
        analysis_sent_at__gt=Now() - timedelta(seconds=ANALYSIS_SECONDS),
    )
    return sent.exists() and workers.present().filter(pools__contains=CONTROL).exists()
