"""What the broker itself tells: whether it answers, and how long its queues are. No error leaves here."""

import logging
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from time import monotonic
from typing import Any

from django.conf import settings
from redis import ConnectionError, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

SECONDS = 1.0


@cache
def _redis() -> Redis:
    return Redis.from_url(
        settings.PROGRESS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
    )


def answers() -> bool:
    """Return whether the broker answers within a second."""
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


REST_SECONDS = 5.0
"""Who has something to do must not wait for it at every word."""
ONCE_MORE = Retry(NoBackoff(), 1, supported_errors=(ConnectionError,))
"""A connection that Redis closed meanwhile is made anew at once; one that hangs is not."""

log = logging.getLogger(__name__)


class RedisLink:
    """One use of the broker's Redis, as which the log knows it; safe for threads."""

    def __init__(self, use: str, seconds: float = 1.0, **options: Any) -> None:
        self._use = use
        self._options = {"socket_timeout": seconds, "socket_connect_timeout": seconds, **options}
        self._asleep_until = 0.0

    def ask(self, question: Callable[[Redis], Any]) -> Any:
        """Return Redis's answer; None where it has none, or had none just now."""
        if monotonic() < self._asleep_until:
            return None
        try:
            return question(self._redis)
        except RedisError as error:
            self._asleep_until = monotonic() + REST_SECONDS
            log.debug("%s: Redis is left alone for a while: %s", self._use, error)
            return None

    @cached_property
    def _redis(self) -> Redis:
        return Redis.from_url(settings.PROGRESS_URL, retry=ONCE_MORE, **self._options)
