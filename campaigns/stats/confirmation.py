"""Whether a change that a history suggests is shown when old and new are measured side by side. Pure.

Values are logs of which a larger one is worse. A pair is a block: the new version minus the old one, each installed anew.
The old version is held against its own history, too: a machine that moved moves both sides. TRENDS 5.3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from campaigns.stats import student
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.multiplicity import holm
from campaigns.stats.power import required_n
from campaigns.stats.units import Count, OnLogs, Probability

WORSE_BELOW, MOVED_BELOW, REPEATED_BELOW = 0.025, 0.01, 0.01
"""One-sided for pairs and for sessions that repeat a change; two-sided for the old version against its history."""
FEWEST_PAIRS, MOST_PAIRS, POWER = 6, 20, 0.9
FEWEST_JUDGED = 3
FEWEST_RECOVERED = 3
CONFIDENCE = 0.95


class Word(StrEnum):
    """What a confirmation says of one trend."""

    CONFIRMED = "confirmed"
    BOTH = "confirmed_and_machine"
    MACHINE = "machine"
    NOT_REPRODUCED = "not_reproduced"


@dataclass(frozen=True, slots=True)
class Test:
    """A difference on logs with its 95 % interval, and the chance of a larger one where there is none."""

    estimate: OnLogs
    low: OnLogs
    high: OnLogs
    p: Probability
    n: Count


def pairs_needed(run_sd: OnLogs | None, smallest_effect: float) -> Count:
    """Return how many pairs show the smallest effect (a share) in 9 of 10 cases: 6 to 20. run_sd: None where it is not known."""
    if run_sd is None:
        return MOST_PAIRS
    needed = required_n(run_sd * math.sqrt(2), delta=smallest_effect, chance=POWER)
    return max(FEWEST_PAIRS, min(needed or MOST_PAIRS, MOST_PAIRS))


def of_pairs(log_ratios: Sequence[OnLogs]) -> Test | None:
    """Test whether the new version is worse, by the paired t test; None of fewer than 3 pairs."""
    n = len(log_ratios)
    if n < FEWEST_JUDGED:
        return None
    return _one_sided(fmean(log_ratios), _sd(log_ratios) / math.sqrt(n), n - 1, n)


def moved(history: Sequence[OnLogs], again: Sequence[OnLogs]) -> Probability | None:
    """Return the two-sided p of the old version against its own sessions; None where these are fewer than 2."""
    m = len(history)
    if m < 2 or not again:
        return None
    difference, error = (
        fmean(again) - fmean(history),
        _sd(history) * math.sqrt(1 + 1 / m),
    )
    if error < NO_NOISE:
        return 0.0 if abs(difference) > NO_NOISE else 1.0
    return 2 * student.upper_tail(abs(difference) / error, m - 1)


def words(p_worse: Sequence[Probability], p_moved: Sequence[Probability | None]) -> list[Word]:
    """Return the outcome of each suspected trend of one confirmation; p of pairs are a family (Holm)."""
    return [
        _word(worse < WORSE_BELOW, other is not None and other < MOVED_BELOW)
        for worse, other in zip(holm(p_worse), p_moved, strict=True)
    ]


def _word(is_worse: bool, has_moved: bool) -> Word:
    if is_worse:
        return Word.BOTH if has_moved else Word.CONFIRMED
    return Word.MACHINE if has_moved else Word.NOT_REPRODUCED


def above(newest: Sequence[OnLogs], plateau: Sequence[OnLogs]) -> Test | None:
    """Test whether newer sessions lie above a plateau, with the noise within both; None where too little tells the noise."""
    k, m = len(newest), len(plateau)
    df = k + m - 2
    if not k or m < 2 or df < 1:
        return None
    squares = _squares(newest) + _squares(plateau)
    error = math.sqrt(squares / df) * math.sqrt(1 / k + 1 / m)
    return _one_sided(fmean(newest) - fmean(plateau), error, df, k)


def is_repeated(newest: Sequence[OnLogs], plateau: Sequence[OnLogs]) -> bool:
    """Return whether two further sessions of the new version, alone, lie above the plateau."""
    test = above(newest, plateau)
    return test is not None and test.p < REPEATED_BELOW


def is_recovered(before: Sequence[OnLogs], present: Sequence[OnLogs], margin: float) -> bool:
    """Return whether the present sessions are shown to be within the margin (a share) of those before the change."""
    upper = upper_bound(before, present)
    enough = len(present) >= FEWEST_RECOVERED
    return enough and upper is not None and upper < math.log1p(margin)


def upper_bound(before: Sequence[OnLogs], present: Sequence[OnLogs]) -> OnLogs | None:
    """Return the one-sided 95 % bound of the present sessions minus those before; None where too little tells the noise."""
    n, m = len(present), len(before)
    df = n + m - 2
    if not n or not m or df < 1:
        return None
    sd = math.sqrt((_squares(before) + _squares(present)) / df)
    error = sd * math.sqrt(1 / n + 1 / m)
    return fmean(present) - fmean(before) + student.quantile(CONFIDENCE, df) * error


def _one_sided(estimate: float, error: float, df: int, n: int) -> Test:
    if error < NO_NOISE:
        return Test(estimate, estimate, estimate, 0.0 if estimate > NO_NOISE else 1.0, n)
    half = student.quantile(0.5 + CONFIDENCE / 2, df) * error
    p = student.upper_tail(estimate / error, df)
    return Test(estimate, estimate - half, estimate + half, p, n)


def _squares(values: Sequence[float]) -> float:
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _sd(values: Sequence[float]) -> float:
    return math.sqrt(_squares(values) / (len(values) - 1))
