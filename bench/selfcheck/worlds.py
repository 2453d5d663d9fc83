"""Noise that benchmarks have: on logs, around 0, in the order of time, with a noise within blocks of 3 %."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SD = 0.03
"""Of the logs, of neighbouring runs: equal in all worlds, so that their power can be compared."""
BLOCK_SD, DRIFT, RHO = 0.08, 0.20, 0.5
SLOW_SHARE, GAP = 0.25, 4.0
"""Of the bimodal world: the share of slow runs, and how many inner sd they lie higher."""
TAILS, CUT = 3, 25.0
"""Degrees of freedom of the heavy tails; cut there, so that the values have a mean."""
LARGE = 1000

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, int, int], Array]


@dataclass(frozen=True, slots=True)
class World:
    """A kind of noise: `noise(rng, campaigns, blocks, size)` has shape (campaigns, blocks * size)."""

    name: str
    noise: Noise

    def one_by_one(self, rng: np.random.Generator, campaigns: int, runs: int) -> Array:
        """The runs of a campaign of one cell, shape (campaigns, runs)."""
        return self.noise(rng, campaigns, runs, 1)

    def interleaved(
        self, rng: np.random.Generator, campaigns: int, blocks: int, cells: int
    ) -> Array:
        """Each block has each cell once, in a random order; shape (campaigns, blocks, cells)."""
        noise = self.noise(rng, campaigns, blocks, cells).reshape(campaigns, blocks, cells)
        return np.asarray(rng.permuted(noise, axis=2))

    def shuffled(self, rng: np.random.Generator, campaigns: int, runs: int, cells: int) -> Array:
        """All runs in a random order; shape (campaigns, cells, runs)."""
        noise = rng.permuted(self.noise(rng, campaigns, runs, cells), axis=1)
        return np.asarray(noise.reshape(campaigns, cells, runs))

    def cell_by_cell(
        self, rng: np.random.Generator, campaigns: int, runs: int, cells: int
    ) -> Array:
        """One cell after the other; shape (campaigns, cells, runs)."""
        return self.noise(rng, campaigns, runs, cells).reshape(campaigns, cells, runs)

    def truth(self) -> tuple[float, float]:
        """Mean and median of a value whose log is this noise, by a simulation of its own."""
        logs = self.noise(np.random.default_rng(0), LARGE, LARGE, 1).ravel()
        return float(np.exp(logs).mean()), float(np.exp(np.median(logs)))


def _normal(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    return rng.normal(0, SD, (campaigns, blocks * size))


def _heavy(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    values = np.clip(rng.standard_t(TAILS, (campaigns, blocks * size)), -CUT, CUT)
    return np.asarray(values * SD / TAILS**0.5)


def _bimodal(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    shape = (campaigns, blocks * size)
    inner = SD / (1 + GAP**2 * SLOW_SHARE * (1 - SLOW_SHARE)) ** 0.5
    slow = (rng.random(shape) < SLOW_SHARE) - SLOW_SHARE
    return np.asarray(rng.normal(0, inner, shape) + GAP * inner * slow)


def _drifting(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    along = np.linspace(-0.5, 0.5, blocks * size)
    return np.asarray(_normal(rng, campaigns, blocks, size) + DRIFT * along)


def _in_blocks(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    effects = np.repeat(rng.normal(0, BLOCK_SD, (campaigns, blocks)), size, axis=1)
    return np.asarray(_normal(rng, campaigns, blocks, size) + effects)


def _autocorrelated(rng: np.random.Generator, campaigns: int, blocks: int, size: int) -> Array:
    values = _normal(rng, campaigns, blocks, size)
    fresh = (1 - RHO**2) ** 0.5
    for place in range(1, blocks * size):
        values[:, place] = RHO * values[:, place - 1] + fresh * values[:, place]
    return values


NORMAL = World("log-normal", _normal)
HEAVY = World("heavy tails", _heavy)
BIMODAL = World("two modes", _bimodal)
DRIFTING = World("drift", _drifting)
IN_BLOCKS = World("block effects", _in_blocks)
AUTOCORRELATED = World("autocorrelated", _autocorrelated)
WORLDS = (NORMAL, HEAVY, BIMODAL, DRIFTING, IN_BLOCKS, AUTOCORRELATED)
REPEATS = (3, 5, 10)
