"""Compare what the settings of campaigns carry with the same settings of the first campaign.

Loads are not matched: a capacity may have been found by other loads, or by a search. The ratios of one page are one family (Holm).
"""

from msgspec import structs

from campaigns.findings.compute.comparability import (
    OTHER_HARDWARE,
    Names,
    carried_differences,
    hardware_of_builds,
    same_levels,
    target_differences,
)
from campaigns.findings.values import CapacityOfSetting, ComparedCapacity
from campaigns.stats.capacity import CapacityRatio
from campaigns.stats.capacity_across import ratio_across
from campaigns.stats.capacity_ratio import in_family, without_numbers
from campaigns.stats.verdict import Word


def compare_carried(
    names: Names, alpha: float, *, hardware: bool = False
) -> list[ComparedCapacity]:
    """Return the ratios of all settings that a campaign and the first one have; empty where one has no load.

    hardware: two builds on different hardware may be compared.
    """
    rows = [
        _compared(names, place, one, other, alpha, hardware=hardware)
        for place in range(1, len(names.sides))
        for one, other in _matched(names, place)
    ]
    judged = in_family([row.ratio for row in rows], alpha=alpha)
    return [structs.replace(row, ratio=ratio) for row, ratio in zip(rows, judged, strict=True)]


def _matched(names: Names, place: int) -> list[tuple[CapacityOfSetting, CapacityOfSetting]]:
    """Pair settings that are equal in all that varies but the load, in the order of the baseline."""
    base, side = names.sides[0], names.sides[place]
    if base.carried is None or side.carried is None:
        return []
    varied = _varied(names, place)
    theirs = {same_levels(side, each.levels, varied): each for each in side.carried.settings}
    return [
        (each, theirs[key])
        for each in base.carried.settings
        if (key := same_levels(base, each.levels, varied)) in theirs
    ]


def _varied(names: Names, place: int) -> set[str]:
    """Return what varies in either campaign, without their loads."""
    sides = names.sides[0], names.sides[place]
    loads = {side.carried.load for side in sides if side.carried}
    return {name for side in sides for name in side.factors} - loads


def _compared(
    names: Names,
    place: int,
    one: CapacityOfSetting,
    other: CapacityOfSetting,
    alpha: float,
    *,
    hardware: bool,
) -> ComparedCapacity:
    both = names.sides[0], one, names.sides[place], other
    refused, reason = carried_differences(*both), "conditions_differ"
    if not refused and not hardware:
        refused, reason = hardware_of_builds(*both), OTHER_HARDWARE
    varied = _varied(names, place)
    return ComparedCapacity(
        side=place,
        name=names.setting(0, one.levels, varied) if varied else "",
        baseline=one,
        candidate=other,
        ratio=without_numbers(Word.NOT_COMPARABLE, reason)
        if refused
        else _ratio(one, other, alpha),
        sessions=(_sessions(one), _sessions(other)),
        between=all(each.alone is not None and each.alone.between for each in (one, other)),
        refused=refused,
        differs=target_differences(*both),
    )


def _ratio(one: CapacityOfSetting, other: CapacityOfSetting, alpha: float) -> CapacityRatio:
    return ratio_across((one.capacity, one.alone), (other.capacity, other.alone), alpha=alpha)


def _sessions(setting: CapacityOfSetting) -> int:
    return setting.confirmation.sessions if setting.confirmation else 0
