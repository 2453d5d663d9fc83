"""Whether a difference holds beyond the session that it was seen in. Pure. STATISTICS 2.7.

Two levels, blocks within sessions (Kalibera and Jones, 2013): sessions are the sample.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from campaigns.stats.criteria import Criteria
from campaigns.stats.fit import NO_NOISE
from campaigns.stats.verdict import Contrast, Verdict, Word, judge

DIFFER_P = 0.05
FEWEST_FOR_INTERVAL = 3
DECIDED = frozenset({Word.BETTER, Word.WORSE, Word.EQUIVALENT, Word.NO_DIFFERENCE_SHOWN})


class Standing(StrEnum):
    """What stands beside a verdict: one session never confirms."""

    ONE_SESSION = "one_session"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"


@dataclass(frozen=True, slots=True)
class SessionEstimate:
    """The contrast of one session on the logs.

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

    verdict: from these sessions only with one or two of them, from the interval between sessions
    with three or more. variance_between: of a session's own effect; below 0 by chance.
    differ_p: of the test that all sessions have one effect; None where it cannot be made.
    """

    standing: Standing
    reason: str
    verdict: Verdict
    each: tuple[Verdict, ...]
    within: Contrast
    between: Contrast | None
    variance_within: float
    variance_between: float | None
    differ_f: float | None
    differ_p: float | None

    @property
    def differ(self) -> bool:
        """Whether sessions differ by more than the noise within them explains."""
        return self.differ_p is not None and self.differ_p < DIFFER_P


DEFAULT = Criteria()


def estimate_of(differences: NDArray[np.float64]) -> SessionEstimate:
    """Make the estimate of a session from one log ratio a block, shape (n,), n >= 1."""
    n = differences.size
    sd = float(differences.std(ddof=1)) if n > 1 else 0.0
    return SessionEstimate(float(differences.mean()), sd**2 if sd >= NO_NOISE else 0.0, n, n - 1)


def over_sessions(
    sessions: Sequence[SessionEstimate], *, lower_is_better: bool, criteria: Criteria = DEFAULT
) -> SessionFindings | None:
    """Judge a contrast over sessions; None without a session, or without any noise to judge by."""
    count, df = len(sessions), sum(each.df for each in sessions)
    if not count or df < 1:
        return None
    variance = sum(each.df * each.variance for each in sessions) / df
    means = np.array([each.estimate for each in sessions])
    estimate = float(means.mean())
    error = math.sqrt(variance * sum(1 / each.n for each in sessions)) / count
    blocks = int(sum(each.n for each in sessions))
    within = Contrast(estimate, error, df, blocks)
    each_word = tuple(
        judge(_alone(each), lower_is_better=lower_is_better, criteria=criteria)
        if each.df
        else Verdict(Word.NOT_ENOUGH_DATA, n=int(each.n), reason="n_below_minimum")
        for each in sessions
    )
    between, effect, differ_f, differ_p = None, None, None, None
    if count > 1:
        spread = float(means.var(ddof=1))
        harmonic = count / sum(1 / each.n for each in sessions)
        between = Contrast(estimate, math.sqrt(spread / count), count - 1, count)
        effect = spread - variance / harmonic
        if variance > 0:
            differ_f = spread * harmonic / variance
            differ_p = float(stats.f.sf(differ_f, count - 1, df))
    basis = between if between and count >= FEWEST_FOR_INTERVAL else within
    verdict = judge(basis, lower_is_better=lower_is_better, criteria=criteria)
    standing, reason = _standing(each_word, verdict)
    return SessionFindings(
        standing=standing,
        reason=reason,
        verdict=verdict,
        each=each_word,
        within=within,
        between=between,
        variance_within=variance,
        variance_between=effect,
        differ_f=differ_f,
        differ_p=differ_p,
    )


def blocks_a_session(
    variance_within: float, variance_between: float, cost_session: float, cost_block: float
) -> int:
    """Plan: how many blocks a session should have, 3 at least (Kalibera and Jones).

    Costs in one unit, for example seconds. Where sessions do not differ, only more blocks help.
    """
    if variance_between <= 0:
        raise ValueError("Without a difference between sessions there is nothing to weigh up.")
    ratio = cost_session / cost_block * variance_within / variance_between
    return max(3, math.ceil(math.sqrt(ratio)))


def _alone(session: SessionEstimate) -> Contrast:
    error = math.sqrt(session.variance / session.n)
    return Contrast(session.estimate, error, session.df, int(session.n))


def _standing(each: Sequence[Verdict], verdict: Verdict) -> tuple[Standing, str]:
    words = {one.word for one in each}
    if len(each) == 1:
        return Standing.ONE_SESSION, ""
    if len(each) == 2:
        if len(words) > 1:
            return Standing.NOT_CONFIRMED, "sessions_disagree"
        if words & DECIDED:
            return Standing.CONFIRMED, ""
        return Standing.NOT_CONFIRMED, "not_enough_sessions"
    if verdict.word in DECIDED:
        return Standing.CONFIRMED, ""
    return Standing.NOT_CONFIRMED, "not_enough_sessions" if len(words) == 1 else "sessions_disagree"
