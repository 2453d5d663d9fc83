"""Progress of a run, in Redis, expiring. Losing it is harmless, so no error is raised."""

import json

from campaigns.kit.broker import RedisLink
from campaigns.kit.mappings import ProgramProgress

KEPT_SECONDS = 60

_link = RedisLink("progress", decode_responses=True)


def _key(of: int | str) -> str:
    return f"perfdash:progress:{of}"


def of_generator(generator: int) -> str:
    """Return the key of one of several generators of an attempt, for `write` and `read`."""
    return f"generator-{generator}"


def write(attempt: int | str, values: ProgramProgress) -> None:
    """Replace the progress of an attempt."""
    _link.ask(lambda redis: redis.set(_key(attempt), json.dumps(values), ex=KEPT_SECONDS))


def read(attempt: int | str) -> ProgramProgress | None:
    """Return the last progress of an attempt, or None."""
    stored = _link.ask(lambda redis: redis.get(_key(attempt)))
    return json.loads(stored) if stored else None


def forget(attempt: int | str) -> None:
    """Delete the progress of an attempt that has ended."""
    _link.ask(lambda redis: redis.delete(_key(attempt)))
