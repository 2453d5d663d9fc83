"""Format the value, the place and the state of a run as text. Pure."""

from collections.abc import Sequence

from campaigns.kit import numbers
from campaigns.results.rows import Accepted, RunRow

PURPOSES = {"warm_up": "warm-up", "trial": "try-out", "measured": ""}


def value_text(measured: Accepted | None) -> str:
    """Write the value of a run: “above” where it timed out, “at most” where it is a bound."""
    if measured is None:
        return numbers.MISSING
    text = numbers.amount(measured.value, measured.unit)
    if measured.censored:
        return f"above {text}"
    if measured.bound:
        return f"at {'most' if measured.lower_is_better else 'least'} {text}"
    return text


def span(interval: Sequence[float] | None, unit: str) -> str:
    """Write an interval in a metric's unit."""
    if interval is None:
        return numbers.MISSING
    return numbers.span(interval, unit)


def place(row: RunRow, block: str) -> str:
    """Return the position of a run in the plan. block: the word for a block."""
    if row.purpose in ("warm_up", "trial"):
        return PURPOSES[row.purpose]
    return f"{block} {row.block}"


def reason_of(row: RunRow) -> str:
    """Return why a run is not simply done, or another remark on it."""
    if row.excluded_by:
        return f"Excluded by {row.excluded_by}: {row.excluded_why}"
    if row.state == "bound":
        return row.reason or "The generator was saturated or starved; the value is a bound."
    return row.reason
