"""Which workers are present, by the database's clock. Reads only."""

from collections import Counter
from datetime import timedelta

from django.db.models import QuerySet
from django.db.models.functions import Now

from campaigns.models import Worker

PRESENT_SECONDS = 20
"""Workers say that they live every few seconds; one that was silent for longer is lost."""


def present() -> QuerySet[Worker]:
    """Workers that answered just now."""
    return Worker.objects.filter(seen_at__gt=Now() - timedelta(seconds=PRESENT_SECONDS))


def present_by_pool() -> dict[str, int]:
    """How many of them serve each pool; none without any."""
    pools = present().values_list("pools", flat=True)
    return dict(Counter(pool for served in pools for pool in served))
