"""What people are asked to do by hand, and what a run still needs of it."""

from typing import Any

from django.db.models import Q, QuerySet

from campaigns.models import Attempt, Campaign, HandRequest, Run, Setting, TargetStep

HAND = "hand"


def open_requests(campaign: Campaign | None = None) -> QuerySet[HandRequest]:
    """Requests that hold up a run which may begin, and those to set something back."""
    running = Q(run__campaign__state=Campaign.State.RUNNING) | Q(
        run__campaign__state=Campaign.State.DRAFT, run__purpose=Run.Purpose.TRIAL
    )
    wanted = Q(run=None) | (Q(run__state=Run.State.PLANNED) & running)
    found = HandRequest.objects.filter(wanted, done_at=None, target__retired_at=None)
    if campaign is not None:
        found = found.filter(campaign=campaign)
    return found.select_related("target", "campaign", "run", "setting", "step").order_by("pk")


def wanted_of(run: Run) -> dict[str, Any]:
    """Fixed values and levels of a run by name: of the kind and of the target."""
    return {**run.campaign.parameters, **run.cell.levels_by_factor}


def needed(run: Run) -> list[tuple[Setting | TargetStep, Any]]:
    """What has to be done by hand before a run: settings with their value, steps with None."""
    target = run.campaign.target
    if target is None:
        return []
    wanted = {name: each for name, each in wanted_of(run).items() if each not in (None, "")}
    settings = Setting.objects.filter(
        target=target, name__in=list(wanted), apply__way=HAND
    ).order_by("pk")
    found: list[tuple[Setting | TargetStep, Any]] = [
        (row, wanted[row.name]) for row in settings if row.hand_value != wanted[row.name]
    ]
    steps = TargetStep.objects.filter(
        target=target, purpose=TargetStep.Purpose.RESET, action__way=HAND
    )
    number = number_of_next_attempt(run)
    done = HandRequest.objects.filter(run=run, attempt_number=number, done_at__isnull=False)
    ready = set(done.values_list("step", flat=True))
    return found + [(step, None) for step in steps if step.pk not in ready]


def number_of_next_attempt(run: Run) -> int:
    """Which attempt of a run would begin next, from 1."""
    return run.attempts.exclude(state=Attempt.State.QUEUED).count() + 1
