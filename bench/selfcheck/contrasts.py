"""Contrasts by each model, in each world: coverage, verdicts, and power against the formula."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import SD, Array, World
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.criteria import Criteria
from campaigns.stats.log_means import Fit
from campaigns.stats.pooled import fit_pooled, welch
from campaigns.stats.power import PAIRS, Design, design_of_blocks, design_of_cells, power
from campaigns.stats.split_plots import PlotRun, fit_split_plot
from campaigns.stats.verdict import Contrast, Word, interval_of, judge

CRITERIA = Criteria()
CELLS = 6
COVERAGE, WORDS, POWER = "Coverage of 95 % intervals", "Words", "Power"


def block_fit(logs: Array) -> Fit:
    """Fit blocks to the logs of a complete campaign, shape (blocks, cells)."""
    runs = [
        BlockRun(cell, block, math.exp(value))
        for block, row in enumerate(logs)
        for cell, value in enumerate(row)
    ]
    result = fit_blocks(runs, logs.shape[1])
    if result is None:
        raise ValueError("A campaign without runs has no fit.")
    return result.fit


def contrasts(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Simulate each model on campaigns without any true change; a true one only shifts them."""
    pairs = world.interleaved(rng, reps, n, 2)
    blocks = world.interleaved(rng, reps, n, CELLS)
    mixed = world.shuffled(rng, reps, n, CELLS)
    rows = world.cell_by_cell(rng, reps, n, CELLS)
    two = world.shuffled(rng, reps, n, 2)
    models: tuple[tuple[str, list[Contrast | None], Design | None, float], ...] = (
        ("pairs (t)", [_first(block_fit(each)) for each in pairs], PAIRS, SD * 2**0.5),
        (
            "blocks of 6",
            [_first(block_fit(each)) for each in blocks],
            design_of_blocks(CELLS),
            SD,
        ),
        (
            "pooled, 6 cells in random order",
            [_first(fit_pooled(list(each))) for each in mixed],
            design_of_cells(CELLS),
            SD,
        ),
        (
            "Welch, 2 cells in random order",
            [welch(each[0], each[1]) for each in two],
            design_of_cells(2),
            SD,
        ),
        ("pooled, cell after cell", [_first(fit_pooled(list(each))) for each in rows], None, SD),
    )
    figures: list[Figure] = []
    for name, result, design, sd in models:
        known = [each for each in result if each is not None]
        figures += of_contrasts(name, world.name, n, known)
        if design:
            formula = power(n, math.log1p(CRITERIA.delta) / sd, design=design)
            figures.append(detected(name, world.name, n, known, formula))
    figures += _reading(world, n, blocks)
    return figures


def of_contrasts(name: str, column: str, n: int | str, found: Sequence[Contrast]) -> list[Figure]:
    """Count coverage, and the verdicts at three true changes: none, the margin, the change of interest."""
    alpha, margin, delta = CRITERIA.alpha, CRITERIA.margin, CRITERIA.delta
    return [
        count(COVERAGE, name, column, n, map(covers_zero, found), 1 - alpha),
        count(
            WORDS,
            f"{name}: better or worse, without a change",
            column,
            n,
            (word in (Word.BETTER, Word.WORSE) for word in words(found, 0.0)),
            alpha,
            Promise.AT_MOST,
        ),
        count(
            WORDS,
            f"{name}: equivalent, at a change of the margin",
            column,
            n,
            (word == Word.EQUIVALENT for word in words(found, math.log1p(margin))),
            alpha,
            Promise.AT_MOST,
        ),
        count(
            WORDS,
            f"{name}: no difference shown, at the change of interest",
            column,
            n,
            (word == Word.NO_DIFFERENCE_SHOWN for word in words(found, math.log1p(delta))),
            alpha / 2,
            Promise.AT_MOST,
        ),
    ]


def words(found: Sequence[Contrast], change: float) -> Iterator[Word]:
    """Judge contrasts as if the true log change were another one."""
    for each in found:
        shifted = Contrast(each.estimate + change, each.standard_error, each.df, each.n)
        yield judge(shifted, lower_is_better=True, criteria=CRITERIA).word


def covers_zero(contrast: Contrast) -> bool:
    """Say whether the interval holds no change at all."""
    low, high = interval_of(contrast, CRITERIA.alpha)
    return low <= 0 <= high


def detected(name: str, column: str, n: int, found: Sequence[Contrast], formula: float) -> Figure:
    """Count how often a true change of interest is significant."""
    delta = math.log1p(CRITERIA.delta)
    shifted = (Contrast(c.estimate + delta, c.standard_error, c.df, c.n) for c in found)
    return count(POWER, name, column, n, (not covers_zero(each) for each in shifted), formula)


def split_plots(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Three levels of a hard factor, set once in each of n blocks, two runs each; plots have noise."""
    hard, easy = 3, 2
    plots = rng.normal(0, 2 * SD, (reps, n, hard, 1))
    noise = world.noise(rng, reps, n, hard * easy).reshape(reps, n, hard, easy)
    results = [
        fit_split_plot(
            [PlotRun(b, h, e, math.exp(value)) for (b, h, e), value in np.ndenumerate(logs)]
        )
        for logs in rng.permuted(noise, axis=2) + plots
    ]
    known = [each for each in results if each]
    rows = (
        ("split plot, hard factor", [each.of_hard(0, 1) for each in known]),
        ("split plot, other factor", [each.of_easy(0, 1) for each in known]),
        ("split plot, hard at one other", [each.of_hard_at(0, 0, 1) for each in known]),
    )
    return [
        count(COVERAGE, name, world.name, n, (covers_zero(c) for c in all_of if c), 0.95)
        for name, all_of in rows
    ]


def _first(fit: Fit) -> Contrast | None:
    return fit.contrast(0, 1)


def _reading(world: World, n: int, blocks: Array) -> list[Figure]:
    """The rule of thumb of the chart: two levels differ when the gap exceeds 1.4 half widths."""
    seen = []
    for logs in blocks:
        fit = block_fit(logs)
        interval = fit.reading_interval(0, CRITERIA.alpha)
        if interval:
            half = math.log(interval.high / interval.low) / 2
            seen.append(abs(float(fit.means[1] - fit.means[0])) <= 1.4142 * half)
    name = "reading intervals, a gap of 1.4 half widths"
    return [count(COVERAGE, name, world.name, n, seen, 0.95)]
