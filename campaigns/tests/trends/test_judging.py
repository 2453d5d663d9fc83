"""What the sessions of one trend show, on numbers alone."""

import math

import pytest

from campaigns.trends.judging import Measured, judge, tail

WOBBLE = [0.0, 0.011, -0.008, 0.006, -0.012, 0.009, -0.004, 0.013, -0.01, 0.002]


def history(levels, *, versions=None, fails=(), once=(), silent=()):
    """Sessions with a wobble of 1 %. levels: in percent above the first; versions: a new one each time where none are given."""
    return [
        Measured(
            reading=100 + at,
            version=versions[at] if versions else at,
            y=None if at in silent else math.log1p(level / 100) + WOBBLE[at % 10],
            once=at in once,
            fails=at in fails,
        )
        for at, level in enumerate(levels)
    ]


def judged(sessions, sign):
    return judge(sessions, sign)


def test_a_jump_of_the_newest_is_suspected_and_said_in_the_metric_s_own_sign():
    worse = judged(history([0] * 12 + [8]), 1).worse
    fell = judged(history([0] * 12 + [-8]), -1).worse

    assert (worse.kind, worse.direction, worse.at, worse.good, worse.bad) == (
        "screen", "worse", 112, 111, 112,
    )  # fmt: skip
    assert worse.p < 0.001
    assert worse.low < worse.estimate < worse.high
    assert fell.p < 0.001
    assert fell.low < fell.estimate < fell.high < 0


def test_a_better_one_is_found_alike():
    found = judged(history([0] * 12 + [-8]), 1)

    assert found.better.p < 0.001 < found.worse.p
    assert found.better.direction == "better"


def test_a_difference_within_a_version_is_the_machine_s():
    found = judged(history([0] * 12 + [8], versions=[1] * 13), 1).worse

    assert found.kind == "machine"


def test_of_little_history_it_is_said_how_much_is_missing():
    assert [judged(history([0] * n), 1).more for n in range(1, 8)] == [6, 5, 4, 3, 2, 1, 0]


def test_a_session_that_was_not_reproduced_begins_no_suspicion_and_stays_in_the_plateau():
    found = judged(history([0] * 12 + [8], once=[12]), 1)
    after = judged(history([0] * 12 + [8, 0], once=[12]), 1)

    assert found.worse is None
    assert found.more == 0
    assert after.before + after.k == 14
    assert after.worse.p > 0.2


def test_a_level_that_changed_is_found_where_it_changed():
    (change,) = judged(history([0] * 10 + [8] * 6), 1).changes

    assert (change.kind, change.direction, change.good, change.bad) == (
        "change", "worse", 109, 110,
    )  # fmt: skip
    assert change.estimate == pytest.approx(math.log(1.08), abs=0.01)


def test_a_change_beside_the_border_of_a_version_is_moved_to_it():
    versions = [1] * 11 + [2] * 6
    (change,) = judged(history([0] * 10 + [8] * 7, versions=versions), 1).changes
    (inside,) = judged(history([0] * 8 + [8] * 9, versions=versions), 1).changes

    assert (change.kind, change.at) == ("change", 111)
    assert (inside.kind, inside.at) == ("machine", 108)


def test_where_neither_is_better_changes_have_no_direction_and_nothing_is_screened():
    found = judged(history([0] * 10 + [8] * 6), 0)

    assert [each.direction for each in found.changes] == [""]
    assert (found.worse, found.better, found.failing) == (None, None, None)


def test_what_passed_and_fails_is_suspected_at_once():
    found = judged(history([0, 0, 0], fails=[2], silent=[2]), 1).failing

    assert (found.kind, found.good, found.bad, found.p) == ("failing", 101, 102, None)
    assert judged(history([0, 0, 0], fails=[0, 1, 2], silent=[0, 1, 2]), 1).failing is None
    assert judged(history([0, 0, 0], fails=[1], silent=[1]), 1).failing is None


def test_the_version_that_fails_first_is_the_bad_one():
    found = judged(history([0] * 6, fails=[3, 4, 5], silent=[3, 4, 5]), 1).failing

    assert (found.at, found.good, found.bad) == (105, 102, 103)


def test_a_value_that_fails_a_criterion_tells_no_level_unless_it_always_did():
    kept = judged(history([0] * 12 + [50], fails=[12]), 1)
    never = judged(history([0] * 12 + [50], fails=range(13)), 1)

    assert kept.worse.p > 0.3
    assert kept.failing.at == 112
    assert never.worse.p < 0.001
    assert never.failing is None


def test_a_slow_drift_is_told_and_blames_no_version():
    found = judged(history([0.7 * at for at in range(30)]), 1)

    assert found.drift.slope == pytest.approx(0.0065, abs=0.001)


def test_so_many_sessions_are_judged_when_one_is_added():
    assert [tail(n) for n in (0, 99, 124, 125, 126, 150, 3650)] == [0, 0, 0, 25, 25, 50, 3550]
