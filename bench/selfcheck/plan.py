"""What is simulated, how often, and each part with a random stream of its own."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from bench.selfcheck import (
    alarms,
    capacities,
    cells,
    contrasts,
    curve_fits,
    families,
    floors,
    noises,
    said,
    sentences,
    several,
    stops,
)
from bench.selfcheck.tally import Figure
from bench.selfcheck.worlds import HEAVY, NORMAL, REPEATS, WORLDS

FEWEST = 20
KNEE_REPEATS = (3, 5, 12)
NOISE_RATIOS = (1, 2, 4, 8)
BLOCKS = (3, 5)
LOST = ((5, 1), (6, 2), (10, 2), (10, 4))
"""Runs, and how many of them are lost: as many as are tolerated, and more."""


@dataclass(frozen=True, slots=True)
class Task:
    """A part of the work. simulate: is called with `arguments`, the repeats, and a generator."""

    simulate: Callable[..., list[Figure]]
    arguments: tuple[Any, ...]
    reps: int

    @property
    def name(self) -> str:
        """The key that identifies and seeds it."""
        shown = (getattr(each, "name", each) for each in self.arguments)
        return f"{self.simulate.__name__} {' '.join(map(str, shown))}"


def tasks(scale: float = 1.0) -> list[Task]:
    """List all of it in the order of the report; `scale`: 1 is the published number of repeats."""
    return [
        Task(simulate, arguments, max(FEWEST, round(scale * reps)))
        for simulate, arguments, reps in _parts()
    ]


def run(task: Task, seed: int) -> list[Figure]:
    """Simulate one part: equal seeds give equal figures, whatever else is simulated."""
    rng = np.random.default_rng([seed, crc32(task.name.encode())])
    return task.simulate(*task.arguments, task.reps, rng)


def run_all(
    todo: Sequence[Task], seed: int, jobs: int, progress: Callable[[int, int], None]
) -> list[Figure]:
    """Simulate all, in `jobs` processes; figures in the order of the tasks."""
    figures: list[Figure] = []
    with ProcessPoolExecutor(jobs) as pool:
        for done, result in enumerate(pool.map(run, todo, [seed] * len(todo)), 1):
            figures += result
            progress(done, len(todo))
    return figures


def _parts() -> Iterator[tuple[Callable[..., list[Figure]], tuple[Any, ...], int]]:
    for simulate, reps in (
        (cells.summaries, 1200),
        (contrasts.contrasts, 2000),
        (contrasts.split_plots, 1500),
        (cells.ranks, 1200),
        (cells.bootstraps, 600),
        (families.families, 250),
        (families.best_settings, 1500),
        (several.several, 1000),
        (alarms.alarms, 500),
        (floors.floors, 2000),
    ):
        for n in REPEATS:
            for world in WORLDS:
                yield simulate, (world, n), reps
    for number in (1, 2, 3, 5):
        for between in (0.0, 0.01, 0.03):
            yield families.sessions, (between, number), 2000
    for n in REPEATS:
        yield families.found_changes, (0.02, n), 1000
    for n in REPEATS:
        for size in sentences.SIZES:
            yield sentences.equal, (size, n), 1000
        yield sentences.drifting, (n,), 500
    for n, gone in LOST:
        yield sentences.lost, (n, gone), 500
    yield from said.parts()
    for share in (0.01, 0.05, 0.2):
        for n in REPEATS:
            for clumping in (0.0, 0.02, 0.1):
                yield families.shares, (share, clumping, n), 2000
    for times in NOISE_RATIOS:
        for n in REPEATS:
            yield noises.noises, (times, n), 400
    for n in KNEE_REPEATS:
        for world in (NORMAL, HEAVY):
            yield curve_fits.knees, (world, n), 150
    for n in REPEATS:
        yield curve_fits.laws, (n,), 60
    for number in (2, 3, 6):
        for sd in (0.01, 0.03, 0.05, 0.08):
            yield stops.stops, (number, sd), 1000
    yield from _capacities()


def _capacities() -> Iterator[tuple[Callable[..., list[Figure]], tuple[Any, ...], int]]:
    for name in capacities.CURVES:
        for n in BLOCKS:
            for sd in (0.03, 0.06, 0.1):
                yield capacities.capacities, (name, sd, n), 600
    for name in capacities.SHAPES:
        for ratio in capacities.RATIOS:
            for n in BLOCKS:
                yield capacities.shapes, (name, ratio, n), 600
    for n in BLOCKS:
        for world in capacities.WORLDS:
            yield capacities.worlds, (world, n), 600
        yield capacities.failing, (n,), 600
        yield capacities.two_conditions, (n,), 600
        for true in (1.0, 1.25):
            for sd in (0.03, 0.06):
                yield capacities.ratios, (true, sd, n), 300
    for number in (1, 3):
        yield capacities.lasting, (number,), 300
    for name in capacities.CURVES:
        yield capacities.searches, (name,), 300
