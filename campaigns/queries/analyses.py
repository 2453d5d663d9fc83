"""Analyses that failed. Nothing is stored of them but the line in the campaign's log."""

from django.db.models import Exists, OuterRef, QuerySet

from campaigns.models import Campaign, Finding, LogLine

WHAT_TO_DO = (
    "Findings are kept as they were before. Undo what came last, if that can be (a run that was "
    "excluded counts again), or have the fault mended: the log of the control worker has its traceback. "
    "It is tried again when a conclusion on it is sent, and when perfdash is updated."
)


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
