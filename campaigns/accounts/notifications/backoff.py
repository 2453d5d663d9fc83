"""Compute when a failed delivery is tried again. Pure: no database, no clock."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_SECONDS = 60.0
FACTOR = 3.0
LONGEST_SECONDS = 6 * 3600.0
JITTER = 0.2
LAST_SECONDS = 24 * 3600.0
"""The age at which a failed delivery is given up."""


def wait_seconds(failed: int, chance: float | None = None) -> float:
    """Return how long to wait after so many failures, at least one: 1 min to 6 h.

    chance: 0 to 1, random by default; varies the wait by a fifth, so that deliveries spread.
    """
    drawn = random.random() if chance is None else chance
    usual = min(FIRST_SECONDS * FACTOR ** min(failed - 1, 20), LONGEST_SECONDS)
    return min(max(usual * (1 - JITTER + 2 * JITTER * drawn), FIRST_SECONDS), LONGEST_SECONDS)


def retry_after_seconds(retry_after: str, now: datetime) -> float:
    """Return the wait that a receiver requests, at most LONGEST_SECONDS; 0 without a request.

    retry_after: the header, seconds or a date (RFC 9110, section 10.2.3); now: aware.
    """
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_SECONDS)
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return 0.0
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return min(max((instant - now).total_seconds(), 0.0), LONGEST_SECONDS)
