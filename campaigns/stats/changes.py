"""Whether findings of the same data by other versions differ, so that a conclusion re-opens. Pure.

STATISTICS 0.4: a word differs, or a number has moved beyond its tolerance.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.mappings import Json

RELATIVE = 1e-6
NO_P = 1e-12
NO_PCT = 1e-6
"""Percentages that differ by less are one: of a zero, rounding makes such, on each processor another."""
BOOTSTRAP_SHARE = 0.05
SHARE = 0.04
BOOTSTRAPPED = frozenset({"bca_ci_pct", "interval", "below", "above"})
SHARES = frozenset({"l_shares", "chord_shares", "with_peak", "between"})
P_VALUES = frozenset(
    {
        "p",
        "p_adjusted",
        "p_tost",
        "wilcoxon_p",
        "q_p",
        "differ_p",
        "mean_p",
        "slope_p",
        "lack_of_fit_p",
    }
)
WORDS = frozenset(
    {"word", "standing", "each", "badges", "flags", "outcome", "strength", "model", "missing"}
)
"""Keys with values of a closed list; other texts are names, reasons and sentences."""
PLANS = frozenset({"required_n", "n_to_decide", "more", "mde_pct", "blocks_needed"})
"""Keys of plans for further runs, on which no conclusion rests."""
INTERVALS = ("ci_pct", "geo_ci_pct", "mean_ci", "gmean_ci", "ci")
MISSING = "nothing"
"""The value where one side has none."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place in which findings differ. path: dotted, the finding's name first."""

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any) -> list[str]:
    """Return the places, as dotted paths, in which two findings differ in anything at all."""
    return [change.path for change in moved(before, after)]


def moved(before: Any, after: Any) -> list[Change]:
    """Return every place in which two findings differ: any text, and numbers beyond their tolerance."""
    return list(_walk(before, after, (), Scale(), _same))


def exactly(before: Any, after: Any) -> list[Change]:
    """Return every place in which two findings differ at all, to the last bit."""
    return list(_walk(before, after, (), Scale(), _identical))


def changed(before: Any, after: Any) -> list[Change]:
    """Return what re-opens a conclusion: values of the closed lists, and numbers beyond their tolerance.

    Additions of a later version change nothing; nor do sentences, labels and plans.
    """
    return [change for change in moved(before, after) if counts(change)]


@dataclass(frozen=True, slots=True)
class Scale:
    """The widths of the nearest interval that numbers are measured by. pct: in %; own: in its unit."""

    pct: float = 0.0
    own: float = 0.0

    def within(self, finding: Json) -> "Scale":
        """Return the widths of a finding's own intervals, else of those around it."""
        result = {
            name: abs(finding[name][1] - finding[name][0])
            for name in INTERVALS
            if _is_interval(finding.get(name))
        }
        pct = result.get("ci_pct", result.get("geo_ci_pct", self.pct))
        own = next(
            (result[name] for name in INTERVALS if name in result and "pct" not in name), 0.0
        )
        return Scale(pct, own)

    def of(self, path: Sequence[str], before: float, after: float) -> float:
        """Return the width by which this number is measured; else its own size."""
        name = _name(path)
        size = max(abs(before), abs(after))
        if name == "ratio":
            return self.pct / 100 or size
        return (self.pct if "pct" in name else self.own) or size


Same = Callable[[Any, Any, Sequence[str], Scale], bool]


def counts(change: Change) -> bool:
    """Return whether a change is one of meaning: of a word of the closed lists, or of a number."""
    name = next((each for each in reversed(change.path.split(".")) if not each.isdigit()), "")
    if name in PLANS or change.before is MISSING:
        return False
    if change.after is MISSING:
        return True
    texts = isinstance(change.before, str) and isinstance(change.after, str)
    return not texts or name in WORDS


def _walk(
    before: Any, after: Any, path: tuple[str, ...], scale: Scale, same: Same
) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        inner = scale.within(before)
        for name in sorted({*before, *after}):
            place = (*path, str(name))
            if name in before and name in after:
                yield from _walk(before[name], after[name], place, inner, same)
            else:
                sides = (before.get(name, MISSING), after.get(name, MISSING))
                yield Change(".".join(place), *sides)
    elif _is_list(before) and _is_list(after) and len(before) == len(after):
        own = abs(before[1] - before[0]) if _is_interval(before) else 0.0
        measured = Scale(own, own) if own else scale
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _walk(one, other, (*path, str(index)), measured, same)
    elif not same(before, after, path, scale):
        yield Change(".".join(path), before, after)


def _same(before: Any, after: Any, path: Sequence[str], scale: Scale) -> bool:
    if _identical(before, after, path, scale):
        return True
    if not (_is_number(before) and _is_number(after)):
        return False
    if isinstance(before, int) and isinstance(after, int):
        return False
    before, after = _float(before), _float(after)
    names = set(path)
    if names & P_VALUES:
        tiny = bool(max(before, after) < NO_P)
        return tiny or math.isclose(before, after, rel_tol=RELATIVE)
    if "pct" in _name(path) and abs(before - after) <= NO_PCT:
        return True
    if names & SHARES:
        return bool(abs(before - after) <= SHARE)
    share = BOOTSTRAP_SHARE if names & BOOTSTRAPPED else RELATIVE
    return bool(abs(before - after) <= share * scale.of(path, before, after))


def _name(path: Sequence[str]) -> str:
    return next((each for each in reversed(path) if not each.isdigit()), "")


def _identical(before: Any, after: Any, path: Sequence[str], scale: Scale) -> bool:
    """Compare numbers as floats: a database may return 1e+95 as an integer, which differs in the last digits."""
    if _is_number(before) and _is_number(after) and type(before) is not type(after):
        return _float(before) == _float(after)
    return type(before) is type(after) and bool(before == after)


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_interval(value: Any) -> bool:
    return _is_list(value) and len(value) == 2 and all(_is_number(each) for each in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
