from campaigns.findings.values import FactOnBoth, QuietMeanwhile, TargetPair, TargetsTold
from campaigns.findings.wording.comparisons import comparison_texts
from campaigns.findings.wording.targets import (
    also_differs,
    differing_text,
    quiet_texts,
    shared_texts,
)
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import level_group, levels_of, step, verdict

CPU = FactOnBoth("CPU", "8", "16")
TOLD = TargetsTold(
    factor="target",
    targets=(),
    pairs=[
        TargetPair("a", "b", 3, [CPU, FactOnBoth("pulpcore", "3.122", "")]),
        TargetPair("b", "c", 3),
    ],
)
NOTHING = "no recorded fact differs; unrecorded ones may"


def test_what_else_differs_is_in_the_order_of_the_comparison():
    assert also_differs(TOLD, "target", "a", "b") == (
        "also differs: CPU 8 / 16, pulpcore 3.122 / not recorded"
    )
    assert also_differs(TOLD, "target", "b", "a") == (
        "also differs: CPU 16 / 8, pulpcore not recorded / 3.122"
    )
    assert also_differs(TOLD, "target", "b", "c") == NOTHING


def test_nothing_is_said_of_a_comparison_within_one_target():
    assert also_differs(TOLD, "workers", 2, 4) == ""
    assert also_differs(None, "target", "a", "b") == ""


def test_many_facts_are_counted_and_hidden_values_are_not_written():
    many = [FactOnBoth(f"fact {number}", "1", "2") for number in range(8)]
    assert differing_text(many).endswith("fact 5 1 / 2, and 2 more facts")
    assert differing_text([CPU, FactOnBoth("other facts", "", "")]) == (
        "also differs: CPU 8 / 16, other facts"
    )


def test_it_stands_beside_each_verdict():
    group = level_group(
        ["a", "b", "c"],
        comparisons=[step(1, 2, verdict(Word.BETTER)), step(2, 3, verdict(Word.WORSE))],
    )
    texts = comparison_texts(levels_of(group, factor="target"), TOLD)

    assert [text.also[:18] for text in texts.comparisons] == ["also differs: CPU ", NOTHING[:18]]


def test_an_idle_target_on_the_same_machine_is_told_to_be_quiet_only_where_that_is_proved():
    quiet = [QuietMeanwhile("a", 0, 6), QuietMeanwhile("b", 0, 6)]
    busy = [QuietMeanwhile("a", 0, 6), QuietMeanwhile("b", 2, 6, "not quiet: 1 task is at work")]

    assert shared_texts([["a", "b"]], quiet)[0].endswith("the idle one was quiet before each run.")
    assert shared_texts([["a", "b"]], busy)[0].endswith("may have taken part of it.")
    assert quiet_texts(quiet) == []
    assert quiet_texts([QuietMeanwhile("b", 1, 1)]) == [
        "That b was quiet is not proved before 1 of 1 run on other targets."
    ]
    assert quiet_texts(busy) == [
        "That b was quiet is not proved before 2 of 6 runs on other targets "
        "(not quiet: 1 task is at work)."
    ]
