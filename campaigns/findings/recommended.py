"""List the settings that the stored findings favour."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from campaigns.findings.most_carried import recommended_place
from campaigns.findings.store import Findings, findings_of
from campaigns.findings.values import CapacityFinding, Levels, LevelsFinding, Pairs
from campaigns.findings.wording.recommended import (
    BETTER_SIDE,
    why_best_of_all,
    why_most_carried,
    why_near_best,
)
from campaigns.kit.mappings import Contrast
from campaigns.models import Campaign
from campaigns.planning.roles import Role, asked_of, roles_of
from campaigns.stats.units import Place
from campaigns.stats.verdict import Word

CHOSEN = (Role.SETTING, Role.BUILD)
"""Roles of factors that somebody may choose."""


@dataclass(frozen=True, slots=True)
class Favoured:
    """Levels by factor that are favoured. at: for which levels of the other factors; empty for all."""

    levels: Levels
    at: Levels
    why: str


def favoured_of(campaign: Campaign, contrast: Contrast | None = None) -> list[Favoured]:
    """Return what the stored findings of a campaign favour: never a load, a target, or how it was measured."""
    told = [name for name, role in roles_of(campaign).items() if role not in CHOSEN]
    told += asked_of(campaign)
    return favoured_by(findings_of(campaign, "", brief=True), contrast, told)


def favoured_by(
    findings: Findings, contrast: Contrast | None = None, told: Collection[str] = ()
) -> list[Favoured]:
    """Return what the findings favour, nothing where they favour neither side.

    contrast: narrows it to the levels of others that it names (`at`). told: factors that nobody chooses, which are told beside a setting.
    Where a setting is shown to carry the most, it is that one, unless the contrast is at one load. Of pairs it is the side that is better in a stratum; of levels the first
    setting that is shown to be within the smallest effect of interest of the best one. The same setting in every stratum or group is
    returned once; where it is not favoured in every one, it says where.
    """
    at = (contrast or {}).get("at") or {}
    partly = False
    capacity = findings.capacity
    result = _of_capacity(capacity, told) if capacity and capacity.load not in at else []
    if not result:
        if findings.pairs:
            result = _of_pairs(findings.pairs)
        elif findings.levels:
            result = [*_of_all(findings.levels), *_of_groups(findings.levels)]
            partly = _is_partial(findings.levels, at)
    chosen = (_told_apart(each, told) for each in result)
    fitting = [each for each in chosen if each.levels and _fits(each.at, at)]
    return fitting if partly else _once(fitting)


def _told_apart(each: Favoured, told: Collection[str]) -> Favoured:
    levels = {name: level for name, level in each.levels.items() if name not in told}
    others = {name: level for name, level in each.levels.items() if name in told}
    return Favoured(levels, {**each.at, **others}, each.why)


def _of_capacity(capacity: CapacityFinding, told: Collection[str]) -> list[Favoured]:
    """Return the setting that carries the most, for each work, further load and target; empty where one is not decided."""
    names = {name for each in capacity.settings for name in each.levels}
    varied = [
        name
        for name in sorted(names)
        if len({repr(each.levels.get(name)) for each in capacity.settings}) > 1
    ]
    groups: dict[str, list[Place]] = {}
    for place, each in enumerate(capacity.settings):
        key = repr([each.levels.get(name) for name in varied if name in told])
        groups.setdefault(key, []).append(place)
    result = []
    for places in groups.values():
        chosen = recommended_place(capacity, places) if len(places) > 1 else None
        if chosen is None:
            return []
        of = capacity.settings[chosen].levels
        levels = {name: level for name, level in of.items() if name in varied}
        result.append(Favoured(levels, {}, why_most_carried(capacity, chosen, places)))
    return result


def _fits(where: Levels, at: Levels) -> bool:
    return all(where.get(name, level) == level for name, level in at.items())


def _of_pairs(pairs: Pairs) -> list[Favoured]:
    sides = {Word.BETTER: pairs.candidate, Word.WORSE: pairs.baseline}
    result = []
    for stratum in pairs.strata:
        word = stratum.comparison.verdict.word
        if word in sides:
            others = {name: lv for name, lv in stratum.levels.items() if name != pairs.factor}
            result.append(Favoured({pairs.factor: sides[word]}, others, BETTER_SIDE))
    return result if len(result) == len(pairs.strata) else []


def _of_groups(levels: LevelsFinding) -> Iterator[Favoured]:
    share = levels.delta_pct
    for group in levels.groups:
        best = group.best
        cell = best.recommended(share) if best else None
        if best and cell is not None:
            level = dict(zip(group.cells, group.values, strict=True))[cell]
            why = why_near_best(group, best, cell, share)
            yield Favoured({levels.factor: level}, group.levels, why)


def _of_all(levels: LevelsFinding) -> Iterator[Favoured]:
    """Yield the best cell over all factors, where it is demonstrably as good as the best."""
    for each in levels.overall:
        best = each.best
        if not best.unknown and best.upper_pct[best.cells.index(best.seen)] <= levels.delta_pct:
            why = why_best_of_all(best, levels.delta_pct)
            yield Favoured(each.setting, each.levels, why)


def _is_partial(levels: LevelsFinding, at: Levels) -> bool:
    """Return whether somewhere nothing is favoured: what is favoured elsewhere is not favoured for all."""
    groups = [each.best for each in levels.groups if _fits(each.levels, at)]
    everywhere = [*groups, *(each.best for each in levels.overall)]
    return any(best is None or best.recommended(levels.delta_pct) is None for best in everywhere)


def _once(items: Sequence[Favoured]) -> list[Favoured]:
    if items and all(each.levels == items[0].levels for each in items):
        return [Favoured(items[0].levels, {}, items[0].why)]
    return list(items)
