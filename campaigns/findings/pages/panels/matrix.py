"""A matrix of two factors: a heat table that reads without script, and lines that interact or not."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from campaigns.findings.charts import interaction
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.values import FactorMatrix, MatrixCell, MatrixRow, Terms
from campaigns.findings.wording.verdicts import label_of
from campaigns.kit.numbers import counted, p_value, percent
from campaigns.results.phrases import Levels, inside
from campaigns.results.run_plots import Plot
from campaigns.stats.cell_states import CellState
from campaigns.stats.matrix import Interaction
from campaigns.stats.verdict import Word

SHADES = (5.0, 15.0, 30.0, 50.0)
"""Improvements in % from which a cell is a shade darker; the first shade is any improvement."""
HOW = (
    ("Each row", "has its own baseline, the first cell that was measured in it."),
    ("Lines that are not parallel", "interact: what a column brings depends on the row."),
    ("Crosses on the rail", "are cells with too many failures. No value is made from survivors."),
    ("Bars", "are 95 % intervals of the improvement, each by itself."),
)
INTERACTS = 0.05


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell. shade: a class of the style sheet. notes: below the number."""

    text: str
    shade: str
    notes: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One row. tied: all settings that may be equally good."""

    name: str
    cells: tuple[HeatCell, ...]
    recommended: str
    tied: str


@dataclass(frozen=True, slots=True)
class HeatTable:
    """factor: of the columns; rows_factor: of the rows. interaction: whether rows differ, as text."""

    factor: str
    rows_factor: str
    heads: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    numeric: bool
    interaction: str
    tone: str
    failing: int
    missing: int


def heat_table(shown: Shown) -> HeatTable | None:
    """Return the matrix along the factor on the axis; None for one factor, and before verdicts."""
    terms, result = shown.findings.matrix, _matrix(shown)
    if terms is None or result is None:
        return None
    labels, factor, levels = shown.labels, result.factor, shown.findings.levels
    top = {each.best.seen for each in levels.overall} if levels else set()
    rows = tuple(_row(row, result, terms, labels, top) for row in result.rows)
    cells = [cell for row in rows for cell in row.cells]
    text, tone = _interaction(result.interaction)
    return HeatTable(
        factor=_label(labels, factor),
        rows_factor=_rows_factor(labels, factor),
        heads=tuple(labels.short(factor, value) for value in result.columns),
        rows=rows,
        numeric=result.numeric,
        interaction=text,
        tone=tone,
        failing=sum(cell.shade == "failed" for cell in cells),
        missing=sum(cell.shade == "blank" for cell in cells),
    )


def matrix_panel(shown: Shown) -> Panel | None:
    """Return the panel that draws the matrix as lines, one for each row."""
    terms, result = shown.findings.matrix, _matrix(shown)
    if terms is None or result is None:
        return None
    labels, factor = shown.labels, result.factor
    chart = interaction.InteractionChart(
        metric=inside(shown.outline.metric.label),
        factor=inside(_label(labels, factor)),
        rows_factor=inside(_rows_factor(labels, factor)),
        columns=[c if result.numeric else labels.short(factor, c) for c in result.columns],
        rows=[
            interaction.Row(
                name=labels.values(row.levels) or "all",
                points=[_point(cell, result.columns) for cell in row.cells],
                best=next(
                    (
                        result.columns.index(cell.level)
                        for cell in row.cells
                        if cell.cell == row.best
                    ),
                    None,
                ),
            )
            for row in result.rows
        ],
    )
    return Panel(
        plot=Plot(
            id="interaction",
            title=interaction.title(chart),
            label=interaction.describe(chart),
            figure=interaction.draw(chart),
            key=interaction.legend(chart),
            height="24rem",
        ),
        how=HOW,
        numbers=_numbers(result, terms, labels),
    )


def _matrix(shown: Shown) -> FactorMatrix | None:
    """Return the matrix whose columns are the factor on the axis, else the first one."""
    if not shown.findings.matrix or not shown.primary or shown.is_open:
        return None
    by_factor = shown.findings.matrix.factors
    axis = shown.view.x.name if shown.view.x else ""
    return by_factor.get(axis) or next(iter(by_factor.values()))


def _row(
    row: MatrixRow, result: FactorMatrix, terms: Terms, labels: Levels, top: Set[int]
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


def _heat(cell: MatrixCell | None, row: MatrixRow, terms: Terms, top: Set[int]) -> HeatCell:
    if cell is None or cell.state == CellState.MISSING:
        return HeatCell("not measured", "blank")
    counts = f"{counted(cell.n, 'run')}, {cell.failed} failed, {cell.lost} lost"
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
    change = cell.improvement_pct
    if change is None:
        return HeatCell("no value", "blank", tuple(notes), counts)
    if cell.ci_pct:
        low, high = (percent(bound, 0) for bound in cell.ci_pct)
        counts = f"{low} to {high} (95 %); {counts}"
        if cell.word not in (Word.BETTER, Word.WORSE):
            notes.append(label_of(terms, cell.word).word if cell.word else "")
    best = " best" if cell.cell == row.best else ""
    return HeatCell(percent(change, 0), f"{_shade(cell)}{best}", tuple(notes), counts)


def _shade(cell: MatrixCell) -> str:
    if cell.state == CellState.BASELINE:
        return "base"
    change = cell.improvement_pct or 0.0
    if change < 0:
        return "neg"
    return f"l{1 + sum(change >= bound for bound in SHADES)}"


def _point(cell: MatrixCell, columns: Sequence[Any]) -> interaction.Point:
    return interaction.Point(
        column=columns.index(cell.level),
        improvement_pct=cell.improvement_pct,
        interval=cell.ci_pct,
        failed=cell.state == CellState.TOO_MANY_FAILURES,
        note=f"{counted(cell.n, 'run')}, {cell.failed} failed",
    )


def _numbers(result: FactorMatrix, terms: Terms, labels: Levels) -> Numbers:
    factor = result.factor
    rows = [
        (
            labels.values(row.levels) or "all",
            labels.short(factor, cell.level),
            cell.improvement_pct,
            *(cell.ci_pct or (None, None)),
            label_of(terms, cell.word).word if cell.word else cell.state.replace("_", " "),
            cell.n,
            cell.failed,
            cell.lost,
        )
        for row in result.rows
        for cell in row.cells
    ]
    return Numbers(
        (
            Column(inside(_rows_factor(labels, factor))),
            Column(inside(_label(labels, factor))),
            Column("improvement", "%"),
            Column("95 % from", "%"),
            Column("95 % to", "%"),
            Column("verdict"),
            Column("runs"),
            Column("failed"),
            Column("lost"),
        ),
        rows,
    )


def _interaction(result: Interaction | None) -> tuple[str, str]:
    if result is None:
        return "", ""
    numbers = f"F {result.f:.1f} on {result.df} and {result.noise_df} df, p {p_value(result.p)}"
    if result.p < INTERACTS:
        return f"The rows differ: what a column brings depends on the row ({numbers}).", "warn"
    return f"No interaction is shown ({numbers}): that is not a proof of none.", "thin"


def _label(labels: Levels, factor: str) -> str:
    return next((each.label for each in labels.factors if each.name == factor), factor)


def _rows_factor(labels: Levels, factor: str) -> str:
    return " and ".join(each.label for each in labels.factors if each.name != factor)
