"""How coarsely values are rounded, and which verdicts that withholds. Pure. STATISTICS 11, A3."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isfinite, log1p

from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import DECIDED, Verdict, Word, withheld

DIGITS = 12
"""Further digits come from a conversion of units, not from the tool."""


def step_of(values: Sequence[float]) -> float | None:
    """Return the step in which values are written: the place of the last digit that any of them has.

    In their unit; None where there is no number. 0.0636 and 0.06 are written in steps of 0.0001.
    """
    places = [_last_place(value) for value in values if isfinite(value)]
    return 10.0 ** min(places) if places else None


def step_shares(samples: Iterable[Sequence[float]]) -> list[float]:
    """Return the step of all samples, one tool's, as a share of the mean of each; 0 where it is unknown.

    Whole numbers are written in steps of 1, though all of them may end in 0.
    """
    known = [[value for value in values if isfinite(value)] for values in samples]
    step = min(1.0, step_of([value for values in known for value in values]) or 0.0)
    means = [abs(sum(values) / len(values)) if values else 0.0 for values in known]
    return [step / mean if mean else 0.0 for mean in means]


def is_too_coarse(share: float, criteria: Criteria) -> bool:
    """Return whether a step, as a share of the values, hides what the criteria ask for."""
    return share > criteria.margin / 2 or share > criteria.delta / 4


def within_resolution(
    verdict: Verdict, share: float, criteria: Criteria, *, identical: bool = False
) -> Verdict:
    """Withhold a verdict that values written in such steps, as a share of them, cannot show.

    Two means are known to one step together, so a difference stands that is clear of 0 by more than it.
    identical: all values of each side are equal, so that their noise is unknown.
    """
    if verdict.word not in (*DECIDED, Word.NOT_ENOUGH_DATA) or verdict.reason:
        return verdict
    if identical:
        return withheld(verdict, "identical_values")
    if not is_too_coarse(share, criteria) or verdict.ci_pct is None:
        return verdict
    low, high = (log1p(max(bound, -100 + 1e-9) / 100) for bound in verdict.ci_pct)
    clear = low > log1p(share) or high < -log1p(share)
    if verdict.word in (Word.BETTER, Word.WORSE) and clear:
        return verdict
    return withheld(verdict, "resolution")


def _last_place(value: float) -> int:
    exponent = Decimal(f"{value:.{DIGITS}g}").normalize().as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
