"""Checks that a campaign requires: what is missing at its launch, and the reason that lets it through."""

from collections.abc import Iterable, Sequence
from typing import Any

from campaigns.kit.errors import NotPossible
from campaigns.kit.owners import quoted_target
from campaigns.models import Campaign, Target
from campaigns.planning.fitness.checks import MOST_CLIENTS
from campaigns.planning.fitness.judging import NOT_KNOWN
from campaigns.planning.fitness.known import Fitness, fitness_of


def missing_of(campaign: Campaign, targets: Sequence[Target], clients: Iterable[Any]) -> list[str]:
    """Return why targets are not known to be fit, by a sentence for each check that a campaign requires; empty where all are.

    clients: the numbers of clients that its runs have; the most that a check knows, where it has none.
    """
    if not campaign.required_checks:
        return []
    team = campaign.team_id or targets[0].team_id if targets else None
    numbers = [
        each for each in (*clients, campaign.parameters.get("clients")) if isinstance(each, int)
    ]
    return [
        _sentence(each, quoted_target(target, team))
        for target in targets
        for each in fitness_of(target, campaign.required_checks, max(numbers, default=MOST_CLIENTS))
        if not each.is_fit
    ]


def missing_at(campaign: Campaign) -> list[str]:
    """Return the same for a stored campaign."""
    levels = campaign.factors.filter(name="clients").values_list("levels__value", flat=True)
    return missing_of(campaign, campaign.targets, levels) if campaign.required_checks else []


def require_fit(campaign: Campaign) -> str:
    """Return the caveat of a campaign that is launched for a reason although checks are missing; empty where none is.

    Raise NotPossible without a reason.
    """
    missing = missing_at(campaign)
    if not missing:
        return ""
    if not campaign.unfit_reason:
        raise NotPossible(
            f"{' '.join(missing)} Make the check on the page of the target, or state in the definition why it is launched "
            "without (`unfit_reason`); that stands beside the result."
        )
    return f"{' '.join(missing)} Launched all the same: {campaign.unfit_reason}"


def _sentence(fitness: Fitness, name: str) -> str:
    outcome = "not known to be fit" if fitness.outcome == NOT_KNOWN else fitness.outcome
    return f"{name} is {outcome} by the check {fitness.name}: {fitness.reason}"
