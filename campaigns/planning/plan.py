"""The order of runs. Pure: no database, no clock; the same seed gives the same plan.

Glossary. A *cell* is one combination of levels. A *block* is one repetition of every cell, run
close together in time; in a paired plan it is a *pair*: two cells that differ in the paired factor
alone. All other factors of a paired plan are *strata*. A *blind label* is a factor that changes
nothing: both of its levels are one setting, measured to learn how far apart identical runs are (A/A). *Warm-up* runs come first, in block 0, and
are left out of the analysis. A *whole plot* is the runs of a block at one combination of the levels of factors
that are hard to change: they follow one another, so that these levels change as seldom as they can.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from campaigns.kit.mappings import Contrast, Levels


class Unplannable(ValueError):
    """The factors and exclusions allow no plan; `field` names the one to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Design:
    """The values that the order of runs depends on. `factors`: levels by factor, in their order.

    visited: the factor that is hard to change whose levels, several targets, hold the plots of the others.
    """

    factors: Mapping[str, Sequence[Any]]
    order: str
    repetitions: int
    seed: int
    excluded: Sequence[Levels] = ()
    paired_factor: str = ""
    warm_ups: int = 0
    hard: Sequence[str] = ()
    visited: str = ""


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block: its number, the number of its repetition, and its stratum in a paired plan."""

    number: int
    repetition: int
    stratum: Levels


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run: its position, the index of its cell, the number of its block."""

    position: int
    cell: int
    block: int
    warm_up: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Cells in the order of their levels; blocks and runs in the order in which they are made."""

    cells: tuple[Levels, ...]
    blocks: tuple[PlannedBlock, ...]
    runs: tuple[PlannedRun, ...]


def cells_of(design: Design) -> tuple[Levels, ...]:
    """Combine all levels (full factorial) without the excluded combinations.

    An exclusion names some factors; every cell that matches all of them is left out.
    Raise Unplannable where nothing is left.
    """
    cells = possible_cells(design.factors, design.excluded)
    if not cells:
        raise Unplannable("excluded", "Every combination is excluded; leave at least one.")
    return cells


def possible_cells(
    factors: Mapping[str, Sequence[Any]], excluded: Sequence[Levels]
) -> tuple[Levels, ...]:
    """Combine all levels without the excluded combinations; none where nothing is left."""
    names = list(factors)
    combinations = (dict(zip(names, levels, strict=True)) for levels in product(*factors.values()))
    return tuple(cell for cell in combinations if not _is_excluded(cell, excluded))


def pairs_of(contrast: Contrast, cells: Sequence[Levels]) -> list[tuple[int, int]]:
    """Find the cells that a contrast compares: baseline and candidate, equal in all else.

    contrast: `factor`, `baseline`, `candidate`, and `at`, the levels of other factors that it is at.
    """
    factor = contrast["factor"]
    sides: dict[str, dict[str, int]] = {}
    for index, cell in enumerate(cells):
        if any(cell.get(name) != level for name, level in contrast["at"].items()):
            continue
        others = repr(sorted((name, level) for name, level in cell.items() if name != factor))
        for side in ("baseline", "candidate"):
            if cell.get(factor) == contrast[side]:
                sides.setdefault(others, {})[side] = index
    return [(two["baseline"], two["candidate"]) for two in sides.values() if len(two) == 2]


def number_of_cells(factors: Mapping[str, Sequence[Any]]) -> int:
    """Count the combinations without making them."""
    count = 1
    for levels in factors.values():
        count *= len(levels)
    return count


def plan_runs(
    design: Design,
    *,
    session: int | str = 1,
    first_repetition: int = 1,
    first_position: int = 1,
    first_block: int = 1,
) -> Plan:
    """Plan the runs of one session; an extension continues from the first numbers that it passes.

    Raise Unplannable where the paired factor does not have exactly two levels in every stratum.
    """
    cells = cells_of(design)
    random = Random(f"{design.seed}/{session}")
    if design.order == "paired":
        ordered = _pairs(design, cells, random, first_repetition)
    else:
        ordered = _blocks(design, cells, random, first_repetition)
    warm_up = [cell for _, _, cell in ordered][: design.warm_ups]
    while warm_up and len(warm_up) < design.warm_ups:
        warm_up = (warm_up * 2)[: design.warm_ups]
    runs = [
        PlannedRun(first_position + index, cell, 0, warm_up=True)
        for index, cell in enumerate(warm_up)
    ]
    numbers: dict[tuple[int, int], int] = {}
    blocks: list[PlannedBlock] = [PlannedBlock(0, 0, {})] if warm_up else []
    for repetition, stratum, cell in ordered:
        key = (repetition, stratum)
        if key not in numbers:
            numbers[key] = first_block + len(numbers)
            blocks.append(PlannedBlock(numbers[key], repetition, _stratum_of(design, cells[cell])))
        runs.append(PlannedRun(first_position + len(runs), cell, numbers[key]))
    return Plan(cells, tuple(blocks), tuple(runs))


def _is_excluded(cell: Levels, excluded: Sequence[Levels]) -> bool:
    return any(
        combination and all(cell.get(name) == level for name, level in combination.items())
        for combination in excluded
    )


def _blocks(
    design: Design, cells: tuple[Levels, ...], random: Random, first: int
) -> list[tuple[int, int, int]]:
    """Return (repetition, stratum 0, cell) in the order of execution."""
    repetitions = range(first, first + design.repetitions)
    if design.order == "interleaved":
        return [
            (repetition, 0, cell)
            for repetition in repetitions
            for cell in _in_plots(cells, design, random)
        ]
    ordered = [(repetition, 0, cell) for cell in range(len(cells)) for repetition in repetitions]
    if design.order == "random":
        random.shuffle(ordered)
    return ordered


def whole_plots(cells: Sequence[Levels], hard: Sequence[str]) -> list[list[int]]:
    """Group cells (or strata) by their levels of the factors that are hard to change; one group without such factors."""
    plots: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        key = repr([cell[name] for name in hard if name in cell])
        plots.setdefault(key, []).append(index)
    return list(plots.values())


def _in_plots(cells: Sequence[Levels], design: Design, random: Random) -> list[int]:
    """Return cells (or strata) in random order, plot by plot; the plots of one target stay together: a visit."""
    others = [name for name in design.hard if name != design.visited]
    if design.visited not in design.hard or not others:
        return _shuffled(whole_plots(cells, design.hard), random)
    visits = whole_plots(cells, [design.visited])
    return [
        visit[index]
        for visit in random.sample(visits, len(visits))
        for index in _shuffled(whole_plots([cells[each] for each in visit], others), random)
    ]


def _shuffled(plots: list[list[int]], random: Random) -> list[int]:
    """Return whole plots in random order, each with its cells in random order; a single plot draws once."""
    if len(plots) > 1:
        plots = random.sample(plots, len(plots))
    return [each for plot in plots for each in random.sample(plot, len(plot))]


def _pairs(
    design: Design, cells: tuple[Levels, ...], random: Random, first: int
) -> list[tuple[int, int, int]]:
    """Return (repetition, stratum, cell): pairs back to back, A/B and B/A alternating in each stratum."""
    levels = list(design.factors.get(design.paired_factor, ()))
    if len(levels) != 2:
        raise Unplannable(
            "paired_factor",
            f"The paired factor needs exactly two levels; “{design.paired_factor}” has "
            f"{len(levels)}. Vary it with two levels, or choose another factor or order.",
        )
    strata: list[Levels] = []
    members: list[dict[Any, int]] = []
    for index, cell in enumerate(cells):
        stratum = _stratum_of(design, cell)
        if stratum not in strata:
            strata.append(stratum)
            members.append({})
        members[strata.index(stratum)][cell[design.paired_factor]] = index
    for stratum, pair in zip(strata, members, strict=True):
        if len(pair) != 2:
            where = ", ".join(f"{name} {level}" for name, level in stratum.items())
            raise Unplannable(
                "excluded", f"A pair needs both levels; an exclusion leaves one alone at {where}."
            )
    # The first cell is drawn from the seed alone, so that an extension continues to alternate.
    begins = Random(f"{design.seed}/begins")
    swapped = [begins.random() < 0.5 for _ in strata]
    ordered = []
    for repetition in range(first, first + design.repetitions):
        for stratum_index in _in_plots(strata, design, random):
            two = [members[stratum_index][level] for level in levels]
            if swapped[stratum_index] ^ (repetition % 2 == 0):
                two.reverse()
            ordered += [(repetition, stratum_index, cell) for cell in two]
    return ordered


def _stratum_of(design: Design, cell: Levels) -> Levels:
    if design.order != "paired":
        return {}
    return {name: level for name, level in cell.items() if name != design.paired_factor}
