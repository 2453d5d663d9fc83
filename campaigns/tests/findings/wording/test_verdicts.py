import json
from pathlib import Path

import pytest

import campaigns.tests.stats
from campaigns.findings.values import Terms
from campaigns.findings.wording.verdicts import (
    FALSE_ALARM,
    Display,
    advice_of,
    change_briefly,
    comparative,
    cost_text,
    differs_by,
    label_of,
    superlative,
    with_interval,
)
from campaigns.stats.interval import Interval
from campaigns.stats.verdict import Verdict, Word


def terms(unit="s", lower_is_better=True, metric="duration", **more):
    return Terms(metric=metric, label="", unit=unit, lower_is_better=lower_is_better, **more)


def test_the_displayed_words_are_as_published():
    (path,) = (Path(campaigns.tests.stats.__file__).parent / "golden").glob("g_*.json")
    words = json.loads(path.read_text(encoding="utf-8"))["words"]
    (case,) = (each for each in words if each["name"] == "display_words")
    units = {"duration": ("s", True), "throughput": ("files/s", False)}

    for key, expected in case["expected"].items():
        metric, word = key.split()
        unit, lower_is_better = units[metric]
        label = label_of(terms(unit, lower_is_better, margin_pct=2), Word(word)).word
        assert label.removesuffix(" within 2 %") == expected


@pytest.mark.parametrize(
    ("unit", "lower_is_better", "metric", "better", "worse"),
    [
        ("ms", True, "latency", "faster", "slower"),
        ("s", True, "failover_time", "faster", "slower"),
        ("h", False, "uptime", "longer", "shorter"),
        ("MB/s", False, "throughput", "higher throughput", "lower throughput"),
        ("share", True, "", "fewer failures", "more failures"),
        ("share", True, "failed_share", "fewer failures", "more failures"),
        ("files", True, "errors", "fewer failures", "more failures"),
        ("%", True, "cpu", "lower", "higher"),
        ("share", False, "hit_rate", "higher", "lower"),
        ("MiB", True, "peak_memory", "smaller", "larger"),
        ("MB", True, "watched.memory:puma", "less memory", "more memory"),
        ("connections", True, "sockets", "fewer", "more"),
        ("points", False, "score", "higher", "lower"),
    ],
)
def test_the_word_derives_from_dimension_and_direction(
    unit, lower_is_better, metric, better, worse
):
    own = terms(unit, lower_is_better, metric)

    assert label_of(own, Word.BETTER) == Display(better, "better", "up", "solid")
    assert label_of(own, Word.WORSE) == Display(worse, "worse", "down", "solid")
    assert superlative(own) == ("fastest" if better == "faster" else "best")


def test_every_word_has_a_form_of_its_own():
    shown = [label_of(terms(), word) for word in Word]

    assert len({(each.tone, each.icon, each.form) for each in shown}) == len(Word)


def test_equivalence_says_within_what():
    label = label_of(terms(margin_pct=2.5), Word.EQUIVALENT)

    assert label.word == "equivalent within 2.5 %"


def test_two_names_of_one_setting_can_only_differ_by_a_false_alarm():
    own = terms(same_setting=True)

    assert label_of(own, Word.WORSE) == FALSE_ALARM
    assert advice_of(own, Verdict(Word.BETTER, n=8)) == "Both labels are one setting."
    assert advice_of(own, Verdict(Word.NOT_ENOUGH_DATA, n=2, reason="n_below_minimum")) == ""


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (
            Verdict(Word.NO_DIFFERENCE_SHOWN, n=8),
            "A change of 5 % or more is excluded with 95 % confidence.",
        ),
        (
            Verdict(Word.EQUIVALENT, n=8, badges=("real_below_margin",)),
            "The difference is real, but below the margin.",
        ),
        (Verdict(Word.EQUIVALENT, n=8), ""),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=10, required_n=21, more=11),
            "Run about 11 pairs more to detect 5 %.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=3, required_n=1003, more=1000),
            "It would take about 1,000 pairs more to detect 5 %: reduce the noise, or accept a larger "
            "smallest effect.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=2, reason="n_below_minimum", required_n=2, more=0),
            "Run 1 pair more at least.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=6, required_n=6, more=0, n_to_decide=10),
            "Run about 4 pairs more to tell 0 from 5 %.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=6, reason="lost_runs", required_n=9, more=3),
            "Too many runs have no value; see why before running more.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=3, ci_pct=Interval(-100, 1e9)),
            "The runs differ too much: no sensible number of pairs would detect 5 %.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=8, reason="sessions_disagree"),
            "The sessions contradict each other: run another one, to judge by all of them.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=8, reason="resolution"),
            "The values are written in steps too coarse to show it: measure with more digits.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=8, reason="identical_values"),
            "All values are equal, so how much they vary is unknown: measure more finely.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=8, reason="drift_confounded"),
            "The target drifted while one level was measured after the other: interleave them.",
        ),
        (Verdict(Word.BETTER, n=3), ""),
    ],
)
def test_the_advice_is_one_sentence(verdict, sentence):
    assert advice_of(terms(), verdict) == sentence


def metric(unit="s", *, lower=True, name="duration"):
    return Terms(metric=name, label="It", unit=unit, lower_is_better=lower)


def test_memory_of_a_target_is_taken():
    memory = metric("MB", name="watched.memory:puma")

    assert differs_by(memory, Word.BETTER, -8.5) == "takes 8.5 % less memory than"
    assert differs_by(memory, Word.WORSE, 250.0) == "takes 3.5 times the memory of"
    assert differs_by(memory, Word.BETTER, -95.0) == "takes less memory by a factor of 20 than"
    assert cost_text(memory, 12.0) == "takes 12.0 % more memory"
    assert comparative(memory, Word.WORSE, many=True) == "take more memory"


CHANGES = [
    (metric(), -20.0, (-24.0, -16.0), "−20.0 % (−24.0 … −16.0 %)"),
    (metric(), 200.0, (190.0, 199.9), "+200.0 % (+190.0 … +199.9 %)"),
    (metric(), -90.0, (-90.0, -80.0), "−90.0 % (−90.0 … −80.0 %)"),
    (metric(), 908.0, (700.0, 1100.0), "10 times as long (8 … 12 times)"),
    (metric(), -90.2, (-92.0, -88.0), "10 times as fast (8.3 … 12 times)"),
    (metric(), -50.0, (-91.0, 610.0), "−50.0 % (0.09 … 7.1 times)"),
    (
        metric(),
        -100.0,
        (-100.0, -99.0),
        "over a billion times as fast (100 … over a billion times)",
    ),
    (metric(lower=False), -95.0, None, "shorter by a factor of 20"),
    (metric("B"), 210.0, None, "3.1 times as large"),
    (metric("B"), -95.0, (-96.0, -94.0), "smaller by a factor of 20 (17 … 25)"),
    (metric("B/s", lower=False), 210.0, None, "3.1 times the throughput"),
    (metric("files/s", lower=False), -95.0, None, "lower by a factor of 20"),
    (metric("count", lower=False, name="done"), 210.0, None, "3.1 times as many"),
    (metric("count", name="done"), -95.0, None, "fewer by a factor of 20"),
    (metric("count", name="errors"), 900.0, None, "10 times the failures"),
    (metric("count", name="errors"), -95.0, None, "fewer by a factor of 20"),
    (metric("widgets", name="odd"), 210.0, None, "3.1 times as high"),
    (metric("widgets", name="odd"), -95.0, None, "lower by a factor of 20"),
    (metric(), None, None, ""),
]


@pytest.mark.parametrize(("terms", "change", "interval", "text"), CHANGES)
def test_a_change_beyond_what_percent_tells_is_a_factor(terms, change, interval, text):
    assert with_interval(terms, change, interval) == text


@pytest.mark.parametrize("change", [0.354, 1.0, 6.234, 7.36, 18.0, 99.96])
def test_a_cost_has_the_same_digits_in_the_sentence_and_beside_it(change):
    slower = terms("s", metric="registration_time")

    beside = change_briefly(slower, change)

    assert cost_text(slower, change) == f"is {beside.removeprefix('+')} slower"
    assert differs_by(slower, Word.WORSE, change) == f"is {beside.removeprefix('+')} slower than"
