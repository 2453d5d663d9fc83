import pytest

from campaigns.findings.wording.recommended import why_best_of_all, why_near_best
from campaigns.tests.findings.wording.builders import best_of, level_group


@pytest.mark.parametrize(
    ("ranked", "seen", "cell", "numeric", "why"),
    [
        ([1, 2, 3], 3, 2, True, "demonstrably within 5 % of the best"),
        ([1, 2, 3], 1, 1, True, "shown to be the best"),
        (
            [1, 2, 3],
            3,
            3,
            True,
            "shown to be the best; no lower setting is demonstrably within 5 % of the best",
        ),
        (
            [1, 2, 3],
            3,
            3,
            False,
            "shown to be the best; no earlier setting is demonstrably within 5 % of the best",
        ),
        (
            [2, 3],
            3,
            2,
            True,
            "demonstrably within 5 % of the best (2 of 3 settings can be ranked)",
        ),
    ],
)
def test_why_a_level_is_favoured(ranked, seen, cell, numeric, why):
    group = level_group([5, 10, 20], numeric=numeric)
    best = best_of(ranked, seen, [0.0] * len(ranked))

    assert why_near_best(group, best, cell, 5.0) == why


def test_why_the_best_of_all_settings_is_favoured():
    assert why_best_of_all(best_of([1, 2], 2, [9.0, 0.0]), 2.5) == (
        "shown to be the best of all 2 settings"
    )
    rivals = best_of([1, 2], 2, [9.0, 1.0], possibly=[1, 2])
    assert why_best_of_all(rivals, 2.5) == (
        "demonstrably within 2.5 % of the best of all 2 settings"
    )
