"""Present workers, by the database's clock. Reads only."""

from collections import Counter
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from campaigns.kit.messages import CONTROL
from campaigns.models import Worker

PRESENT_SECONDS = 20
"""The time without a heartbeat after which a worker is lost; they send one every few seconds."""


def present() -> QuerySet[Worker]:
    """Return the workers of this version with a recent heartbeat; those of another one get no runs."""
    return answering().filter(version=settings.VERSION)


def answering() -> QuerySet[Worker]:
    """Return the workers of any version with a recent heartbeat."""
    return Worker.objects.filter(seen_at__gt=Now() - timedelta(seconds=PRESENT_SECONDS))


def version_in_use() -> str:
    """Return the version that decides what begins: that of the control workers; this one where none answers."""
    deciding = answering().filter(pools__contains=CONTROL)
    versions = set(deciding.values_list("version", flat=True))
    return max(versions) if versions and settings.VERSION not in versions else settings.VERSION


def lacking_everywhere(kind: str) -> dict[str, dict[str, str]]:
    """Return the levels of a kind, by parameter, that no present worker can run, each with the reason.

    Nothing where no worker is present: what it could run is unknown then.
    """
    held = [lacks.get(kind, {}) for lacks in present().values_list("lacks", flat=True)]
    first, *others = held or [{}]
    return {
        parameter: left
        for parameter, levels in first.items()
        if (
            left := {
                level: why for level, why in levels.items() if _by_all(others, parameter, level)
            }
        )
    }


def _by_all(held: list[dict[str, dict[str, str]]], parameter: str, level: str) -> bool:
    return all(level in each.get(parameter, {}) for each in held)


def present_by_pool() -> dict[str, int]:
    """Return how many present workers serve each pool."""
    pools = present().values_list("pools", flat=True)
    return dict(Counter(pool for served in pools for pool in served))
