import pytest

from campaigns.stats.interval import Interval
from campaigns.stats.labels import Display, advice, display
from campaigns.stats.verdict import Verdict, Word


def test_the_displayed_words_are_as_published(golden):
    (case,) = (each for each in golden("g")["words"] if each["name"] == "display_words")
    units = {"duration": ("s", True), "throughput": ("files/s", False)}

    for key, expected in case["expected"].items():
        metric, word = key.split()
        unit, lower_is_better = units[metric]
        assert display(word, unit, lower_is_better).word == expected


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
        ("connections", True, "sockets", "fewer", "more"),
        ("points", False, "score", "higher", "lower"),
    ],
)
def test_the_word_derives_from_dimension_and_direction(
    unit, lower_is_better, metric, better, worse
):
    assert display("better", unit, lower_is_better, metric=metric) == Display(
        better, "better", "up", "solid"
    )
    assert display(Word.WORSE, unit, lower_is_better, metric=metric) == Display(
        worse, "worse", "down", "solid"
    )


def test_every_word_has_a_form_of_its_own():
    shown = [display(word, "s", True) for word in Word]

    assert len({(each.tone, each.icon, each.form) for each in shown}) == len(Word)


def test_equivalence_says_within_what():
    assert display("equivalent", "s", True, margin=0.025).word == "equivalent within 2.5 %"


def test_a_word_outside_the_list_is_a_mistake():
    with pytest.raises(ValueError, match="improved"):
        display("improved", "s", True)


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
            "It would take about 1,000 pairs more to detect 5 %: make runs vary less, or ask for a "
            "larger change.",
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
            "Too many runs were lost; see why before running more.",
        ),
        (
            Verdict(Word.NOT_ENOUGH_DATA, n=3, ci_pct=Interval(-100, 1e9)),
            "The runs differ too much: no sensible number of pairs would detect 5 %.",
        ),
        (Verdict(Word.BETTER, n=3), ""),
    ],
)
def test_the_advice_is_one_sentence(verdict, sentence):
    assert advice(verdict) == sentence
