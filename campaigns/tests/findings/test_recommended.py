from types import SimpleNamespace
from typing import Any

from campaigns.findings.recommended import favoured_by
from campaigns.findings.values import BestOverall
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    best_of,
    level_group,
    levels_of,
    pairs_of,
    stratum,
    verdict,
)


def found(*, pairs=None, levels=None) -> Any:
    return SimpleNamespace(pairs=pairs, levels=levels)


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


def told(findings, contrast=None):
    return [(each.levels, each.at) for each in favoured_by(findings, contrast)]


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
    assert favoured.why.startswith("the best measured")
