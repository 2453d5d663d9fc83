"""Quiet hours: what is read, what is refused, and when they begin and end by any wall clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.targets.quiet_hours import BadQuietHours, parse

BERLIN = "Europe/Berlin"


def at(text, zone=BERLIN, fold=0):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


def test_office_hours_end_in_the_evening_and_begin_in_the_morning():
    hours = parse("Mon-Fri 08:00-18:00")

    assert hours.ends_at(at("2026-11-20 12:00"), BERLIN) == at("2026-11-20 18:00")  # a Friday
    assert hours.ends_at(at("2026-11-20 18:00"), BERLIN) is None
    assert hours.ends_at(at("2026-11-20 08:00"), BERLIN) == at("2026-11-20 18:00")
    assert hours.begins_at(at("2026-11-20 19:00"), BERLIN) == at("2026-11-23 08:00")
    assert hours.begins_at(at("2026-11-20 07:59"), BERLIN) == at("2026-11-20 08:00")


def test_the_begin_after_quiet_hours_that_are_on_is_the_next_one():
    hours = parse("daily 08:00-18:00")

    assert hours.begins_at(at("2026-11-20 08:00"), BERLIN) == at("2026-11-21 08:00")


def test_a_window_goes_over_midnight_and_over_the_end_of_the_week():
    hours = parse("daily 22:00-06:00")

    assert hours.ends_at(at("2026-11-22 23:00"), BERLIN) == at("2026-11-23 06:00")  # a Sunday
    assert hours.ends_at(at("2026-11-23 05:59:59"), BERLIN) == at("2026-11-23 06:00")


def test_windows_that_touch_or_overlap_are_one():
    hours = parse(
        "Fri 18:00-24:00\nSat,Sun 00:00-24:00\nMon 00:00-06:00 # and the night\nMon 05:00-07:00"
    )

    assert hours.ends_at(at("2026-11-20 18:00"), BERLIN) == at("2026-11-23 07:00")


def test_days_may_be_a_range_over_the_weekend_and_written_out():
    hours = parse("friday-monday 10:00-11:00")

    quiet = [hours.ends_at(at(f"2026-11-{day} 10:30"), BERLIN) is not None for day in range(16, 23)]
    assert quiet == [True, False, False, False, True, True, True]


def test_without_lines_nothing_is_quiet():
    hours = parse("\n  # nothing yet\n")

    assert not hours
    assert hours.ends_at(at("2026-11-20 12:00"), BERLIN) is None
    assert hours.begins_at(at("2026-11-20 12:00"), BERLIN) is None


def test_the_zone_decides():
    hours = parse("daily 08:00-18:00")

    assert hours.ends_at(at("2026-11-20 02:00"), "Asia/Tokyo") == at("2026-11-20 10:00")
    assert hours.ends_at(at("2026-11-20 02:00"), BERLIN) is None


def test_an_hour_that_comes_twice_is_quiet_twice():
    hours = parse("Sun 02:00-03:00")
    first = at("2026-10-25 02:30")

    assert hours.ends_at(first, BERLIN) == at("2026-10-25 03:00") == first + timedelta(minutes=90)


def test_half_an_hour_that_comes_twice_is_quiet_twice_with_a_pause():
    hours = parse("Sun 02:00-02:30")
    first = at("2026-10-25 02:10")

    assert hours.ends_at(first, BERLIN) == at("2026-10-25 02:30")
    assert hours.begins_at(first, BERLIN) == at("2026-10-25 02:00", fold=1)


def test_an_hour_that_is_left_out_is_not_quiet():
    hours = parse("Sun 02:00-03:00")

    assert hours.begins_at(at("2026-03-29 01:00"), BERLIN) == at("2026-04-05 02:00")


def test_quiet_hours_that_end_in_the_hour_left_out_end_when_the_clock_jumps():
    hours = parse("Sun 01:00-02:30")

    begin = at("2026-03-29 01:30")
    assert hours.ends_at(begin, BERLIN) == at("2026-03-29 03:00") == begin + timedelta(minutes=30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sometimes", "Line 1, “sometimes”, cannot be read"),
        ("Mon 08:00-18:00\nXyz 08:00-18:00", "Line 2: “Xyz” is no day"),
        ("Mon 08:00-25:00", "“25:00” is no time"),
        ("Mon 24:00-08:00", "“24:00” is no time"),
        ("Mon 08:60-09:00", "“08:60” is no time"),
        ("Mon 08:00-08:00", "begins when it ends"),
        ("Mo 08:00-18:00", "“Mo” is no day"),
        ("Mon- 08:00-18:00", "“” is no day"),
        ("08:00-18:00", "cannot be read"),
        ("daily 00:00-24:00", "cover the whole week"),
        ("daily 12:00-06:00\ndaily 06:00-12:00", "cover the whole week"),
        ("Mon 08:00-09:00\n" * 51, "at most 50"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text, words):
    with pytest.raises(BadQuietHours, match=words.replace("(", r"\(")):
        parse(text)


@pytest.mark.parametrize(
    "zone", ["", "Europe", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "localtime"]
)
def test_an_unknown_zone_is_told(zone):
    with pytest.raises(BadQuietHours, match="no known time zone"):
        parse("daily 08:00-09:00").ends_at(at("2026-11-20 12:00"), zone)


times = st.integers(0, 24 * 60 - 1)
windows = st.lists(st.tuples(st.integers(0, 6), times, times), min_size=1, max_size=5)
instants = st.integers(0, 2 * 365 * 86400).map(lambda s: at("2026-01-01") + timedelta(seconds=s))
zones = st.sampled_from(
    [BERLIN, "UTC", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tokyo"]
)
NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def written(minutes):
    return f"{minutes // 60:02}:{minutes % 60:02}"


@given(windows, instants, zones)
def test_quiet_is_what_the_wall_clock_says_and_ends_at_the_first_minute_that_is_not(
    windows, instant, zone
):
    lines = [
        f"{NAMES[day]} {written(begin)}-{written(end)}"
        for day, begin, end in windows
        if begin != end
    ]

    def quiet(instant):
        wall = instant.astimezone(ZoneInfo(zone))
        minute = wall.weekday() * 1440 + wall.hour * 60 + wall.minute
        return any(
            (minute - day * 1440 - begin) % 10080 < (end - begin) % 1440
            for day, begin, end in windows
        )

    hours = parse("\n".join(lines))
    ends = hours.ends_at(instant, zone)

    assert (ends is not None) == quiet(instant)
    if ends is not None:
        assert not quiet(ends)
        checked = instant
        while checked < ends:
            assert quiet(checked)
            checked += timedelta(minutes=7)
        assert quiet(ends - timedelta(microseconds=1))
    begins = hours.begins_at(instant, zone)
    assert (begins is None) == (not lines)
    if begins is not None:
        assert quiet(begins)
        assert not quiet(begins - timedelta(microseconds=1))
