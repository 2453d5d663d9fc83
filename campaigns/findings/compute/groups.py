"""Group the cells of a campaign so that the cells of a group differ in one factor only."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from django.db.models import prefetch_related_objects

from campaigns.findings.compute.sameness import compared_work
from campaigns.kinds.base.values import TARGET
from campaigns.kit.mappings import Levels
from campaigns.kit.numbers import rank_of
from campaigns.models import Campaign, Cell
from campaigns.planning.roles import Role, never_ranked, roles_of


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that differ in one factor only, in the order of its levels. every: all pairs of them are compared.

    numeric: the levels are numbers. unlimited: the one of them that means no limit, and is the last.
    """

    levels: Levels
    cells: tuple[int, ...]
    values: tuple[Any, ...]
    numeric: bool
    every: bool = False
    unlimited: float | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs to compare: neighbours of numbers, and each other category with the first.

        Of targets all pairs: the answer of two stands where a third one, perhaps the first, has failed.
        """
        if self.every:
            return list(combinations(self.cells, 2))
        return list(pairwise(self.cells)) if self.numeric else self.against_first

    @property
    def against_first(self) -> list[tuple[int, int]]:
        """Return each cell paired with the first one."""
        return [(self.cells[0], cell) for cell in self.cells[1:]]


def comparable_factors(campaign: Campaign) -> list[str]:
    """Return the factors along which cells are compared: targets first, then builds and numbers, instruments last.

    Work is never compared, and load neither: it is what settings have to carry. What may be load is not, as long as nobody has said so.
    """
    work, roles = (*compared_work(campaign), *never_ranked(campaign)), roles_of(campaign)
    several = {
        name: values for name, values in several_levels(campaign).items() if name not in work
    }
    return sorted(
        several,
        key=lambda name: (
            roles[name] == Role.INSTRUMENT,
            roles[name] != Role.TARGET,
            roles[name] != Role.BUILD,
            not is_numeric(several[name]),
        ),
    )


def varied_loads(campaign: Campaign) -> list[str]:
    """Return the factors of several levels that are load, in their order."""
    roles = roles_of(campaign)
    return [name for name in several_levels(campaign) if roles[name] == Role.LOAD]


def unranked_loads(campaign: Campaign) -> list[str]:
    """Return the factors of several levels that are load, then those that may be: settings are compared at each of their levels."""
    several = several_levels(campaign)
    return [name for name in never_ranked(campaign) if name in several]


def instruments_of(campaign: Campaign) -> list[str]:
    """Return the factors of several levels that are how it is measured: none of their levels is the best."""
    roles = roles_of(campaign)
    return [name for name in several_levels(campaign) if roles[name] == Role.INSTRUMENT]


def several_levels(campaign: Campaign) -> dict[str, list[Any]]:
    """Return the levels of each factor that has several; read once for a campaign, as they are asked for hundreds of times."""
    prefetch_related_objects([campaign], "factors__levels")
    levels = {
        factor.name: [level.value for level in factor.levels.all()]
        for factor in campaign.factors.all()
    }
    return {name: values for name, values in levels.items() if len(values) > 1}


def unlimited_of(campaign: Campaign, factor: str) -> float | None:
    """Return the level of a factor that means no limit; None without one."""
    prefetch_related_objects([campaign], "factors__levels")
    return next((each.unlimited for each in campaign.factors.all() if each.name == factor), None)


def groups_of(factor: str, cells: Sequence[Cell], unlimited: float | None = None) -> list[Group]:
    """Group cells by the levels of all other factors; numbers are sorted, the one that means no limit last."""
    result: dict[str, tuple[dict[str, Any], list[tuple[Any, int]]]] = {}
    for place, cell in enumerate(cells):
        levels = dict(cell.levels_by_factor)
        value = levels.pop(factor, None)
        result.setdefault(repr(sorted(levels.items())), (levels, []))[1].append((value, place))
    groups = []
    for levels, members in result.values():
        numeric = is_numeric([value for value, _ in members])
        ordered = (
            sorted(members, key=lambda each: rank_of(each[0], unlimited)) if numeric else members
        )
        groups.append(
            Group(
                levels=levels,
                cells=tuple(place for _, place in ordered),
                values=tuple(value for value, _ in ordered),
                numeric=numeric,
                every=factor == TARGET and any(cell.target_id is not None for cell in cells),
                unlimited=unlimited if numeric else None,
            )
        )
    return groups


def is_numeric(values: Sequence[Any]) -> bool:
    """Return whether all levels are numbers."""
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
