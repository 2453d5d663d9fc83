"""Places in a web server for what waits for a target: each holds one of its few threads for some seconds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from django.contrib.auth.models import User

from campaigns.kit import rates
from campaigns.kit.errors import TooBusy

MOST_AT_ONCE = 2
"""Tries in one web server: each holds a thread, of which it has 5 to 8, for as long as the target takes to answer."""
AGAIN_SECONDS = 10
"""Retry-After where all places are taken; a try takes 25 s at most."""
RATE = rates.Rate(20, 60)
"""Of one user."""
_places = threading.BoundedSemaphore(MOST_AT_ONCE)


@contextmanager
def place(user: User | None, what: str) -> Iterator[None]:
    """Hold one of the places in this process. what: such as “a scenario”; user: whose tries are counted. Raise TooBusy."""
    usage = None if user is None else rates.take(f"try:{user.pk}", RATE)
    if usage is not None and not usage.allowed:
        seconds = max(1, ceil(usage.wait_seconds))
        raise TooBusy(
            f"One user may try something {RATE.count} times in {RATE.seconds} s. Try again in {seconds} s.",
            seconds,
            own=True,
        )
    if not _places.acquire(blocking=False):
        raise TooBusy(
            f"{what.capitalize()} cannot be tried now: others try something, and the server does {MOST_AT_ONCE} at a time. Try again in a moment.",
            AGAIN_SECONDS,
        )
    try:
        yield
    finally:
        _places.release()
