"""Fingerprints that change whenever the content of a page or a file does."""

import hashlib

from django.db.models import Count, Max, Q

from campaigns.models import Attempt, Campaign, Finding, LaunchRequest, Run


def version(campaign: Campaign) -> str:
    """Return text that changes with any run, phase of an attempt, exclusion, or the state."""
    runs = campaign.runs.aggregate(
        **{state: Count("pk", filter=Q(state=state)) for state in Run.State.values},
        last=Max("finished_at"),
    )
    excluded = campaign.runs.aggregate(
        at=Max("exclusions__at"), withdrawn=Max("exclusions__withdrawn_at")
    )
    attempts = Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.OPEN).values_list(
        "pk", "state", "phase", "cancel_requested_at"
    )
    return fingerprint(
        campaign.state, campaign.not_before, campaign.away_since, runs, excluded, list(attempts)
    )


def findings_version(campaign: Campaign) -> str:
    """Return text that changes whenever the analysis stores something."""
    last = Finding.objects.filter(campaign=campaign).aggregate(at=Max("computed_at"))["at"]
    return fingerprint(campaign.state, last)


def whole_version(campaign: Campaign) -> str:
    """Return text that changes with either of the two, with a request for analysis, or an approval."""
    requested = LaunchRequest.objects.filter(campaign=campaign, state=LaunchRequest.State.WAITING)
    return fingerprint(
        version(campaign),
        findings_version(campaign),
        campaign.analysis_requested_at is None,
        requested.values_list("pk", flat=True).first(),
    )


def fingerprint(*parts: object) -> str:
    """Return a short text that is equal where all parts are."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
