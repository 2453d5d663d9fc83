"""Requests of analyses: which wait, are being computed, or failed.

A campaign holds its one request: `analysis_requested_at`, since when it has data that no analysis has read;
`analysis_sent_at`, when a worker was asked, and then the last sign of life of the one that computes;
`analysis_began_at`, since when it computes.
"""

from datetime import timedelta
from typing import Any

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest, Now

from campaigns.kit.compiled import Compiled
from campaigns.kit.events import data_changed
from campaigns.kit.messages import ANALYSIS
from campaigns.models import Attempt, Campaign, Finding, LogLine, PublishedAnswer, Run
from campaigns.planning import workers
from campaigns.stats.methods import METHODS
from perfdash import __version__

REST_SECONDS_A_RUN = 0.05
"""Of a campaign that receives runs: it rests for so long after an analysis, for each of them."""
MOST_REST_SECONDS = 60
MOST_SHARE = 0.05
"""The largest share of its time that a campaign which measures spends on analyses."""
LEAST_COST_SECONDS = 0.25
"""What an analysis costs at least, since runs stop and start again around it."""


def request_analysis(campaign: Campaign) -> None:
    """Request the analysis of a campaign that has new data. It is computed between two runs, not during one.

    A waiting request keeps its age, so that its turn comes however often it is repeated. Conclusions from
    the earlier data are re-opened at once, in the transaction of the caller.
    """
    _request(campaign, Now())
    data_changed.send(sender=None, campaign=campaign)


def request_analysis_of_received(campaign: Campaign, runs: int) -> None:
    """Request the analysis of a campaign to which runs were added, but not right after the last analysis.

    campaign: the locked row. runs: the number of its runs. Runs may come one by one, many a second: where
    a request waits already, no query is sent.
    """
    requested, began = campaign.analysis_requested_at, campaign.analysis_began_at
    if requested is not None and (began is None or requested > began):
        return
    rest = timedelta(seconds=min(MOST_REST_SECONDS, runs * REST_SECONDS_A_RUN))
    last = Finding.objects.filter(campaign=campaign).order_by("-computed_at").values("computed_at")
    _request(campaign, Coalesce(Greatest(Now(), Subquery(last[:1]) + rest), Now()))
    data_changed.send(sender=None, campaign=campaign)


def _request(campaign: Campaign, at: Combinable) -> None:
    """Request an analysis, unless one that no worker has begun is waiting: that one will read all data."""
    unread = Q(analysis_began_at=None) | Q(analysis_requested_at__gt=F("analysis_began_at"))
    waits = When(
        unread | lost(), analysis_requested_at__isnull=False, then=F("analysis_requested_at")
    )
    Campaign.objects.filter(pk=campaign.pk).update(analysis_requested_at=Case(waits, default=at))


def request_analysis_after(run: Run) -> None:
    """Request an analysis where one is due after the run."""
    if is_due_after(run):
        request_analysis(run.campaign)


def is_due_after(run: Run) -> bool:
    """Return whether the run ended its block, and the last analysis cost a small share of the time since.

    The next run waits for an analysis, which takes the longer the more runs there are. The last analysis of a
    campaign, and those that a stop rule needs, are requested when no run is left (`dispatch.closing`).
    """
    if run.purpose == Run.Purpose.TRIAL:
        return False
    cost = max(run.campaign.analysis_seconds or 0.0, LEAST_COST_SECONDS)
    rest = timedelta(seconds=cost / MOST_SHARE)
    return bool(_rested.rows(run.campaign_id, run.block_id, rest))


def _at_the_end_of_a_block(
    campaign: int, block: int, rest: timedelta
) -> QuerySet[Campaign, tuple[Any, ...]]:
    """Return the campaign unless the block goes on, or an analysis of it has ended within `rest`."""
    unfinished = Run.objects.filter(block=block).exclude(state__in=Run.CLOSED)
    recent = Finding.objects.filter(
        campaign=campaign, computed_at__gt=Now() - rest, computed_at__lte=Now()
    )
    rows = Campaign.objects.filter(~Exists(unfinished), ~Exists(recent), pk=campaign)
    return rows.order_by().values_list("pk")


_rested = Compiled(_at_the_end_of_a_block)


def request_outdated() -> int:
    """Request analyses where other methods computed the findings, or any part failed; return how many.

    So are those whose published answers another version of perfdash put into words.
    """
    outdated = Finding.objects.exclude(versions__contains={"methods": METHODS}).values("campaign")
    parts = Finding.objects.filter(name=Finding.FAILED_PARTS).values("campaign")
    answered = Finding.objects.filter(name="answer").values("campaign")
    reworded = PublishedAnswer.objects.exclude(version=__version__).filter(campaign__in=answered)
    again = (
        Q(pk__in=outdated)
        | Q(pk__in=parts)
        | Q(pk__in=failures().values("campaign"))
        | Q(pk__in=reworded.values("campaign"))
    )
    campaigns = Campaign.objects.filter(again, analysis_requested_at=None)
    return campaigns.update(analysis_requested_at=Now(), analysis_sent_at=None)


SILENT_SECONDS = 60
"""The time without a heartbeat after which a worker has lost its analysis."""
UNREAD_SECONDS = 30
"""The time after which an unread message is lost: it is sent only where a worker is free for it."""
OVERDUE_SECONDS = 120
"""The time without a gap between two runs after which an analysis is computed during a run."""
HOLDING_SECONDS = 180
"""The time after which runs stop waiting for an analysis."""
JUST_ENDED_SECONDS = 180
"""The time for which a user may be waiting for the result of a campaign that was measured here."""
WHAT_TO_DO = (
    "Findings are kept as they were before. Undo what came last, if that can be (a run that was "
    "excluded counts again), or have the fault mended: the log of the analysis worker has its traceback. "
    "It is tried again when a conclusion on it is sent, and when perfdash is updated."
)


def under_way() -> Q:
    """Return the condition of campaigns whose analysis was sent, or is computed by a worker with recent heartbeats."""
    begun = Q(analysis_began_at__isnull=False, analysis_sent_at__gt=_ago(SILENT_SECONDS))
    sent = Q(analysis_began_at=None, analysis_sent_at__gt=_ago(UNREAD_SECONDS))
    return Q(analysis_requested_at__isnull=False) & (begun | sent)


def lost() -> Q:
    """Return the condition of campaigns whose analysis no worker computes: it was not sent, or its worker is lost."""
    return Q(analysis_sent_at=None) | Q(analysis_sent_at__lt=_ago(SILENT_SECONDS))


def awaited_by_runs() -> Q:
    """Return the condition of campaigns whose analysis comes first, between two runs: they measure, or did just now.

    Imported campaigns are never among them, nor those that ended long ago and are analysed again.
    """
    just_ended = Q(closed_at__gt=_ago(JUST_ENDED_SECONDS), counted_from__isnull=False)
    return Q(state=Campaign.State.RUNNING) | just_ended


def holding_runs_back() -> QuerySet[Campaign]:
    """Return the campaigns for whose analysis the next run waits, on every server: it would disturb the run.

    None where no worker computes analyses. No analysis holds runs back for ever.
    """
    if nobody_computes():
        return Campaign.objects.none()
    rows = Campaign.objects.filter(under_way(), awaited_by_runs())
    return rows.filter(analysis_requested_at__gt=_ago(HOLDING_SECONDS)).order_by("pk")


def holds_runs_back(campaign: Campaign) -> bool:
    """Return whether the next run waits for the analysis of this campaign, while nothing is measured."""
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        return False
    return Campaign.objects.filter(awaited_by_runs(), pk=campaign.pk).exists()


def nobody_computes() -> str:
    """Return a message where no worker computes analyses; else an empty text."""
    if workers.present().filter(pools__contains=ANALYSIS).exists():
        return ""
    return f"No worker of the queue “{ANALYSIS}” answers; it is computed as soon as one does."


def wait_of(campaign: Campaign) -> str:
    """Return what the analysis of a campaign waits for; empty where a worker has it."""
    requested = Campaign.objects.filter(analysis_requested_at__isnull=False)
    if requested.filter(under_way(), pk=campaign.pk).exists():
        return ""
    if why := nobody_computes():
        return why
    goes_first = requested.filter(awaited_by_runs(), pk=campaign.pk).exists()
    others = requested.filter(awaited_by_runs()) if goes_first else requested
    ahead = others.filter(analysis_requested_at__lt=campaign.analysis_requested_at).count()
    parts = []
    if ahead:
        parts.append(
            f"{ahead} other{'s' if ahead > 1 else ''} come{'s' if ahead == 1 else ''} first."
        )
    if Attempt.objects.filter(state__in=Attempt.OPEN).exists():
        parts.append(
            f"It begins when nothing is measured, or {OVERDUE_SECONDS // 60} minutes after it was requested."
        )
    return " ".join(parts)


def failures() -> QuerySet[LogLine]:
    """Return the log lines of failed analyses without later findings or a new request."""
    later = Finding.objects.filter(campaign=OuterRef("campaign"), computed_at__gt=OuterRef("at"))
    return LogLine.objects.filter(
        ~Exists(later),
        text__startswith=LogLine.ANALYSIS_FAILED,
        campaign__analysis_requested_at=None,
    )


def failure_of(campaign: Campaign) -> str:
    """Return how the last analysis failed, and what to do about it; empty where it did not."""
    line = failures().filter(campaign=campaign).last()
    if line is None:
        return ""
    return f"{line.text[:1].upper()}{line.text[1:].rstrip('.')}. {WHAT_TO_DO}"


def _ago(seconds: float) -> Any:
    return Now() - timedelta(seconds=seconds)
