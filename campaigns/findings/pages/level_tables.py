"""Tables of a campaign of levels: its steps, and the cost of each setting."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from campaigns.findings.charts import strips
from campaigns.findings.charts.base import Shown
from campaigns.findings.pages.tables import forest_of, interval_text
from campaigns.findings.values import (
    Best,
    BriefCells,
    Cells,
    LevelGroup,
    LevelRow,
    LevelsFinding,
    TargetsTold,
)
from campaigns.findings.wording.levels import (
    cost_text,
    knee_rows,
    model_text,
    noise_rows,
    verdict_counts,
    within_rows,
)
from campaigns.findings.wording.remarks import (
    confirmation_text,
    session_remarks,
    verdict_remarks,
)
from campaigns.findings.wording.targets import also_differs
from campaigns.findings.wording.verdicts import (
    Display,
    change_briefly,
    label_of,
    row_advice,
    span_briefly,
)
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.numbers import MISSING, amount, p_value
from campaigns.stats.cell_summary import CellSummary

GROUP = "levels-"
MOST_PAIRS = 105
"""Those of fifteen settings; REST has all."""
MOST_OPEN = 2
"""Groups of levels that are shown open."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """One comparison of two levels. also: what else differs between two targets."""

    baseline: str
    candidate: str
    change: str
    interval: str
    forest: strips.Forest | None
    tone: str
    p_adjusted: str
    p_ranks: str
    alone: str
    display: Display
    advice: str
    confirmation: str
    remarks: tuple[str, ...]
    also: str = ""


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of a setting against the best. upper: its upper bound, with 95 % confidence."""

    level: str
    mean: str
    cost: str
    upper: str
    best: bool
    possibly: bool


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The levels of one combination of the other factors. counts: how many verdicts of each kind.

    unknown: too little is known of a level, which may be the best: none is recommended. late: it has no lines; the page requests them when
    the group is unfolded.
    """

    id: str
    title: str
    counts: str
    steps: tuple[StepLine, ...] = ()
    costs: tuple[CostLine, ...] = ()
    recommended: tuple[tuple[str, str], ...] = ()
    knee: tuple[tuple[str, str], ...] = ()
    unknown: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True)
class PairLine:
    """Two settings that no step compares."""

    baseline: str
    candidate: str
    change: str
    interval: str
    p_adjusted: str
    display: Display


@dataclass(frozen=True, slots=True)
class LevelTables:
    """All groups. numeric: neighbouring levels are compared, else each with the first.

    others: the other pairs of the family, the first `MOST_PAIRS` of so many (`pairs`).
    """

    factor: str
    model: str
    noise: tuple[tuple[str, str], ...]
    groups: tuple[GroupTable, ...]
    scale: str
    numeric: bool
    others: tuple[PairLine, ...] = ()
    pairs: int = 0

    @property
    def folded(self) -> bool:
        """Return whether there are so many groups that each is folded."""
        return len(self.groups) > MOST_OPEN


def levels_of(shown: Shown, only: Collection[str] | None = None) -> LevelTables | None:
    """Write the comparisons of levels; none before the stop rule is met, as for pairs.

    only: the groups whose lines are wanted, where they are many.
    """
    findings = shown.findings
    if not findings.levels or not findings.summaries or not shown.primary or shown.is_open:
        return None
    told = findings.answer.targets if findings.answer else None
    return level_tables(findings.levels, findings.summaries, shown.labels, only, told)


def level_tables(
    levels: LevelsFinding,
    cells: Cells | BriefCells,
    labels: LevelLabels,
    only: Collection[str] | None = None,
    told: TargetsTold | None = None,
) -> LevelTables:
    """Return the tables of a campaign of levels, with means from the summaries of the cells.

    only: the ids of the groups whose lines are wanted, where groups are folded; None for all. told: of several targets.
    """
    verdicts = [row.comparison.verdict for group in levels.groups for row in group.comparisons]
    drawn = [verdict.pct_change for verdict in verdicts]
    drawn += [bound for verdict in verdicts for bound in verdict.ci_pct or ()]
    known = [value for value in drawn if value is not None]
    scale = strips.scale_of(known, zero=True)
    summaries = {cell.cell: cell.summary for cell in cells.cells}
    steps = {
        frozenset((row.baseline, row.candidate))
        for group in levels.groups
        for row in group.comparisons
    }
    others = [each for each in levels.pairs if {each.baseline, each.candidate} not in steps]
    names = {cell.cell: labels.sentence(cell.levels) for cell in cells.cells}
    return LevelTables(
        factor=labels.factor(levels.factor),
        model=model_text(levels),
        noise=tuple(noise_rows(levels)),
        groups=tuple(
            GroupTable(
                name, labels.sentence(group.levels), verdict_counts(levels, group), late=True
            )
            if only is not None and name not in only and len(levels.groups) > MOST_OPEN
            else _group(name, group, levels, summaries, scale, labels, told)
            for name, group in named_groups(levels)
        ),
        scale=scale.text if known else "",
        numeric=all(group.numeric for group in levels.groups),
        others=tuple(
            PairLine(
                baseline=names[each.baseline],
                candidate=names[each.candidate],
                change=change_briefly(levels, each.pct_change),
                interval=span_briefly(levels, each.ci_pct, each.pct_change)
                if each.ci_pct
                else MISSING,
                p_adjusted=p_value(each.p_adjusted),
                display=label_of(levels, each.word),
            )
            for each in others[:MOST_PAIRS]
        ),
        pairs=len(others),
    )


def named_groups(levels: LevelsFinding) -> list[tuple[str, LevelGroup]]:
    """Return each group with the id that addresses name it by."""
    return [(f"{GROUP}{n}", group) for n, group in enumerate(levels.groups, start=1)]


def _group(
    name: str,
    group: LevelGroup,
    levels: LevelsFinding,
    summaries: Mapping[int, CellSummary],
    scale: strips.Scale,
    labels: LevelLabels,
    told: TargetsTold | None,
) -> GroupTable:
    names = {
        cell: labels.short(levels.factor, value)
        for cell, value in zip(group.cells, group.values, strict=True)
    }
    best = group.best
    values = dict(zip(group.cells, group.values, strict=True))
    return GroupTable(
        id=name,
        title=labels.sentence(group.levels),
        counts=verdict_counts(levels, group),
        steps=tuple(
            _step(
                row,
                levels,
                names,
                scale,
                also_differs(told, levels.factor, values[row.baseline], values[row.candidate]),
            )
            for row in group.comparisons
        ),
        costs=_costs(levels, best, names, summaries) if best else (),
        recommended=tuple(within_rows(best, names)) if best and not best.unknown else (),
        unknown=bool(best and best.unknown),
        knee=tuple(knee_rows(group.knee, group.values)) if group.knee else (),
    )


def _step(
    row: LevelRow,
    levels: LevelsFinding,
    names: Mapping[int, str],
    scale: strips.Scale,
    also: str,
) -> StepLine:
    comparison, verdict = row.comparison, row.comparison.verdict
    other, display = comparison.sensitivity, label_of(levels, verdict.word)
    return StepLine(
        baseline=names[row.baseline],
        candidate=names[row.candidate],
        change=change_briefly(levels, verdict.pct_change),
        interval=interval_text(levels, verdict),
        forest=forest_of(verdict, scale),
        tone=display.tone,
        p_adjusted=p_value(verdict.p_adjusted),
        p_ranks=p_value(comparison.ranks.p if comparison.ranks else None),
        alone=span_briefly(levels, other.ci_pct) if other else MISSING,
        display=display,
        advice=row_advice(levels, row),
        confirmation=confirmation_text(row.confirmation),
        remarks=session_remarks(row.confirmation) + verdict_remarks(verdict),
        also=also,
    )


def _costs(
    levels: LevelsFinding,
    best: Best,
    names: Mapping[int, str],
    summaries: Mapping[int, CellSummary],
) -> tuple[CostLine, ...]:
    return tuple(
        CostLine(
            level=names[cell],
            mean=amount(summaries[cell].gmean or summaries[cell].mean, levels.unit),
            cost=cost_text(levels, best, cell),
            upper=change_briefly(levels, upper),
            best=cell == best.seen,
            possibly=cell in best.possibly,
        )
        for cell, upper in zip(best.cells, best.upper_pct, strict=True)
    )
