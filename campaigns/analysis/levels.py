"""Campaigns of levels: neighbours compared as one family, the best setting, the knee."""

from collections.abc import Sequence
from typing import Any

from campaigns.analysis.family import Family, Group
from campaigns.drivers import driver_of
from campaigns.drivers.base import Metric
from campaigns.models import Campaign, Cell
from campaigns.queries.runs import ObservedRun
from campaigns.stats.comparisons import Comparisons
from campaigns.stats.criteria import Criteria
from campaigns.stats.logs import pct_of

MOST_CELLS = 400
"""More of them are summarised, and not compared."""


def compare(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> dict[str, Any] | None:
    """Compare the levels of the main factor; None for pairs, for one cell, and beyond MOST_CELLS."""
    cells = list(campaign.cells.order_by("position"))
    if campaign.order == Campaign.Order.PAIRED or not 1 < len(cells) <= MOST_CELLS:
        return None
    factor = _main_factor(campaign, cells)
    if factor is None:
        return None
    groups = _groups(factor, cells)
    family = Family(campaign, metric, criteria, cells, runs)
    wanted = [pair for group in groups for pair in group.pairs]
    compared = family.compare(wanted)
    rows = dict(zip(wanted, compared.comparisons, strict=True))
    return {
        "factor": factor,
        "metric": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "lower_is_better": metric.lower_is_better,
        "margin_pct": 100 * criteria.margin,
        "delta_pct": 100 * criteria.delta,
        "model": str(compared.model),
        "noise": _noise(compared),
        "sessions": len(family.sessions),
        "groups": [family.described(group, rows, compared) for group in groups],
    }


def _main_factor(campaign: Campaign, cells: Sequence[Cell]) -> str | None:
    """The factor along which cells are compared: numbers first; work is never compared."""
    work = driver_of(campaign.kind).work
    levels = {
        factor.name: [level.value for level in factor.levels.all()]
        for factor in campaign.factors.prefetch_related("levels")
        if factor.name not in work
    }
    several = {name: values for name, values in levels.items() if len(values) > 1}
    numeric = [name for name, values in several.items() if _is_numeric(values)]
    return next(iter([*numeric, *several]), None)


def _groups(factor: str, cells: Sequence[Cell]) -> list[Group]:
    """Cells by the levels of all other factors; numbers ascend, so that neighbours are steps."""
    found: dict[str, tuple[dict[str, Any], list[tuple[Any, int]]]] = {}
    for place, cell in enumerate(cells):
        levels = dict(cell.levels_by_factor)
        value = levels.pop(factor, None)
        found.setdefault(repr(sorted(levels.items())), (levels, []))[1].append((value, place))
    groups = []
    for levels, members in found.values():
        numeric = _is_numeric([value for value, _ in members])
        ordered = sorted(members, key=lambda each: each[0]) if numeric else members
        groups.append(
            Group(
                levels=levels,
                cells=tuple(place for _, place in ordered),
                values=tuple(value for value, _ in ordered),
                numeric=numeric,
            )
        )
    return groups


def _noise(compared: Comparisons) -> dict[str, Any]:
    """How much runs vary: within blocks, or within levels, and between blocks; in %."""
    if compared.fit is None or compared.fit.df < 1:
        return {}
    found: dict[str, Any] = {"sd_pct": pct_of(compared.fit.sd), "df": compared.fit.df}
    if compared.blocks:
        found |= {
            "block_sd_pct": pct_of(compared.blocks.block_sd),
            "efficiency": compared.blocks.efficiency,
            "blocks": len(compared.blocks.blocks),
        }
    return found


def _is_numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
