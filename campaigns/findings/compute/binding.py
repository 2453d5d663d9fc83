"""The finding of binding: which resource of the target binds at which level of each setting."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.findings.compute.capacity import factor_label
from campaigns.findings.compute.conditions import COUNTED
from campaigns.findings.compute.groups import (
    Group,
    comparable_factors,
    groups_of,
    is_numeric,
    several_levels,
    unlimited_of,
    varied_loads,
)
from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.models import Attempt, Binding, Campaign, Cell
from campaigns.results.values import ObservedRun
from campaigns.results.watched import binding_from, judge_again
from campaigns.stats.binding import JUDGED, RULE, Caveat, RunBinding
from campaigns.stats.binding_levels import level_binding, ranges_of, trends_of
from campaigns.stats.criteria import MOST_CELLS

SATURATED = "bound"
"""A run whose generator was saturated says nothing about the limits of the target, but it does about its machine."""


def binding(campaign: Campaign, runs: Sequence[ObservedRun], alpha: float) -> BindingFinding | None:
    """Return which resource binds at which level; None where no counted run was watched, and beyond MOST_CELLS."""
    judged = _judged(campaign)
    cells = list(campaign.cells.all())
    if not judged or len(cells) > MOST_CELLS:
        return None
    counted = [run for run in runs if run.state in (*COUNTED, SATURATED)]
    by_cell: dict[int, list[RunBinding]] = {cell.pk: [] for cell in cells}
    for run in counted:
        if run.run in judged:
            by_cell[run.cell].append(judged[run.run])
    watched = [each for members in by_cell.values() for each in members]
    if not watched:
        return None
    factor = _factor(campaign)
    unlimited = unlimited_of(campaign, factor) if factor else None
    groups = groups_of(factor, cells, unlimited) if factor else _alone(cells)
    seen = {state.resource for run in watched for state in run.resources}
    told = {caveat for run in watched for caveat in run.caveats}
    return BindingFinding(
        factor=factor,
        label=factor_label(campaign, factor) if factor else "",
        is_load=factor in varied_loads(campaign),
        numeric=bool(factor) and all(group.numeric for group in groups),
        groups=[_group(group, cells, by_cell, alpha) for group in groups],
        runs=len(counted),
        watched=len(watched),
        not_watched=[resource for resource in JUDGED if resource not in seen],
        missing=sorted({name for run in watched for name in run.missing}),
        caveats=[caveat for caveat in Caveat if caveat in told],
        rule=RULE,
        alpha=alpha,
        niced=_niced(watched),
    )


def _niced(runs: Sequence[RunBinding]) -> list[str]:
    """Return the niced programs that use a part of a CPU that binds, those of most runs first."""
    names = Counter(
        name
        for run in runs
        for state in run.resources
        if Caveat.NICED in state.caveats
        for figure in state.figures
        if figure.name == "cpu_niced" and figure.label
        for name in figure.label.split(", ")
    )
    return [name for name, _ in names.most_common()]


def _judged(campaign: Campaign) -> dict[int, RunBinding]:
    """Return the judgement of the attempt that counts, by run. One by an earlier rule is made anew, where its series are stored."""
    rows = (
        Binding.objects.filter(
            attempt__run__campaign=campaign, attempt__state__in=Attempt.WITH_VALUES
        )
        .select_related("attempt")
        .order_by("attempt__number")
    )
    judged = {}
    for row in rows:
        again = judge_again(row.attempt) if row.rule != RULE else None
        binding = again or binding_from(row.result)
        if binding is not None:
            judged[row.attempt.run_id] = binding
    return judged


def _factor(campaign: Campaign) -> str:
    """Return along which factor levels are told: load, else numbers, else whatever varies first; empty where nothing varies."""
    levels = several_levels(campaign)
    compared = comparable_factors(campaign)
    numbers = [name for name in compared if is_numeric(levels[name])]
    return next(iter([*varied_loads(campaign), *numbers, *compared, *levels]), "")


def _alone(cells: Sequence[Cell]) -> list[Group]:
    """Return each cell as a group of its own, where nothing varies."""
    return [
        Group(levels=dict(cell.levels_by_factor), cells=(place,), values=(None,), numeric=False)
        for place, cell in enumerate(cells)
    ]


def _group(
    group: Group,
    cells: Sequence[Cell],
    by_cell: Mapping[int, Sequence[RunBinding]],
    alpha: float,
) -> BindingGroup:
    runs = [by_cell[cells[place].pk] for place in group.cells]
    levels = [level_binding(each) for each in runs]
    values: Sequence[Any] = group.values
    return BindingGroup(
        levels=group.levels,
        cells=[
            BindingLevel(cells[place].pk, value, level)
            for place, value, level in zip(group.cells, values, levels, strict=True)
        ],
        ranges=ranges_of(levels) if group.numeric else [],
        trends=trends_of(list(enumerate(runs)), alpha) if group.numeric else [],
    )
