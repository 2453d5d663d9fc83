"""What a run says while it runs: in Redis, expiring. Losing it is harmless, so no error leaves here."""

import json
import logging
from collections.abc import Callable, Mapping
from functools import cache
from time import monotonic
from typing import Any

from django.conf import settings
from redis import Redis, RedisError

KEPT_SECONDS = 60
REST_SECONDS = 5.0
"""How long Redis is left alone after an error: who measures must not wait for it at every word."""

log = logging.getLogger(__name__)
_asleep_until = 0.0


@cache
def _redis() -> Redis:
    return Redis.from_url(
        settings.PROGRESS_URL,
        decode_responses=True,
        socket_timeout=1,
        socket_connect_timeout=1,
    )


def _key(attempt: int) -> str:
    return f"perfdash:progress:{attempt}"


def write(attempt: int, values: Mapping[str, Any]) -> None:
    """Replace what is known of an attempt."""
    _ask(lambda redis: redis.set(_key(attempt), json.dumps(values), ex=KEPT_SECONDS))


def read(attempt: int) -> dict[str, Any] | None:
    """What the attempt last said, or None."""
    stored = _ask(lambda redis: redis.get(_key(attempt)))
    return json.loads(stored) if stored else None


def forget(attempt: int) -> None:
    """Drop what is known of an attempt that has ended."""
    _ask(lambda redis: redis.delete(_key(attempt)))


def _ask(question: Callable[[Redis], Any]) -> Any:
    """Give Redis's answer; None where it has none, or had none just now."""
    global _asleep_until
    if monotonic() < _asleep_until:
        return None
    try:
        return question(_redis())
    except RedisError as error:
        _asleep_until = monotonic() + REST_SECONDS
        log.debug("Progress is not passed on for a while: %s", error)
        return None
