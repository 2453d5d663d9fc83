"""The broker's Redis: whether it answers, the length of its queues, and links that tolerate its absence."""

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
    """Return the number of messages in each queue, in one round trip; None where the broker does not answer."""
    pipeline = _redis().pipeline(transaction=False)
    for name in names:
        pipeline.llen(name)
    try:
        return dict(zip(names, pipeline.execute(), strict=True))
    except RedisError:
        return None


REST_SECONDS = 5.0
"""How long Redis is not used after an error, so that callers do not wait each time."""
ONCE_MORE = Retry(NoBackoff(), 1, supported_errors=(ConnectionError,))
"""Connect again at once where Redis closed the connection, but not where it hangs."""

log = logging.getLogger(__name__)


class RedisLink:
    """A client of the broker's Redis that raises no errors; `use` names it in the log. Thread-safe."""

    def __init__(self, use: str, seconds: float = 1.0, **options: Any) -> None:
        self._use = use
        self._options = {"socket_timeout": seconds, "socket_connect_timeout": seconds, **options}
        self._unused_until = 0.0

    def ask(self, command: Callable[[Redis], Any]) -> Any:
        """Return the result of a command; None after an error, and for REST_SECONDS after it."""
        if monotonic() < self._unused_until:
            return None
        try:
            return command(self._redis)
        except RedisError as error:
            self._unused_until = monotonic() + REST_SECONDS
            log.debug("%s: Redis is not used for %g s: %s", self._use, REST_SECONDS, error)
            return None

    @cached_property
    def _redis(self) -> Redis:
        return Redis.from_url(settings.PROGRESS_URL, retry=ONCE_MORE, **self._options)
