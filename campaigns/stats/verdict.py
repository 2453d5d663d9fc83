"""The verdict of a contrast: eight words, one closed list for every metric and direction. Pure."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from campaigns.stats import student
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of, ratio_of
from campaigns.stats.units import (
    Count,
    Degrees,
    Number,
    OnLogs,
    Percent,
    PercentInterval,
    Position,
    Probability,
    Share,
)


class Word(StrEnum):
    """The stored verdict. Its label is derived from metric and direction (findings.wording.verdicts)."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NO_DIFFERENCE_SHOWN = "no_difference_shown"
    NOT_ENOUGH_DATA = "not_enough_data"
    TOO_MANY_FAILURES = "too_many_failures"
    NOT_COMPARABLE = "not_comparable"
    INVALID_VALUES = "invalid_values"


DECIDED = frozenset({Word.BETTER, Word.WORSE, Word.EQUIVALENT, Word.NO_DIFFERENCE_SHOWN})
WITHOUT_NUMBERS = frozenset({Word.NOT_COMPARABLE, Word.INVALID_VALUES, Word.TOO_MANY_FAILURES})
"""Refusals without a number: survivors of a failing cell look better than they are."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """An estimated ln(candidate / baseline) of n pairs, with its standard error and df >= 1."""

    estimate: OnLogs
    standard_error: OnLogs
    df: Degrees
    n: Count


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict with its numbers; None where there is no number.

    reason: `n_below_minimum`, `lost_runs`, `failed_runs`, `timed_out`, `failed_units`,
    `sessions_disagree`, `drift_confounded`, `resolution`, `identical_values`, or empty.
    side: `baseline` or `candidate`, whose fault a refusal is, where it is known.
    fields: what differs (`not_comparable`); positions: of the invalid values; share: failed or lost.
    pct_change, ci_pct, ci90_pct: of candidate against baseline as measured, so negative is less,
    whether or not less is better. ci_pct has confidence 1 - alpha, ci90_pct 1 - 2 alpha.
    required_n, more, mde_pct: plans. n_to_decide: only beside `not_enough_data` that no plan explains.
    badges: `real_below_margin`, `no_worse_than_m`, `lost_in_family`, `tests_disagree`,
    `zero_variance`, `pooled_noise`, `two_sessions`.
    """

    word: Word
    n: Count
    reason: str = ""
    badges: tuple[str, ...] = ()
    side: str = ""
    fields: tuple[str, ...] = ()
    positions: tuple[Position, ...] = ()
    share: Share | None = None
    ratio: Number | None = None
    pct_change: Percent | None = None
    ci_pct: PercentInterval | None = None
    ci90_pct: PercentInterval | None = None
    p: Probability | None = None
    p_adjusted: Probability | None = None
    p_tost: Probability | None = None
    no_worse_than_margin: bool | None = None
    required_n: Count | None = None
    more: Count | None = None
    n_to_decide: Count | None = None
    mde_pct: Percent | None = None


DEFAULT = Criteria()


def judge(
    contrast: Contrast,
    *,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
    p_adjusted: float | None = None,
) -> Verdict:
    """Return the word for a contrast that nothing forbids to judge; the first rule that applies.

    p_adjusted: within the family of comparisons that are shown together, where there is one.
    """
    interval = interval_of(contrast, criteria.alpha)
    narrow = interval_of(contrast, 2 * criteria.alpha)
    cost = interval if lower_is_better else Interval(-interval.high, -interval.low)
    narrow_cost = narrow if lower_is_better else Interval(-narrow.high, -narrow.low)
    p = p_value(contrast)
    word, reason, badges = word_of(cost, narrow_cost, contrast.n, p_adjusted, criteria)
    return Verdict(
        word=word,
        n=contrast.n,
        reason=reason,
        badges=badges,
        ratio=ratio_of(contrast.estimate),
        pct_change=pct_of(contrast.estimate),
        ci_pct=Interval(pct_of(interval.low), pct_of(interval.high)),
        ci90_pct=Interval(pct_of(narrow.low), pct_of(narrow.high)),
        p=p,
        p_adjusted=p_adjusted,
        p_tost=_p_equivalence(contrast, math.log1p(criteria.margin)),
        no_worse_than_margin=narrow_cost.high < math.log1p(criteria.margin),
    )


def withheld(verdict: Verdict, reason: str) -> Verdict:
    """Withhold the verdict for a reason other than the interval; the numbers stay."""
    return replace(verdict, word=Word.NOT_ENOUGH_DATA, reason=reason)


def p_value(contrast: Contrast) -> float:
    """Return the two-sided p of no difference; 1 or 0 where there is no noise at all."""
    return _tails(abs(contrast.estimate), contrast, 2)


def word_of(
    cost: Interval, narrow: Interval, n: int, p_adjusted: float | None, criteria: Criteria
) -> tuple[Word, str, tuple[str, ...]]:
    """Return the verdict by the intervals of the log cost: below 0 is better."""
    margin, delta = math.log1p(criteria.margin), math.log1p(criteria.delta)
    if n < criteria.minimum_n:
        return Word.NOT_ENOUGH_DATA, "n_below_minimum", ()
    different = cost.high < 0 or cost.low > 0
    if -margin < narrow.low and narrow.high < margin:
        return Word.EQUIVALENT, "", ("real_below_margin",) if different else ()
    if different and (p_adjusted is None or p_adjusted < criteria.alpha):
        return (Word.BETTER if cost.high < 0 else Word.WORSE), "", ()
    badges = ("lost_in_family",) if different else ()
    if narrow.high < margin:
        badges = (*badges, "no_worse_than_m")
    if -delta < cost.low and cost.high < delta:
        return Word.NO_DIFFERENCE_SHOWN, "", badges
    return Word.NOT_ENOUGH_DATA, "", badges


def interval_of(contrast: Contrast, alpha: float) -> Interval:
    """Return the bounds of the log ratio, with confidence 1 - alpha."""
    half = student.quantile(1 - alpha / 2, contrast.df) * contrast.standard_error
    return Interval(contrast.estimate - half, contrast.estimate + half)


def _p_equivalence(contrast: Contrast, margin: float) -> float:
    """Return the larger p of the two one-sided tests against -margin and +margin (TOST, Schuirmann 1987)."""
    return max(
        _tails(contrast.estimate + margin, contrast, 1),
        _tails(margin - contrast.estimate, contrast, 1),
    )


def _tails(distance: float, contrast: Contrast, tails: int) -> float:
    if contrast.standard_error == 0:
        return 0.0 if distance > 0 else 1.0
    return tails * student.upper_tail(distance / contrast.standard_error, contrast.df)
