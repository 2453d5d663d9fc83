"""Simulate what the rule for noisy levels is worth and what it costs: `python -m bench.unequal_noise`.

Each row is a number of levels, of blocks, and the share of campaigns with equal noise in which some level leaves the pool
(`noisy.OUT`); "off" is no rule. All pairs of levels are one family, as `family` judges it. Figures in %: how often some level leaves the
pool under equal noise; how often any verdict is false where one level has 1, 4 or 8 times the sd of the others; and how often a level that
is 7 % faster (sd 2 %) is shown to be faster than another one, under equal noise and beside a level with 8 times the sd.
"""

import argparse
from itertools import combinations

import numpy as np
import scipy.stats
from numpy.typing import NDArray
from scipy import special

from campaigns.stats.family import multipliers
from campaigns.stats.noisy import FEWEST_CELLS, FEWEST_LEFT, OUT

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
ALPHA = 0.05
TIMES = (1, 4, 8)
SD, FASTER = 0.02, 0.07
SHARES = (None, 0.01, OUT, 0.05)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", type=int, nargs="+", default=[3, 4, 6, 10])
    parser.add_argument("--blocks", type=int, nargs="+", default=[3, 4, 5, 10])
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("| levels | blocks | share | out | false, at x", *TIMES, "| found | found beside x 8 |")
    print("|--:|--:|--:|--:|---|--:|--:|")
    for blocks in options.blocks:
        for levels in options.levels:
            logs = rng.normal(size=(options.campaigns, blocks, levels))
            for share in SHARES:
                print(row(logs, share), flush=True)


def row(logs: Array, share: float | None) -> str:
    """Return the figures of one rule; `logs`: shape (campaigns, blocks, levels), sd 1."""
    _, blocks, levels = logs.shape
    pairs = list(combinations(range(levels), 2))
    of_last = [place for place, pair in enumerate(pairs) if levels - 1 in pair]
    without_first = [place for place in of_last if 0 not in pairs[place]]
    noisy = {times: logs * np.where(np.arange(levels) == 0, times, 1) for times in TIMES}
    moved = np.log1p(-FASTER) * (np.arange(levels) == levels - 1)
    _, out = judged(logs, share)
    false = [judged(noisy[times], share)[0].any(axis=1).mean() for times in TIMES]
    found = judged(SD * logs + moved, share)[0][:, of_last].mean()
    beside = judged(SD * noisy[8] + moved, share)[0][:, without_first].mean()
    figures = " ".join(f"{100 * each:.1f}" for each in false)
    name = "off" if share is None else f"{100 * share:g}"
    return (
        f"| {levels} | {blocks} | {name} | {100 * out.any(axis=1).mean():.1f} | {figures} "
        f"| {100 * found:.1f} | {100 * beside:.1f} |"
    )


def judged(logs: Array, share: float | None) -> tuple[Flags, Flags]:
    """Return which pairs are shown to differ, shape (campaigns, pairs), and which levels are out, as `comparisons` judges complete blocks."""
    campaigns, n, levels = logs.shape
    quiet = np.ones((campaigns, levels), dtype=bool)
    live = np.full(campaigns, share is not None)
    while live.any():
        count, squares = quiet.sum(axis=1), left(logs, quiet)
        own = squares * (count / np.maximum(count - 1, 1))[:, None]
        rest_df = (count - 2) * (n - 1)
        rest = np.maximum(squares.sum(axis=1, keepdims=True) - own, 1e-300)
        ratio = own / (n - 1) / rest * np.maximum(rest_df, 1)[:, None]
        tails = special.fdtrc(n - 1, np.maximum(rest_df, 1)[:, None], ratio)
        tails = np.where(quiet, tails, 1.0)
        may = (count >= FEWEST_CELLS) & (rest_df >= FEWEST_LEFT)
        live &= may & (tails.min(axis=1) * count < (share or 0))
        quiet[np.flatnonzero(live), tails.argmin(axis=1)[live]] = False
    df = (quiet.sum(axis=1) - 1) * (n - 1)
    noise = left(logs, quiet).sum(axis=1) / df
    p_values, largest = [], np.zeros(campaigns)
    for one, other in combinations(range(levels), 2):
        differences = logs[:, :, other] - logs[:, :, one]
        mean, sd = differences.mean(axis=1), differences.std(axis=1, ddof=1)
        t = mean / np.sqrt(2 * noise / n)
        alone = tail(mean / (sd / np.sqrt(n)), np.full(campaigns, n - 1))
        p_values.append(np.where(quiet[:, one] & quiet[:, other], tail(t, df), alone))
        largest = np.maximum(largest, np.abs(t))
    models = np.where(quiet.all(axis=1), 1, 2)
    p = np.array(p_values).T
    order = np.argsort(p, axis=1)
    steps = np.take_along_axis(p, order, axis=1) * np.array(multipliers((levels,)))
    steps = steps * models[:, None]
    critical = scipy.stats.studentized_range.isf(ALPHA, levels, (levels - 1) * (n - 1))
    by_range = np.where(largest >= critical / np.sqrt(2), 0.0, 1.0)
    steps[:, 0] = np.where(models == 1, by_range, steps[:, 0])
    shown = np.zeros_like(p, dtype=bool)
    np.put_along_axis(shown, order, np.maximum.accumulate(steps, axis=1) < ALPHA, axis=1)
    return shown, ~quiet


def left(logs: Array, quiet: Flags) -> Array:
    """Return the squares that the block model of the quiet levels leaves, by level."""
    means = (logs * quiet[:, None, :]).sum(axis=2) / quiet.sum(axis=1)[:, None]
    beside = logs - means[:, :, None]
    beside = beside - beside.mean(axis=1, keepdims=True)
    return np.asarray(np.square(beside).sum(axis=1) * quiet)


def tail(t: Array, df: Array) -> Array:
    """Return the two-sided p of t."""
    return np.asarray(2 * special.stdtr(df, -np.abs(t)))


if __name__ == "__main__":
    main()
