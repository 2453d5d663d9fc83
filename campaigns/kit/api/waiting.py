"""Long polling for a few clients; all others get Retry-After.

A waiting request occupies a thread of the web server, so only some may wait, and pages never starve.
Between two checks it sleeps, outside of any transaction.
"""

from collections.abc import Callable
from functools import cache
from threading import BoundedSemaphore
from time import monotonic, sleep

from django.conf import settings

LOOK_SECONDS = 0.5
LONGEST_SECONDS = 30
ASK_AGAIN_SECONDS = 5
"""Retry-After where no more requests may wait."""


@cache
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(settings.API_WAITING)


def wait(changed: Callable[[], bool], seconds: float) -> bool:
    """Check until something has changed or the time is over. Return False, at once, if too many wait."""
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
