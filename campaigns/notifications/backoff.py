"""When a try that failed is made again. Pure: no database, no clock."""

import random

FIRST_SECONDS = 60.0
FACTOR = 3.0
LONGEST_SECONDS = 6 * 3600.0
JITTER = 0.2
LAST_SECONDS = 24 * 3600.0
"""A delivery that failed is given up where it is older."""


def wait_seconds(failed: int, chance: float | None = None) -> float:
    """Give how long to wait after so many failures, at least one: 1 min to 6 h.

    chance: 0 to 1, drawn where it is not given; a fifth more or less, so that not all come at once.
    """
    drawn = random.random() if chance is None else chance
    usual = min(FIRST_SECONDS * FACTOR ** min(failed - 1, 20), LONGEST_SECONDS)
    return min(max(usual * (1 - JITTER + 2 * JITTER * drawn), FIRST_SECONDS), LONGEST_SECONDS)
