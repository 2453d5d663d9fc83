from typing import Any

import pytest

from campaigns.findings.values import Law, LawBounds, LoadGroup, LoadLevel, Unranked
from campaigns.findings.wording.scalability import between, doubt_of, notes_of


def law_of(**figures):
    """A law of which only some figures matter."""
    blank: dict[str, Any] = dict.fromkeys(Law.__struct_fields__)
    return Law(**(blank | {"extrapolated": False, "peak_reached": True} | figures))


def test_an_interval_that_leaves_what_was_measured_has_no_figure_there():
    law = law_of(largest=24)

    assert between([4.0, 6.0], law) == "4 to 6"
    assert between([18.3, 3150.0], law) == "18.3 to beyond what was measured"
    assert between([18.3, None], law) == "18.3 to beyond what was measured"
    assert between([30.0, None], law) == "beyond what was measured"


def test_a_law_that_lies_below_its_runs_recommends_nothing():
    level = LoadLevel(12.0, 3, 330.0, None, None, None, None)

    text = doubt_of(law_of(most=177.0), [level], "files/s")

    assert "at 12 the runs carried 330 files/s" in text
    assert "No limit is recommended" in text
    assert not doubt_of(law_of(most=310.0), [level], "files/s")
    assert not doubt_of(law_of(most=None), [level], "files/s")


def group_of(law=None, levels=(), **more):
    fields: dict[str, Any] = {
        "levels": {},
        "missing": "" if law else "not_enough_levels",
        "fewest": 4,
        "left_out": {"bound": 0, "not_steady": 0, "failures": 0},
        "runs": [],
        "levels_measured": levels,
        "law": law,
        "bounds": None,
        "curve": [],
        "places": {},
    }
    return LoadGroup(**fields | more)


PEAKED = {"largest": 32.0, "peak": 20.4, "most": 310.0, "throttle": 11, "peak_reached": True}
BOUNDS = LawBounds(
    g=(1, 2), s=(0, 1), k=(0, 1), peak=(18.0, 24.2), most=(1, 2), power_point=(1, 2), throttle=(9.0, 40.0),
    with_peak=1.0,
)  # fmt: skip


def test_levels_of_one_run_say_that_there_is_no_interval():
    levels = [LoadLevel(n, 1, 100.0, None, None, None, None) for n in (1.0, 8.0, 32.0)]

    text = " ".join(notes_of(group_of(law_of(**PEAKED), levels), "files/s"))

    assert "20.4 (no interval: no level has two runs that count)" in text


@pytest.mark.parametrize(
    ("group", "notes"),
    [
        (
            group_of(levels=[LoadLevel(2.0, 3, 100.0, None, None, None, None)]),
            ["No law is fitted: it takes 4 levels with runs that count, and there is 1."],
        ),
        (
            group_of(missing="", left_out={"bound": 2, "not_steady": 1, "failures": 0}),
            [
                "The law is shown when the campaign has ended.",
                "In no fit: 2 runs where the generator was saturated or starved; 1 run where both halves of the run differ by "
                "more than 5 %.",
            ],
        ),
        (
            group_of(law_of(**PEAKED)),
            [
                "Recommended limit: 11 at a time, the fewest with 95 % of the largest throughput.",
                "The peak lies at 20.4 at a time, with 310 files/s.",
            ],
        ),
        (
            group_of(law_of(**PEAKED, rule_of_thumb=15.3, rule_agrees=False), bounds=BOUNDS),
            [
                "Recommended limit: 11 at a time, the fewest with 95 % of the largest throughput (95 % interval of where "
                "that is: 9 to beyond what was measured). The rule of thumb, 75 % of the peak, says 15.3, and does not agree.",
                "The peak lies at 20.4 (95 % interval: 18 to 24.2) at a time, with 310 files/s.",
            ],
        ),
        (
            group_of(law_of(largest=8.0, throttle=64, extrapolated=True)),
            [
                "By the law 95 % of the largest throughput takes 64 at a time, more than the 8 that were measured: "
                "measure there before using it.",
                "The law has no peak: no decline at a higher number at a time was observed.",
            ],
        ),
        (
            group_of(law_of(**PEAKED), unranked=Unranked(cancelled=True)),
            [
                "The campaign was cancelled before its stop rule was met: no limit is recommended.",
                "The peak lies at 20.4 at a time, with 310 files/s.",
            ],
        ),
        (
            group_of(law_of(**PEAKED), unranked=Unranked(False, 1, 8, 3)),
            [
                "1 of 8 levels has fewer than 3 runs that count: no limit is recommended.",
                "The peak lies at 20.4 at a time, with 310 files/s.",
            ],
        ),
        (
            group_of(law_of(largest=8.0)),
            [
                "The law has no largest throughput, so that no limit is recommended.",
                "The law has no peak: no decline at a higher number at a time was observed.",
            ],
        ),
        (
            group_of(law_of(largest=8.0, peak=30.0, most=200.0, peak_reached=False, throttle=7)),
            [
                "Recommended limit: 7 at a time, the fewest with 95 % of the largest throughput.",
                "The peak was not reached: by the law it lies beyond 1.5 times the largest number that was measured, and "
                "is not estimated.",
            ],
        ),
    ],
)
def test_the_notes_say_what_follows_from_the_law(group, notes):
    assert list(notes_of(group, "files/s")) == notes
