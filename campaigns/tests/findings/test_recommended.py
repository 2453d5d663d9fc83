from types import SimpleNamespace
from typing import Any

from campaigns.findings.recommended import favoured_by
from campaigns.findings.values import BestOverall, MostCarried
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    best_of,
    capacities,
    capacity,
    carried_by,
    level_group,
    levels_of,
    pairs_of,
    ratio,
    stratum,
    verdict,
)


def found(*, pairs=None, levels=None, capacity=None) -> Any:
    return SimpleNamespace(pairs=pairs, levels=levels, capacity=capacity)


def carried(load, **levels):
    around = capacity(CapacityWord.BETWEEN, load - 18.0, load, load + 12.0)
    return carried_by(around, **levels)


def pairs(**words):
    return found(
        pairs=pairs_of(
            *(stratum(verdict(word), engine="old", path=path) for path, word in words.items())
        )
    )


def levels(upper, **others):
    return found(
        levels=levels_of(level_group([5, 10, 20], levels=others, best=best_of([1, 2, 3], 3, upper)))
    )


def told(findings, contrast=None, **fields):
    return [(each.levels, each.at) for each in favoured_by(findings, contrast, **fields)]


def test_of_pairs_the_better_side_is_favoured_once():
    assert told(pairs(a=Word.BETTER, b=Word.BETTER)) == [({"engine": "new"}, {})]
    assert told(pairs(a=Word.WORSE)) == [({"engine": "old"}, {})]


def test_sides_that_differ_by_stratum_are_told_apart():
    assert told(pairs(a=Word.BETTER, b=Word.WORSE)) == [
        ({"engine": "new"}, {"path": "a"}),
        ({"engine": "old"}, {"path": "b"}),
    ]


def test_one_stratum_that_is_not_decided_favours_nothing():
    assert told(pairs(a=Word.BETTER, b=Word.NOT_ENOUGH_DATA)) == []
    assert told(pairs(a=Word.EQUIVALENT)) == []


def test_a_contrast_narrows_it_to_its_stratum():
    both = pairs(a=Word.BETTER, b=Word.WORSE)

    assert told(both, {"factor": "engine", "at": {"path": "b"}}) == [({"engine": "old"}, {})]


def test_of_levels_the_first_that_is_near_enough_to_the_best():
    assert told(levels([30.0, 4.9, 0.0])) == [({"workers": 10}, {})]
    assert told(levels([30.0, 20.0, 9.0])) == []


def test_what_is_favoured_in_one_combination_of_two_is_not_favoured_for_both():
    open_there = best_of([1, 2], 1, [9.0, 9.0])
    one_of_two = levels_of(
        level_group([5, 10], levels={"engine": "a"}, best=best_of([1, 2], 1, [0.0, 9.0])),
        level_group([5, 10], levels={"engine": "b"}, best=open_there),
    )
    unjudged = levels_of(one_of_two.groups[0], level_group([5, 10], levels={"engine": "b"}))

    assert told(found(levels=one_of_two)) == [({"workers": 5}, {"engine": "a"})]
    assert told(found(levels=unjudged)) == [({"workers": 5}, {"engine": "a"})]


def test_the_best_of_all_settings_comes_first():
    both = levels_of(
        level_group([5, 10], best=best_of([1, 2], 1, [0.0, 0.0])),
        overall=[BestOverall({}, {"workers": 10, "engine": "new"}, best_of([1, 2], 2, [9, 1]))],
    )

    assert told(found(levels=both)) == [
        ({"workers": 10, "engine": "new"}, {}),
        ({"workers": 5}, {}),
    ]


def test_nothing_is_favoured_without_findings():
    assert favoured_by(found()) == []


def test_the_best_itself_is_said_to_be_it():
    (favoured,) = favoured_by(levels([30.0, 20.0, 0.0]))

    assert favoured.levels == {"workers": 20}
    assert favoured.why.startswith("shown to be the best")


TWO, FOUR = carried(204.0, workers=2), carried(348.0, workers=4)
MORE = ratio(Word.BETTER, 1.7, 1.6, 1.8)
NEARER = levels_of(level_group([2, 4], levels={"hosts": 60}, best=best_of([1, 2], 1, [0.0, 9.0])))


def test_of_settings_under_load_the_one_that_carries_the_most_is_favoured():
    """At a small load another one may be the best: it is favoured only where that load is what the contrast names."""
    both = found(capacity=capacities(TWO, FOUR, ratios=[MORE]), levels=NEARER)

    (at_one,) = favoured_by(both, {"factor": "workers", "at": {"hosts": 60}}, ["hosts"])
    assert at_one.levels == {"workers": 2}
    (favoured,) = favoured_by(both, None, ["hosts"])

    assert (favoured.levels, favoured.at) == ({"workers": 4}, {})
    assert favoured.why == "carries the most: 330 to 360 hosts"
    worse = found(capacity=capacities(FOUR, TWO, ratios=[ratio(Word.WORSE, 0.6, 0.5, 0.7)]))
    assert told(worse) == [({"workers": 4}, {})]


def test_where_capacities_are_not_told_apart_the_loads_speak():
    undecided = capacities(TWO, FOUR, ratios=[ratio(Word.NO_DIFFERENCE_SHOWN, 1.1, 0.8, 1.4)])

    assert told(found(capacity=undecided)) == []
    assert told(found(capacity=undecided, levels=NEARER)) == [({"workers": 2}, {})]


def test_of_three_settings_under_load_the_first_near_the_most_is_favoured():
    most = MostCarried(possibly=[1, 2], more_pct=[80, 7, 3], within_pct=10.0, recommended=1)
    three = capacities(TWO, FOUR, carried(352.0, workers=8), ratios=[MORE], most=most)

    (favoured,) = favoured_by(found(capacity=three))

    assert favoured.levels == {"workers": 4}
    assert favoured.why == ("the first that carries within 10 % of the most: 330 to 360 hosts")


def test_a_load_is_never_favoured():
    alone = found(capacity=capacities(TWO), levels=levels([30.0, 4.9, 0.0]).levels)

    assert told(alone, told=["workers"]) == []


def test_a_setting_is_favoured_at_each_further_load_and_on_each_target():
    four = [
        carried(load, workers=workers, rate=rate)
        for rate, load in ((5, 204.0), (50, 120.0))
        for workers in (2, 4)
    ]
    better, worse = MORE, ratio(Word.WORSE, 0.6, 0.5, 0.7, (2, 3))

    assert told(found(capacity=capacities(*four, ratios=[better, worse])), told=["rate"]) == [
        ({"workers": 4}, {"rate": 5}),
        ({"workers": 2}, {"rate": 50}),
    ]
    assert told(found(capacity=capacities(*four, ratios=[better])), told=["rate"]) == []
