from typing import Any

import pytest

from campaigns.stats.binding import (
    Bound,
    Figure,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    Sign,
    State,
)
from campaigns.stats.binding_levels import (
    BindingRange,
    LevelResource,
    LevelWord,
    level_binding,
    ranges_of,
    trends_of,
)

MEMORY, CPU = Bound(Resource.MEMORY), Bound(Resource.CPU)


def run(*bound, word=None, cpu=0.3, free=(CPU, MEMORY), partly=()):
    """A judged run in which these resources bind, some of them for a part of it, and others are free."""
    used = {CPU: cpu, MEMORY: None}
    states = [
        ResourceState(
            each.resource,
            each.label,
            State.BINDS if each in bound else State.FREE,
            used.get(each, 0.9),
            sign=Sign.SATURATION if each in bound else None,
            judged_by=Figure("pressure_some", 0.9, limit=0.25)
            if each in bound
            else Figure("cpu_used", cpu, limit=0.9),
            at_limit=(0.5 if each in partly else 1.0) if each in bound else None,
        )
        for each in dict.fromkeys([*free, *bound])
    ]
    word = word or (RunWord.BINDS if bound else RunWord.NONE)
    return RunBinding(word, list(bound), states, 60, 60)


UNKNOWN = run(word=RunWord.UNKNOWN, free=[CPU])


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
    assert cpu.utilisation == pytest.approx((0.2 + 0.4 + 0.3) / 3)


def test_a_resource_of_a_level_is_what_two_thirds_of_its_runs_say(subtests):
    cases = {
        (2, 1, 0): State.BINDS,
        (1, 2, 0): State.FREE,
        (1, 0, 2): State.UNKNOWN,
        (0, 1, 2): State.UNKNOWN,
        (0, 2, 1): State.FREE,
        (2, 2, 0): State.UNKNOWN,
        (0, 0, 3): State.UNKNOWN,
    }
    for counts, state in cases.items():
        with subtests.test(str(counts)):
            assert LevelResource(Resource.CPU, "", 0.5, *counts).state == state


def test_a_core_that_a_run_does_not_name_is_free_where_the_busiest_is():
    nobody, puma = Bound(Resource.CORE), Bound(Resource.CORE, "puma")
    free = [run(free=[nobody]), run(free=[nobody]), run(free=[puma])]
    levels = [level_binding(each) for each in (free, [run(free=[nobody])], [run(puma)])]

    assert [each.state for each in levels[0].resources] == [State.FREE] * 2
    assert ranges_of(levels) == [BindingRange(Resource.CORE, "puma", 2, 2, 1, None)]


def test_no_resource_hides_another_at_a_level():
    levels = [[run(CPU)], [run(CPU, MEMORY)], [run(CPU)]]

    assert ranges_of([level_binding(runs) for runs in levels]) == [
        BindingRange(Resource.CPU, "", 0, 2, None, None),
        BindingRange(Resource.MEMORY, "", 1, 1, 0, 2),
    ]


def test_a_resource_ends_to_bind_only_where_it_is_known_to_be_free(subtests):
    cases = {
        "the same in half of the runs": ([run(CPU), run(CPU), run(), run()], None),
        "unknown in most": ([run(CPU), run(free=[]), run(free=[])], None),
        "of the others nothing is known": ([run(word=RunWord.UNKNOWN, free=[CPU])], 1),
    }
    for name, (runs, after) in cases.items():
        with subtests.test(name):
            (found,) = ranges_of([level_binding([run(CPU)]), level_binding(runs)])

            assert (found.last, found.after) == (0, after)


THREADS = Bound(Resource.THREADS, "puma")


def test_a_queue_binds_only_where_nothing_behind_it_does():
    nothing, alone, behind = [run(free=[CPU, THREADS])], [run(THREADS)], [run(CPU, THREADS)]
    levels = [level_binding(each) for each in (nothing, alone, behind, behind)]

    assert ranges_of(levels) == [
        BindingRange(Resource.THREADS, "puma", 1, 1, 0, None),
        BindingRange(Resource.CPU, "", 2, 3, 1, None),
    ]
    assert ranges_of(levels[2:]) == [BindingRange(Resource.CPU, "", 0, 1, None, None)]


def test_a_level_has_the_figure_by_which_most_of_its_runs_judged(subtests):
    cases = {
        "binds": ([run(CPU), run(CPU), run()], ("pressure_some", 0.9)),
        "free": ([run(cpu=0.2), run(cpu=0.4), run(CPU)], ("cpu_used", 0.3)),
        "not the same": ([run(), run(CPU)], None),
    }
    for name, (runs, expected) in cases.items():
        with subtests.test(name):
            by = level_binding(runs).resources[0].judged_by

            if expected is None:
                assert by is None
            else:
                assert (by.name, by.value) == (expected[0], pytest.approx(expected[1]))


def test_a_resource_of_a_level_binds_for_a_part_where_it_does_in_most_of_its_runs():
    part, whole = run(CPU, partly=[CPU]), run(CPU)

    assert level_binding([part, part, whole]).resources[0].is_partly
    assert not level_binding([part, whole, whole]).resources[0].is_partly


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
        "on both sides of one that is unknown": (
            [(MEMORY,), None, (MEMORY,), ()],
            [(*memory, 0, 0, None, None), (*memory, 2, 2, None, 3)],
        ),
        "before some that are unknown": ([(), (MEMORY,), None, None], [(*memory, 1, 1, 0, None)]),
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
