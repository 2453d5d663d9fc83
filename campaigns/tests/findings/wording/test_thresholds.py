"""Whether cells keep the criterion, in figures that agree with the word beside them."""

import pytest

from campaigns.findings.values import ConditionTerms, ThresholdCell, Thresholds, ThresholdState
from campaigns.findings.wording.thresholds import thresholds_sentence

FAILURES = ConditionTerms(name="failures", failed_share=0.0525)
TIME = ConditionTerms(name="duration", metric="duration", label="Duration", unit="s", at_most=180.4)
RATE = ConditionTerms(name="rate", metric="rate", label="Rate", unit="1/s", at_least=1.2e10)


@pytest.mark.parametrize(
    ("condition", "word", "fields", "text"),
    [
        (
            FAILURES,
            "not_decided",
            {"share": 0.0523, "share_interval": (0.04, 0.05251)},
            "Not decided: failures 5.23 % (4 % … 5.3 %). The criterion: failures at most 5.25 %.",
        ),
        (
            TIME,
            "not_decided",
            {"value": 180.39, "interval": (170.0, 181.0)},
            "Not decided: duration just below 180.4 s (2:50 min … 3:01 min). "
            "The criterion: duration at most 180.4 s.",
        ),
        (
            RATE,
            "does_not_pass",
            {"value": 1.1999e10, "interval": (1.19e10, 1.19999e10)},
            "Does not pass: rate 1.1999e10/s (1.190e10/s … 1.19999e10/s). "
            "The criterion: rate at least 1.2e10/s.",
        ),
    ],
)
def test_no_figure_looks_like_the_limit_that_it_is_not(condition, word, fields, text):
    state = ThresholdState(
        name=condition.name, word=word, **({"value": None, "interval": None} | fields)
    )
    cell = ThresholdCell(cell=1, levels={}, word=word, states=[state])

    assert thresholds_sentence(Thresholds(word=word, conditions=[condition], cells=[cell])) == text
