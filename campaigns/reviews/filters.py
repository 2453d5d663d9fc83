"""Filters of conclusions and threads."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.forms import HiddenInput
from django.template.defaultfilters import capfirst

from campaigns.kit.filters import Choice, FilterSet, Search, Sort, Truth, Whole, Word
from campaigns.kit.rights import teams_with
from campaigns.models import Conclusion, Thread
from campaigns.reviews.queries import conclusions_seen_by, mine, waiting_for


class ConclusionFilters(FilterSet):
    """Filters of conclusions."""

    q = Search(
        ["claim", "recommendation", "evidence__campaign__name"],
        label="Search in claims, recommendations, and names of campaigns",
        placeholder="Search claim, recommendation, campaign",
        distinct=True,
    )
    state = Choice(
        choices=[(value, capfirst(label)) for value, label in Conclusion.State.choices],
        label="State",
        every="All states",
    )
    author = Word(field_name="author__username")
    team = Word(field_name="team__name")
    campaign = Whole(field_name="evidence__campaign", distinct=True)


class ConclusionPageFilters(ConclusionFilters):
    """Filters of the page of conclusions. `team` is a primary key."""

    whose = Choice(
        choices=[("mine", "Written by me"), ("waiting", "Waiting for my decision")],
        method="of_person",
        label="Whose",
        every="Everybody's",
    )
    team = Whole(label="Team")
    sort = Sort(
        {
            "oldest": ("Oldest first", ["pk"]),
            "changed": ("Last changed first", ["-changed_at", "-pk"]),
        },
        every="Newest first",
    )
    author = campaign = None  # type: ignore[assignment]  # django-filter leaves them out

    def __init__(self, data: Any, user: User) -> None:
        self.user = user
        super().__init__(data, conclusions_seen_by(user).order_by("-pk"))
        teams = teams_with(user).values_list("pk", "name")
        if len(teams) > 1:
            self.offer("team", "All teams", teams)
        else:
            self.form.fields["team"].widget = HiddenInput()

    def of_person(self, rows: QuerySet[Conclusion], name: str, word: str) -> QuerySet[Conclusion]:
        """Return the conclusions that the user wrote, or has to decide on."""
        own = mine(self.user) if word == "mine" else waiting_for(self.user)
        return rows.filter(pk__in=own.values("pk"))


class ThreadFilters(FilterSet):
    """Filters of threads."""

    on = Choice(choices=Thread.On.choices)
    key = Word(most=500)
    resolved = Truth(field_name="resolved_at", lookup_expr="isnull", exclude=True)
