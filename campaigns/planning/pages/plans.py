"""Show the plan next to the form: figures, and the order of runs as a strip of tiles. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.charts.labels import as_text, short_labels
from campaigns.kit.mappings import Levels
from campaigns.kit.numbers import about, ascending
from campaigns.models import Campaign
from campaigns.planning.checking import CheckedDefinition
from campaigns.planning.plan import PlannedRun
from campaigns.planning.preview import Preview

MOST_ROWS = 8
MOST_TILES = 12
SHADES = 6
ICONS = {"pass": "check", "warn": "warn", "info": "info"}


@dataclass(frozen=True, slots=True)
class Tile:
    """One run: a short text, a shade (l1 to l6) and the whole cell as text."""

    text: str
    shade: str
    title: str


@dataclass(frozen=True, slots=True)
class StripRow:
    """A block, or the runs that fit into a row.

    title: the full name of the block; short: the part of it that distinguishes blocks.
    more: runs of it that are not drawn.
    """

    label: str
    title: str
    short: str
    tiles: tuple[Tile, ...]
    more: int


@dataclass(frozen=True, slots=True)
class PlanView:
    """The values that the panel of the plan shows."""

    cells: int
    repetitions: int
    repeated: str
    runs: int
    warm_ups: int
    seconds: float
    source: str
    rows: tuple[StripRow, ...]
    more_rows: int
    row_name: str
    shading: str
    legend: tuple[Tile, ...]
    seed: int
    remarks: tuple[tuple[str, str, str], ...]
    calibrate: bool

    @property
    def status(self) -> str:
        """The plan in one sentence, for screen readers."""
        return f"{self.runs + self.warm_ups} runs, about {about(self.seconds)}, {self.source}"


def plan_view(
    definition: CheckedDefinition, preview: Preview, *, with_checks: bool = False
) -> PlanView:
    """Arrange a preview for the page. with_checks: with what the checks before a launch found, where no other panel has it."""
    remarks = [*preview.remarks, *(preview.found if with_checks else ())]
    tiles = _tiles(definition, preview.plan.cells)
    rows = _rows(definition, preview)
    many = len(definition.factors) > 1 and definition.campaign.order != Campaign.Order.PAIRED
    return PlanView(
        cells=len(preview.plan.cells),
        repetitions=definition.campaign.repetitions,
        repeated="blocks"
        if definition.campaign.order == Campaign.Order.INTERLEAVED
        else "repetitions",
        runs=preview.measured_runs,
        warm_ups=preview.warm_up_runs,
        seconds=preview.seconds,
        source=_source(preview.estimated_from),
        rows=tuple(
            StripRow(
                label,
                title,
                short,
                tuple(tiles[run.cell] for run in runs[:MOST_TILES]),
                max(0, len(runs) - MOST_TILES),
            )
            for label, title, short, runs in rows[:MOST_ROWS]
        ),
        more_rows=max(0, len(rows) - MOST_ROWS),
        row_name="pair" if definition.campaign.order == Campaign.Order.PAIRED else "row",
        shading=_shading(definition, many),
        legend=tuple(tiles[:MOST_TILES]) if many else (),
        seed=definition.campaign.seed,
        remarks=tuple((tone, text, ICONS.get(tone, "info")) for tone, text in remarks),
        calibrate=preview.calibrate,
    )


def _source(earlier: int) -> str:
    if not earlier:
        return "an estimate of the kind"
    return f"from {earlier} earlier run{'s' if earlier > 1 else ''}"


def _tiles(definition: CheckedDefinition, cells: Sequence[Levels]) -> list[Tile]:
    """Return a tile for each cell: its level where one factor distinguishes the cells, else its number."""
    factor = definition.campaign.paired_factor or (
        next(iter(definition.factors)) if len(definition.factors) == 1 else ""
    )
    if factor:
        ranks = _ranks(definition.factors[factor], definition.unlimited.get(factor))
        short = _shorten(definition)[factor]
        return [
            Tile(
                short[as_text(cell[factor])],
                _shade(ranks[repr(cell[factor])], len(ranks)),
                _text(definition, cell),
            )
            for cell in cells
        ]
    return [
        Tile(str(index + 1), _shade(index, len(cells)), _text(definition, cell))
        for index, cell in enumerate(cells)
    ]


def _ranks(levels: Sequence[Any], unlimited: float | None) -> dict[str, int]:
    numbers = all(isinstance(level, int | float) for level in levels)
    ordered = ascending(levels, unlimited) if numbers else levels
    return {repr(level): index for index, level in enumerate(ordered)}


def _shade(rank: int, of: int) -> str:
    if of == 1:
        return "l3"
    return f"l{1 + round(rank * (SHADES - 1) / (of - 1))}"


def _text(definition: CheckedDefinition, cell: Levels) -> str:
    named = [f"{definition.words(name)} {as_text(level)}" for name, level in cell.items()]
    return ", ".join(named) or "the only cell"


def _shorten(definition: CheckedDefinition) -> dict[str, dict[str, str]]:
    """Return the parts of each factor's levels that distinguish them."""
    return {
        name: short_labels([as_text(level) for level in levels])
        for name, levels in definition.factors.items()
    }


def _rows(
    definition: CheckedDefinition, preview: Preview
) -> list[tuple[str, str, str, list[PlannedRun]]]:
    """Return (label, title, short title, runs) in the order of execution."""
    plan = preview.plan
    warm_ups = [run for run in plan.runs if run.warm_up]
    rows: list[tuple[str, str, str, list[PlannedRun]]] = []
    if warm_ups:
        rows.append(("warm-up", "Not analysed", "Not analysed", warm_ups))
    measured = [run for run in plan.runs if not run.warm_up]
    if definition.campaign.order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED):
        by_block: dict[int, list[PlannedRun]] = {}
        for run in measured:
            by_block.setdefault(run.block, []).append(run)
        strata = {block.number: block.stratum for block in plan.blocks}
        short = _shorten(definition)
        name = "pair" if definition.campaign.order == Campaign.Order.PAIRED else "block"
        return rows + [
            (
                f"{name} {number}",
                ", ".join(
                    f"{definition.words(factor)} {as_text(level)}"
                    for factor, level in strata[number].items()
                ),
                ", ".join(short[name][as_text(level)] for name, level in strata[number].items()),
                runs,
            )
            for number, runs in by_block.items()
        ]
    for start in range(0, len(measured), MOST_TILES):
        runs = measured[start : start + MOST_TILES]
        rows.append((f"{start + 1} to {start + len(runs)}", "", "", runs))
    return rows


def _shading(definition: CheckedDefinition, many: bool) -> str:
    if many:
        return "The number is that of the cell."
    levels = definition.factors.get(definition.campaign.paired_factor) or next(
        iter(definition.factors.values()), ()
    )
    if all(isinstance(level, int | float) for level in levels):
        return "Darker = higher level."
    return "One shade per level."
