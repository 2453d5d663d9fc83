import math
import random

import pytest

from campaigns.kit.charts.formats import (
    amount,
    bracketed,
    counted,
    duration,
    number,
    outward,
    percent,
    short,
    signed,
    span,
    span_pct,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (22.84, "22.8"),
        (0.01234, "0.0123"),
        (99.96, "100"),
        (1206.4, "1,206"),
        (-15.5, "−15.5"),
        (1.8e-6, "1.8e−6"),
        (2.5e12, "2.5e12"),
        (math.nan, "—"),
    ],
)
def test_a_number_has_three_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (120.0, "120 s"),
        (120.4, "2:00"),
        (1749.68, "29:10"),
        (1749.5, "29:10"),
        (3600.0, "60:00"),
        (22.8, "22.8 s"),
        (-1750.0, "−29:10"),
    ],
)
def test_a_duration_above_two_minutes_is_a_clock(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1750.0, "s", "29:10"),
        (12.3, "ms", "12.3 ms"),
        (48_200_000.0, "B/s", "48.2 MB/s"),
        (2_500_000.0, "B", "2.5 MB"),
        (0.104, "share", "10.4 %"),
        (3.0, "count", "3"),
        (50.0, "1/s", "50/s"),
        (50.0, "files/s", "50 files/s"),
        (7.0, "furlongs", "7 furlongs"),
    ],
)
def test_an_amount_has_the_unit_that_people_read(value, unit, text):
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-23.975, "−24.0 %"),
        (173.88, "+173.9 %"),
        (-0.04, "0.0 %"),
        (0.0, "0.0 %"),
        (12345.6, "+12,346 %"),
        (-1234.5, "−1,234 %"),
    ],
)
def test_a_change_keeps_its_sign_with_a_true_minus(value, text):
    assert percent(value) == text


def test_an_interval_is_two_numbers():
    assert span_pct((-16.22, 2.78)) == "−16.2 … +2.8"
    assert span((1628.0, 1881.0), "s") == "27:08 … 31:21"
    assert signed(-40.0, 0) == "−40"


def test_one_thing_has_no_plural():
    assert (counted(1, "run"), counted(1206, "pair")) == ("1 run", "1,206 pairs")


@pytest.mark.parametrize("limit", [10, 11])
def test_long_words_keep_both_ends(limit):
    cut = short("http://127.0.0.1/manifest-500", limit)

    assert len(cut) == limit
    assert cut.startswith("http")
    assert cut.endswith("-500")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (5.2, 6.8, "between 5 and 7 (5.2 to 6.8, 95 %)"),
        (5.0, 5.4, "between 5 and 7 (5 to 5.4, 95 %)"),
        (5.0, 7.949, "between 5 and 10 (5 to 7.95, 95 %)"),
        (5.0000000000001, 10.0, "between 5 and 10 (95 %)"),
        (5.0, 5.0, "at 5 (95 %)"),
        (3.14159, 4.0, "between 3 and 5 (3.14 to 4, 95 %)"),
    ],
)
def test_bounds_between_levels_stand_beside_the_levels_around_them(low, high, text):
    assert bracketed(low, high, [3, 5, 7, 10, 15, 20]) == text


def test_written_bounds_hold_the_computed_ones():
    draws = random.Random(7)
    for _ in range(2000):
        low = 10 ** draws.uniform(-6, 7)
        high = low * draws.uniform(1, 50)

        written = [float(text.replace(",", "").replace("−", "-")) for text in outward(low, high)]

        assert written[0] <= low * (1 + 1e-9)
        assert written[1] >= high * (1 - 1e-9)
