"""Decide whether a difference holds beyond the session in which it was seen. Pure. STATISTICS 2.7.

Two levels, blocks within sessions (Kalibera and Jones, 2013): sessions are the sample. From three of
them on everything that is said rests on the interval between them; two cannot tell how much sessions
differ, so their word holds for these two, and only where they do not contradict each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.criteria import Criteria
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.units import Number, OnLogs, Probability, SquaredLogs
from campaigns.stats.verdict import DECIDED, Contrast, Verdict, Word, judge, withheld

DIFFER_P = 0.05
FEWEST_FOR_INTERVAL = 3


class Standing(StrEnum):
    """How far sessions confirm a verdict: one session never does."""

    ONE_SESSION = "one_session"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"


@dataclass(frozen=True, slots=True)
class SessionEstimate:
    """The contrast of one session, on logs.

    variance: of one block's difference, with df degrees of freedom (that of the session's mean is
    variance / n); n: blocks, which need not be whole where runs are missing.
    """

    estimate: float
    variance: float
    n: float
    df: int


@dataclass(frozen=True, slots=True)
class SessionFindings:
    """The contrast over sessions.

    standing, reason: of the word of `verdict` only. verdict: from these sessions only
    with one or two of them, from the interval between sessions with three or more. each: what each
    session alone gives, in the order of `estimates` (on logs). within: None without any noise to
    judge by. variance_between: of a session's own effect; below 0 by chance.
    differ_p: of the test that all sessions have one effect; None where it cannot be made.
    alpha: of the verdict's interval.
    """

    standing: Standing
    reason: str
    verdict: Verdict
    each: tuple[Verdict, ...]
    estimates: tuple[OnLogs, ...]
    within: Contrast | None
    between: Contrast | None
    variance_within: SquaredLogs | None
    variance_between: SquaredLogs | None
    differ_f: Number | None
    differ_p: Probability | None
    alpha: Probability

    @property
    def differ(self) -> bool:
        """Return whether sessions differ by more than the noise within them explains."""
        return self.differ_p is not None and self.differ_p < DIFFER_P

    @property
    def by_session(self) -> bool:
        """Return whether the verdict rests on what differs between sessions, and its n counts them."""
        return len(self.each) >= FEWEST_FOR_INTERVAL

    @property
    def decides(self) -> Contrast:
        """Return the contrast from which the verdict is made."""
        result = self.between if self.by_session else self.within
        if result is None:
            raise ValueError("One or two sessions without any noise decide nothing.")
        return result

    def of(self, verdict: Verdict) -> "SessionFindings":
        """Return the confirmation of another verdict, which was not decided by sessions."""
        standing, reason = _accepted(self.each, verdict)
        return replace(self, verdict=verdict, standing=standing, reason=reason)


DEFAULT = Criteria()


def estimate_of(differences: NDArray[np.float64]) -> SessionEstimate:
    """Return the estimate of a session from one log ratio per block, shape (n,), n >= 1."""
    n = differences.size
    sd = float(differences.std(ddof=1)) if n > 1 else 0.0
    return SessionEstimate(float(differences.mean()), sd**2 if sd >= NO_NOISE else 0.0, n, n - 1)


def between_sessions(sessions: Sequence[SessionEstimate]) -> Contrast | None:
    """Return the t contrast of the sessions' estimates; None with one, which has no spread."""
    count = len(sessions)
    if count < 2:
        return None
    means = np.array([each.estimate for each in sessions])
    sd = float(means.std(ddof=1))
    error = sd / math.sqrt(count) if sd >= NO_NOISE else 0.0
    return Contrast(float(means.mean()), error, count - 1, count)


def over_sessions(
    sessions: Sequence[SessionEstimate],
    *,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
    within: Contrast | None = None,
    p_adjusted: float | None = None,
) -> SessionFindings | None:
    """Judge a contrast over sessions; None without a session, or without any noise to judge by.

    within: of all blocks, where a model knows more of their noise than this contrast alone.
    p_adjusted: within the family of comparisons that are shown together, where there is one.
    """
    count, df = len(sessions), sum(each.df for each in sessions)
    between = between_sessions(sessions)
    variance = sum(each.df * each.variance for each in sessions) / df if df else None
    if within is None and variance is not None:
        within = _pooled(sessions, variance, df)
    basis = between if count >= FEWEST_FOR_INTERVAL else within
    if not count or basis is None:
        return None
    effect, differ_f, differ_p = None, None, None
    if between and variance is not None:
        spread = count * between.standard_error**2
        harmonic = count / sum(1 / each.n for each in sessions)
        effect = spread - variance / harmonic
        if variance > 0:
            differ_f = spread * harmonic / variance
            differ_p = float(scipy.stats.f.sf(differ_f, count - 1, df))
        elif spread > 0:
            differ_p = 0.0
    verdict = judge(
        basis, lower_is_better=lower_is_better, criteria=criteria, p_adjusted=p_adjusted
    )
    if count == FEWEST_FOR_INTERVAL - 1:
        verdict = replace(verdict, badges=(*verdict.badges, "two_sessions"))
        if differ_p is not None and differ_p < DIFFER_P:
            verdict = withheld(verdict, "sessions_disagree")
    each_word = tuple(
        judge(_alone(each), lower_is_better=lower_is_better, criteria=criteria)
        if each.df
        else Verdict(Word.NOT_ENOUGH_DATA, n=int(each.n), reason="n_below_minimum")
        for each in sessions
    )
    standing, reason = _accepted(each_word, verdict)
    return SessionFindings(
        standing=standing,
        reason=reason,
        verdict=verdict,
        each=each_word,
        estimates=tuple(each.estimate for each in sessions),
        within=within,
        between=between,
        variance_within=variance,
        variance_between=effect,
        differ_f=differ_f,
        differ_p=differ_p,
        alpha=criteria.alpha,
    )


def _pooled(sessions: Sequence[SessionEstimate], variance: float, df: int) -> Contrast:
    """Return the contrast of these sessions only: the mean of their estimates, with the noise within them."""
    count = len(sessions)
    return Contrast(
        estimate=float(np.mean([each.estimate for each in sessions])),
        standard_error=math.sqrt(variance * sum(1 / each.n for each in sessions)) / count,
        df=df,
        n=int(sum(each.n for each in sessions)),
    )


def _alone(session: SessionEstimate) -> Contrast:
    error = math.sqrt(session.variance / session.n)
    return Contrast(session.estimate, error, session.df, int(session.n))


def _accepted(each: Sequence[Verdict], verdict: Verdict) -> tuple[Standing, str]:
    """Return whether sessions confirm the word: two where each alone gives it, three by their own interval."""
    texts = {one.word for one in each}
    if len(each) == 1:
        return Standing.ONE_SESSION, ""
    if len(each) < FEWEST_FOR_INTERVAL:
        if verdict.reason == "sessions_disagree":
            return Standing.NOT_CONFIRMED, "sessions_disagree"
        if texts == {verdict.word} and verdict.word in DECIDED:
            return Standing.CONFIRMED, ""
    elif verdict.word in DECIDED:
        return Standing.CONFIRMED, ""
    return Standing.NOT_CONFIRMED, "sessions_disagree" if len(texts) > 1 else "not_enough_sessions"
