"""Lists of alerts, in a fixed number of queries. Reads only."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from campaigns.models import Alert, Confirmation
from campaigns.trends.alert_facts import facts_of
from campaigns.trends.alert_wording import sentences_of
from campaigns.trends.wording import Sentences

E = Alert.Evidence
LISTS: Mapping[str, tuple[str, Q]] = {
    "todo": (
        "To do",
        Q(closed_at=None, direction="worse", evidence__in=[E.CONFIRMED, E.REPEATED, E.UNVERIFIED]),
    ),
    "again": ("Being measured again", Q(closed_at=None, direction="worse", evidence=E.SUSPECTED)),
    "better": ("Better", Q(closed_at=None, direction="better")),
    "recovered": ("Recovered", Q(closed="recovered")),
    "all": ("All", Q()),
}


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert in a list, with what it says."""

    alert: Alert
    said: Sentences


def alerts_of(teams: Set[int], which: str = "all") -> QuerySet[Alert]:
    """Return the alerts of teams that are in a list, the newest first."""
    rows = Alert.objects.filter(LISTS[which][1], team__in=teams)
    return rows.select_related("team", "owner", "good", "bad", "fixed_in")


def alert_rows(alerts: Sequence[Alert]) -> list[AlertRow]:
    """Return alerts with their sentences, in two queries more."""
    facts = facts_of(alerts)
    gone = Sentences("Its trends are gone.", "", "")
    return [
        AlertRow(each, sentences_of(facts[each.pk]) if each.pk in facts else gone)
        for each in alerts
    ]


def counts_of(teams: Set[int]) -> dict[str, int]:
    """Return how many alerts are in each list."""
    return {
        name: Alert.objects.filter(where, team__in=teams).count()
        for name, (_, where) in LISTS.items()
    }


def confirmations_of(alert: Alert) -> QuerySet[Confirmation]:
    """Return how an alert was measured again, the newest first."""
    return alert.confirmations.select_related("campaign", "line", "good", "bad")
