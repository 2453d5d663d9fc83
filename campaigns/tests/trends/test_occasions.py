"""When a line is due: summer time both ways, missed instants, schedules that are refused."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from campaigns.targets.quiet_hours import BadQuietHours, parse
from campaigns.trends.occasions import (
    BadSchedule,
    check,
    due_now,
    instants_after,
    key_at,
    longest_free,
    next_after,
)

NIGHTLY = "30 2 * * *"


def at(text):
    return datetime.fromisoformat(text).astimezone(UTC)


def test_instants_are_those_of_the_wall_clock(golden):
    for case in golden["schedules"]["due"]:
        found = islice(
            instants_after(case["cron"], case["zone"], at(case["after"])), len(case["due"])
        )
        assert [each.isoformat() for each in found] == case["due"]


def test_what_is_no_schedule_is_refused(golden):
    for cron in golden["schedules"]["refused"]:
        with pytest.raises(BadSchedule):
            check(cron, "UTC")


@pytest.mark.parametrize("cron", ["*/14 * * * *", "0,5 3 * * 1", "0-20/10 4 1 * *"])
def test_a_line_is_due_at_most_every_quarter_of_an_hour(cron):
    with pytest.raises(BadSchedule, match="at most every 15 minutes"):
        check(cron, "UTC")


@pytest.mark.parametrize("cron", ["*/15 * * * *", NIGHTLY, "0 0 29 2 *", "0 22 * * MON-FRI"])
def test_usual_schedules_are_taken(cron):
    check(cron, "Europe/Berlin")


def test_an_unknown_time_zone_is_refused():
    with pytest.raises(BadQuietHours, match="no known time zone"):
        check(NIGHTLY, "Europe/Atlantis")


def test_a_schedule_of_a_thousand_letters_is_refused():
    with pytest.raises(BadSchedule):
        check(",".join(map(str, range(60))) * 20 + " * * * *", "UTC")


def test_nothing_is_due_before_its_time():
    due_at = at("2026-12-01T02:30:00+00:00")

    assert due_now(NIGHTLY, "UTC", due_at, due_at - timedelta(seconds=1)) is None


def test_the_newest_missed_instant_is_made_up_for_once():
    due = due_now(NIGHTLY, "UTC", at("2026-12-01T02:30:00+00:00"), at("2026-12-04T09:00:00+00:00"))
    assert due

    assert due.at == at("2026-12-04T02:30:00+00:00")
    assert due.following == at("2026-12-05T02:30:00+00:00")
    assert not due.missed


def test_an_instant_that_is_too_long_ago_is_not_made_up_for():
    due = due_now(NIGHTLY, "UTC", at("2026-12-01T02:30:00+00:00"), at("2026-12-01T14:31:00+00:00"))
    assert due

    assert due.missed


@pytest.mark.parametrize(
    ("begin", "days"),
    [("2027-03-27T12:00:00+00:00", 3), ("2027-10-30T12:00:00+00:00", 3)],
    ids=["spring", "autumn"],
)
def test_each_night_has_one_key_also_when_the_clock_changes(begin, days):
    now, due_at, keys = at(begin), next_after(NIGHTLY, "Europe/Berlin", at(begin)), []
    for _ in range(days * 96):
        now += timedelta(minutes=15)
        due = due_now(NIGHTLY, "Europe/Berlin", due_at, now)
        if due is not None:
            keys.append(key_at(due.at))
            due_at = due.following

    assert len(keys) == len(set(keys)) == days


def test_a_clock_that_is_set_back_makes_nothing_due_again():
    first = at("2026-12-01T02:30:00+00:00")
    due = due_now(NIGHTLY, "UTC", first, first)
    assert due

    assert due_now(NIGHTLY, "UTC", due.following, first - timedelta(hours=2)) is None


def test_the_longest_time_between_quiet_hours_is_found():
    hours = parse("Mon-Fri 06:00-22:00")
    now = at("2026-11-30T12:00:00+00:00")

    assert longest_free(hours, "UTC", now) == timedelta(days=2, hours=8)
    assert longest_free(parse(""), "UTC", now) is None
