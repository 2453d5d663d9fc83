"""How often each check of validity warns where nothing is wrong, and where something is."""

import math

import numpy as np

from bench.selfcheck.contrasts import CELLS
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import Array, World
from campaigns.stats import validity
from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.cell_summary import summarise
from campaigns.stats.neighbours import expected_correlation, left_of
from campaigns.stats.paired import order_effect
from campaigns.stats.validity import Check, Outcome

CHECKS = "Checks"
HONEST = {"log-normal", "heavy tails"}
"""Worlds in which nothing is wrong: there a warning is a false alarm."""
MANY = 50


def alarms(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Every check, on an interleaved campaign of six cells or on one in random order."""
    results: dict[str, list[bool]] = {}

    def add(name: str, check: Check) -> None:
        if check.outcome != Outcome.NOT_POSSIBLE:
            results.setdefault(name, []).append(check.outcome == Outcome.WARN)

    for noise in world.noise(rng, reps, n, CELLS).reshape(reps, n, CELLS):
        order = rng.permuted(np.tile(np.arange(CELLS), (n, 1)), axis=1)
        fitted = _fitted(noise, order)
        positions, blocks = np.tile(np.arange(CELLS), n), np.repeat(np.arange(n), CELLS)
        add("drift of blocks", validity.block_drift(list(fitted.effects)))
        left, df = left_of(positions.tolist(), order.ravel().tolist(), blocks.tolist())
        add("order in the block", validity.order_in_block(list(fitted.residuals), list(left), df))
        if n >= 5:
            expected = expected_correlation(order.ravel().tolist(), blocks.tolist())
            add("neighbours alike", validity.autocorrelation(list(fitted.residuals), expected))
        values = np.exp(noise).ravel()
        add(
            "cold start", validity.cold_start(order.ravel().tolist(), blocks.tolist(), list(values))
        )
        mixed = rng.permutation(np.repeat(np.arange(CELLS), n))
        own = np.array([noise.ravel()[mixed == cell].mean() for cell in range(CELLS)])
        add("drift, random order", validity.drift(list(noise.ravel() - own[mixed])))
        samples = [noise.ravel()[mixed == cell].tolist() for cell in range(CELLS)]
        add("noise said to differ (Levene)", validity.equal_noise(samples))
        pairs = noise[:, 1] - noise[:, 0]
        add("identical runs differ (A/A)", validity.aa_noise(list(pairs)))
        first = rng.permutation(np.arange(n) % 2 == 0)
        effect = order_effect([(np.where(first, pairs, -pairs), first.tolist())], 0.05)
        if effect:
            results.setdefault("order of the pair", []).append(effect.flagged)
        if n >= 5:
            outliers = summarise(list(values[:n])).outliers
            results.setdefault("an outlier in a cell", []).append(bool(outliers))
    if n == 10:
        for logs in world.one_by_one(rng, reps, MANY):
            add(f"two modes in {MANY} runs", validity.modes(list(logs)))
    return [_figure(name, world, n, seen) for name, seen in results.items()]


NOMINAL = {"noise said to differ (Levene)": 0.01}
DESCRIPTIVE = ("an outlier in a cell", "two modes in 50 runs")


def _figure(name: str, world: World, n: int, seen: list[bool]) -> Figure:
    promised = world.name in HONEST and name not in DESCRIPTIVE
    nominal = NOMINAL.get(name, 0.05) if promised else None
    return count(CHECKS, name, world.name, n, seen, nominal, Promise.AT_MOST)


def _fitted(noise: Array, order: np.ndarray) -> BlockFit:
    """`noise`, `order`: shape (blocks, cells), in the order of time."""
    runs = [
        BlockRun(int(order[place]), place[0], math.exp(value))
        for place, value in np.ndenumerate(noise)
    ]
    result = fit_blocks(runs, CELLS)
    if result is None:
        raise ValueError("A campaign without runs has no fit.")
    return result
