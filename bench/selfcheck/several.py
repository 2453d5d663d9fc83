"""One number over several comparisons: the mean of contrasts, campaigns against one another, interaction."""

import numpy as np

from bench.selfcheck.contrasts import COVERAGE, CRITERIA, WORDS, block_fit
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import Array, World
from campaigns.stats.between_campaigns import over_cells
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.interval import Interval
from campaigns.stats.matrix import find_interaction

PAIRS = ((0, 1), (2, 3), (4, 5))
CELLS, COLUMNS = 6, 3


def several(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Campaigns of two engines at three levels, interleaved; nothing differs and nothing interacts."""
    campaigns = world.interleaved(rng, reps, n, CELLS)
    others = world.interleaved(rng, reps, n, CELLS)
    means = [_mean(each) for each in campaigns]
    across = [_across(one, other) for one, other in zip(campaigns, others, strict=True)]
    tested = [_interaction(each) for each in campaigns]
    return [
        count(COVERAGE, "mean of 3 comparisons, in blocks", world.name, n, _covers(means), 0.95),
        count(
            COVERAGE,
            "one campaign against another, over 6 cells",
            world.name,
            n,
            _covers(across),
            0.95,
        ),
        count(
            WORDS,
            "interaction, where there is none",
            world.name,
            n,
            [p < CRITERIA.alpha for p in tested],
            CRITERIA.alpha,
            Promise.AT_MOST,
        ),
    ]


def _covers(intervals: list[Interval | None]) -> list[bool]:
    return [each.low <= 0 <= each.high for each in intervals if each is not None]


def _cells(logs: Array) -> list[CellRuns]:
    """`logs`: shape (blocks, cells)."""
    blocks = tuple(range(len(logs)))
    return [CellRuns(np.exp(column).tolist(), blocks=blocks) for column in logs.T]


def _mean(logs: Array) -> Interval | None:
    result = compare_cells(
        _cells(logs),
        PAIRS[:1],
        interleaved=True,
        lower_is_better=True,
        criteria=CRITERIA,
        means=[PAIRS],
    )
    return result.means[0].verdict.ci_pct


def _across(baseline: Array, candidate: Array) -> Interval | None:
    pairs = list(zip(_cells(baseline), _cells(candidate), strict=True))
    result = over_cells(pairs, in_blocks=(True, True))
    return result.ci_pct if result else None


def _interaction(logs: Array) -> float:
    places = range(CELLS)
    result = find_interaction(
        block_fit(logs),
        [place // COLUMNS for place in places],
        [place % COLUMNS for place in places],
        places=places,
    )
    if result is None:
        raise ValueError("Two rows with three columns each can be tested.")
    return result.p
