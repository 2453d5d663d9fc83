"""Stored campaigns and runs as the REST API lists them. Reads only."""

from django.db.models import BooleanField, Count, ExpressionWrapper, Prefetch, Q, QuerySet

from campaigns.models import Attempt, Campaign, Exclusion, Run

STATES = tuple(Run.State.values)


def campaigns(
    *, state: str = "", kind: str = "", tag: str = "", text: str = ""
) -> QuerySet[Campaign]:
    """Campaigns, newest first, with counts of their runs as `runs_<state>`; no try-outs in them.

    `text` is looked for in name and question.
    """
    found = Campaign.objects.select_related("target", "author").order_by("-created_at", "-pk")
    if state:
        found = found.filter(state=state)
    if kind:
        found = found.filter(kind=kind)
    if tag:
        found = found.filter(tags__contains=[tag])
    if text:
        found = found.filter(Q(name__icontains=text) | Q(question__icontains=text))
    planned = ~Q(runs__purpose=Run.Purpose.TRIAL)
    return found.annotate(
        **{
            f"runs_{run_state}": Count("runs", filter=planned & Q(runs__state=run_state))
            for run_state in STATES
        }
    )


def runs(campaign: Campaign) -> QuerySet[Run]:
    """All runs in the order of their positions, try-outs last, with attempts and measurements.

    Attempts know `proofs_all` and `proofs_ok`; exclusions that stand are `standing_exclusions`.
    """
    attempts = Attempt.objects.order_by("number").annotate(
        proofs_all=Count("proofs"), proofs_ok=Count("proofs", filter=Q(proofs__ok=True))
    )
    exclusions = Exclusion.objects.filter(withdrawn_at=None).select_related("user")
    return (
        campaign.runs.select_related("cell", "block__session")
        .prefetch_related(
            Prefetch("attempts", queryset=attempts.prefetch_related("measurements")),
            Prefetch("exclusions", queryset=exclusions, to_attr="standing_exclusions"),
        )
        .alias(is_trial=ExpressionWrapper(Q(purpose="trial"), BooleanField()))
        .order_by("is_trial", "position")
    )


def run_at(campaign: Campaign, position: int, *, trial: bool = False) -> Run:
    """A run, or a try-out, with all that its attempts observed. Raise Run.DoesNotExist."""
    evidence = ("proofs", "phases", "effective_settings", "environment")
    found = runs(campaign).prefetch_related(*(f"attempts__{name}" for name in evidence))
    of_purpose = Q(purpose=Run.Purpose.TRIAL)
    return found.get(of_purpose if trial else ~of_purpose, position=position)
