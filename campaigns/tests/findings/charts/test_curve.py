"""Which runs of a stored cell are drawn, and as what."""

import pytest

from campaigns.findings.charts.curve import runs_of, spoiled_of
from campaigns.findings.values import BriefCell
from campaigns.tests.findings.wording.builders import summarised


@pytest.mark.parametrize(
    ("flags", "drawn"),
    [
        ((), [(1.5, "ok"), (2.5, "ok")]),
        (("too_many_failures",), [(None, "failed"), (None, "failed")]),
    ],
)
def test_what_is_left_where_too_much_failed_is_drawn_as_no_value(flags, drawn):
    known = summarised(2, flags=flags)
    cell = BriefCell(
        cell=1, levels={}, summary=known.summary, counts=known.counts, values=[1.5, 2.5]
    )

    assert [(run.value, run.drawn) for run in runs_of(cell, "block")] == drawn
    assert spoiled_of(cell) == (2 if flags else 0)
