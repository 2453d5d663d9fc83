"""What the broker itself tells: whether it answers, and how long its queues are. No error leaves here."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings
from redis import Redis, RedisError

SECONDS = 1.0


@cache
def _redis() -> Redis:
    return Redis.from_url(
        settings.PROGRESS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
    )


def answers() -> bool:
    """Say whether the broker answers within a second."""
    try:
        return bool(_redis().ping())
    except RedisError:
        return False


def queue_lengths(names: Sequence[str]) -> dict[str, int] | None:
    """Messages that wait in each queue, in one round trip; None where the broker does not answer."""
    pipeline = _redis().pipeline(transaction=False)
    for name in names:
        pipeline.llen(name)
    try:
        return dict(zip(names, pipeline.execute(), strict=True))
    except RedisError:
        return None
