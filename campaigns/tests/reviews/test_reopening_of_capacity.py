"""Conclusions on what was carried that were signed when the interval of the line was claimed over any gap."""

import copy

import pytest

from campaigns.findings.store import findings_of, read
from campaigns.findings.values import CapacityFinding
from campaigns.models import Evidence, Finding
from campaigns.reviews.reopening import _no_longer_carried
from campaigns.tests.findings.compute import loads
from campaigns.tests.findings.compute.conftest import target
from campaigns.tests.reviews.conftest import finished

__all__ = ["target"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target):
    made = loads.launch(target, {"concurrency": loads.LOADS}, criterion=loads.LIMIT)
    loads.store(made)
    return finished(made)


def signed(campaign, methods="23", **claim):
    """What a conclusion was frozen with, with another claim."""
    result = copy.deepcopy(Finding.objects.get(campaign=campaign, name="capacity").result)
    capacity = result["settings"][0]["capacity"]
    capacity.pop("by_line")
    capacity.update(claim)
    return Evidence(snapshot={"versions": {"methods": methods}, "findings": {"capacity": result}})


LINE = {"word": "carries", "low": 285.0, "estimate": 300.0, "high": 315.0}


def test_a_number_of_the_line_that_is_not_claimed_today_is_told(campaign):
    found = findings_of(campaign, "").capacity
    assert found is not None
    today = found.settings[0].capacity

    texts = [*_no_longer_carried(signed(campaign, **LINE), campaign)]

    assert (today.low, today.high) == (200, 400)
    assert texts == [
        "It said of what is carried: concurrency 285 to 315; what is shown is at least concurrency 200, below 400"
    ]


@pytest.mark.parametrize(
    "claim",
    [
        {"word": "carries", "low": 200.0, "estimate": None, "high": 400.0},
        {"word": "not_decided", "low": 100.0, "estimate": None, "high": 800.0},
        {"word": "less_than", "low": None, "estimate": None, "high": 400.0},
    ],
)
def test_what_is_still_shown_re_opens_nothing(campaign, claim):
    assert not [*_no_longer_carried(signed(campaign, **claim), campaign)]


def test_what_today_s_rules_made_is_compared_as_any_other_finding(campaign):
    assert not [*_no_longer_carried(signed(campaign, methods="24", **LINE), campaign)]


@pytest.mark.parametrize(
    ("stored", "word"),
    [("carries", "between"), ("not_decided", "between"), ("less_than", "fewer_than")],
)
def test_words_of_before_are_read_as_those_of_today(campaign, stored, word):
    result = signed(campaign, word=stored).snapshot["findings"]["capacity"]

    found = read(result, CapacityFinding)

    assert found.settings[0].capacity.word == word
