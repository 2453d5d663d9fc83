"""What the sentence of an answer claims of settings, in worlds of which the truth is known."""

from collections.abc import Sequence

import numpy as np

from bench.selfcheck.contrasts import CRITERIA
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import BLOCK_SD, SD, Array
from campaigns.findings.values import (
    Best,
    LevelsFinding,
    Noise,
    OrderDrift,
    RunsOfCell,
    SummarisedCell,
)
from campaigns.findings.wording.best_set import Ranked
from campaigns.findings.wording.drift import MEANWHILE
from campaigns.stats.best import find_best
from campaigns.stats.best_set import best_set
from campaigns.stats.cell_summary import summarise
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells

SENTENCES = "Sentences"
SIZES = (2, 3, 6)
SLOWER = 0.03
"""How much slower the setting truly is whose slow runs are lost or fail."""
DRIFT_AN_HOUR, HOURS = 0.02, 1 / 6
NAMES = "abcdefghij"


def sentence_of(cells: Sequence[CellRuns], *, interleaved: bool) -> str:
    """Return which of some settings is the fastest, or may be, as the answer of a campaign says it; empty where none can be ranked."""
    places = range(len(cells))
    found = compare_cells(
        cells,
        [],
        interleaved=interleaved,
        lower_is_better=True,
        criteria=CRITERIA,
        boards=[places],
        ranks=False,
    )
    chosen = best_set(places, cells, found, CRITERIA)
    costs = None
    if found.fit and len(chosen.members) > 1:
        fit = found.fit.part([found.fitted.index(place) for place in chosen.members])
        costs = find_best(fit, lower_is_better=True)
    if costs is None:
        return ""
    best = Best(
        cells=chosen.members,
        seen=chosen.members[costs.seen],
        at_edge=False,
        possibly=chosen.possibly,
        cost_pct=costs.cost_pct,
        upper_pct=costs.upper_pct,
        smallest_share=costs.smallest_share,
        critical=costs.critical,
        df=costs.df,
        within=(),
        failing=chosen.failing,
        unknown=chosen.unknown,
        alike=chosen.alike,
    )
    levels = LevelsFinding(
        metric="duration",
        label="Duration",
        unit="s",
        lower_is_better=True,
        factor="w",
        model=found.model,
        noise=Noise(),
        sessions=1,
        between=False,
        drift=None if interleaved else OrderDrift(known=True, shown=False, slope_pct=0.0),
        groups=(),
        overall=(),
    )
    summarised = {place: _summarised(place, cell) for place, cell in enumerate(cells)}
    return Ranked(levels, summarised, NAMES.__getitem__, "w ", lambda _: None).sentence(best)


def crowns(sentence: str) -> bool:
    """Return whether the sentence calls a setting the fastest, or says that another one is slower."""
    return " is the fastest" in sentence or "slower" in sentence


def equal(size: int, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Equal settings, in blocks and level after level."""
    logs = rng.normal(0, SD, (reps, size, n))
    in_blocks = logs + rng.normal(0, BLOCK_SD, (reps, 1, n))
    return [
        count(
            SENTENCES,
            f"{size} equal settings, {name}: one is said to be faster",
            "nothing differs",
            n,
            [
                crowns(sentence_of(_cells(each, interleaved), interleaved=interleaved))
                for each in all_
            ],
            CRITERIA.alpha,
            Promise.AT_MOST,
        )
        for name, all_, interleaved in (
            ("interleaved", in_blocks, True),
            ("level after level", logs, False),
        )
    ]


def lost(n: int, gone: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """One of two settings is 3 % slower, and its slowest runs, so many of n, are lost, or fail."""
    cases: dict[str, list[bool]] = {"lost": [], "failed": []}
    for _ in range(reps):
        quick = np.exp(rng.normal(0, SD, n)).tolist()
        slow = np.exp(np.sort(SLOWER + rng.normal(0, SD, n))[:-gone]).tolist()
        for what, cell in (
            ("lost", CellRuns(slow, lost=gone)),
            ("failed", CellRuns(slow, failed=gone)),
        ):
            sentence = sentence_of([CellRuns(quick), cell], interleaved=False)
            cases[what].append("b is the fastest" in sentence)
    return [
        count(
            SENTENCES,
            f"the slowest runs of the slower setting {what}: it is the fastest",
            f"{gone} of {n}",
            n,
            wrong,
            0.0,
            Promise.AT_MOST,
        )
        for what, wrong in cases.items()
    ]


def drifting(n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """Two equal settings, one after the other, while everything slows down by 2 % an hour."""
    hours = HOURS * np.arange(2 * n)
    without = []
    for _ in range(reps):
        logs = (DRIFT_AN_HOUR * hours + rng.normal(0, SD / 10, 2 * n)).reshape(2, n)
        sentence = sentence_of(_cells(logs, interleaved=False), interleaved=False)
        without.append(crowns(sentence) and MEANWHILE not in sentence)
    name = "level after level: faster, without “if nothing else changed meanwhile”"
    return [count(SENTENCES, name, "drift 2 % an hour", n, without, 0.0, Promise.AT_MOST)]


def _cells(logs: Array, interleaved: bool) -> list[CellRuns]:
    """`logs`: shape (cells, n)."""
    blocks = tuple(range(logs.shape[1])) if interleaved else ()
    return [CellRuns(np.exp(row).tolist(), blocks=blocks) for row in logs]


def _summarised(place: int, cell: CellRuns) -> SummarisedCell:
    counts = RunsOfCell(
        runs=cell.planned,
        states={},
        lowest_limit=None,
        highest_limit=None,
        at_least=None,
        units=0,
        units_failed=0,
        too_many_failures=False,
    )
    summary = summarise(cell.values, failed=cell.failed, lost=cell.lost)
    return SummarisedCell(cell=place, levels={"w": NAMES[place]}, summary=summary, counts=counts)
