"""Waits for a change on behalf of a few clients; all others are told when to ask again.

A waiting request keeps its thread of the web server, so that only some may: pages never starve.
Between two looks it does nothing and holds no transaction.
"""

from collections.abc import Callable
from functools import cache
from threading import BoundedSemaphore
from time import monotonic, sleep

from django.conf import settings

LOOK_SECONDS = 0.5
LONGEST_SECONDS = 30
ASK_AGAIN_SECONDS = 5
"""For those who find all places taken."""


@cache
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(settings.API_WAITING)


def wait(changed: Callable[[], bool], seconds: float) -> bool:
    """Look until something has changed, or the time is over; False, at once: no place is free."""
    if changed():
        return True
    if not _places().acquire(blocking=False):
        return False
    try:
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            sleep(min(LOOK_SECONDS, left))
            if changed():
                break
    finally:
        _places().release()
    return True
