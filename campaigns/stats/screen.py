"""Whether the newest sessions of a history differ from its plateau. Pure.

A prediction test: the mean of the newest one, two and three sessions against the mean of those before, in units of how far
sessions differ. It decides what is measured again, never that something is worse. TRENDS 5.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.student import quantile, upper_tail
from campaigns.stats.units import Count, OnLogs, Probability, WholeDegrees

MOST_NEWEST = 3
FEWEST_BEFORE, FEWEST_DF = 2, 5
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ScreenTest:
    """The newest k sessions against the plateau. t: None where sessions do not differ at all. p: of a larger t by chance.

    estimate: the newest minus the plateau, with its 95 % interval for the mean of sessions. before: those of the plateau.
    """

    k: Count
    t: float | None
    df: WholeDegrees
    p: Probability
    estimate: OnLogs
    low: OnLogs
    high: OnLogs
    before: Count


@dataclass(frozen=True, slots=True)
class Screen:
    """All tests of one history. p: adjusted for their number; None where there is too little history.

    more: the sessions that are missing until the newest can be tested; 0 as well where it was measured again already.
    """

    tests: Sequence[ScreenTest]
    p: Probability | None
    more: Count = 0

    @property
    def best(self) -> ScreenTest | None:
        """The test with the smallest p."""
        return min(self.tests, key=lambda each: each.p, default=None)


def screen(
    present: Sequence[OnLogs],
    earlier: Sequence[Sequence[OnLogs]] = (),
    once: Sequence[bool] = (),
) -> Screen:
    """Test the newest values of the present plateau, given in their order; a larger value is the worse one.

    earlier: the plateaus before it in the same environment, which tell noise only. once: for each present value, whether it
    was measured again without being reproduced: such a value is of the plateau, never of the newest.
    """
    squares, df = _within(earlier)
    marked = list(once) or [False] * len(present)
    tests = []
    for k in range(1, MOST_NEWEST + 1):
        newest, before = _parted(present, marked, k)
        if len(newest) < k or len(before) < FEWEST_BEFORE:
            break
        own, own_df = _within([newest, before])
        if df + own_df < FEWEST_DF:
            break
        tests.append(_test(newest, before, squares + own, df + own_df))
    if not tests:
        return Screen((), None, 0 if marked[-1:] == [True] else _missing(len(present), df))
    return Screen(tuple(tests), min(1.0, len(tests) * min(test.p for test in tests)))


def _parted(
    values: Sequence[float], once: Sequence[bool], k: int
) -> tuple[list[float], list[float]]:
    """Return the newest k values that may be tested, and all others."""
    places = [at for at, marked in enumerate(once) if not marked][-k:]
    if not places or places[-1] != len(values) - 1:
        return [], list(values)
    return [values[at] for at in places], [
        value for at, value in enumerate(values) if at not in places
    ]


def _within(plateaus: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Return the sum of squares within plateaus, and its degrees of freedom."""
    squares, df = 0.0, 0
    for values in plateaus:
        if values:
            mean = fmean(values)
            squares += math.fsum((value - mean) ** 2 for value in values)
            df += len(values) - 1
    return squares, df


def _test(newest: Sequence[float], before: Sequence[float], squares: float, df: int) -> ScreenTest:
    estimate = fmean(newest) - fmean(before)
    sd = math.sqrt(squares / df)
    if sd < NO_NOISE:
        p = 0.0 if estimate > NO_NOISE else 1.0
        return ScreenTest(len(newest), None, df, p, estimate, estimate, estimate, len(before))
    error = sd * math.sqrt(1 / len(newest) + 1 / len(before))
    half = quantile(0.5 + CONFIDENCE / 2, df) * error
    return ScreenTest(
        k=len(newest),
        t=estimate / error,
        df=df,
        p=upper_tail(estimate / error, df),
        estimate=estimate,
        low=estimate - half,
        high=estimate + half,
        before=len(before),
    )


def _missing(present: int, df: int) -> int:
    """Return how many more sessions of the present plateau make the newest testable."""
    needed = max(FEWEST_BEFORE, FEWEST_DF - df + 1) + 1
    return max(1, needed - present)
