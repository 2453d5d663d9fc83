"""The one word that a card shows beside its sentence."""

from typing import Any

import pytest

from campaigns.findings.values import Grounds, Thresholds
from campaigns.findings.wording.primary_word import primary_word
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    P95,
    answer,
    best_of,
    capacities,
    capacity,
    carried_by,
    cell,
    identical_runs,
    level_group,
    levels_of,
    pairs_of,
    primary,
    step,
    stratum,
    verdict,
    workers,
)

FASTER = verdict(Word.BETTER, -20.0, -24.0, -16.0)
NO_DIFFERENCE = verdict(Word.NO_DIFFERENCE_SHOWN, 1.0, -3.0, 4.5)
PAIR = answer(cell(1, 10.0, engine="old"), cell(2, 8.0, engine="new"), order="paired")
THREE = workers(40.0, 20.0, 10.0)


def ranked(**best):
    return levels_of(level_group([2, 4, 8], best=best_of([1, 2, 3], 3, [9.0, 9.0, 0.0], **best)))


WORDS: dict[str, tuple[Any, dict[str, Any], str | None]] = {
    "nothing came through": (answer(cell(1, None, 0, 6)), {}, "not judged"),
    "identical runs": (PAIR, {"calibration": identical_runs()}, "A/A: identical runs"),
    "a role is asked for": (answer(cell(1, 1.0), asked=["hosts"]), {}, "role not stated"),
    "one pair": (PAIR, {"pairs": pairs_of(stratum(FASTER))}, "faster"),
    "a criterion beside the pairs": (
        PAIR,
        {
            "pairs": pairs_of(stratum(FASTER)),
            "thresholds": Thresholds(word="not_decided", conditions=[P95], cells=[]),
        },
        "faster",
    ),
    "a criterion alone": (
        answer(cell(1, 10.0)),
        {"thresholds": Thresholds(word="not_decided", conditions=[P95], cells=[])},
        "not decided",
    ),
    "all pairs agree": (
        PAIR,
        {"pairs": pairs_of(stratum(FASTER, size=1), stratum(FASTER, size=2))},
        "faster",
    ),
    "pairs disagree": (
        PAIR,
        {"pairs": pairs_of(stratum(FASTER, size=1), stratum(NO_DIFFERENCE, size=2))},
        "faster: 1 of 2",
    ),
    "the contrast that was declared": (
        THREE,
        {"levels": levels_of(level_group([2, 4, 8]), primary=primary(NO_DIFFERENCE))},
        "no difference shown",
    ),
    "the only step": (
        workers(40.0, 20.0),
        {"levels": levels_of(level_group([2, 4], comparisons=[step(1, 2, FASTER)]))},
        "faster",
    ),
    "one is the best": (THREE, {"levels": ranked(possibly=[3])}, "best shown"),
    "several may be": (THREE, {"levels": ranked(possibly=[2, 3])}, "several may be best"),
    "all may be": (THREE, {"levels": ranked(possibly=[1, 2, 3])}, "no best shown"),
    "all are alike": (THREE, {"levels": ranked(possibly=[1, 2, 3], alike=True)}, "equivalent"),
    "one is unknown": (THREE, {"levels": ranked(possibly=[3], unknown=[1])}, "not judged"),
    "nothing to compare": (answer(cell(1, 10.0)), {}, None),
    "what two settings carry": (
        THREE,
        {
            "capacity": capacities(
                *(carried_by(capacity(CapacityWord.AT_LEAST), workers=each) for each in (2, 4))
            )
        },
        "at least",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_word_of_the_primary_question(name):
    of, parts, expected = WORDS[name]

    word = primary_word(Grounds(of, **parts))

    assert (word and word.word) == expected
