"""Loads of production servers that wait for approval by a second person. Reads only."""

from collections.abc import Set

from django.db.models import QuerySet

from campaigns.models import LaunchRequest


def waiting_in(teams: Set[int]) -> QuerySet[LaunchRequest]:
    """What waits in teams, the oldest first."""
    rows = LaunchRequest.objects.filter(state=LaunchRequest.State.WAITING, campaign__team__in=teams)
    return rows.select_related("campaign__target", "asked_by").order_by("pk")
