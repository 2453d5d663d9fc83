"""One level with more run-to-run variation than the others: verdicts about it, and about the others."""

import numpy as np

from bench.selfcheck.contrasts import CELLS, CRITERIA, POWER
from bench.selfcheck.families import BEST, COSTS, DECIDED, FAMILY, WITHIN
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import SD, Array
from campaigns.stats.best import find_best
from campaigns.stats.best_set import worse_pairs
from campaigns.stats.compared import Comparisons
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells

NOISY = 3
"""The level that is noisier."""
SEEN = 4.0
"""The change that is looked for, in standard errors of a comparison."""
NEIGHBOURS = [(level, level + 1) for level in range(CELLS - 1)]


def noises(times: int, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Six levels without a true change, of which one has `times` the sd of the others."""
    sd = np.full(CELLS, SD)
    sd[NOISY] *= times
    logs = rng.normal(0, 1, (reps, n, CELLS)) * sd
    moved = logs + SEEN * SD * np.sqrt(2 / n) * (np.arange(CELLS) > 0)
    column = "all levels alike" if times == 1 else f"one level x {times}"
    figures = []
    for name, interleaved in (("interleaved", True), ("random order", False)):
        results = [_judged(each, NEIGHBOURS, interleaved) for each in logs]
        what = f"one noisy level, all pairs, {name}: any better or worse, without a change"
        decided = [bool(worse_pairs(each)) for each in results]
        figures.append(count(FAMILY, what, column, n, decided, CRITERIA.alpha, Promise.AT_MOST))
        seen = [_judged(each, NEIGHBOURS, interleaved).comparisons[0] for each in moved]
        figures.append(
            count(
                POWER,
                f"one noisy level, {name}: a change of 4 standard errors between two others",
                column,
                n,
                [each.verdict.word in DECIDED for each in seen],
            )
        )
        costs = logs + COSTS
        figures.append(
            count(
                BEST,
                f"one noisy level, {name}: recommends what costs over {100 * WITHIN:g} %",
                column,
                n,
                [_is_wrong(_judged(each, [(0, 1)], interleaved)) for each in costs],
                CRITERIA.alpha,
                Promise.AT_MOST,
            )
        )
    return figures


def _judged(logs: Array, wanted: list[tuple[int, int]], interleaved: bool) -> Comparisons:
    """`logs`: shape (n, cells)."""
    blocks = tuple(range(logs.shape[0])) if interleaved else ()
    return compare_cells(
        [CellRuns(np.exp(each).tolist(), blocks=blocks) for each in logs.T],
        wanted,
        interleaved=interleaved,
        lower_is_better=True,
        criteria=CRITERIA,
        boards=[range(CELLS)],
    )


def _is_wrong(found: Comparisons) -> bool:
    best = find_best(found.fit, lower_is_better=True) if found.fit else None
    truth = 100 * np.expm1(COSTS)
    return best is not None and any(truth[cell] > 100 * WITHIN for cell in best.within(WITHIN))
