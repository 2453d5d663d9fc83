"""The campaigns and templates that name a credential. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from campaigns.kinds.registry import all_kinds
from campaigns.models import Campaign, Credential, Template

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Uses:
    """The campaigns that name a credential, the newest first: those that may still run, and those that have ended."""

    open: QuerySet[Campaign]
    closed: QuerySet[Campaign]
    templates: QuerySet[Template]


def uses_of(row: Credential) -> Uses:
    """Return what names a credential."""
    own = campaigns_naming(row)
    return Uses(
        own.exclude(state__in=Campaign.CLOSED),
        own.filter(state__in=Campaign.CLOSED),
        _templates(row),
    )


def in_use(row: Credential) -> list[str]:
    """Return the names of the first campaigns and templates that may still run with a credential."""
    uses = uses_of(row)
    return [str(each) for each in (*uses.open[:MOST_NAMED], *uses.templates[:MOST_NAMED])]


def campaigns_naming(row: Credential) -> QuerySet[Campaign]:
    """Return the campaigns of the team that name a credential."""
    condition = Q(pk__in=[])
    for kind, name in _parameters():
        condition |= Q(kind=kind, **{f"parameters__{name}": row.name})
    return Campaign.objects.filter(condition, team=row.team_id).order_by("-pk")


def _templates(row: Credential) -> QuerySet[Template]:
    condition = Q(pk__in=[])
    for kind, name in _parameters():
        condition |= Q(definition__kind=kind, **{f"definition__parameters__{name}": row.name})
    return Template.objects.filter(condition, team=row.team_id, retired_at=None).order_by("name")


def _parameters() -> Iterator[tuple[str, str]]:
    """Yield each kind with each of its parameters that name a credential."""
    for kind, driver in all_kinds().items():
        for name in driver.credentials:
            yield kind, name


def named_in(campaign: Campaign) -> list[str]:
    """Return the names of the credentials that a campaign uses."""
    driver = all_kinds().get(campaign.kind)
    names = driver.credentials if driver else ()
    return [str(campaign.parameters[name]) for name in names if campaign.parameters.get(name)]
