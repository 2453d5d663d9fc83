"""Campaigns that stop by themselves: is the interval after the stop still one of 95 %?"""

import math

import numpy as np

from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import Array
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.stopping import StopRule, alpha_for, look_ahead
from campaigns.stats.verdict import Contrast, interval_of

STOPS = "Stop rule"
RULE = StopRule()


def stops(cells: int, sd: float, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Campaigns of `cells` whose differences have that sd: coverage, and how many blocks they took."""
    covered, blocks = [], []
    for _ in range(reps):
        contrast, n = _until_it_stops(rng.normal(0, sd / 2**0.5, (RULE.most, cells)))
        low, high = interval_of(contrast, alpha_for(cells))
        covered.append(low <= 0 <= high)
        blocks.append(n)
    note = f"{np.mean(blocks):.1f} blocks"
    column = f"sd {100 * sd:g} %"
    return [
        count(STOPS, f"{cells} cells", column, "8 to 30", covered, 0.95, Promise.AT_LEAST, note)
    ]


def _until_it_stops(logs: Array) -> tuple[Contrast, int]:
    cells = logs.shape[1]
    for blocks in range(RULE.fewest, RULE.most + 1):
        runs = [
            BlockRun(cell, block, math.exp(value))
            for (block, cell), value in np.ndenumerate(logs[:blocks])
        ]
        result = fit_blocks(runs, cells)
        contrast = result.fit.contrast(0, 1) if result else None
        if not (result and contrast):
            continue
        outlook = look_ahead(RULE, contrast, sd_log=result.fit.sd, cells=cells, blocks=blocks)
        if outlook.stop:
            return contrast, blocks
    raise RuntimeError("The most blocks always stop a campaign.")
