"""Tables of the compare page: comparisons and differences."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.charts import strips
from campaigns.findings.compute.compared import Compared
from campaigns.findings.pages.tables import forest_of, interval_text
from campaigns.findings.values import (
    NOT_RECORDED,
    ComparedCandidate,
    ComparedCapacity,
    ComparedCells,
    Difference,
)
from campaigns.findings.wording.compare import (
    advice_of_row,
    also_in_row,
    both_values,
    confirmation_text,
    label_of_row,
)
from campaigns.findings.wording.compared_capacity import (
    carried_by,
    confirmation_of_capacity,
    label_of_capacity,
    remarks_of_capacity,
    why_no_ratio,
    words_of,
)
from campaigns.findings.wording.remarks import verdict_remarks
from campaigns.findings.wording.verdicts import Display, change_briefly, span_briefly
from campaigns.kit import numbers
from campaigns.kit.numbers import MISSING, amount, p_value

MOST_LISTED = 12
"""The most cells without a counterpart that are listed; further ones are counted."""
TONES = {"cause": "worse", "design": "warn", "time": ""}


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison. refused: fields with both values; settings: what else was set otherwise.

    also: what else differs between two targets. environment: whether there is another cause in sight than what was to be compared.
    """

    name: str
    runs: str
    means: tuple[str, str]
    change: str
    interval: str
    forest: strips.Forest | None
    tone: str
    p_holm: str
    p_ranks: str
    display: Display | None
    advice: str
    confirmation: str
    remarks: tuple[str, ...]
    refused: tuple[str, ...]
    settings: tuple[str, ...]
    environment: bool = False
    also: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """All comparisons with one candidate, or of the chosen cells.

    total: the change over all cells, what it is of, its interval, and that for cells as a sample.
    """

    id: str
    title: str
    columns: tuple[str, str]
    numbers: tuple[str, str]
    heads: str
    lines: tuple[Line, ...]
    refused: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    only_here: str = ""
    only_there: str = ""
    names: tuple[str, str] = ("", "")
    total: Line | None = None
    sample: str = ""
    scale: str = ""


@dataclass(frozen=True, slots=True)
class CarriedLine:
    """One setting of both campaigns. refused: fields with both values; why: there is no ratio; also: what else differs between two targets."""

    name: str
    carried: tuple[str, str]
    ratio: str
    interval: str
    p_holm: str
    display: Display
    confirmation: str
    remarks: tuple[str, ...]
    refused: tuple[str, ...]
    why: str
    also: str
    environment: bool


@dataclass(frozen=True, slots=True)
class CarriedTable:
    """What the settings of a candidate carry against those of the baseline."""

    id: str
    title: str
    columns: tuple[str, str]
    numbers: tuple[str, str]
    kept: str
    lines: tuple[CarriedLine, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One campaign's value of a fact. tone: how it stands to that of the first one."""

    text: str
    tone: str
    changed: bool


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact over all campaigns."""

    group: str
    label: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """differing: rows in which campaigns differ; alike: those in which none does."""

    names: tuple[str, ...]
    differing: tuple[FactLine, ...]
    alike: tuple[FactLine, ...]
    causes: int


def tables_of(compared: Compared) -> list[Table]:
    """Return a table for each candidate, in the order of the page; one for chosen cells."""
    scale = _scale(compared)
    names = compared.names.campaigns
    if compared.candidates:
        return [
            _of_candidate(compared, each, scale, (names[0], names[each.side]))
            for each in compared.candidates
        ]
    baseline = compared.rows[0].titles[0]
    lines = tuple(_line(compared, row, scale) for row in compared.rows)
    return [
        Table(
            id="cells",
            title=f"Each vs. {baseline}",
            columns=(baseline, "each cell"),
            numbers=("mean", "mean"),
            heads="of the cell",
            lines=lines,
            scale=_ends(scale, lines),
        )
    ]


def carried_tables(compared: Compared) -> list[CarriedTable]:
    """Return a table of what is carried for each candidate whose settings are those of the baseline."""
    names = compared.names.campaigns
    words = words_of(compared, 0)
    return [
        CarriedTable(
            id=f"carried-{each.side}",
            title=f"What is carried: “{names[each.side]}” vs. “{names[0]}”",
            columns=(names[0], names[each.side]),
            numbers=("1", str(each.side + 1)),
            kept=words.kept if words else "",
            lines=tuple(_carried_line(compared, row) for row in rows),
        )
        for each in compared.candidates
        if (rows := compared.capacities_of(each))
    ]


def _carried_line(compared: Compared, row: ComparedCapacity) -> CarriedLine:
    ratio = row.ratio
    ends = [
        "" if end is None else numbers.outward(end, end)[place]
        for place, end in enumerate((ratio.low, ratio.high))
    ]
    interval = " to ".join(end or "open" for end in ends) if any(ends) else MISSING
    return CarriedLine(
        name=row.name or "the only setting",
        carried=(carried_by(compared, row, 0), carried_by(compared, row, row.side)),
        ratio=MISSING if ratio.ratio is None else numbers.number(ratio.ratio, 3),
        interval=interval,
        p_holm=p_value(ratio.p_adjusted),
        display=label_of_capacity(compared, row),
        confirmation=confirmation_of_capacity(row),
        remarks=remarks_of_capacity(compared, row),
        refused=tuple(both_values(each) for each in row.refused),
        why=why_no_ratio(compared, row),
        also=also_in_row(row),
        environment=bool(compared.causes_of(row.side)),
    )


def environment_of(compared: Compared) -> Environment | None:
    """Return the facts that differ, and those that do not; None where nothing is left to compare."""
    refused = {each.side for each in compared.candidates if each.refused}
    refused -= {*compared.judged_sides}
    places = [place for place in range(len(compared.measured)) if place not in refused]
    if len(places) < 2:
        return None
    rows = [row.only(places) for row in compared.differences]
    notes = [row.any or row.unknown or any(row.changed) for row in rows]
    return Environment(
        names=tuple(f"{place + 1} {compared.names.campaigns[place]}" for place in places),
        differing=tuple(_fact(row) for row, shown in zip(rows, notes, strict=True) if shown),
        alike=tuple(_fact(row) for row, shown in zip(rows, notes, strict=True) if not shown),
        causes=sum(row.any and row.weight == "cause" for row in rows),
    )


def _of_candidate(
    compared: Compared, candidate: ComparedCandidate, scale: strips.Scale, names: tuple[str, str]
) -> Table:
    lines = tuple(_line(compared, row, scale) for row in compared.rows_of(candidate))
    sample = candidate.over.sample_ci_pct if candidate.over else None
    return Table(
        id=f"against-{candidate.side}",
        title=f"“{names[1]}” vs. “{names[0]}”",
        columns=(names[0], names[1]),
        numbers=("1", str(candidate.side + 1)),
        heads="candidate",
        lines=lines,
        refused=tuple(both_values(each) for each in candidate.refused),
        apart=tuple(both_values(each) for each in candidate.apart),
        only_here=_listed(candidate.only_here),
        only_there=_listed(candidate.only_there),
        names=names,
        total=_total(compared, candidate, scale),
        sample=span_briefly(compared.terms, sample) if sample else "",
        scale=_ends(scale, lines),
    )


def _line(compared: Compared, row: ComparedCells, scale: strips.Scale) -> Line:
    verdict, unit = row.comparison.verdict, compared.measured[0].unit
    label = label_of_row(compared, row)
    runs = [
        compared.measured[side].cell_runs[cell.cell]
        for side, cell in ((0, row.baseline), (row.side, row.candidate))
    ]
    own_unit = compared.measured[row.side].unit
    return Line(
        name=row.name or ("" if compared.candidates else row.titles[1]),
        runs=" and ".join(
            f"{len(each.values)}{f' ({each.failed} failed)' if each.failed else ''}"
            for each in runs
        ),
        means=(amount(row.means[0], unit), amount(row.means[1], own_unit)),
        change=change_briefly(compared.terms, verdict.pct_change),
        interval=interval_text(compared.terms, verdict),
        forest=forest_of(verdict, scale),
        tone=label.tone,
        p_holm=p_value(verdict.p_adjusted),
        p_ranks=p_value(row.comparison.ranks.p if row.comparison.ranks else None),
        display=label,
        advice=advice_of_row(compared, row),
        confirmation=confirmation_text(row),
        remarks=verdict_remarks(verdict),
        refused=tuple(both_values(each) for each in row.refused),
        settings=tuple(both_values(each) for each in row.settings)
        if not compared.candidates
        else (),
        environment=bool(compared.causes_of(row.side)),
        also=also_in_row(row),
    )


def _total(compared: Compared, candidate: ComparedCandidate, scale: strips.Scale) -> Line | None:
    over = candidate.over
    if over is None:
        return None
    return Line(
        name=f"all {over.cells} cells, geometric",
        runs="",
        means=("", ""),
        change=change_briefly(compared.terms, over.geometric_pct),
        interval=span_briefly(compared.terms, over.ci_pct, over.geometric_pct)
        if over.ci_pct
        else MISSING,
        forest=strips.forest(over.geometric_pct, over.ci_pct, scale),
        tone="thin",
        p_holm="",
        p_ranks="",
        display=None,
        advice="",
        confirmation="",
        remarks=() if over.one_way else ("cells changed in both directions",),
        refused=(),
        settings=(),
    )


def _listed(names: Sequence[str]) -> str:
    named = [name or "the only cell" for name in names]
    more = f"; and {len(named) - MOST_LISTED} more" if len(named) > MOST_LISTED else ""
    return "; ".join(named[:MOST_LISTED]) + more


def _scale(compared: Compared) -> strips.Scale:
    """Return the scale for all tables of the page, so that their rows are aligned."""
    verdicts = [row.comparison.verdict for row in compared.rows]
    drawn: list[float | None] = [verdict.pct_change for verdict in verdicts]
    drawn += [bound for verdict in verdicts if verdict.ci_pct for bound in verdict.ci_pct]
    return strips.scale_of(drawn, zero=True)


def _ends(scale: strips.Scale, lines: Sequence[Line]) -> str:
    return scale.text if any(line.forest for line in lines) else ""


def _fact(row: Difference) -> FactLine:
    tone = TONES[row.weight]
    changed = row.changed or (False,) * len(row.values)
    return FactLine(
        group=row.group,
        label=row.label,
        values=tuple(
            Value(text, "warn" if text == NOT_RECORDED else tone if differs else "", moved)
            for text, differs, moved in zip(row.values, row.differs, changed, strict=True)
        ),
    )
