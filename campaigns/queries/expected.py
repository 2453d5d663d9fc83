"""How long a run may take, judged by those before it."""

from datetime import datetime

from django.db.models import Aggregate, DurationField, F, Min, Q

from campaigns.drivers import UnknownKind, driver_of
from campaigns.models import Attempt, Campaign, Run

UNKNOWN_SECONDS = 60.0


class Median(Aggregate):
    """The median of spans of time."""

    function = "PERCENTILE_CONT"
    name = "median"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


def expected_seconds(run: Run) -> float:
    """Seconds from claim to end: the median of its cell in its campaign, else of all its runs.

    Where none has ended yet, what the driver guesses, at most the longest run that is allowed.
    """
    ended = Attempt.objects.filter(
        run__campaign=run.campaign_id, state__in=[Attempt.State.ACCEPTED, Attempt.State.FAILED]
    ).order_by()
    for attempts in (ended.filter(run__cell=run.cell_id), ended):
        span = attempts.aggregate(median=Median(F("finished_at") - F("claimed_at")))["median"]
        if span is not None:
            return float(span.total_seconds())
    campaign = run.campaign
    try:
        guess = driver_of(campaign.kind).estimate_seconds(
            {**campaign.parameters, **run.cell.levels_by_factor}
        )
    except UnknownKind:
        guess = UNKNOWN_SECONDS
    return min(guess, campaign.run_limit_seconds)


def budget_seconds_left(campaign: Campaign, now: datetime) -> float:
    """Seconds until a campaign's time budget is over; endless where it has none.

    It counts from its first run since the launch or the last resumption: waiting behind others, for
    a worker, or for the end of quiet hours before it uses nothing up.
    """
    if campaign.time_budget_seconds is None or campaign.counted_from is None:
        return float("inf")
    return campaign.time_budget_seconds - _seconds_used(campaign, campaign.counted_from, now)


def _seconds_used(campaign: Campaign, counted_from: datetime, now: datetime) -> float:
    on_since_then = Attempt.objects.filter(
        Q(finished_at=None) | Q(finished_at__gte=counted_from), run__campaign=campaign
    ).exclude(run__purpose=Run.Purpose.TRIAL)
    first = on_since_then.aggregate(first=Min("claimed_at"))["first"]
    return max(0.0, (now - max(first, counted_from)).total_seconds()) if first else 0.0
