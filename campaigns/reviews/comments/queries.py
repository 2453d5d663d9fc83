"""Query threads with their comments, and the users that comments can mention."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, F, Prefetch, Q, QuerySet

from campaigns.kit.rights import Right, people_with
from campaigns.models import Campaign, Comment, Conclusion, Team, Thread

MOST_NAMES = 200
"""The most names that a form offers."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of open threads on each cell and run, by position, and on each chart, by name."""

    cells: Mapping[int, int]
    runs: Mapping[int, int]
    charts: Mapping[str, int]


def threads() -> QuerySet[Thread]:
    """Return threads with everything that pages and REST show of them."""
    comments = Comment.objects.select_related("author").prefetch_related("mentions__user")
    return Thread.objects.select_related(
        "team", "campaign", "conclusion", "resolved_by"
    ).prefetch_related(Prefetch("comments", comments))


def threads_on(what: Campaign | Conclusion) -> QuerySet[Thread]:
    """Return the threads of a campaign or a conclusion: the open ones first, then the newest."""
    own = Q(campaign=what) if isinstance(what, Campaign) else Q(conclusion=what)
    return threads().filter(own).order_by(F("resolved_at").desc(nulls_first=True), "-pk")


def open_counts(campaign: Campaign) -> Counts:
    """Count the open threads of a campaign by subject."""
    rows = Thread.objects.filter(campaign=campaign, resolved_at=None)
    result = rows.order_by().values_list("on", "key").annotate(number=Count("pk"))
    by_kind: dict[str, Counter[str]] = {on: Counter() for on in Thread.On.values}
    for on, key, number in result:
        by_kind[on][key.partition("?")[0]] += number
    return Counts(
        {int(key): number for key, number in by_kind[Thread.On.CELL].items()},
        {int(key): number for key, number in by_kind[Thread.On.RUN].items()},
        dict(by_kind[Thread.On.CHART]),
    )


def may_be_mentioned(team: Team, conclusion: Conclusion | None = None) -> QuerySet[User]:
    """Return the members whom a comment can mention: those who may see all evidence of the conclusion."""
    people = people_with(team, Right.SEE)
    if conclusion is not None:
        rows = conclusion.evidence.exclude(campaign__team=team)
        for other in set(rows.values_list("campaign__team", flat=True)):
            people = people.filter(memberships__team=other)
    return people


def names_to_mention(team: Team, conclusion: Conclusion | None = None) -> list[str]:
    """Return the names that a form offers for mentions."""
    people = may_be_mentioned(team, conclusion)
    return list(people.values_list("username", flat=True)[:MOST_NAMES])
