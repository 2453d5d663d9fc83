"""Readings: which campaigns belong to a line, what their targets told, and the points of their cells."""

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from campaigns.models import FactSet, Point, Reading, SubjectVersion, Trend
from campaigns.planning import lifecycle
from campaigns.tests.measured import finish
from campaigns.tests.trends.measuring import another, line_from, measured, telling
from campaigns.trends import readings

__all__ = ["telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    """A line with one session of core 3.1.0."""
    return line_from(measured(target, person, days=9), person)


def versions(line):
    return [str(each.version) for each in line.readings.order_by("version__position", "at")]


def stored():
    return (
        list(Reading.objects.order_by("pk").values()),
        list(
            Point.objects.order_by("trend", "reading").values_list(
                "trend", "reading", "y", "sd", "n"
            )
        ),
        list(Trend.objects.order_by("pk").values()),
    )


def test_the_campaign_that_it_begins_with_is_its_first_reading(line):
    (reading,) = line.readings.all()

    assert (str(reading.version), reading.companions, reading.torn) == ("3.1.0", {}, False)
    assert reading.facts.facts["target: kernel"] == "6.1"
    assert "target: core" not in reading.facts.facts
    assert sorted(line.trends.values_list("label", flat=True)) == [
        "Duration: Engine new", "Duration: Engine old",
    ]  # fmt: skip


def test_a_point_is_the_mean_of_logs_of_the_runs_of_its_cell(line):
    for point in Point.objects.select_related("trend", "reading__session__campaign"):
        runs = point.reading.session.campaign.runs.filter(
            cell__levels_by_factor=point.trend.levels
        ).values_list("position", flat=True)
        logs = [math.log(10.0 * (1 + position / 1000)) for position in runs]
        assert point.n == 3
        assert point.y == pytest.approx(sum(logs) / 3)


def test_a_late_old_version_stands_where_its_scheme_puts_it(line, person):
    for days, version in ((8, "3.123.1"), (7, "3.105.25"), (6, "3.105.4")):
        another(line, person, days=days, core=version)

    assert versions(line) == ["3.1.0", "3.105.4", "3.105.25", "3.123.1"]


def test_reading_again_changes_nothing(line, person):
    reading = another(line, person, core="3.2.0", days=3)
    before = stored()

    readings.read(line, reading.session.campaign)
    readings.extend(reading.session.campaign)

    assert stored() == before


def test_another_environment_is_a_border_and_a_companion_is_none(line, person):
    another(line, person, days=5, core="3.2.0", plugin="1.0", hosts="a")
    another(line, person, days=4, core="3.2.0", plugin="1.1", hosts="b")
    another(line, person, days=3, core="3.2.0", plugin="1.1", kernel="6.12")

    borders = [each.border for each in line.readings.order_by("at")]

    assert borders[:3] == [None, None, None]
    assert borders[3] == {"changed": {"target: kernel": ["6.1", "6.12"]}, "days": None}
    assert list(line.readings.order_by("at").values_list("environment", flat=True)) == [0, 0, 0, 1]
    assert line.readings.order_by("at")[2].companions == {"plugin": "1.1"}


def test_a_version_that_changes_in_mid_campaign_is_torn_and_has_no_point(line, person):
    reading = another(line, person, core="3.1.0", after={"core": "3.2.0"})

    assert reading.torn
    assert {(each.y, *each.flags) for each in reading.points.all()} == {(None, "torn")}


def test_sets_of_facts_are_stored_once(line, person):
    another(line, person, days=2)
    another(line, person, days=1, core="3.2.0")

    assert FactSet.objects.count() == 1


def test_a_version_of_ten_thousand_letters_is_a_version_of_no_order(line, person):
    reading = another(line, person, core="x" * 10_000)

    assert len(str(reading.version)) == 200
    assert SubjectVersion.objects.count() == 2


def test_a_campaign_of_another_definition_is_no_part_of_it(line, person, target):
    other = lifecycle.extend(measured(target, person, template=line.template), 1, person)
    finish(other)

    assert readings.extend(other) is None
    assert line.readings.count() == 1


def test_a_campaign_that_goes_on_has_no_reading(line, person, target):
    campaign = measured(target, person, template=line.template)
    type(campaign).objects.filter(pk=campaign.pk).update(state="running")

    assert readings.extend(campaign) is None


def test_the_state_of_a_trend_tells_its_newest_value_and_its_noise(line, person):
    another(line, person, days=5, seconds=10.2)
    another(line, person, days=4, core="3.2.0", seconds=12)

    state = line.trends.first().state

    assert (state["sessions"], state["versions"], state["version"]) == (3, 2, "3.2.0")
    assert state["repeated"] == 2
    assert state["between"] == pytest.approx(math.log(1.02) / math.sqrt(2), rel=1e-6)
    assert len(state["curve"]) == 3


def test_a_reading_takes_as_many_queries_however_long_its_line_is(line, person, target):
    def queries(days):
        campaign = measured(target, person, template=line.template, days=days)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            readings.extend(campaign)
        return len(captured)

    queries(8)
    first = queries(7)
    for days in (6, 5, 4):
        another(line, person, days=days)

    assert queries(3) == first
