"""Outcomes of confirmations, recovery and the grouping of alerts: the known vectors, and what they leave open."""

import json
import math
from pathlib import Path
from statistics import fmean

import pytest

from campaigns.stats import confirmation
from campaigns.stats.confirmation import Word
from campaigns.trends.grouping import Range, grouped

pytestmark = pytest.mark.unit


def cases(name):
    path = Path(__file__).parent / "golden/m_trend.json"
    return [pytest.param(each, id=each["name"]) for each in json.loads(path.read_text())[name]]


@pytest.mark.parametrize("case", cases("confirmations"))
def test_a_confirmation_has_the_known_outcome(case):
    worse = confirmation.of_pairs(case["log_ratios"])
    moved = confirmation.moved(case["history"], case["old_again"])
    assert worse is not None
    assert worse.p == pytest.approx(case["p_worse"], rel=1e-9)
    assert moved == pytest.approx(case["p_machine"], rel=1e-9)
    assert confirmation.words([worse.p], [moved]) == [case["word"]]


@pytest.mark.parametrize("case", cases("recovery"))
def test_a_recovery_is_the_known_one(case):
    upper = confirmation.upper_bound(case["before"], case["after"])
    margin = case["margin_pct"] / 100
    assert upper is not None
    assert 100 * math.expm1(upper) == pytest.approx(case["upper_pct"], rel=1e-9)
    assert confirmation.is_recovered(case["before"], case["after"], margin) == case["recovered"]


def test_alerts_are_grouped_as_known(golden):
    case = golden["grouping"]
    groups = grouped(
        (each["trend"], each["direction"], Range(each["good"], each["bad"]))
        for each in case["members"]
    )
    assert [
        {
            "trends": list(each.members),
            "range": [each.range.good, each.range.bad],
            "direction": each.direction,
        }
        for each in groups
    ] == case["alerts"]


def test_several_suspected_trends_are_one_family():
    assert confirmation.words([0.02, 0.5], [None, None]) == [Word.NOT_REPRODUCED] * 2
    assert confirmation.words([0.012, 0.5], [None, 0.001]) == [Word.CONFIRMED, Word.MACHINE]


def test_values_without_noise_are_equal_or_differ():
    same, other = confirmation.of_pairs([0.0] * 6), confirmation.of_pairs([0.05] * 6)
    assert same is not None
    assert other is not None
    assert (same.p, other.p) == (1.0, 0.0)
    assert confirmation.moved([1.0] * 5, [1.0] * 3) == 1.0
    assert confirmation.moved([1.0] * 5, [1.1] * 3) == 0.0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_pairs_say_nothing(n):
    assert confirmation.of_pairs([0.1] * n) is None


@pytest.mark.parametrize(("history", "again"), [([], [1.0]), ([1.0], [1.0]), ([1.0, 1.1], [])])
def test_too_short_a_history_does_not_tell_whether_the_machine_moved(history, again):
    assert confirmation.moved(history, again) is None


@pytest.mark.parametrize(
    ("sd", "pairs"), [(None, 20), (0.0, 6), (0.01, 6), (0.03, 11), (0.05, 20), (1.0, 20)]
)
def test_as_many_pairs_are_measured_as_the_noise_asks_for(sd, pairs):
    assert confirmation.pairs_needed(sd, 0.05) == pairs


def test_two_further_sessions_repeat_a_change_or_do_not(golden):
    plateau = next(each for each in golden["screen"] if each["name"] == "quiet")["y"]
    mean = fmean(plateau)
    assert confirmation.is_repeated([mean + 0.06, mean + 0.05], plateau)
    assert not confirmation.is_repeated([mean + 0.06, mean - 0.05], plateau)
    assert not confirmation.is_repeated([mean + 0.06], plateau[:1])
