from types import SimpleNamespace
from typing import Any

from campaigns.findings.recommended import favoured_by


def stratum(word, path="/a"):
    levels = {"engine": "old", "path": path}
    return {"levels": levels, "comparison": {"verdict": {"word": word}}}


def pairs(*strata) -> Any:
    found = {"factor": "engine", "baseline": "old", "candidate": "new", "strata": strata}
    return SimpleNamespace(pairs=found, levels=None)


def levels(*groups, share=5.0) -> Any:
    found = {"factor": "workers", "delta_pct": share, "groups": groups}
    return SimpleNamespace(pairs=None, levels=found)


def group(upper, seen, **others):
    cells = [1, 2, 3]
    best = {"cells": cells, "upper_pct": upper, "seen": seen}
    return {"best": best, "cells": cells, "values": [5, 10, 20], "levels": others}


def told(findings, contrast=None):
    return [(each.levels, each.at) for each in favoured_by(findings, contrast)]


def test_of_pairs_the_better_side_is_favoured_once():
    assert told(pairs(stratum("better"), stratum("better", "/b"))) == [({"engine": "new"}, {})]
    assert told(pairs(stratum("worse"))) == [({"engine": "old"}, {})]


def test_sides_that_differ_by_stratum_are_told_apart():
    assert told(pairs(stratum("better"), stratum("worse", "/b"))) == [
        ({"engine": "new"}, {"path": "/a"}),
        ({"engine": "old"}, {"path": "/b"}),
    ]


def test_one_stratum_that_is_not_decided_favours_nothing():
    assert told(pairs(stratum("better"), stratum("not_enough_data", "/b"))) == []
    assert told(pairs(stratum("equivalent"))) == []


def test_a_contrast_narrows_it_to_its_stratum():
    found = pairs(stratum("better"), stratum("worse", "/b"))

    assert told(found, {"factor": "engine", "at": {"path": "/b"}}) == [({"engine": "old"}, {})]


def test_of_levels_the_first_that_is_near_enough_to_the_best():
    assert told(levels(group([30.0, 4.9, 0.0], seen=3))) == [({"workers": 10}, {})]
    assert told(levels(group([30.0, 20.0, 9.0], seen=3))) == []


def test_nothing_is_favoured_without_findings():
    nothing: Any = SimpleNamespace(pairs=None, levels=None)

    assert favoured_by(nothing) == []


def test_the_best_itself_is_said_to_be_it():
    (found,) = favoured_by(levels(group([30.0, 20.0, 0.0], seen=3)))

    assert found.levels == {"workers": 20}
    assert found.why.startswith("the best measured")
