"""Verdicts, not only intervals: sessions, coarse values, levels one after the other."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.selfcheck.contrasts import CRITERIA
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import SD
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.paired import PairedComparison, compare_strata
from campaigns.stats.pairs import Pair, Stratum
from campaigns.stats.rounding import step_shares, within_resolution
from campaigns.stats.sessions import Standing
from campaigns.stats.validity import drift_within, drift_within_levels, is_confounded
from campaigns.stats.verdict import Verdict, Word, withheld

SAID = "What is said"
DECIDED = (Word.BETTER, Word.WORSE)
SESSION_BLOCKS = 8
TRUTH, LEVEL = math.log(0.95), 3.0
"""Of coarse values: truly 5 % apart, around 3 s."""
LEVELS, RUNS, HOURS = 4, 10, 0.1
"""Levels one after the other, and how long a run takes."""


def sessions_said(between: float, number: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """The verdict and its confirmation over sessions of eight pairs that differ by `between`; no true change."""
    column = f"sessions differ by {100 * between:g} %"
    results = []
    for _ in range(reps):
        effects = rng.normal(0, between, number)
        logs = rng.normal(0, SD, (number, SESSION_BLOCKS)) + effects[:, None]
        pairs = [
            Pair(1.0, math.exp(log), session=session)
            for session, row in enumerate(logs)
            for log in row
        ]
        results.append(_of_pairs(pairs))
    wrong = [each.verdict.word in DECIDED for each in results]
    confirmed = [
        is_wrong and _standing(each) == Standing.CONFIRMED
        for is_wrong, each in zip(wrong, results, strict=True)
    ]
    unsaid = [
        _standing(each) == Standing.CONFIRMED
        and number == 2
        and each.sessions is not None
        and {one.word for one in each.sessions.each} != {each.verdict.word}
        for each in results
    ]
    at_most = Promise.AT_MOST
    return [
        count(
            SAID, "headline better or worse, without a change", column, number, wrong, 0.05, at_most
        ),
        count(
            SAID,
            "“confirmed” better or worse, without a change",
            column,
            number,
            confirmed,
            0.001 if number == 2 and not between else 0.05,
            at_most,
        ),
        count(
            SAID, "“confirmed” of a word that no session said", column, number, unsaid, 0.0, at_most
        ),
    ]


def rounded(step: float, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Pairs of 3 s written in steps, with and without a true change of 5 %."""
    column = f"3 s in steps of {step:g} s"
    equivalent: list[bool] = []
    wrong: list[bool] = []
    for _ in range(reps):
        for truth, seen, text in (
            (TRUTH, equivalent, (Word.EQUIVALENT, Word.NO_DIFFERENCE_SHOWN)),
            (0.0, wrong, DECIDED),
        ):
            values = LEVEL * np.exp(rng.normal(0, SD, (n, 2)) + np.array([0.0, truth]))
            coarse = np.maximum(step, np.round(values / step) * step)
            verdict = _resolved(coarse)
            seen.append(verdict.word in text)
    return [
        count(
            SAID,
            "no change of 5 % said, of one of 5 %",
            column,
            n,
            equivalent,
            0.05,
            Promise.AT_MOST,
        ),
        count(
            SAID,
            "coarse values: better or worse, without a change",
            column,
            n,
            wrong,
            0.05,
            Promise.AT_MOST,
        ),
    ]


def blocked(an_hour: float, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Four equal levels, one after the other, on a target that drifts by so much an hour."""
    column = f"drift {100 * an_hour:g} % an hour"
    hours = HOURS * np.arange(LEVELS * RUNS)
    levels = np.repeat(np.arange(LEVELS), RUNS)
    wanted = [(level, level + 1) for level in range(LEVELS - 1)]
    apart = RUNS * HOURS
    wrong, alarms = [], []
    for _ in range(reps):
        logs = an_hour * hours + rng.normal(0, SD, hours.size)
        cells = [CellRuns(np.exp(logs[levels == level]).tolist()) for level in range(LEVELS)]
        drift = drift_within(logs.tolist(), levels.tolist(), hours.tolist())
        verdicts = [
            each.verdict
            for each in compare_cells(
                cells, wanted, interleaved=False, lower_is_better=True, criteria=CRITERIA
            ).comparisons
        ]
        if drift and is_confounded(drift, apart, CRITERIA):
            verdicts = [withheld(verdict, "drift_confounded") for verdict in verdicts]
        wrong.append(any(verdict.word in DECIDED for verdict in verdicts))
        alarms.append(drift_within_levels(drift).outcome == "warn")
    n = RUNS
    return [
        count(
            SAID, "level after level: any better or worse", column, n, wrong, 0.05, Promise.AT_MOST
        ),
        count(
            SAID,
            "level after level: drift within levels said",
            column,
            n,
            alarms,
            None if an_hour else 0.05,
        ),
    ]


def parts() -> Iterator[tuple[Callable[..., list[Figure]], tuple[Any, ...], int]]:
    """What is simulated here, and how often."""
    for number in (1, 2, 3, 5):
        for between in (0.0, 0.01, 0.03):
            yield sessions_said, (between, number), 4000 if number == 2 else 2000
    for step in (1.0, 0.1, 0.01):
        yield rounded, (step, 8), 1000
    for an_hour in (0.0, 0.02, 0.08):
        yield blocked, (an_hour,), 1000


def _of_pairs(pairs: list[Pair]) -> PairedComparison:
    (result,) = compare_strata(
        [Stratum("", pairs)], lower_is_better=True, criteria=CRITERIA, bootstrap=False
    ).comparisons
    return result


def _resolved(values: np.ndarray) -> Verdict:
    """The verdict for pairs, shape (n, 2), as in the analysis of a campaign."""
    result = _of_pairs([Pair(float(one), float(other)) for one, other in values])
    sides = values.T.tolist()
    identical = all(len(set(side)) == 1 for side in sides)
    return within_resolution(result.verdict, max(step_shares(sides)), CRITERIA, identical=identical)


def _standing(found: PairedComparison) -> Standing | None:
    return found.sessions.standing if found.sessions else None
