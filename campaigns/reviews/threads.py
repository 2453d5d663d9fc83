"""Threads and their comments, as pages and REST show them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, F, Prefetch, Q, QuerySet

from campaigns.kit.rights import Right, people_with
from campaigns.models import Campaign, Comment, Conclusion, Team, Thread

MOST_NAMES = 200
"""Members whose names are offered."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many threads are open on each cell and each run, by position."""

    cells: Mapping[int, int]
    runs: Mapping[int, int]
    charts: Mapping[str, int]


def threads() -> QuerySet[Thread]:
    """Threads with all that is shown of them; those that are open come first, then the newest."""
    comments = Comment.objects.select_related("author").prefetch_related("mentions__user")
    return Thread.objects.select_related(
        "team", "campaign", "conclusion", "resolved_by"
    ).prefetch_related(Prefetch("comments", comments))


def threads_on(what: Campaign | Conclusion) -> QuerySet[Thread]:
    """Threads of a campaign, or of a conclusion: the open ones first, of these the newest."""
    own = Q(campaign=what) if isinstance(what, Campaign) else Q(conclusion=what)
    return threads().filter(own).order_by(F("resolved_at").desc(nulls_first=True), "-pk")


def open_counts(campaign: Campaign) -> Counts:
    """Count open threads of a campaign by what they are on."""
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
    """Members of a team whom a comment may mention; a conclusion may rest on what not all of them see."""
    people = people_with(team, Right.SEE)
    if conclusion is not None:
        rows = conclusion.evidence.exclude(campaign__team=team)
        for other in set(rows.values_list("campaign__team", flat=True)):
            people = people.filter(memberships__team=other)
    return people


def names_to_mention(team: Team, conclusion: Conclusion | None = None) -> list[str]:
    """Their names, for the form."""
    people = may_be_mentioned(team, conclusion)
    return list(people.values_list("username", flat=True)[:MOST_NAMES])
