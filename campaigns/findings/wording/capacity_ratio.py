"""The ratio of two capacities in words: “1.7 times as many (1.6 to 1.8)”. Pure."""

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from campaigns.findings.wording.verdicts import Display
from campaigns.kit.numbers import BOUND_DIGITS, grouped, number, plain_percent
from campaigns.stats.capacity import CapacityRatio
from campaigns.stats.verdict import Word

MOST_DIGITS = 6


def larger_first(ratio: CapacityRatio) -> tuple[CapacityRatio, bool]:
    """Turn a ratio below 1 around, so that the larger capacity is named first."""
    known = ratio.ratio
    if known is None:
        turned = ratio.high is not None and ratio.high <= 1 and (ratio.low or 0.0) < 1
    else:
        turned = known < 1
    if not turned:
        return ratio, False
    return (
        replace(
            ratio,
            ratio=1 / known if known else None,
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
        return _bounded(low, high, many)
    middle, span = times(ratio.ratio, low, high)
    match ratio.word:
        case Word.BETTER | Word.WORSE:
            return f"{middle} times {many} ({span})"
        case Word.EQUIVALENT:
            return f"{many} within {margin} ({span} times)"
        case Word.NO_DIFFERENCE_SHOWN:
            return f"no difference shown ({span} times {many})"
    return f"not enough data to compare them ({span} times {many})" if span else "not enough data"


def _bounded(low: float | None, high: float | None, many: str) -> str:
    if low is None and high is None:
        return "not enough data to compare them"
    if low is not None and high is not None:
        if low > 1:
            first, last = _ends(low, high)
            return f"between {first} and {last} times {many}"
        first, last = _ends(low, high)
        return f"which carries more is not decided ({first} to {last} times {many})"
    if low is not None:
        first, _ = _ends(low, low)
        if first == "1":
            return f"at least {many}"
        return f"at least {first} times {many}"
    _, last = _ends(high or 0.0, high or 0.0)
    return f"at most {many}" if last == "1" else f"at most {last} times {many}"


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
