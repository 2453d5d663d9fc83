"""A matrix of two factors as a table whose cells are shaded by their improvement, which reads without script. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from campaigns.findings.charts.base import Shown
from campaigns.findings.charts.interaction import matrix_of
from campaigns.findings.values import CapacityFinding, FactorMatrix, MatrixCell, MatrixRow, Terms
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.findings.wording.capacity_ratio import times
from campaigns.findings.wording.remarks import interaction_remark
from campaigns.findings.wording.verdicts import improvement_text, label_of, size_in_words
from campaigns.kit.charts.labels import LevelLabels, inside
from campaigns.kit.numbers import counted
from campaigns.stats.capacity import CapacityRatio
from campaigns.stats.cell_states import CellState
from campaigns.stats.verdict import Word

SHADES = (5.0, 15.0, 30.0, 50.0)
"""Improvements in % from which a cell is a shade darker; the first shade is any improvement."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell. shade: a class of the style sheet. notes: below the number."""

    text: str
    shade: str
    notes: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One row. tied: all settings that may be equally good. carried: it has what each column carries, and no improvements."""

    name: str
    cells: tuple[HeatCell, ...]
    recommended: str = ""
    tied: str = ""
    carried: bool = False


@dataclass(frozen=True, slots=True)
class HeatTable:
    """factor: of the columns; rows_factor: of the rows. interaction: whether rows differ, as text.

    within: of the best, as text, is what is recommended. load: the label of the factor that is asked of each column; empty without one.
    """

    factor: str
    rows_factor: str
    heads: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    numeric: bool
    interaction: str
    tone: str
    failing: int
    missing: int
    within: str
    load: str = ""


def heat_table(shown: Shown) -> HeatTable | None:
    """Return the matrix along the factor on the axis; None for one factor, and before verdicts."""
    terms, result = shown.findings.matrix, matrix_of(shown)
    if terms is None or result is None:
        return None
    labels, factor, levels = shown.labels, result.factor, shown.findings.levels
    load = labels.load
    top = {each.best.winner for each in levels.overall} if levels and load is None else set()
    rows = tuple(_row(row, result, terms, labels, top) for row in result.rows)
    cells = [cell for row in rows for cell in row.cells]
    if load is not None and shown.findings.capacity is not None:
        rows = _with_capacities(rows, result, shown.findings.capacity, labels)
    text, tone = interaction_remark(result.interaction)
    return HeatTable(
        factor=labels.factor(factor),
        rows_factor=labels.other_factors(factor),
        heads=tuple(labels.short(factor, value) for value in result.columns),
        rows=rows,
        numeric=result.numeric,
        interaction=text,
        tone=tone,
        failing=sum(cell.shade == "failed" for cell in cells),
        missing=sum(cell.shade == "blank" for cell in cells),
        within=size_in_words(terms, terms.delta_pct),
        load=inside(load.label) if load else "",
    )


def _with_capacities(
    rows: Sequence[HeatRow], result: FactorMatrix, finding: CapacityFinding, labels: LevelLabels
) -> tuple[HeatRow, ...]:
    """Return the rows with what each setting carries below the rows of its loads."""
    settings = {_key(each.levels): place for place, each in enumerate(finding.settings)}
    ratios = {(each.baseline, each.candidate): each.ratio for each in finding.ratios}
    words = CapacityWords(finding)
    groups: dict[str, list[HeatRow]] = {}
    capacities: dict[str, HeatRow] = {}
    for row, drawn in zip(result.rows, rows, strict=True):
        others = {name: level for name, level in row.levels.items() if name != finding.load}
        key = _key(others)
        groups.setdefault(key, []).append(drawn)
        if key not in capacities:
            places = [
                settings.get(_key({**others, result.factor: value})) for value in result.columns
            ]
            capacities[key] = HeatRow(
                name=", ".join(filter(None, (labels.values(others), "carries"))),
                cells=tuple(_carried(place, places[0], finding, words, ratios) for place in places),
                carried=True,
            )
    return tuple(row for key, own in groups.items() for row in (*own, capacities[key]))


def _carried(
    place: int | None,
    first: int | None,
    finding: CapacityFinding,
    words: CapacityWords,
    ratios: Mapping[tuple[int, int], CapacityRatio],
) -> HeatCell:
    """Return what one setting carries, and how many times what the first column does."""
    if place is None:
        return HeatCell("not measured", "blank")
    capacity = finding.settings[place].capacity
    ratio = ratios.get((first, place)) if first is not None else None
    notes = (times_text(ratio),) if ratio and ratio.ratio is not None else ()
    return HeatCell(
        words.short(capacity), "base carried", notes, title=f"{counted(capacity.blocks, 'block')}"
    )


def times_text(ratio: CapacityRatio) -> str:
    """Return a ratio of capacities in few words: “1.7 times (1.6 to 1.8)”."""
    text, span = times(ratio.ratio or 0.0, ratio.low, ratio.high)
    return f"{text} times ({span})" if span else f"{text} times"


def _key(levels: Mapping[str, Any]) -> str:
    return repr(sorted(levels.items()))


def _row(
    row: MatrixRow, result: FactorMatrix, terms: Terms, labels: LevelLabels, top: Set[int | None]
) -> HeatRow:
    """top: the best cells over all rows."""
    by_level = {repr(cell.level): cell for cell in row.cells}
    names: dict[int | None, str] = {
        cell.cell: labels.short(result.factor, cell.level) for cell in row.cells
    }
    tied = [names[cell] for cell in row.ties]
    return HeatRow(
        name=labels.values(row.levels) or "all",
        cells=tuple(_heat(by_level.get(repr(value)), row, terms, top) for value in result.columns),
        recommended=names.get(row.recommended, ""),
        tied=", ".join(tied),
    )


def _heat(cell: MatrixCell | None, row: MatrixRow, terms: Terms, top: Set[int | None]) -> HeatCell:
    if cell is None or cell.state == CellState.MISSING:
        return HeatCell("not measured", "blank")
    others = ((cell.failed, "failed"), (cell.lost, "lost"))
    counts = ", ".join([counted(cell.n, "run"), *(f"{n} {what}" for n, what in others if n)])
    if cell.state == CellState.TOO_MANY_FAILURES:
        return HeatCell("too many failures", "failed", title=counts)
    if row.no_baseline:
        return HeatCell("no baseline", "blank", title=counts)
    notes = []
    if cell.state == CellState.BASELINE:
        notes.append("baseline")
    if cell.cell in top:
        notes.append("best of all")
    if cell.cell == row.recommended:
        notes.append("recommended")
    elif cell.cell == row.best and cell.cell not in top:
        notes.append("best")
    if cell.state == CellState.WARN:
        notes.append(f"{cell.failed} failed" if cell.failed else "units failed")
    improvement = cell.improvement_pct
    if improvement is None:
        return HeatCell("no value", "blank", tuple(notes), counts)
    if cell.ci_pct:
        low, high = (improvement_text(terms, bound) for bound in cell.ci_pct)
        counts = f"{low} to {high} (95 %); {counts}"
        if cell.word not in (Word.BETTER, Word.WORSE):
            notes.append(label_of(terms, cell.word).word if cell.word else "")
    best = " best" if cell.cell == row.best else ""
    return HeatCell(
        improvement_text(terms, improvement), f"{_shade(cell)}{best}", tuple(notes), counts
    )


def _shade(cell: MatrixCell) -> str:
    if cell.state == CellState.BASELINE:
        return "base"
    change = cell.improvement_pct or 0.0
    if change < 0:
        return "neg"
    return f"l{1 + sum(change >= bound for bound in SHADES)}"
