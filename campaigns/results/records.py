"""Queries for stored campaigns and runs, as the REST API lists them. Reads only."""

from collections.abc import Sequence

from django.db.models import BigIntegerField, Case, Count, F, Prefetch, Q, QuerySet, Value, When

from campaigns.models import Attempt, AttemptOutput, Campaign, Exclusion, Measurement, Run
from campaigns.models.runs import RunQuerySet
from campaigns.results.generator_list import of_attempts

STATES = tuple(Run.State.values)
AFTER_ALL = 10**10
"""The place of a try-out comes after those of all other runs."""


def campaigns() -> QuerySet[Campaign]:
    """Return all campaigns."""
    rows = Campaign.objects.select_related("target", "author")
    return rows.prefetch_related("places__target")


def runs_by_state(campaigns: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the number of runs by state of each campaign, without try-outs, by their keys."""
    counts = {pk: dict.fromkeys(STATES, 0) for pk in campaigns}
    rows = (
        Run.objects.filter(campaign__in=campaigns)
        .exclude(purpose=Run.Purpose.TRIAL)
        .order_by()
        .values_list("campaign", "state")
        .annotate(Count("pk"))
    )
    for pk, state, count in rows:
        counts[pk][state] = count
    return counts


def runs(campaign: Campaign, *, observed: bool = True) -> RunQuerySet:
    """Return all runs by position, try-outs last, with attempts and measurements.

    Attempts have `proofs_all` and `proofs_ok`, and the measurements that count for the run as `that_count`;
    exclusions in force are `standing_exclusions`. Without `observed` none of these is read. `place` is
    unique, and in this order.
    """
    result = (
        campaign.runs.select_related("cell", "block__session")
        .annotate(
            place=Case(
                When(purpose=Run.Purpose.TRIAL, then=F("position") + Value(AFTER_ALL)),
                default=F("position"),
                output_field=BigIntegerField(),
            )
        )
        .order_by("place")
    )
    if not observed:
        return result
    attempts = Attempt.objects.order_by("number").annotate(
        proofs_all=Count("proofs"), proofs_ok=Count("proofs", filter=Q(proofs__ok=True))
    )
    measurements = Measurement.objects.that_count()
    exclusions = Exclusion.objects.filter(withdrawn_at=None).select_related("user")
    return result.prefetch_related(
        Prefetch("attempts", queryset=attempts),
        Prefetch("attempts__measurements", queryset=measurements, to_attr="that_count"),
        Prefetch("exclusions", queryset=exclusions, to_attr="standing_exclusions"),
    )


def order_of_runs(campaign: Campaign) -> str:
    """Return the column that orders runs: without try-outs their position does, which has an index."""
    tried = campaign.runs.filter(purpose=Run.Purpose.TRIAL).exists()
    return "place" if tried else "position"


def with_evidence(campaign: Campaign) -> RunQuerySet:
    """Return all runs with everything that their attempts observed."""
    evidence = ("measurements", "proofs", "phases", "effective_settings", "environment")
    return runs(campaign).prefetch_related(
        *(f"attempts__{name}" for name in evidence),
        of_attempts("attempts__generators"),
        Prefetch("attempts__outputs", queryset=AttemptOutput.objects.defer("content")),
    )
