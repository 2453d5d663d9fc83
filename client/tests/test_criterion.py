"""The exit code by the criterion of a campaign: 0 passes, 1 does not pass, 8 not decided, 5 without one."""

from typing import Any

import pytest

from perfdash_client.errors import BadUse, NoAnswer, NotDecided, VerdictFailed
from perfdash_client.verdicts import FAILING_WORDS, judge, judge_criterion, read_words

WORDS = read_words(["does-not-pass"])


def found(word):
    return {"thresholds": {"result": {"word": word}, "text": {"sentence": "P95 is 4:00 min."}}}


def test_a_criterion_that_is_kept_passes():
    judge_criterion(found("passes"), WORDS)
    judge([], WORDS)


@pytest.mark.parametrize(
    ("findings", "error", "code"),
    [
        (found("does_not_pass"), VerdictFailed, 1),
        (found("not_decided"), NotDecided, 8),
        ({}, NoAnswer, 5),
    ],
)
def test_the_exit_code_says_why_it_does_not_pass(findings, error, code):
    with pytest.raises(error) as raised:
        judge_criterion(findings, WORDS)

    assert raised.value.code == code
    if findings:
        assert "P95 is 4:00 min." in str(raised.value)


def test_a_criterion_is_judged_only_where_it_is_named():
    every: list[dict[str, Any]] = [{}, found("does_not_pass"), found("not_decided")]
    for findings in every:
        judge_criterion(findings, read_words(["worse"]))


def test_a_wrong_word_lists_those_that_there_are():
    with pytest.raises(BadUse, match="does_not_pass"):
        read_words(["passes"])
    assert "does_not_pass" in FAILING_WORDS
