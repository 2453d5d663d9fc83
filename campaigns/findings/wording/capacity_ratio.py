"""The ratio of two capacities in words: “1.7 times as many (1.6 to 1.8)”. Pure."""

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from campaigns.findings.wording.verdicts import Display
from campaigns.kit.numbers import BOUND_DIGITS, grouped, number, plain_percent
from campaigns.stats.capacity import CapacityRatio
from campaigns.stats.verdict import Word

MOST_DIGITS = 6
AT_LEAST_SAID = 1.1
"""A lower bound from which on it is told; below it, about how many times as many."""
NEARLY = 0.05
NOT_SHOWN = "which carries more is not shown"


def larger_first(ratio: CapacityRatio) -> tuple[CapacityRatio, bool]:
    """Turn a ratio below 1 around, so that the larger capacity is named first."""
    known = ratio.ratio
    turned = ratio.word == Word.WORSE if known is None else known < 1
    if not turned:
        return ratio, False
    return (
        replace(
            ratio,
            word=Word.BETTER if ratio.word == Word.WORSE else ratio.word,
            ratio=1 / known if known else None,
            about=1 / ratio.about if ratio.about else None,
            low=1 / ratio.high if ratio.high else None,
            high=1 / ratio.low if ratio.low else None,
        ),
        True,
    )


def ratio_text(ratio: CapacityRatio, many: str, margin_pct: float) -> str:
    """Write a ratio whose larger side comes first. many: “as many” or “as much”."""
    margin = plain_percent(margin_pct)
    if ratio.word == Word.NOT_COMPARABLE:
        return "not comparable"
    low, high = ratio.low, ratio.high
    if ratio.ratio is None or ratio.bounds_only:
        return _bounded(ratio, many)
    middle, span = times(ratio.ratio, low, high)
    match ratio.word:
        case Word.BETTER | Word.WORSE:
            return f"{middle} times {many} ({span})"
        case Word.EQUIVALENT:
            return f"{many} within {margin} ({span} times)"
        case Word.NO_DIFFERENCE_SHOWN:
            return f"no difference shown ({span} times {many})"
    return f"not enough data to compare them ({span} times {many})" if span else "not enough data"


def ratio_in_headline(ratio: CapacityRatio, many: str, margin_pct: float) -> str:
    """Write a ratio after what both carry; empty where none is shown. Its larger side comes first."""
    if ratio.ratio is not None and not ratio.bounds_only:
        shown = ratio.word in (Word.BETTER, Word.WORSE, Word.EQUIVALENT)
        if shown:
            return ratio_text(ratio, many, margin_pct)
        is_none = ratio.word == Word.NO_DIFFERENCE_SHOWN
        return "no difference is shown" if is_none else NOT_SHOWN
    if ratio.low is None and ratio.high is None:
        return ""
    return _bounded(ratio, many)


def _bounded(ratio: CapacityRatio, many: str) -> str:
    """Write what the bounds of both capacities show: the larger one is larger, and by how much at least."""
    low, high = ratio.low, ratio.high
    if low is None and high is None:
        return "not enough data to compare them"
    if ratio.word != Word.BETTER or low is None:
        return NOT_SHOWN
    first, _ = _ends(low, low)
    if low < AT_LEAST_SAID:
        if ratio.about is None:
            return f"at least {many}"
        return f"about {_times(ratio.about)} {many}"
    return f"at least {_times(float(first.replace(',', '')))} {many}"


def _times(ratio: float) -> str:
    return "twice" if abs(ratio / 2 - 1) < NEARLY else f"{number(ratio, 2)} times"


def times(ratio: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Write a ratio and its interval, the low end rounded down and the high one up."""
    if low is None or high is None:
        return number(ratio, 2), ""
    first, last = _ends(low, high)
    places = max(len(each.partition(".")[2]) for each in (first, last))
    return f"{ratio:,.{places}f}", f"{first} to {last}"


def _ends(low: float, high: float) -> tuple[str, str]:
    """Write both ends with the decimals that their distance calls for, and that keep each on its side of 1."""
    first, last = Decimal(f"{low:.{BOUND_DIGITS}g}"), Decimal(f"{high:.{BOUND_DIGITS}g}")
    down, up = first, last
    for places in range(1, MOST_DIGITS):
        step = Decimal(1).scaleb(-places)
        down, up = first.quantize(step, ROUND_FLOOR), last.quantize(step, ROUND_CEILING)
        sides = (first <= 1 or down > 1) and (last >= 1 or up < 1)
        if sides and down > 0 and (first == last or up - down <= 2 * (last - first)):
            break
    return grouped(float(down)), grouped(float(up))


def ratio_label(ratio: CapacityRatio, margin_pct: float) -> Display:
    """Return how the verdict of candidate to baseline is shown."""
    match ratio.word:
        case Word.BETTER:
            return Display("carries more", "better", "up", "solid")
        case Word.WORSE:
            return Display("carries fewer", "worse", "down", "solid")
        case Word.EQUIVALENT:
            within = plain_percent(margin_pct)
            return Display(f"as many within {within}", "equal", "approx", "solid")
        case Word.NO_DIFFERENCE_SHOWN:
            return Display("no difference shown", "thin", "ring", "outline")
        case Word.NOT_COMPARABLE:
            return Display("not comparable", "thin", "no", "outline")
    return Display("not enough data", "thin", "dots", "open")
