"""List the settings that the stored findings favour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.store import Findings

Levels = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Favoured:
    """Levels by factor that are favoured. at: for which levels of the other factors; empty for all."""

    levels: Levels
    at: Levels
    why: str


def favoured_by(findings: Findings, contrast: Mapping[str, Any] | None = None) -> list[Favoured]:
    """Return what the findings favour, nothing where they favour neither side.

    contrast: narrows it to the levels of others that it names (`at`). Of pairs it is the side that is
    better in a stratum; of levels the first setting that is shown to be within the smallest effect of
    interest of the best one. The same setting in every stratum or group is returned once.
    """
    at = (contrast or {}).get("at") or {}
    if findings.pairs:
        result = _of_pairs(findings.pairs)
    elif findings.levels:
        result = _of_levels(findings.levels)
    else:
        result = []
    return _once([each for each in result if _fits(each.at, at)])


def _fits(where: Levels, at: Levels) -> bool:
    return all(where.get(name, level) == level for name, level in at.items())


def _of_pairs(pairs: Mapping[str, Any]) -> list[Favoured]:
    factor = pairs["factor"]
    sides = {"better": pairs["candidate"], "worse": pairs["baseline"]}
    result = []
    for stratum in pairs["strata"]:
        word = stratum["comparison"]["verdict"]["word"]
        if word in sides:
            others = {name: lv for name, lv in stratum["levels"].items() if name != factor}
            result.append(Favoured({factor: sides[word]}, others, "better in pairs"))
    return result if len(result) == len(pairs["strata"]) else []


def _of_levels(levels: Mapping[str, Any]) -> list[Favoured]:
    factor, share = levels["factor"], levels["delta_pct"]
    results = list(_of_all(levels))
    for group in levels["groups"]:
        best = group["best"]
        if not best:
            continue
        rows = zip(best["cells"], best["upper_pct"], strict=True)
        cell = next((cell for cell, upper in rows if upper <= share), None)
        if cell is not None:
            values = dict(zip(group["cells"], group["values"], strict=True))
            is_best = cell == best["seen"]
            why = f"demonstrably within {share:g} % of the best"
            why = f"the best measured; no lower setting is {why}" if is_best else why
            if len(best["cells"]) < len(group["cells"]):
                why += f", of {len(best['cells'])} of {len(group['cells'])} settings, which can be ranked"
            results.append(Favoured({factor: values[cell]}, group["levels"], why))
    return results


def _of_all(levels: Mapping[str, Any]) -> Iterator[Favoured]:
    """Yield the best cell over all factors, where it is demonstrably as good as the best."""
    share = levels["delta_pct"]
    for each in levels.get("overall", ()):
        best = each["best"]
        if best["upper_pct"][best["cells"].index(best["seen"])] <= share:
            why = f"the best of all {len(best['cells'])} settings, demonstrably within {share:g} % of the best"
            yield Favoured(each["setting"], each["levels"], why)


def _once(items: Sequence[Favoured]) -> list[Favoured]:
    if items and all(each.levels == items[0].levels for each in items):
        return [Favoured(items[0].levels, {}, items[0].why)]
    return list(items)
