"""Estimate how long a run takes, from earlier runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from statistics import median_high

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Aggregate, DurationField, F, OuterRef, QuerySet, Sum, Value, Window
from django.db.models.functions import Coalesce, Greatest, Lag

from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.models import Attempt, Campaign, Phase, Run, Target, on_address, runs_at
from campaigns.planning.configurations import run_values

LATEST, NEWEST = 50, 20
"""So many runs, of so many campaigns, tell what is usual."""


@dataclass(frozen=True, slots=True)
class UsualRun:
    """The median time of recent runs from claim to end, and the number of these runs."""

    seconds: float
    runs: int


def usual_run(kind: str, target: Target | None) -> UsualRun | None:
    """Return the usual time of the latest accepted runs of a kind on a target; None without any.

    Only the last runs of the newest campaigns are looked at, however many there are.
    """
    if target is None:
        return None
    last = Run.objects.filter(campaign=OuterRef("pk"), state=Run.State.DONE).order_by("-position")
    newest = Campaign.objects.filter(on_address(target.address), kind=kind)
    runs = newest.order_by("-created_at", "-pk").values_list(
        ArraySubquery(last.values("pk")[:LATEST]), flat=True
    )[:NEWEST]
    spans = (
        Attempt.objects.filter(
            runs_at(target.address, "run__"),
            run__in=list(chain.from_iterable(runs)),
            state=Attempt.State.ACCEPTED,
        )
        .order_by("-finished_at")
        .values_list(F("finished_at") - F("claimed_at"), flat=True)[:LATEST]
    )
    seconds = [span.total_seconds() for span in spans]
    return UsualRun(median_high(seconds), len(seconds)) if seconds else None


def resets_with(target: Target, settings: Sequence[str]) -> list[float]:
    """Return how long the resets of the latest runs on a target took, of those that had all these settings read back."""
    rows = Phase.objects.filter(
        runs_at(target.address, "attempt__run__"),
        of=Phase.Of.ATTEMPT,
        name=Attempt.Phase.RESET,
        attempt__state=Attempt.State.ACCEPTED,
    )
    for name in settings:
        rows = rows.filter(attempt__effective_settings__name=name)
    return list(rows.order_by("-attempt").values_list("seconds", flat=True)[:LATEST])


UNKNOWN_SECONDS = 60.0
ZERO = timedelta(0)


class Median(Aggregate):
    """The median of spans of time."""

    function = "PERCENTILE_CONT"
    name = "median"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


def expected_seconds(run: Run) -> float:
    """Return the seconds from claim to end: the median of the cell in its campaign, else of all its runs.

    Where none has ended yet, return the estimate of the driver, at most the longest run that is allowed.
    """
    ended = Attempt.objects.filter(
        run__campaign=run.campaign_id,
        state__in=Attempt.WITH_VALUES,
        finished_at__gte=F("claimed_at"),
    ).order_by()
    for attempts in (ended.filter(run__cell=run.cell_id), ended):
        span = attempts.aggregate(median=Median(F("finished_at") - F("claimed_at")))["median"]
        if span is not None:
            return float(span.total_seconds())
    campaign = run.campaign
    try:
        guess = driver_of(campaign.kind).estimate_seconds(
            run_values(campaign, run.cell.levels_by_factor)
        )
    except UnknownKind:
        guess = UNKNOWN_SECONDS
    return min(guess, campaign.run_limit_seconds)


def budget_seconds_left(campaign: Campaign, now: datetime) -> float:
    """Return the seconds until a campaign's time budget is used up; infinity where it has none.

    It counts from its first run since the launch or the last resumption: waiting behind others, for
    a worker, or for the end of quiet hours before it uses nothing up.
    """
    if campaign.time_budget_seconds is None or campaign.counted_from is None:
        return float("inf")
    counted = (
        Attempt.objects.filter(
            run__campaign=campaign, pk__gt=campaign.counted_after, claimed_at__isnull=False
        )
        .exclude(run__purpose=Run.Purpose.TRIAL)
        .order_by("pk")
    )
    return campaign.time_budget_seconds - _seconds_used(counted, campaign.counted_from, now)


def _seconds_used(attempts: QuerySet[Attempt], since: datetime, now: datetime) -> float:
    """Return the seconds from the first claim, or `since`, to now.

    They are summed from instant to instant: where the clock was set back between two, only that span is
    missing.
    """
    instants = attempts.values_list("claimed_at", "finished_at")
    first, last = instants.first(), instants.last()
    if first is None or last is None or first[0] is None:
        return 0.0
    ends_at = Coalesce("finished_at", Value(now))
    before = Window(Lag("ends_at"), order_by="pk")
    used = (
        attempts.annotate(ends_at=ends_at)
        .annotate(before=before)
        .annotate(
            waited=Greatest(F("claimed_at") - F("before"), Value(ZERO)),
            lasted=Greatest(F("ends_at") - F("claimed_at"), Value(ZERO)),
        )
        .aggregate(sum=Sum(F("waited") + F("lasted")))["sum"]
    )
    unused = max(ZERO, since - first[0])
    return float((used - unused + max(ZERO, now - (last[1] or now))).total_seconds())
