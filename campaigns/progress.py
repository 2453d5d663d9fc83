"""What a run says while it runs: in Redis, expiring. Losing it is harmless, so no error leaves here."""

import json
import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.conf import settings
from redis import Redis, RedisError

KEPT_SECONDS = 60

log = logging.getLogger(__name__)


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
    try:
        _redis().set(_key(attempt), json.dumps(values), ex=KEPT_SECONDS)
    except RedisError as error:
        log.debug("The progress of attempt %s is not passed on: %s", attempt, error)


def read(attempt: int) -> dict[str, Any] | None:
    """What the attempt last said, or None."""
    try:
        stored = _redis().get(_key(attempt))
    except RedisError as error:
        log.debug("The progress of attempt %s cannot be read: %s", attempt, error)
        return None
    return json.loads(stored) if stored else None


def forget(attempt: int) -> None:
    """Drop what is known of an attempt that has ended."""
    try:
        _redis().delete(_key(attempt))
    except RedisError as error:
        log.debug("The progress of attempt %s stays until it expires: %s", attempt, error)
