"""Which of several settings carries the most, or so nearly that it is recommended. Pure.

Answer, sizing tables, reports and conclusions choose by these two functions, so that they name the same setting.
"""

from collections.abc import Collection, Sequence

from campaigns.findings.values import CapacityFinding
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.units import Place
from campaigns.stats.verdict import Word

DECIDED = (CapacityWord.BETWEEN, CapacityWord.AT_LEAST, CapacityWord.FEWER_THAN)
"""Words with a bound that may be cited."""


def most_carried(finding: CapacityFinding, places: Sequence[Place] | None = None) -> Place | None:
    """Return the setting that carries more than every other one of these (all), where each of these ratios is decided."""
    among = range(len(finding.settings)) if places is None else places
    beaten = _beaten(finding, among)
    return next((place for place in among if beaten[place] | {place} == {*among}), None)


def recommended_place(finding: CapacityFinding, places: Sequence[Place]) -> Place | None:
    """Return the first of these settings, in the order of levels, that is shown to carry the most or nearly so.

    Where all settings were ranked together it is what that found. Elsewhere, as with several targets, it is the first one
    that carries more than every other, or as many within the margin. One setting alone needs a number only. None where none is shown to.
    """
    if len(places) == 1:
        (place,) = places
        return place if finding.settings[place].capacity.word in DECIDED else None
    if finding.most and len(places) == len(finding.settings):
        return finding.most.recommended
    beaten, near = _beaten(finding, places), _near(finding)
    return next(
        (
            place
            for place in places
            if all(
                other == place or other in beaten[place] or {place, other} in near
                for other in places
            )
        ),
        None,
    )


def _beaten(finding: CapacityFinding, among: Collection[Place]) -> dict[Place, set[Place]]:
    """Return which settings each one is shown to exceed, also by way of others."""
    direct: dict[Place, set[Place]] = {place: set() for place in among}
    for each in finding.ratios:
        if each.baseline not in direct or each.candidate not in direct:
            continue
        if each.ratio.word == Word.BETTER:
            direct[each.candidate].add(each.baseline)
        elif each.ratio.word == Word.WORSE:
            direct[each.baseline].add(each.candidate)
    result = {}
    for place, below in direct.items():
        seen = set(below)
        while more := {each for one in seen for each in direct[one]} - seen:
            seen |= more
        result[place] = seen
    return result


def _near(finding: CapacityFinding) -> list[set[Place]]:
    """Return the pairs of settings that carry as many within the margin."""
    return [
        {each.baseline, each.candidate}
        for each in finding.ratios
        if each.ratio.word == Word.EQUIVALENT
    ]
