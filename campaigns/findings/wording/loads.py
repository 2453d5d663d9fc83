"""Write loads and settings: “402 hosts”, “rate 50”, “4 workers”. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isclose
from typing import Any

from campaigns.kit.charts.labels import UNITS, inside, level_text, words_of
from campaigns.kit.mappings import Levels
from campaigns.kit.numbers import BOUND_DIGITS, grouped, is_number

FINE, COARSE = 3, 2
"""Figures of a bound."""
NARROW = 1.25
"""The largest ratio of both ends of an interval that is written with FINE figures."""
SHORTEST_SINGULAR = 4
"""Shorter words that end with s are abbreviations, such as rps."""


@dataclass(frozen=True, slots=True)
class LoadWords:
    """Writes numbers of one load factor. exact: loads that were measured, which are never rounded. whole: they count things.

    Lower bounds and estimates are rounded down, upper bounds up, so that nothing is claimed that was not shown.
    """

    label: str
    exact: Collection[float]

    @property
    def noun(self) -> str:
        """The name of the load as it is inside a sentence."""
        return inside(self.label.replace("_", " ").strip())

    @property
    def is_counted(self) -> bool:
        """Whether the name is a plural, so that it stands after the number."""
        return is_plural(self.noun)

    @property
    def whole(self) -> bool:
        """Whether all loads are whole numbers."""
        return all(float(load).is_integer() for load in self.exact)

    @property
    def as_many(self) -> str:
        """Write “as many” of things, “as much” of anything else."""
        return "as many" if self.is_counted else "as much"

    @property
    def fewer_than(self) -> str:
        """Write “fewer than” of things, “below” of anything else."""
        return "fewer than" if self.is_counted else "below"

    def below(self, number: str) -> str:
        """Write an upper bound alone: “fewer than 60 hosts”, “offered rate below 5”."""
        if self.is_counted:
            return f"fewer than {self.of(number)}"
        return f"{self.noun} below {number}"

    @property
    def highest(self) -> str:
        """Write what the largest load is."""
        return "the highest number measured" if self.is_counted else "the highest load measured"

    @property
    def lowest(self) -> str:
        """Write what the smallest load is."""
        return "the lowest number measured" if self.is_counted else "the lowest load measured"

    def down(self, load: float, digits: int = FINE) -> str:
        """Write a lower bound or an estimate."""
        return self._text(self._rounded(load, ROUND_FLOOR, digits))

    def up(self, load: float, digits: int = FINE) -> str:
        """Write an upper bound."""
        return self._text(self._rounded(load, ROUND_CEILING, digits))

    def within(self, low: float, estimate: float | None, high: float) -> tuple[str, str, str]:
        """Write both ends and the estimate with the figures that the interval allows; the estimate is never below the lower end."""
        digits = digits_of(low, high)
        first = self._rounded(low, ROUND_FLOOR, digits)
        middle = ""
        if estimate is not None:
            middle = self._text(max(first, self._rounded(estimate, ROUND_FLOOR, digits)))
        return self._text(first), middle, self.up(high, digits)

    def of(self, number: str) -> str:
        """Add the name of the load to a number: “402 hosts”, “1 host”, “rate 50”."""
        return named(self.noun, number)

    def all_of(self, numbers: Collection[str]) -> str:
        """Write several: “340 and 680 hosts”."""
        return self.of(" and ".join(numbers))

    def _rounded(self, load: float, rounding: str, digits: int) -> Decimal:
        exact = Decimal(f"{load:.{BOUND_DIGITS}g}")
        if any(isclose(load, each, rel_tol=1e-9) for each in self.exact):
            return exact
        places = digits - 1 - exact.adjusted()
        return exact.quantize(
            Decimal(1).scaleb(-min(places, 0) if self.whole else -places), rounding=rounding
        )

    @staticmethod
    def _text(exact: Decimal) -> str:
        return grouped(float(exact))


def digits_of(low: float, high: float) -> int:
    """Return with how many figures an interval is written."""
    return FINE if low > 0 and high <= NARROW * low else COARSE


def is_plural(noun: str) -> bool:
    """Return whether a name counts things: hosts, concurrent users, requests per second."""
    words = noun.split(" ")
    return not _counted(noun) and any(
        word.endswith("s") and not word.endswith("ss") for word in (words[0], words[-1])
    )


def plural(noun: str) -> str:
    """Return the plural of a name: manifests, repositories, hosts."""
    if is_plural(noun):
        return noun
    if counted := _counted(noun):
        return f"{plural(counted)}{noun.removeprefix(counted)}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def _counted(noun: str) -> str:
    """Return what a name with its unit is about: “timeout” of “timeout in seconds”; empty for a name without unit."""
    name, _, unit = noun.rpartition(" in ")
    return name if unit in UNITS.values() else ""


def named(noun: str, number: str) -> str:
    """Write a number with a name: “4 workers”, “1 worker”, “maxconn 3”."""
    if not is_plural(noun):
        return f"{noun} {number}"
    return f"{number} {_singular(noun) if number == '1' else noun}"


def load_text(load: Any) -> str:
    """Write a load that was measured, as capacities are written: “1,000”."""
    if not _is_count(load):
        return level_text(load)
    return grouped(load)


def setting_name(levels: Levels) -> str:
    """Write the levels of a setting: “4 workers”, “maxconn none”, “engine asyncio, 4 workers”."""
    return ", ".join(_level(words_of(name), level) for name, level in levels.items())


def is_several(levels: Levels) -> bool:
    """Return whether the name of a setting is a plural: “4 workers carry”."""
    return (
        len(levels) == 1
        and all(_is_count(level) and level != 1 for level in levels.values())
        and all(is_plural(words_of(name)) for name in levels)
    )


def _level(noun: str, level: Any) -> str:
    if not _is_count(level):
        return f"{noun} {level_text(level)}"
    return named(noun, load_text(level) if is_plural(noun) else level_text(level))


def _is_count(level: Any) -> bool:
    return is_number(level)


def _singular(noun: str) -> str:
    words = noun.split(" ")
    place = 0 if _ends(words[0]) else len(words) - 1
    word = words[place]
    if word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif len(word) >= SHORTEST_SINGULAR:
        word = word[:-1]
    return " ".join([*words[:place], word, *words[place + 1 :]])


def _ends(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
