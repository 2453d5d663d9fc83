"""Filters of the activity log and of deliveries."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from campaigns.accounts import activity_list
from campaigns.kit.activity import Action
from campaigns.kit.filters import Choice, Day, Filter, FilterSet, Moment, Whole, Word
from campaigns.kit.rights import teams_with
from campaigns.models import AuditEvent, Delivery


class EventFilters(FilterSet):
    """Filters of the activity log. `person=perfdash`: events without a user."""

    person = Word(most=150, method="of_person", label="Person")
    action = Choice(choices=Action.choices, label="Action")
    team = Whole(label="Team")
    means = Choice(
        choices=[(word, f"by {word}") for word in activity_list.MEANS],
        method="by_means",
        label="Means",
        every="Any interface",
    )
    after = Moment(field_name="at", lookup_expr="gte")
    before = Moment(field_name="at", lookup_expr="lt")
    campaign = Whole(field_name="campaign_key", label="Campaign", widget=forms.HiddenInput)

    def of_person(self, rows: QuerySet[AuditEvent], name: str, who: str) -> QuerySet[AuditEvent]:
        """Return the events of a user, or of perfdash itself."""
        if who == activity_list.NOBODY:
            return rows.filter(user=None)
        return rows.filter(user__username=who)

    def by_means(self, rows: QuerySet[AuditEvent], name: str, word: str) -> QuerySet[AuditEvent]:
        """Return the events by an interface; events of tokens are stored with the name of the token."""
        if word == activity_list.TOKEN:
            return rows.filter(means__startswith=f"{word} ")
        return rows.filter(means=word)


class EventPageFilters(EventFilters):
    """Filters of the page of the activity log, with whole days."""

    after = before = None  # type: ignore[assignment]  # django-filter leaves them out

    def __init__(self, data: Any, rows: QuerySet[AuditEvent], user: User) -> None:
        super().__init__(data, rows)
        people = activity_list.people_seen_by(user).values_list("username", "username")
        actions = sorted((action.value, action.value.replace("_", " ")) for action in Action)
        self.offer("person", "Everybody", [*people, (activity_list.NOBODY, "perfdash (automatic)")])
        self.offer("action", "All actions", actions)
        self.offer("team", "All teams", teams_with(user).values_list("pk", "name"))

    @classmethod
    def get_filters(cls) -> dict[str, Filter]:
        """Add `from`, which is a keyword of Python, and `to`."""
        days = {"from": Day("at", "gte", "From"), "to": Day("at", "lt", "To and including")}
        return {**super().get_filters(), **days}


class DeliveryFilters(FilterSet):
    """Filters of deliveries."""

    channel = Whole(field_name="channel")
    state = Choice(choices=Delivery.State.choices)
