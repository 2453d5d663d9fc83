"""Simulate what the guard against noisy levels is worth and what it costs: `python -m bench.unequal_noise`.

Each row is a number of levels, of blocks, and a share of levels that are doubted (`noisy.DOUBTED`); 0 is the
test of the largest F alone (`noisy.OUT`), "off" is no guard. Figures in %: how often some level leaves the pool
and how many are doubted under equal noise; how often the first of the neighbours' changes is found that is 4
standard errors; and how often any verdict is false where one level has 1, 4 or 8 times the sd of the others,
among neighbours, against that level, and against another one.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy import special

from campaigns.stats.noisy import OUT

Array = NDArray[np.float64]
ALPHA = 0.05
TIMES = (1, 4, 8)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", type=int, nargs="+", default=[3, 4, 6, 10])
    parser.add_argument("--blocks", type=int, nargs="+", default=[3, 4, 5, 10])
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("| levels | blocks | doubted | out | doubted | found | false, at x", *TIMES, "|")
    print("|--:|--:|--:|--:|--:|--:|---|")
    for blocks in options.blocks:
        for levels in options.levels:
            logs = rng.normal(size=(options.campaigns, blocks, levels))
            for share in (None, 0.0, 0.05, 0.10, 0.15, 0.20):
                print(row(logs, share), flush=True)


def row(logs: Array, share: float | None) -> str:
    _, blocks, levels = logs.shape
    neighbours = [(level, level + 1) for level in range(levels - 1)]
    against_first = [(0, level) for level in range(1, levels)]
    _, out, doubted = p_values(logs, neighbours, share)
    moved = logs + 4 * np.sqrt(2 / blocks) * (np.arange(levels) > 0)
    result = holm(p_values(moved, neighbours, share)[0])[:, 0].mean()
    messages = []
    for times in TIMES:
        for place, pairs in (
            (levels // 2, neighbours),
            (0, against_first),
            (levels - 1, against_first),
        ):
            noisy = logs * np.where(np.arange(levels) == place, times, 1)
            messages.append(holm(p_values(noisy, pairs, share)[0]).any(axis=1).mean())
    shares = [out.any(axis=1).mean(), doubted.mean(), result]
    figures = " | ".join(f"{100 * each:.1f}" for each in shares)
    false = " ".join(f"{100 * each:.1f}" for each in messages)
    return f"| {levels} | {blocks} | {'off' if share is None else share} | {figures} | {false} |"


def p_values(
    logs: Array, pairs: list[tuple[int, int]], share: float | None
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each campaign and pair, as `comparisons` judges complete blocks; who is out, who is doubted."""
    campaigns, n, levels = logs.shape
    quiet = np.ones((campaigns, levels), dtype=bool)
    doubted = np.zeros_like(quiet)
    live = np.full(campaigns, share is not None)
    while live.any():
        count, squares = quiet.sum(axis=1), left(logs, quiet)
        own = squares * (count / np.maximum(count - 1, 1))[:, None]
        rest_df = np.maximum((count - 2) * (n - 1), 1)[:, None]
        ratio = (
            own / (n - 1) / np.maximum(squares.sum(axis=1, keepdims=True) - own, 1e-300) * rest_df
        )
        tails = np.where(quiet, special.fdtrc(n - 1, rest_df, ratio), 1.0)
        doubted = np.where(live[:, None], quiet & (tails < (share or 0)), doubted)
        leaves = live & (count >= 3) & (tails.min(axis=1) * count < OUT)
        quiet[np.flatnonzero(leaves), tails.argmin(axis=1)[leaves]] = False
        live = leaves
    doubted &= quiet
    df = (quiet.sum(axis=1) - 1) * (n - 1)
    noise = left(logs, quiet).sum(axis=1) / df
    results = []
    for one, other in pairs:
        differences = logs[:, :, other] - logs[:, :, one]
        mean, sd = differences.mean(axis=1), differences.std(axis=1, ddof=1)
        alone = tail(mean / (sd / np.sqrt(n)), np.full(campaigns, n - 1))
        shared = tail(mean / np.sqrt(2 * noise / n), df)
        doubt = doubted[:, one] | doubted[:, other]
        both = quiet[:, one] & quiet[:, other]
        results.append(np.where(both, np.where(doubt, np.maximum(alone, shared), shared), alone))
    return np.array(results).T, ~quiet, doubted


def left(logs: Array, quiet: NDArray[np.bool_]) -> Array:
    """Squares that the block model of the quiet levels leaves, by level."""
    means = (logs * quiet[:, None, :]).sum(axis=2) / quiet.sum(axis=1)[:, None]
    beside = logs - means[:, :, None]
    beside = beside - beside.mean(axis=1, keepdims=True)
    return np.asarray(np.square(beside).sum(axis=1) * quiet)


def tail(t: Array, df: Array) -> Array:
    return np.asarray(2 * special.stdtr(df, -np.abs(t)))


def holm(p: Array) -> NDArray[np.bool_]:
    """Which are below 5 % in their family."""
    order = np.argsort(p, axis=1)
    scaled = np.take_along_axis(p, order, axis=1) * np.arange(p.shape[1], 0, -1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(scaled, axis=1), axis=1)
    return np.asarray(adjusted < ALPHA)


if __name__ == "__main__":
    main()
