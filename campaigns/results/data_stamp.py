"""A cheap fingerprint of a campaign's data: it is equal as long as nothing was added or removed."""

from typing import TypedDict

from django.db.models import Count, Max, QuerySet, Sum

from campaigns.kit.network import normalised_address
from campaigns.models import Amendment, Attempt, Campaign, Exclusion, Run


class Stamp(TypedDict):
    """What a campaign's data are counted by. runs: by state; attempts: those with values: `count`, `last` and `total` of keys.

    exclusions, amendments: the keys of those in force. target: its address, or those of several.
    """

    runs: dict[str, int]
    attempts: dict[str, int]
    exclusions: list[int]
    amendments: list[int]
    target: str


def stamp_of(campaign: Campaign) -> Stamp:
    """Return counts of runs and attempts, and exclusions, amendments and the target, as JSON holds them.

    This takes five short queries; the data hash reads every value.
    """
    states = campaign.runs.filter(purpose=Run.Purpose.MEASURED).order_by().values_list("state")
    attempts = attempts_with_values(campaign).aggregate(
        count=Count("pk"), last=Max("pk"), total=Sum("pk")
    )
    addresses = [normalised_address(target.base_url) for target in campaign.targets]
    return {
        "runs": dict(sorted(states.annotate(Count("pk")))),
        "attempts": {name: int(value or 0) for name, value in attempts.items()},
        "exclusions": list(exclusions_of(campaign).order_by("pk").values_list("pk", flat=True)),
        "amendments": list(
            Amendment.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True)
        ),
        "target": ", ".join(addresses),
    }


def attempts_with_values(campaign: Campaign) -> QuerySet[Attempt]:
    """Return the attempts at measured runs that an analysis reads."""
    return Attempt.objects.filter(
        run__campaign=campaign,
        run__purpose=Run.Purpose.MEASURED,
        state__in=Attempt.WITH_VALUES,
    )


def exclusions_of(campaign: Campaign) -> QuerySet[Exclusion]:
    """Return the exclusions in force."""
    return Exclusion.objects.filter(run__campaign=campaign, withdrawn_at=None)
