"""Analyses that wait, that are being computed, and that failed. Reads only.

A campaign holds its one request: `analysis_requested_at`, since when it has data that no analysis has read;
`analysis_sent_at`, when a worker was asked, and then the last sign of life of the one that computes;
`analysis_began_at`, since when it computes.
"""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from campaigns.models import Attempt, Campaign, Finding, LogLine
from campaigns.queries import workers

POOL = "analysis"
"""The queue of the workers that compute."""
SILENT_SECONDS = 60
"""A worker that gave no sign of life for so long has lost its analysis."""
UNTAKEN_SECONDS = 30
"""A message that nobody took for so long is lost: one is sent only where a worker is free for it."""
BESIDE_SECONDS = 120
"""After so long an analysis is computed beside a run, where it found no gap between two."""
HOLDING_SECONDS = 180
"""After so long no run waits for an analysis any more."""
JUST_ENDED_SECONDS = 180
"""For so long somebody may be waiting for the answer of a campaign that was measured here."""
WHAT_TO_DO = (
    "Findings are kept as they were before. Undo what came last, if that can be (a run that was "
    "excluded counts again), or have the fault mended: the log of the analysis worker has its traceback. "
    "It is tried again when a conclusion on it is sent, and when perfdash is updated."
)


def under_way() -> Q:
    """Campaigns whose analysis was sent to a worker, or is computed by one that gives signs of life."""
    taken = Q(analysis_began_at__isnull=False, analysis_sent_at__gt=_ago(SILENT_SECONDS))
    sent = Q(analysis_began_at=None, analysis_sent_at__gt=_ago(UNTAKEN_SECONDS))
    return Q(analysis_requested_at__isnull=False) & (taken | sent)


def lost() -> Q:
    """Campaigns whose analysis nobody computes: it was not sent, or who had it gives no sign of life."""
    return Q(analysis_sent_at=None) | Q(analysis_sent_at__lt=_ago(SILENT_SECONDS))


def awaited_by_runs() -> Q:
    """Campaigns whose analysis goes first, between two runs: those that measure, or did just now.

    What was measured elsewhere is never among them, nor what ended long ago and is analysed anew.
    """
    just_ended = Q(closed_at__gt=_ago(JUST_ENDED_SECONDS), counted_from__isnull=False)
    return Q(state=Campaign.State.RUNNING) | just_ended


def holding_runs_back() -> QuerySet[Campaign]:
    """Campaigns for whose analysis the next run waits, on every server: it would be disturbed.

    None where nobody takes analyses; and no analysis holds runs back for ever.
    """
    if nobody_computes():
        return Campaign.objects.none()
    found = Campaign.objects.filter(under_way(), awaited_by_runs())
    return found.filter(analysis_requested_at__gt=_ago(HOLDING_SECONDS)).order_by("pk")


def holds_runs_back(campaign: Campaign) -> bool:
    """Whether the next run waits for the analysis of this campaign, while nothing is measured."""
    if Attempt.objects.filter(state=Attempt.State.RUNNING).exists():
        return False
    return Campaign.objects.filter(awaited_by_runs(), pk=campaign.pk).exists()


def nobody_computes() -> str:
    """Say so where no worker takes analyses; else empty."""
    if workers.present().filter(pools__contains=POOL).exists():
        return ""
    return f"No worker of the queue “{POOL}” answers; it is computed as soon as one does."


def wait_of(campaign: Campaign) -> str:
    """Say what the analysis of a campaign waits for; empty where a worker has it."""
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
            f"It begins when nothing is measured, or {BESIDE_SECONDS // 60} minutes after it was requested."
        )
    return " ".join(parts)


def failures() -> QuerySet[LogLine]:
    """Lines on analyses that failed, and that none came through since or is on its way."""
    later = Finding.objects.filter(campaign=OuterRef("campaign"), computed_at__gt=OuterRef("at"))
    return LogLine.objects.filter(
        ~Exists(later),
        text__startswith=LogLine.ANALYSIS_FAILED,
        campaign__analysis_requested_at=None,
    )


def failure_of(campaign: Campaign) -> str:
    """Say how the last analysis failed, and what to do about it; empty where it did not."""
    line = failures().filter(campaign=campaign).last()
    if line is None:
        return ""
    return f"{line.text[:1].upper()}{line.text[1:].rstrip('.')}. {WHAT_TO_DO}"


def _ago(seconds: float) -> Any:
    return Now() - timedelta(seconds=seconds)
