"""The verdicts of all comparisons, in the order of the finding."""

from campaigns.findings.wording.comparisons import ComparisonText, comparison_texts
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    level_group,
    levels_of,
    pairs_of,
    step,
    stratum,
    verdict,
)

FASTER = ComparisonText("faster", "better", "")
SLOWER = ComparisonText("slower", "worse", "")
EXCLUDED = "A change of 5 % or more is excluded with 95 % confidence."
NO_DIFFERENCE = ComparisonText("no difference shown", "thin", EXCLUDED)


def test_strata_are_in_their_order():
    texts = comparison_texts(
        pairs_of(
            stratum(verdict(Word.WORSE), manifest="/a"),
            stratum(verdict(Word.NO_DIFFERENCE_SHOWN), manifest="/b"),
        )
    )

    assert texts.comparisons == [SLOWER, NO_DIFFERENCE]
    assert texts.primary is None


def test_comparisons_of_levels_are_group_by_group():
    first = level_group(
        [1, 2, 4], comparisons=[step(1, 2, verdict(Word.BETTER)), step(2, 3, verdict(Word.WORSE))]
    )
    second = level_group([1, 2], comparisons=[step(1, 2, verdict(Word.NO_DIFFERENCE_SHOWN))])

    assert comparison_texts(levels_of(first, second)).comparisons == [FASTER, SLOWER, NO_DIFFERENCE]
