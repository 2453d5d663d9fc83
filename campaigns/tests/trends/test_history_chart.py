"""The chart of a trend: where sessions stand, what joins them, and what it says in words."""

from datetime import UTC, datetime, timedelta

import pytest

from campaigns.kit.charts.drawings import drawings_of
from campaigns.kit.charts.figure import Quantity
from campaigns.trends.charts.history import MOST_DRAWN, HistoryChart, describe, draw, plot
from campaigns.trends.values import Session, SessionPoint

START = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)


def point(number, value=10.0, *, version="3.1.0", border="", environment=0, hours=24.0):
    at = START + timedelta(hours=hours * number)
    session = Session(number, "nightly", at, version, "", border, environment, False, "")
    why = "" if value is not None else "fewer than 3 runs"
    low, high = (None, None) if value is None else (value * 0.99, value * 1.01)
    return SessionPoint(session, value, low, high, n=3, why=why)


def chart(points, *, by_version=False):
    pages = [f"/campaigns/{each.session.campaign}/" for each in points]
    return HistoryChart("Duration", Quantity("duration", "s"), points, pages, by_version)


def trace(figure, mode):
    return next(each for each in figure["data"] if each["mode"] == mode)


def test_sessions_of_one_hour_stand_apart():
    figure = draw(chart([point(each, hours=0.01) for each in range(3)]))

    places = trace(figure, "markers")["x"]
    assert places == pytest.approx([0, 0.01 / 24, 0.02 / 24], rel=1e-4)
    assert figure["layout"]["xaxis"]["ticktext"] == ["30 Nov"]


def test_versions_stand_evenly_with_a_tick_at_the_first_session_of_each():
    points = [point(0), point(1), point(2, version="3.2.0")]

    axis = draw(chart(points, by_version=True))["layout"]["xaxis"]

    assert (axis["tickvals"], axis["ticktext"]) == ([0.0, 2.0], ["3.1.0", "3.2.0"])


def test_no_line_joins_two_environments():
    points = [
        point(0),
        point(1),
        point(2, border="Kernel changed", environment=1),
        point(3, environment=1),
    ]

    figure = draw(chart(points))

    assert trace(figure, "lines")["y"] == [10.0, 10.0, None, 10.0, 10.0]
    assert len(figure["layout"]["shapes"]) == 1


def test_a_session_without_a_value_is_a_cross():
    drawn = plot(chart([point(0), point(1, None), point(2)]))

    assert drawn
    assert [(item.group, item.count) for item in drawn.key] == [("sessions", None), ("silent", 1)]


def test_one_session_is_no_chart_and_many_are_drawn_in_part():
    assert plot(chart([point(0)])) is None

    many = plot(chart([point(each) for each in range(MOST_DRAWN + 5)]))

    assert many
    assert "5 older ones" in many.note
    assert drawings_of(many.figure, many.height, many.label, many.id)[1] is not None


def test_it_says_in_words_what_is_drawn():
    points = [point(0, 10.0), point(1, 11.0, border="Kernel changed", environment=1)]

    assert describe(chart(points)) == (
        "Duration in the order of time: 2 sessions with a value; the newest 11 s, all from 10 s to 11 s; "
        "the environment changed 1 time."
    )
