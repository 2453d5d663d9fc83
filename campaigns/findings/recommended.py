"""List the settings that the stored findings favour."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from campaigns.findings.store import Findings
from campaigns.findings.values import Levels, LevelsFinding, Pairs
from campaigns.findings.wording.recommended import BETTER_SIDE, why_best_of_all, why_near_best
from campaigns.kit.mappings import Contrast
from campaigns.stats.verdict import Word


@dataclass(frozen=True, slots=True)
class Favoured:
    """Levels by factor that are favoured. at: for which levels of the other factors; empty for all."""

    levels: Levels
    at: Levels
    why: str


def favoured_by(findings: Findings, contrast: Contrast | None = None) -> list[Favoured]:
    """Return what the findings favour, nothing where they favour neither side.

    contrast: narrows it to the levels of others that it names (`at`). Of pairs it is the side that is
    better in a stratum; of levels the first setting that is shown to be within the smallest effect of
    interest of the best one. The same setting in every stratum or group is returned once.
    """
    at = (contrast or {}).get("at") or {}
    if findings.pairs:
        result = _of_pairs(findings.pairs)
    elif findings.levels:
        result = [*_of_all(findings.levels), *_of_groups(findings.levels)]
    else:
        result = []
    return _once([each for each in result if _fits(each.at, at)])


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
        if best is None:
            continue
        rows = zip(best.cells, best.upper_pct, strict=True)
        cell = next((cell for cell, upper in rows if upper <= share), None)
        if cell is not None:
            level = dict(zip(group.cells, group.values, strict=True))[cell]
            why = why_near_best(group, best, cell, share)
            yield Favoured({levels.factor: level}, group.levels, why)


def _of_all(levels: LevelsFinding) -> Iterator[Favoured]:
    """Yield the best cell over all factors, where it is demonstrably as good as the best."""
    for each in levels.overall:
        best = each.best
        if best.upper_pct[best.cells.index(best.seen)] <= levels.delta_pct:
            why = why_best_of_all(best, levels.delta_pct)
            yield Favoured(each.setting, each.levels, why)


def _once(items: Sequence[Favoured]) -> list[Favoured]:
    if items and all(each.levels == items[0].levels for each in items):
        return [Favoured(items[0].levels, {}, items[0].why)]
    return list(items)
