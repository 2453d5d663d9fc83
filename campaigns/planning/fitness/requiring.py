"""Checks of fitness that a campaign requires: what is missing at its launch."""

from collections.abc import Iterable, Sequence
from typing import Any

from campaigns.models import Campaign, Target
from campaigns.planning.fitness.checks import MOST_CLIENTS
from campaigns.planning.fitness.judging import NOT_KNOWN
from campaigns.planning.fitness.known import Fitness, fitness_of
from campaigns.targets.names import quoted_target


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


def _sentence(fitness: Fitness, name: str) -> str:
    outcome = "not known to be fit" if fitness.outcome == NOT_KNOWN else fitness.outcome
    return f"{name} is {outcome} by the check {fitness.name}: {fitness.reason}"
