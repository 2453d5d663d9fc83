"""What is said of a verdict that may depend on one run or block."""

from typing import Any

import pytest

from campaigns.findings.values import Flip, Flipped, LeftOutInTurn, Sensitivity, Tried
from campaigns.findings.wording.sensitivity import (
    change_text,
    sensitivity_panel,
    sensitivity_sentence,
)
from campaigns.tests.findings.wording.builders import levels_of, pairs_of

LEVELS, PAIRS = levels_of(), pairs_of()
ALL_RUNS = LeftOutInTurn(24, 24, [], 0)
ALL_BLOCKS = LeftOutInTurn(8, 8, [], 0)
TOO_MANY = LeftOutInTurn(0, 900, [], 0)


def change(of: Any, before: Any, after: Any, **fields: Any) -> Flipped:
    plain: dict[str, Any] = {"levels": {}, "primary": False, "too_few": False}
    return Flipped(of=of, before=before, after=after, **plain | fields)


STEP = change("levels", "better", "not_enough_data", baseline=5, candidate=10)
PRIMARY = change("primary", "better", "no_difference_shown", primary=True)
RECOMMENDED = change("recommended", 10, 20)
GONE = change("levels", "better", None, baseline=5, candidate=10, too_few=True)


def flipping(*flips: Flip, of: int = 24, flipping: int | None = None) -> LeftOutInTurn:
    return LeftOutInTurn(of, of, flips, len(flips) if flipping is None else flipping)


def tried(
    runs: LeftOutInTurn | None = ALL_RUNS, blocks: LeftOutInTurn | None = ALL_BLOCKS
) -> Tried:
    return Tried(2, runs, blocks)


CHANGES = [
    (LEVELS, STEP, "10 vs. 5: not enough data instead of faster"),
    (LEVELS, change("levels", "better", "worse", baseline="asyncio", candidate="curl",
                    levels={"workers": 4, "file size": "1 MB"}),
     "curl vs. asyncio, at workers 4, file size 1 MB: slower instead of faster"),
    (LEVELS, change("levels", "equivalent", "no_difference_shown", baseline=5, candidate=10),
     "10 vs. 5: no difference shown instead of equivalent within 2 %"),
    (LEVELS, GONE, "10 vs. 5: no verdict instead of faster"),
    (LEVELS, PRIMARY, "the primary contrast: no difference shown instead of faster"),
    (LEVELS, RECOMMENDED, "the recommended level: 20 instead of 10"),
    (LEVELS, change("best", "curl", None, levels={"workers": 4}, too_few=True),
     "the best level, at workers 4: none instead of curl"),
    (PAIRS, change("pairs", "worse", "better", levels={"manifest": "/a"}),
     "/a: faster instead of slower"),
    (PAIRS, change("pairs", "worse", "invalid_values"),
     "all pairs: invalid values instead of slower"),
]  # fmt: skip

SENTENCES = [
    (LEVELS, Sensitivity("robust", "block", tried(), None),
     "Robust: no single run and no single block changes a verdict or which level is recommended."),
    (LEVELS, Sensitivity("robust", "block", tried(blocks=None), None),
     "Robust: no single run changes a verdict or which level is recommended."),
    (LEVELS, Sensitivity("robust", "block", tried(runs=TOO_MANY), None),
     "Robust: no single block changes a verdict or which level is recommended. Not tried for single "
     "runs: too many."),
    (PAIRS, Sensitivity("robust", "pair", tried(runs=None), None),
     "Robust: no single pair changes a verdict."),
    (LEVELS, Sensitivity("flips", "block", tried(flipping(Flip(7, [STEP]))), None),
     "A verdict changes without run 7: 10 vs. 5: not enough data instead of faster."),
    (LEVELS, Sensitivity("flips", "block", tried(flipping(Flip(7, [STEP, PRIMARY]))), None),
     "A verdict changes without run 7: the primary contrast: no difference shown instead of faster "
     "and 1 more."),
    (LEVELS, Sensitivity("flips", "block", tried(
        flipping(Flip(7, [RECOMMENDED]), Flip(9, [GONE]), Flip(12, [STEP]))), None),
     "A verdict changes without run 12: 10 vs. 5: not enough data instead of faster."),
    (LEVELS, Sensitivity("flips", "block", tried(
        flipping(*(Flip(run, [STEP]) for run in (1, 2, 3, 4))),
        flipping(Flip(1, [STEP]), of=8)), None),
     "A verdict changes without run 1: 10 vs. 5: not enough data instead of faster; run 2: 10 vs. 5: "
     "not enough data instead of faster; run 3: 10 vs. 5: not enough data instead of faster; and 2 "
     "more."),
    (LEVELS, Sensitivity("flips", "block", tried(
        flipping(*(Flip(run, [STEP]) for run in range(1, 51)), of=400, flipping=120)), None),
     "A verdict changes without run 1: 10 vs. 5: not enough data instead of faster; run 2: 10 vs. 5: "
     "not enough data instead of faster; run 3: 10 vs. 5: not enough data instead of faster; and at "
     "least 47 more."),
    (LEVELS, Sensitivity("flips", "block", tried(), tried(flipping(Flip(7, [STEP])))),
     "A verdict changes without run 7 and with the exclusions undone: 10 vs. 5: not enough data "
     "instead of faster."),
    (PAIRS, Sensitivity("flips", "pair", tried(None, flipping(
        Flip(3, [change("pairs", "better", "no_difference_shown", levels={"manifest": "/a"})]))), None),
     "A verdict changes without pair 3: /a: no difference shown instead of faster."),
    (LEVELS, Sensitivity("best_flips", "block", tried(flipping(Flip(7, [RECOMMENDED]))), None),
     "No single run and no single block changes a verdict. But without run 7: the recommended level: "
     "20 instead of 10."),
    (LEVELS, Sensitivity("best_flips", "block", tried(
        TOO_MANY, flipping(Flip(2, [RECOMMENDED]), of=8)), None),
     "No single block changes a verdict. But without block 2: the recommended level: 20 instead of "
     "10. Not tried for single runs: too many."),
    (LEVELS, Sensitivity("too_few", "block", tried(flipping(Flip(7, [GONE])), None), None),
     "With one run less there would be too few to judge."),
    (PAIRS, Sensitivity("too_few", "pair", tried(None, flipping(Flip(1, [GONE]), of=3)), None),
     "With one pair less there would be too few to judge."),
    (LEVELS, Sensitivity("undecided", "block", tried(), None),
     "There is no verdict that could flip."),
    (LEVELS, Sensitivity("not_tried", "block", tried(TOO_MANY, TOO_MANY), None),
     "Not tried: leaving out one after another would take too long."),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "changed", "text"), CHANGES)
def test_a_change_names_what_changes_and_both_labels(terms, changed, text):
    assert change_text(terms, changed) == text


def test_where_all_runs_are_excluded_they_are_tried_with_the_exclusions_undone():
    none = LeftOutInTurn(0, 0, [], 0)
    finding = Sensitivity("robust", "block", tried(none, none), tried())
    too_few = Sensitivity("too_few", "block", tried(none, none), tried())

    assert sensitivity_sentence(LEVELS, finding) == (
        "Robust: no single run and no single block changes a verdict or which level is recommended."
    )
    assert sensitivity_sentence(LEVELS, too_few) == (
        "With one block less there would be too few to judge."
    )


@pytest.mark.parametrize(("terms", "finding", "text"), SENTENCES)
def test_the_sentence_names_the_runs_on_which_a_verdict_depends(terms, finding, text):
    assert sensitivity_sentence(terms, finding) == text


def looks_of(*args: Any) -> list[tuple[str, str, str]]:
    panel = sensitivity_panel(LEVELS, Sensitivity("flips", "block", *args))
    return [(look.title, look.tried, look.tone) for look in panel.looks]


def test_each_kind_of_part_has_its_line():
    none = LeftOutInTurn(0, 0, [], 0)

    assert looks_of(tried(flipping(Flip(7, [STEP])), ALL_BLOCKS), tried(TOO_MANY, none)) == [
        ("Without any one run", "1 of 24 runs would change something", "warn"),
        ("Without any one block", "0 of 8 blocks would change something", "pass"),
        ("Without any one run, exclusions undone", "900 runs: too many to test", "thin"),
        ("Without any one block, exclusions undone", "No block counts", "thin"),
    ]
    assert looks_of(tried(flipping(Flip(7, [GONE])), None), None) == [
        ("Without any one run", "Too few runs to test this", "thin")
    ]


def test_the_first_flips_are_listed_and_the_others_counted():
    flips = [Flip(run, [STEP, GONE]) for run in range(1, 51)]
    finding = Sensitivity("flips", "block", tried(flipping(*flips, of=400, flipping=120)), None)

    look = sensitivity_panel(LEVELS, finding).looks[0]

    assert (len(look.flips), look.more) == (20, 100)
    assert look.flips[0].without == "Without run 1"
    assert look.flips[0].changes == (
        "10 vs. 5: not enough data instead of faster",
        "10 vs. 5: no verdict instead of faster, too few left",
    )
