"""How much processor time whole analyses take, against the goals."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from campaigns.stats.best import find_best
from campaigns.stats.blocks import BlockRun
from campaigns.stats.cell_summary import summarise
from campaigns.stats.compared import Comparisons
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.knee import find_knee, levels_of
from campaigns.stats.overall import over_strata
from campaigns.stats.paired import compare_strata
from campaigns.stats.pairs import Pair, Stratum
from campaigns.stats.resamples import Resampler, of_blocks, of_levels
from campaigns.stats.usl import Usl, bound_usl, fit_usl

GOLDEN = Path(__file__).parents[2] / "campaigns/tests/stats/golden"
CELLS, RUNS, HOLES = 200, 50, 0.05


@dataclass(frozen=True, slots=True)
class Timing:
    """Processor seconds of one analysis; goal: None where none was set."""

    what: str
    seconds: float
    goal: float | None


def timings() -> list[Timing]:
    """Time each analysis once, after a first one that loads what is loaded late."""
    _published()
    rows: tuple[tuple[str, Callable[[], object], float | None], ...] = (
        ("S1: 18 runs in 6 cells; comparisons, best, knee with 2,000 resamples", _published, 1.0),
        ("S2: 50 pairs in 5 manifests; BCa and average with 9,999 resamples each", _pairs, None),
        (_large("interleaved"), lambda: _many(interleaved=True, holes=False), 3.0),
        (_large("interleaved, 5 % lost"), lambda: _many(interleaved=True, holes=True), 3.0),
        (_large("in random order"), lambda: _many(interleaved=False, holes=False), 3.0),
        ("Scalability law of 40 runs, 2,000 resamples", _law, None),
    )
    return [Timing(what, _seconds(analysis), goal) for what, analysis, goal in rows]


def _large(order: str) -> str:
    return f"10,000 runs in 200 cells, {order}; neighbours, best, knee with 2,000 resamples"


def _seconds(analysis: Callable[[], object]) -> float:
    begun = process_time()
    analysis()
    return process_time() - begun


def _published() -> None:
    (path,) = GOLDEN.glob("a_*.json")
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    x = sorted({row["concurrency"] for row in rows})
    cells = [CellRuns([r["duration_s"] for r in rows if r["concurrency"] == c]) for c in x]
    _levels([float(each) for each in x], cells, interleaved=False)


def _pairs() -> None:
    (path,) = GOLDEN.glob("b_*.json")
    inputs = json.loads(path.read_text(encoding="utf-8"))["inputs"]
    strata = [
        (name, np.array(each["futures"]), np.array(each["asyncio"]))
        for name, each in inputs.items()
    ]
    compare_strata(
        [
            Stratum(name, [Pair(*both) for both in zip(base, cand, strict=True)])
            for name, base, cand in strata
        ],
        lower_is_better=True,
    )
    over_strata([(base, cand) for _, base, cand in strata])


def _many(*, interleaved: bool, holes: bool) -> None:
    rng = np.random.default_rng(1)
    x = np.arange(1, CELLS + 1, dtype=float)
    blocks = rng.normal(0, 0.05, RUNS)
    logs = np.log(100 * x**-0.5)[:, None] + blocks + rng.normal(0, 0.03, (CELLS, RUNS))
    retained = rng.random(logs.shape) >= (HOLES if holes else 0)
    cells = [
        CellRuns(
            np.exp(row[keep]).tolist(),
            blocks=tuple(np.flatnonzero(keep).tolist()) if interleaved else (),
        )
        for row, keep in zip(logs, retained, strict=True)
    ]
    _levels(x.tolist(), cells, interleaved=interleaved)


def _levels(x: Sequence[float], cells: Sequence[CellRuns], *, interleaved: bool) -> None:
    for cell in cells:
        summarise(list(cell.values))
    wanted = [(place, place + 1) for place in range(len(cells) - 1)]
    result = compare_cells(cells, wanted, interleaved=interleaved, lower_is_better=True)
    if result.fit is None:
        raise ValueError("Cells with runs have a fit.")
    find_best(result.fit, lower_is_better=True)
    logs = [np.log(cell.array) for cell in cells]
    find_knee(
        levels_of(x, logs, result.fit.means),
        np.exp(result.fit.means),
        resampler=_resampler(result, cells),
    )


def _resampler(found: Comparisons, cells: Sequence[CellRuns]) -> Resampler:
    if found.blocks is None:
        return of_levels([np.log(cell.array) for cell in cells])
    runs = [
        BlockRun(place, block, value)
        for place, cell in enumerate(cells)
        for block, value in zip(cell.blocks, cell.values, strict=True)
    ]
    return of_blocks(found.blocks, runs)


def _law() -> None:
    rng = np.random.default_rng(1)
    law = Usl(100.0, 0.05, 0.01, 16.0)
    n = [float(each) for each in (1, 2, 3, 4, 6, 8, 12, 16) for _ in range(5)]
    values = np.array([law.throughput(each) for each in n]) * rng.lognormal(0, 0.03, len(n))
    fit_usl(n, values.tolist())
    draws = of_levels(list(np.log(values).reshape(-1, 5))).draws(2000, 1)
    bound_usl(n, lambda _: np.exp(next(draws).logs), resamples=2000, seed=1)
