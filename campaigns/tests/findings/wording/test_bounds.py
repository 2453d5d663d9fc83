import pytest

from campaigns.findings.wording.bounds import bound_of
from campaigns.tests.findings.wording.values import summarised

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
        (summarised(1, 2, too_many_failures=True), "too many failures", "2 of 3 runs failed"),
    ],
)
def test_a_cell_without_a_mean_has_a_bound_and_its_reason(cell, bound, why):
    assert bound_of(cell, "s") == (bound, why)
