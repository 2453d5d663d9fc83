"""Whether findings of the same data by other versions differ, so that a conclusion re-opens. Pure.

STATISTICS 0.4: a word differs, or a number has moved beyond its tolerance.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

RELATIVE = 1e-6
NO_P = 1e-12
BOOTSTRAP_SHARE = 0.05
SHARE = 0.04
BOOTSTRAPPED = frozenset({"bca_ci_pct", "average_ci", "interval", "below", "above"})
SHARES = frozenset({"l_shares", "chord_shares", "with_peak"})
P_VALUES = frozenset({"p", "p_adjusted", "p_tost", "wilcoxon_p", "q_p", "differ_p"})


def differences(before: Any, after: Any) -> list[str]:
    """Name the places, as dotted paths, in which two findings differ in meaning."""
    return list(_walk(before, after, "", 0.0))


def _walk(before: Any, after: Any, path: str, width: float) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        inner = _width_of(before) or width
        for name in sorted({*before, *after}):
            place = f"{path}.{name}" if path else str(name)
            if name not in before or name not in after:
                yield place
            else:
                yield from _walk(before[name], after[name], place, inner)
        return
    if _is_list(before) and _is_list(after):
        if len(before) != len(after):
            yield path
            return
        own = abs(before[1] - before[0]) if _is_interval(before) else width
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _walk(one, other, f"{path}.{index}", own)
        return
    if not _same(before, after, path, width):
        yield path


def _same(before: Any, after: Any, path: str, width: float) -> bool:
    if not (_is_number(before) and _is_number(after)):
        return bool(before == after)
    if before == after:
        return True
    names = set(path.split("."))
    if names & P_VALUES:
        tiny = bool(max(before, after) < NO_P)
        return tiny or math.isclose(before, after, rel_tol=RELATIVE)
    if names & SHARES:
        return bool(abs(before - after) <= SHARE)
    share = BOOTSTRAP_SHARE if names & BOOTSTRAPPED else RELATIVE
    scale = width or max(abs(before), abs(after))
    return bool(abs(before - after) <= share * scale)


def _width_of(finding: Mapping[str, Any]) -> float:
    """The width of the finding's own interval, by which its numbers are measured."""
    for name in ("ci_pct", "ci", "mean_ci", "geo_ci_pct"):
        interval: Any = finding.get(name)
        if _is_list(interval) and _is_interval(interval):
            return float(abs(interval[1] - interval[0]))
    return 0.0


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_interval(value: Sequence[Any]) -> bool:
    return len(value) == 2 and all(_is_number(each) for each in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
