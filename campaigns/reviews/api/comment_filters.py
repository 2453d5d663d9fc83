"""How the record and threads are narrowed."""

from typing import Any

import django_filters  # type: ignore[import-untyped]
from django.db.models import QuerySet

from campaigns.accounts import activity_list
from campaigns.kit.activity import Action
from campaigns.kit.api.filters import Choice, Moment, Truth, Whole, Word
from campaigns.models import AuditEvent, Thread


class Events(django_filters.FilterSet):
    """Rows of the record; `person=perfdash`: what nobody did."""

    person = Word(most=150, method="narrow")
    action = Choice(choices=Action.choices, method="narrow")
    team = Whole(method="narrow")
    campaign = Whole(method="narrow")
    means = Choice(choices=[(word, word) for word in activity_list.MEANS], method="narrow")
    after = Moment(method="narrow")
    before = Moment(method="narrow")

    class Meta:
        model = AuditEvent
        fields: list[str] = []

    def narrow(self, rows: QuerySet[AuditEvent], name: str, value: Any) -> QuerySet[AuditEvent]:
        """By one of the fields of Wanted."""
        return activity_list.narrowed(rows, activity_list.Wanted(**{name: value}))


class Threads(django_filters.FilterSet):
    """Threads of a campaign."""

    on = Choice(choices=Thread.On.choices)
    key = Word(most=500)
    resolved = Truth(method="which_are_settled")

    class Meta:
        model = Thread
        fields: list[str] = []

    def which_are_settled(self, rows: QuerySet[Thread], name: str, text: str) -> QuerySet[Thread]:
        """Those that are resolved, or those that are open."""
        return rows.filter(resolved_at__isnull=text != "true")
