"""How far a server's clock is from ours: it times its tasks by its own, so this only warns. Pure."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from campaigns.kinds.base.values import Proof

MOST_SKEW_SECONDS = 60.0


def clock_proof(shown: str | None, now: datetime) -> Proof:
    """Compare what a header Date shows with an instant of ours; None, or what is no date, tells nothing."""
    try:
        theirs = parsedate_to_datetime(shown) if shown else None
    except ValueError:
        theirs = None
    if theirs is None:
        return Proof("clock", "any", "not told", "", ok=True)
    if theirs.tzinfo is None:  # “-0000”: UTC, of which nobody says where
        theirs = theirs.replace(tzinfo=UTC)
    skew = (theirs - now).total_seconds()
    near = abs(skew) <= MOST_SKEW_SECONDS
    return Proof("clock", f"within {MOST_SKEW_SECONDS:g} s", round(skew, 1), "s", near)
