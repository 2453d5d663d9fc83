"""Checks that a campaign requires: what is missing at its launch, and the reason that lets it through."""

from campaigns.kit.errors import NotPossible
from campaigns.kit.owners import quoted_target
from campaigns.models import Campaign
from campaigns.planning.fitness.known import Fitness, fitness_of


def missing_at(campaign: Campaign) -> list[str]:
    """Return why targets of a campaign are not known to be fit, by a sentence for each required check; empty where all are."""
    if not campaign.required_checks:
        return []
    targets = campaign.targets
    return [
        _sentence(each, quoted_target(target, campaign.team_id))
        for target in targets
        for each in fitness_of(target, campaign.required_checks)
        if not each.is_fit
    ]


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
    return f"{name} is {fitness.outcome} by the check {fitness.name}: {fitness.reason}"
