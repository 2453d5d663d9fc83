from typing import Any

import pytest

from campaigns.stats.binding import (
    Bound,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    Sign,
    State,
)
from campaigns.stats.binding_levels import (
    BindingRange,
    LevelWord,
    level_binding,
    ranges_of,
    trends_of,
)

MEMORY, CPU = Bound(Resource.MEMORY), Bound(Resource.CPU)


def run(*bound, word=None, cpu=0.3):
    """A judged run in which these resources bind."""
    states = [ResourceState(Resource.CPU, "", State.FREE, utilisation=cpu)]
    states += [
        ResourceState(each.resource, each.label, State.BINDS, 0.9, sign=Sign.SATURATION, strength=2)
        for each in bound
    ]
    word = word or (RunWord.BINDS if bound else RunWord.NONE)
    return RunBinding(word, list(bound), states, 60, 60)


UNKNOWN = run(word=RunWord.UNKNOWN)


def test_the_word_of_a_level_is_what_two_thirds_of_its_runs_say(subtests):
    cases = {
        "most": ([run(MEMORY), run(MEMORY), run()], LevelWord.BINDS, [MEMORY]),
        "both": ([run(MEMORY, CPU), run(MEMORY), run(MEMORY, CPU)], LevelWord.BINDS, [MEMORY, CPU]),
        "half": ([run(MEMORY), run(CPU)], LevelWord.MIXED, []),
        "nothing": ([run(), run(), run(CPU)], LevelWord.NONE, []),
        "unknown": ([UNKNOWN, UNKNOWN, run()], LevelWord.UNKNOWN, []),
        "no run": ([], LevelWord.UNKNOWN, []),
        "each other": ([UNKNOWN, run(), run(CPU)], LevelWord.MIXED, []),
    }
    for name, (runs, word, bound) in cases.items():
        with subtests.test(name):
            level = level_binding(runs)

            assert (level.word, list(level.bound)) == (word, bound)


def test_a_resource_of_a_level_has_the_mean_of_its_runs():
    level = level_binding([run(cpu=0.2), run(CPU, cpu=0.4), run()])

    cpu = level.resources[0]
    assert cpu.resource == Resource.CPU
    assert cpu.utilisation == pytest.approx((0.2 + 0.4 + 0.9 + 0.3) / 4)


def ranges(*levels):
    return ranges_of([level_binding([run(*each)] if each is not None else []) for each in levels])


def test_a_resource_binds_from_one_level_on_as_an_interval(subtests):
    memory = ("memory", "")
    cases: dict[str, tuple[list[Any], list[Any]]] = {
        "from": ([(), (), (MEMORY,), (MEMORY,)], [(*memory, 2, 3, 1, None)]),
        "everywhere": ([(MEMORY,), (MEMORY,)], [(*memory, 0, 1, None, None)]),
        "up to": ([(MEMORY,), ()], [(*memory, 0, 0, None, 1)]),
        "between": ([(), (MEMORY,), ()], [(*memory, 1, 1, 0, 2)]),
        "twice": ([(MEMORY,), (), (MEMORY,)], [(*memory, 0, 0, None, 1), (*memory, 2, 2, 1, None)]),
        "after one that is unknown": ([(), None, (MEMORY,)], [(*memory, 2, 2, 0, None)]),
        "nowhere": ([(), ()], []),
    }
    for name, (levels, expected) in cases.items():
        with subtests.test(name):
            assert ranges(*levels) == [BindingRange(*each) for each in expected]


def test_utilisation_that_rises_has_a_trend():
    levels = [(n, [run(cpu=n / 20), run(cpu=n / 20 + 0.01)]) for n in (3, 5, 8, 12)]

    (trend,) = trends_of(levels, 0.05)

    assert trend.resource == Resource.CPU
    assert trend.tau.tau > 0.8
    assert trend.tau.interval.low > 0
