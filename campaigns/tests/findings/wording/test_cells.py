import pytest
from msgspec.structs import replace

from campaigns.findings.wording.cells import bound_of, cell_notes, in_prose, names_of
from campaigns.tests.findings.wording.builders import summarised

AT_60 = {"lowest_limit": 60.0, "highest_limit": 60.0, "at_least": 12.0}


@pytest.mark.parametrize(
    ("cell", "bound", "why"),
    [
        (summarised(5), "", ""),
        (summarised(5, 1), "", ""),
        (summarised(5, 3, 3, **AT_60), "at least 12 s", "3 of 8 runs timed out at 60 s"),
        (summarised(0, 3, 3, **AT_60), "at least 12 s", "3 of 3 runs timed out at 60 s"),
        (
            summarised(5, 3, 2, **AT_60 | {"highest_limit": 600.0}),
            "at least 12 s",
            "2 of 8 runs timed out at 60 s to 10:00 min, 1 failed",
        ),
        (summarised(1, 2, too_many_failures=True), "fails too often", "2 of 3 runs failed"),
    ],
)
def test_a_cell_without_a_mean_has_a_bound_and_its_reason(cell, bound, why):
    assert bound_of(cell, "s") == (bound, why)


@pytest.mark.parametrize(
    ("cell", "notes"),
    [
        (summarised(), ()),
        (summarised(states={"ok": 3, "failed": 2, "lost": 1}), ("2 failed", "1 lost")),
        (
            summarised(states={"censored": 2}, lowest_limit=60.0, flags=("has_censored",)),
            ("2 timed out above 60 s", "no mean, since runs timed out"),
        ),
        (summarised(0, flags=("empty",)), ("not measured",)),
        (summarised(0, 3, states={"failed": 3}, flags=("all_failed",)), ("3 failed",)),
        (summarised(0, states={"open": 3}, flags=("empty",)), ()),
        (summarised(states={"excluded": 1}), ("1 excluded",)),
        (summarised(units=3000, units_failed=1), ("0.033 % of the work failed",)),
        (
            summarised(
                units=10,
                units_failed=4,
                too_many_failures=True,
                flags=("too_many_failures",),
            ),
            (
                "too many failures: 40 % of the work failed",
                "too much failed for a mean of the rest",
            ),
        ),
        (summarised(1, flags=("single_run",)), ("one run, so no interval",)),
        (summarised(2, flags=("two_runs",)), ("two runs, so a wide interval",)),
        (summarised(flags=("zero_variance",)), ("all values are equal: suspect the clock",)),
        (
            summarised(flags=("not_positive", "invalid_values")),
            ("a value of 0 or less, so no geometric mean", "a value that is no number"),
        ),
        (summarised(flags=("has_bounds", "median_ci_below_confidence")), ()),
    ],
)
def test_notes_on_a_cell(cell, notes):
    assert cell_notes(cell, "s") == notes


def test_a_cell_is_called_by_the_words_of_its_settings():
    cells = [
        replace(summarised(), cell=place, levels={"cpus": cpus, "memory_gib": 40})
        for place, cpus in enumerate((8, 16))
    ]

    assert names_of(cells) == {0: "CPUs 8, memory in GiB 40", 1: "CPUs 16, memory in GiB 40"}
    assert in_prose(cells)[1] == "CPUs 16 with memory in GiB 40"
