"""Counted hits against what was promised, each with an interval of its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from scipy import stats

CONFIDENCE = 0.999
"""Of Wilson's interval: of the hundreds of figures of a table less than one is then marked by chance."""


class Promise(StrEnum):
    """What the nominal value is: to be met, or not to be exceeded, or not to be fallen short of."""

    EXACTLY = "exactly"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Figure:
    """How often something was seen: `hits` of `trials`.

    column: of the table; n: repeats; note: stands beside it.
    """

    section: str
    quantity: str
    column: str
    n: str
    hits: int
    trials: int
    nominal: float | None = None
    promise: Promise = Promise.NONE
    note: str = ""

    @property
    def share(self) -> float:
        """Of the trials."""
        return self.hits / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's."""
        result = stats.binomtest(self.hits, self.trials).proportion_ci(CONFIDENCE, method="wilson")
        return float(result.low), float(result.high)

    @property
    def off(self) -> str:
        """`low` or `high` where chance does not explain the distance from a promise, else empty."""
        if self.nominal is None or self.promise == Promise.NONE:
            return ""
        low, high = self.interval
        if high < self.nominal and self.promise != Promise.AT_MOST:
            return "low"
        if low > self.nominal and self.promise != Promise.AT_LEAST:
            return "high"
        return ""


def count(
    section: str,
    quantity: str,
    column: str,
    n: int | str,
    seen: Iterable[bool],
    nominal: float | None = None,
    promise: Promise = Promise.EXACTLY,
    note: str = "",
) -> Figure:
    """Make a figure of what was seen in each trial, one at least."""
    outcomes = [bool(each) for each in seen]
    if nominal is None:
        promise = Promise.NONE
    return Figure(
        section, quantity, column, str(n), sum(outcomes), len(outcomes), nominal, promise, note
    )
