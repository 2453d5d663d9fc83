"""Families of comparisons, the best setting, sessions and failed shares."""

import math

import numpy as np

from bench.selfcheck.contrasts import CELLS, CRITERIA, POWER, block_fit, covers_zero
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import BLOCK_SD, SD, Array, World
from campaigns.stats.best import Best, find_best
from campaigns.stats.best_set import worse_pairs
from campaigns.stats.compared import Comparisons
from campaigns.stats.comparison_cells import CellRuns, failed_share
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.pooled import fit_pooled
from campaigns.stats.sessions import Standing, estimate_of, over_sessions
from campaigns.stats.verdict import Word

COSTS = np.array([0.30, 0.15, 0.08, 0.03, 0.0, 0.01])
"""True log costs of the settings, the cheapest first; the best is not the last one."""
TRULY_BEST = 4
WITHIN = 0.05
SIZES = (2, 3, 6)
FASTER = 0.07
FEWEST = 20
FAMILY, BEST, SESSIONS, SHARES = "Words", "Best setting", "Sessions", "Failed shares"
DECIDED = (Word.BETTER, Word.WORSE)
SESSION_BLOCKS, UNITS = 8, 500


def families(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """All pairs of two, three and six equal settings, by the model that the data choose."""
    figures = []
    for size in SIZES:
        in_blocks = np.swapaxes(world.interleaved(rng, reps, n, size), 1, 2)
        mixed = world.shuffled(rng, reps, n, size)
        figures += [
            count(
                FAMILY,
                f"{size} equal settings, {name}: one is crowned, or left out of the best",
                world.name,
                n,
                [bool(worse_pairs(_compared(logs, interleaved))) for logs in campaigns],
                CRITERIA.alpha,
                Promise.AT_MOST,
            )
            for name, campaigns, interleaved in (
                ("interleaved", in_blocks, True),
                ("random order", mixed, False),
            )
        ]
    return figures


def found_changes(sd: float, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Six settings in blocks, of which the last is 7 % faster: what knowing who is best costs."""
    shift = math.log1p(-FASTER) * (np.arange(CELLS) == CELLS - 1)
    logs = rng.normal(0, sd, (reps, CELLS, n)) + rng.normal(0, BLOCK_SD, (reps, 1, n))
    words = [
        _compared(each + shift[:, None], True).pairs[other, CELLS - 1].word == Word.BETTER
        for each in logs
        for other in range(CELLS - 1)
    ]
    what = f"all pairs of six settings: one is {100 * FASTER:g} % faster, each of its pairs"
    return [count(POWER, what, f"sd {100 * sd:g} %", n, words)]


def _compared(logs: Array, interleaved: bool) -> Comparisons:
    """`logs`: shape (cells, n)."""
    blocks = tuple(range(logs.shape[1])) if interleaved else ()
    return compare_cells(
        [CellRuns(np.exp(row).tolist(), blocks=blocks) for row in logs],
        [],
        interleaved=interleaved,
        lower_is_better=True,
        criteria=CRITERIA,
        boards=[range(len(logs))],
    )


def best_settings(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Hsu's bounds for six settings of which two are nearly equal."""
    in_blocks = world.interleaved(rng, reps, n, CELLS) + COSTS
    mixed = world.shuffled(rng, reps, n, CELLS) + COSTS[:, None]
    figures = []
    for name, result in (
        ("blocks", [find_best(block_fit(each), lower_is_better=True) for each in in_blocks]),
        ("random order", [find_best(fit_pooled(list(e)), lower_is_better=True) for e in mixed]),
    ):
        known = [each for each in result if each]
        at_least, at_most = Promise.AT_LEAST, Promise.AT_MOST
        truth = 100 * np.expm1(COSTS)
        rows = (
            ("all bounds hold", [_all_hold(each, truth) for each in known], 0.95, at_least),
            (
                f"recommends what costs over {100 * WITHIN:g} %",
                [_wrong(each, truth) for each in known],
                0.05,
                at_most,
            ),
        )
        figures += [
            count(BEST, f"{name}: {what}", world.name, n, seen, nominal, promise)
            for what, seen, nominal, promise in rows
        ]
    left_out = [
        any(one == TRULY_BEST for one, _ in worse_pairs(_compared(each.T, True)))
        for each in in_blocks[: max(FEWEST, reps // 5)]
    ]
    what = "blocks: the truly best is left out of the best"
    return [*figures, count(BEST, what, world.name, n, left_out, CRITERIA.alpha, at_most)]


def _all_hold(best: Best, truth: Array) -> bool:
    return bool((np.array(best.upper_pct) >= truth - 1e-9).all())


def _wrong(best: Best, truth: Array) -> bool:
    """Whether anything is called within the share that is not."""
    return any(truth[cell] > 100 * WITHIN for cell in best.within(WITHIN))


def sessions(between: float, count_of: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Sessions of eight blocks, with a sd of 3 % within and `between` between, and no true change."""
    column = f"sessions differ by {100 * between:g} %"
    false, within, outer, differ = [], [], [], []
    for _ in range(reps):
        effects = rng.normal(0, between, count_of)
        values = rng.normal(0, SD, (count_of, SESSION_BLOCKS)) + effects[:, None]
        result = over_sessions([estimate_of(each) for each in values], lower_is_better=True)
        if result is None or result.within is None:
            continue
        confirmed = result.standing == Standing.CONFIRMED or count_of == 1
        false.append(confirmed and result.verdict.word in DECIDED)
        within.append(covers_zero(result.within))
        differ.append(result.differ)
        if result.between:
            outer.append(covers_zero(result.between))
    alike = between == 0
    figures = [
        count(
            SESSIONS,
            "false better or worse" if count_of == 1 else "confirmed better or worse, falsely",
            column,
            count_of,
            false,
            0.05,
            Promise.AT_MOST,
        ),
        count(SESSIONS, "interval of these sessions only", column, count_of, within, 0.95),
    ]
    if outer:
        figures += [
            count(SESSIONS, "interval between sessions", column, count_of, outer, 0.95),
            count(SESSIONS, "said to differ", column, count_of, differ, 0.05 if alike else None),
        ]
    return figures


def shares(
    share: float, clumping: float, n: int, reps: int, rng: np.random.Generator
) -> list[Figure]:
    """Runs of 500 units whose own share of failures varies, with that correlation within a run."""
    if clumping:
        size = 1 / clumping - 1
        own = rng.beta(share * size, (1 - share) * size, (reps, n))
    else:
        own = np.full((reps, n), share)
    failed = rng.binomial(UNITS, own)
    results = [failed_share(each.tolist(), [UNITS] * n) for each in failed]
    covered = [each.ci.low <= share <= each.ci.high for each in results if each]
    name = f"{100 * share:g} % of {UNITS} units fail"
    column = f"correlation {clumping:g}"
    return [count(SHARES, name, column, n, covered, 0.95, Promise.AT_LEAST)]
