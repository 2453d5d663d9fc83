"""What is suspected in a line, as it is stored; and that storing a session looks at so many of the newest alone."""

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from campaigns.models import Point, TrendChange
from campaigns.tests.trends.histories import of_environment, remembered
from campaigns.tests.trends.measuring import another, line_from, measured, telling
from campaigns.trends import readings, screening

__all__ = ["telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    """A line of two trends with one session of core 3.1.0."""
    return line_from(measured(target, person, days=40), person)


def suspicions(line):
    return screening.suspicions(line)


def changes():
    names = ("trend", "kind", "direction", "reading", "good", "bad", "estimate", "p", "suspected")
    return list(TrendChange.objects.order_by("trend", "kind", "reading").values_list(*names))


def states(line):
    return [trend.state for trend in line.trends.order_by("pk")]


def test_a_slow_new_version_is_suspected_in_each_trend(line):
    remembered(line, [0] * 12 + [8])
    readings.rebuild(line)

    one, other = suspicions(line)

    assert (one.kind, one.direction, str(one.good), str(one.bad)) == (
        "screen", "worse", "3.211.0", "3.212.0",
    )  # fmt: skip
    assert one.trend != other.trend
    assert one.estimate == pytest.approx(math.log(1.08), abs=0.02)
    assert one.low < one.estimate < one.high
    assert one.p < 0.01
    assert [state["suspected"] for state in states(line)] == ["screen"] * 2


def test_a_quiet_line_has_no_suspicion_and_says_how_large_p_is(line):
    remembered(line, [0] * 12)
    readings.rebuild(line)

    assert suspicions(line) == []
    assert [state["suspected"] for state in states(line)] == [""] * 2
    assert all(state["p"] > 0.1 and state["more"] == 0 for state in states(line))


def test_with_little_history_nothing_is_suspected(line):
    remembered(line, [0, 0, 90])
    readings.rebuild(line)

    assert suspicions(line) == []
    assert [(state["p"], state["more"]) for state in states(line)] == [(None, 3)] * 2


def test_a_difference_below_the_margin_is_none(line):
    remembered(line, [0] * 30 + [1.8], wobble=0.05)
    readings.rebuild(line)

    assert suspicions(line) == []
    assert states(line)[0]["p"] < 0.001


def test_a_better_version_is_listed_as_such(line):
    remembered(line, [0] * 12 + [-8])
    readings.rebuild(line)

    assert {(each.kind, each.direction) for each in suspicions(line)} == {("screen", "better")}


def test_within_one_version_it_is_the_machine(line):
    remembered(line, [0] * 12 + [8], versions=["3.200.0"] * 13)
    readings.rebuild(line)

    assert {each.kind for each in suspicions(line)} == {"machine"}


def test_a_level_that_has_changed_names_its_range(line):
    remembered(line, [0] * 10 + [8] * 6)
    readings.rebuild(line)

    found = [each for each in suspicions(line) if each.kind == "change"]

    assert [(str(each.good), str(each.bad)) for each in found] == [("3.209.0", "3.210.0")] * 2
    assert TrendChange.objects.filter(kind="change", suspected=True).count() == 2


def test_a_level_of_an_earlier_environment_is_history(line):
    stored = remembered(line, [0] * 10 + [8] * 6 + [8] * 9)
    of_environment(stored[16:], kernel="6.12")
    readings.rebuild(line)

    assert suspicions(line) == []
    assert TrendChange.objects.filter(kind="change").count() == 2


def test_what_is_not_reproduced_is_suspected_no_more(line):
    stored = remembered(line, [0] * 12 + [8])
    readings.rebuild(line)
    Point.objects.filter(reading=stored[-1]).update(once=True)

    screening.screen(line)

    assert suspicions(line) == []


def test_reading_again_keeps_what_was_said_of_a_point(line, person):
    reading = another(line, person, days=3, core="3.2.0")
    reading.points.update(once=True)

    readings.read(line, reading.session.campaign)

    assert set(reading.points.values_list("once", flat=True)) == {True}


def test_too_many_failures_are_suspected_at_once(line):
    remembered(line, [0, 0, 0], flags={2: "too_many_failures"})
    readings.rebuild(line)

    assert {(each.kind, str(each.good), str(each.bad), each.p) for each in suspicions(line)} == {
        ("failing", "3.201.0", "3.202.0", None)
    }  # fmt: skip


def test_a_history_that_is_older_than_its_line_raises_no_suspicion(line):
    stored = remembered(line, [0] * 10 + [8] * 6)
    type(line).objects.filter(pk=line.pk).update(created_at=stored[-1].at.replace(year=2100))

    readings.rebuild(line)

    assert suspicions(line) == []
    assert TrendChange.objects.count() == 2


def test_a_session_that_is_added_finds_what_a_rebuild_finds(line, person):
    remembered(line, [0] * 10 + [6] * 19)
    readings.rebuild(line)
    reading = another(line, person, days=0, core="3.900.0", seconds=12)
    step = changes(), states(line)

    readings.rebuild(line)

    assert (changes(), states(line)) == step
    assert {each.reading for each in suspicions(line)} >= {reading}


def test_older_changes_stay_as_they_were_found(line, person):
    remembered(line, [0] * 30 + [8] * 20 + [0] * 110, days_a_session=0.2)
    readings.rebuild(line)
    before = changes()
    assert len(before) == 4

    another(line, person, days=0, core="3.900.0", seconds=10)

    assert [row[:6] for row in changes() if row[1] == "change"] == [row[:6] for row in before]


def test_suspicions_are_read_in_one_query(line):
    remembered(line, [0] * 12 + [8])
    readings.rebuild(line)

    with CaptureQueriesContext(connection) as captured:
        assert len(suspicions(line)) == 2

    assert len(captured) == 1
