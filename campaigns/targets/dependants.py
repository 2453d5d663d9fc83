"""List the objects that depend on a target, before it is retired or deleted. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from campaigns.models import Campaign, Conclusion, Target, Template, on_target

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Dependants:
    """Objects of one type that depend on a target: their number, and the first by key and name."""

    kind: str
    count: int
    first: tuple[tuple[int, str], ...]
    then: str

    @property
    def more(self) -> int:
        """The number of objects that are not named."""
        return self.count - len(self.first)


def dependants_of(target: Target) -> list[Dependants]:
    """Return the objects that refer to the target, by type. A target without any may be deleted."""
    return [each for each in _all(target) if each.count]


def _all(target: Target) -> Iterator[Dependants]:
    own = Campaign.objects.filter(on_target(target)).order_by("-pk")
    yield _of(
        "going on, or in the queue",
        own.filter(state__in=Campaign.ACTIVE),
        "It cannot be retired meanwhile.",
    )
    yield _of(
        "campaigns",
        own.filter(state__in=Campaign.CLOSED),
        "They stay as they are, and are not extended any more.",
    )
    yield _of(
        "drafts",
        own.filter(state=Campaign.State.DRAFT),
        "They cannot be launched; choose another target in each.",
    )
    yield _of(
        "populations",
        target.populations.order_by("pk"),
        "Their hosts are deleted at the server once it is retired.",
    )
    named = Q(definition__target=target.pk) | Q(definition__targets__contains=target.pk)
    templates = Template.objects.filter(named, retired_at=None)
    yield _of(
        "templates",
        templates.order_by("name"),
        "Campaigns that begin with them need another target.",
    )
    resting = Conclusion.objects.filter(evidence__campaign__in=own.order_by()).distinct()
    yield _of(
        "conclusions",
        resting.order_by("-pk"),
        "They stay as they are; none of it can be measured once more.",
    )


def _of(kind: str, rows: QuerySet[Any], then: str) -> Dependants:
    first = tuple((row.pk, str(row)) for row in rows[:MOST_NAMED])
    return Dependants(kind, rows.count(), first, then)
