"""The command line writes numbers as the pages do."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdash_client import formats

TABLE = Path(__file__).with_name("numbers.json")
"""A copy of the table that perfdash's own formatter is tested against."""
NAMED = {"NaN": math.nan, "inf": math.inf}
HERE: dict[str, Callable[..., str]] = {
    "span": lambda interval, unit: formats.span(interval[0], interval[1], unit),
}
NOT_HERE = {"bound", "coefficient", "grouped", "counted", "p_value", "plain", "plain_percent"}


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        row
        for row in json.loads(TABLE.read_text())
        if row[0] not in NOT_HERE and row[:2] != ["about", [None]]
    ],
)
def test_numbers_are_written_as_on_pages(function, arguments, text):
    values = [NAMED.get(value, value) if isinstance(value, str) else value for value in arguments]

    assert (HERE.get(function) or getattr(formats, function))(*values) == text
