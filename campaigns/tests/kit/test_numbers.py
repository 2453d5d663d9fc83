import json
import math
import random
from pathlib import Path

import pytest

from campaigns.kit import numbers
from campaigns.kit.numbers import bracketed, digits_of, outward, short, signed

TABLE = Path(__file__).with_name("numbers.json")
"""Function, arguments and text; of what JSON lacks, the name."""
NAMED = {"NaN": math.nan, "inf": math.inf}


@pytest.mark.parametrize(("function", "arguments", "text"), json.loads(TABLE.read_text()))
def test_the_table_of_values(function, arguments, text):
    values = [NAMED.get(value, value) if isinstance(value, str) else value for value in arguments]

    assert getattr(numbers, function)(*values) == text


def test_the_command_line_is_tested_against_the_same_table():
    copy = Path(__file__).parents[3] / "client/tests/numbers.json"

    assert copy.read_bytes() == TABLE.read_bytes()


@pytest.mark.parametrize("value", [True, "much", None, math.nan])
def test_what_is_no_number_is_missing(value):
    for write in (numbers.number, numbers.duration, numbers.share, numbers.signed, numbers.percent):
        assert write(value) == "—"


def test_no_digits_are_left_of_a_whole_share():
    assert (numbers.share(0.104, 0), numbers.share(0.99996, 0), numbers.share(0.0004, 0)) == (
        "10 %",
        "100 %",
        "0 %",
    )


def test_a_number_with_a_sign_may_have_no_decimals():
    assert (signed(-40.0, 0), signed(-0.2, 0), signed(7.0, 0)) == ("−40", "0", "+7")


@pytest.mark.parametrize(
    ("low", "high", "digits"),
    [(10, 20, 3), (13.1, 13.14, 4), (1206.4, 1206.9, 5), (1, 1 + 1e-9, 6), (5, 5, 3), (0, 0, 3)],
)
def test_an_interval_has_the_digits_that_its_width_calls_for(low, high, digits):
    assert digits_of(low, high) == digits


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
