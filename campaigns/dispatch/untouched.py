"""Rows that nobody else is changing: dispatch waits for none."""

from django.db.models import QuerySet

from campaigns.models import Campaign


def untouched(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Lock those that nobody else is changing."""
    return campaigns.select_for_update(no_key=True, skip_locked=True)
