"""Labels of levels and contrasts; long ones are shortened to their differences. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.mappings import Contrast

UNITS = {
    "ms": "ms",
    "seconds": "seconds",
    "bytes": "bytes",
    "percent": "percent",
    "mib": "MiB",
    "gib": "GiB",
}
"""Units at the end of a name."""
WORDS = {
    "cpu": "CPU",
    "cpus": "CPUs",
    "db": "DB",
    "http": "HTTP",
    "ids": "IDs",
    "mqtt": "MQTT",
    "rw": "access pattern",
    "sock": "socket",
    "sslmode": "SSL mode",
    "ttl": "TTL",
}
"""Parts of names that are written otherwise."""
COUNTED = frozenset({"clients", "hosts", "users"})
"""Words for what asks a server: which one is said is the question's choice."""
LONG = 28
"""Labels with more characters are shortened."""


@dataclass(frozen=True, slots=True)
class FactorOutline:
    """A factor with its label and its levels in their order.

    load: its levels are how much is asked at once, and are not ranked. unlimited: the level that means no limit, and is the last.
    """

    name: str
    label: str
    levels: tuple[Any, ...]
    load: bool = False
    unlimited: float | None = None

    @property
    def ordered(self) -> bool:
        """Return whether every level is a number, so that one is more than another."""
        return all(isinstance(lv, int | float) and not isinstance(lv, bool) for lv in self.levels)

    @property
    def numeric(self) -> bool:
        """Return whether an axis of the levels has distances, too: none of them means no limit."""
        return self.ordered and self.unlimited is None


def as_text(value: Any) -> str:
    """Return a stored value as a user would type it: 5.0 as 5, None as an empty text."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) for item in value)
    return str(value)


def inside(label: str) -> str:
    """Write a label as it is inside a sentence; abbreviations keep their capitals."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def words_of(name: str) -> str:
    """Return a name of code in words, as it is inside a sentence: “puma workers”, “timeout in seconds”, “CPUs”.

    It is how a setting is called where nobody has labelled it, and in sentences, which have no label: so both are one name.
    """
    *first, last = [WORDS.get(part, part) for part in name.replace("warm_up", "warm-up").split("_")]
    if first and last in UNITS:
        first.append("in")
    return " ".join([*first, UNITS.get(last, last) if first else last])


def called(name: str) -> str:
    """Return a name of code as a label: “Puma workers”."""
    words = words_of(name)
    return words[:1].upper() + words[1:]


def as_asked(label: str, question: str) -> str:
    """Return the label of what counts people or machines in the question's own word: “Users” for “Hosts” where users are asked for.

    A question with several such words, or with none, changes nothing.
    """
    if label.lower() not in COUNTED:
        return label
    words = {word for word in re.findall(r"[a-z]+", question.lower()) if word in COUNTED}
    return words.pop().capitalize() if len(words) == 1 else label


def level_text(value: Any) -> str:
    """Write a level as text."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return as_text(value)


def line_of(value: Any) -> str:
    """Write a level in one line: of a text of several, the first, and how many there are."""
    text = level_text(value)
    lines = text.splitlines()
    return f"{_clipped(lines[0])} … ({len(lines)} lines)" if len(lines) > 1 else text


class LevelLabels:
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

    @property
    def load(self) -> FactorOutline | None:
        """Return the first factor of several levels that is load; None without one."""
        return next((each for each in self.factors if each.load and len(each.levels) > 1), None)

    def factor(self, name: str) -> str:
        """Return the label of a factor."""
        return self._labels.get(name, name)

    def other_factors(self, name: str) -> str:
        """Return the labels of all factors but one: “Engine and CPUs”."""
        return " and ".join(each.label for each in self.factors if each.name != name)

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


def short_labels(texts: Sequence[str]) -> dict[str, str]:
    """Remove what all texts begin and end with, up to a slash or comma, if one of them is long."""
    if max(map(len, texts), default=0) <= LONG or len(texts) < 2:
        return {text: _clipped(text) for text in texts}
    front = _cut(texts)
    back = _cut([text[front:][::-1] for text in texts])
    return {text: _clipped(text[front : len(text) - back] or text) for text in texts}


def _cut(texts: Sequence[str]) -> int:
    """Return the length of the common beginning, up to its last slash or comma."""
    first, last = min(texts), max(texts)
    same = (
        index for index, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1
    )
    common = first[: next(same, len(first))]
    return max(common.rfind("/"), common.rfind(",")) + 1


def _clipped(text: str) -> str:
    return text if len(text) <= 2 * LONG else f"{text[: LONG - 1]}…{text[-LONG:]}"


def contrast_label(contrast: Contrast, factors: Sequence[FactorOutline] = ()) -> str:
    """Return the label of a primary contrast: “concurrency 7 vs. 5, at engine asyncio”.

    factors: of the campaign, with their labels; a factor that is none of them is its name in words.
    """
    label = " vs. ".join(contrast_sides(contrast, factors))
    where = contrast_place(contrast, factors)
    return f"{label}, at {where}" if where else label


def contrast_sides(contrast: Contrast, factors: Sequence[FactorOutline] = ()) -> tuple[str, str]:
    """Return both sides of a primary contrast, the factor before the first: “concurrency 7”, “5”."""
    candidate = _named(contrast["factor"], contrast["candidate"], factors)
    return candidate, _clipped(level_text(contrast["baseline"]))


def contrast_place(contrast: Contrast, factors: Sequence[FactorOutline] = ()) -> str:
    """Return the levels that both sides of a primary contrast share: “engine asyncio”."""
    return ", ".join(_named(factor, level, factors) for factor, level in contrast["at"].items())


def _named(factor: str, level: Any, factors: Sequence[FactorOutline]) -> str:
    labels = {each.name: inside(each.label) for each in factors}
    return f"{labels.get(factor, words_of(factor))} {_clipped(level_text(level))}"
