"""Format levels, values, verdicts and phases of a campaign as text. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit import numbers
from campaigns.kit.charts.labels import short_labels
from campaigns.kit.forms import as_text
from campaigns.planning.outline import FactorOutline
from campaigns.results.rows import Accepted, RunRow

PURPOSES = {"warm_up": "warm-up", "trial": "try-out", "measured": ""}


def inside(label: str) -> str:
    """Write a label as it is inside a sentence; abbreviations keep their capitals."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def level_text(value: Any) -> str:
    """Write a level as text."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return as_text(value)


class Levels:
    """Writes the levels of a campaign; long ones are shortened to the part in which they differ.

    block: the word for a block of the campaign.
    """

    def __init__(self, factors: Sequence[FactorOutline], block: str = "block") -> None:
        self.factors, self.block = tuple(factors), block
        self._short = {
            factor.name: short_labels([level_text(level) for level in factor.levels])
            for factor in factors
        }
        self._labels = {factor.name: factor.label for factor in factors}

    def short(self, name: str, value: Any) -> str:
        """Return one level, shortened if it is long."""
        text = level_text(value)
        return self._short.get(name, {}).get(text, text)

    def one_each(self, levels: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the (short, whole) text of each factor's level, in the order of the factors."""
        return tuple(
            (self.short(factor.name, levels[factor.name]), level_text(levels[factor.name]))
            for factor in self.factors
            if factor.name in levels
        )

    def sentence(self, levels: Mapping[str, Any], *, without: str = "") -> str:
        """Return levels with their factors: “concurrency 15, engine asyncio”."""
        parts = [
            f"{inside(self._labels[factor.name])} {self.short(factor.name, levels[factor.name])}"
            for factor in self.factors
            if factor.name in levels and factor.name != without
        ]
        return ", ".join(parts)

    def values(self, levels: Mapping[str, Any], *, without: str = "") -> str:
        """Return levels without their factors: “asyncio, 15”."""
        return ", ".join(
            self.short(factor.name, levels[factor.name])
            for factor in self.factors
            if factor.name in levels and factor.name != without
        )


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
        return row.reason or "The generator was saturated; the value is a bound."
    return row.reason
