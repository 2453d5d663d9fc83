"""Shares that are submitted: judged by the difference in points, said with the smaller side, never equivalent by a ratio."""

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.tests.browsing import Page
from campaigns.tests.results.api.documents import made

pytestmark = pytest.mark.django_db

NOISE = (0.0, 0.004, -0.004, 0.002, -0.002, 0.0)
"""In points."""


def shares(old, new, unit="%", name="availability", factor=1.0, lower=False, **campaign):
    """Six pairs of the values in percent, or levels in as many blocks."""
    return {
        "campaign": {
            "question": "Does it fail?",
            "order": "paired",
            "paired_factor": "build",
            **campaign,
        },
        "metrics": {name: {"unit": unit, "lower_is_better": lower}},
        "runs": [
            {"tags": {"build": build}, "values": {name: factor * value}, "block": block}
            for block, noise in enumerate(NOISE, 1)
            for build, value in (
                ("old", old + noise * (0 < old < 100)),
                ("new", new - noise * (0 < new < 100)),
            )
        ],
    }


def sentence_of(send, *values, **fields):
    campaign = made(send(shares(*values, **fields)))
    compute.analyse(campaign)
    return answers_of([campaign.pk])[campaign.pk].sentence


@pytest.mark.parametrize(("unit", "factor"), [("%", 1.0), ("share", 0.01)])
def test_ten_times_the_failures_are_no_equivalence(send, unit, factor):
    assert sentence_of(send, 99.99, 99.90, unit=unit, factor=factor) == (
        "new is 0.09 points lower than old, 10 times the failures."
    )


def test_a_side_without_failures_is_a_value_like_others(send):
    sentence = sentence_of(send, 100.0, 99.90)

    assert sentence == "new is 0.1 points lower than old, the failures from none to 0.1 %."


def test_the_smaller_side_of_failures_is_the_share_itself(send):
    sentence = sentence_of(send, 0.1, 0.3, name="failed", lower=True)

    assert sentence == "new is 0.2 points higher than old, 3 times the failures."


def test_a_share_is_called_equivalent_within_a_stated_margin_in_points_only(send):
    assert sentence_of(send, 99.95, 99.95) == "No difference is shown between new and old."
    assert sentence_of(send, 99.95, 99.95, margin_percent=0.1) == (
        "new and old are equivalent within 0.1 points."
    )


def test_levels_are_judged_by_points_too(send, client):
    campaign = made(send(shares(99.99, 99.90, order="interleaved", paired_factor="")))
    compute.analyse(campaign)

    (step,) = [
        each.text
        for each in answers_of([campaign.pk])[campaign.pk].statements
        if " vs. " in each.text
    ]
    assert step.startswith(
        "new vs. old: lower, −0.09 points (−0.096 … −0.084 points), 10 times the failures."
    )
    page = Page(client.get(f"/campaigns/{campaign.pk}/print/"))
    assert "−0.09 points" in page.text
    assert "equivalent within 2 %" not in page.text.partition("Settings and environment")[0]


def test_two_campaigns_are_compared_by_points(send, client):
    both = [
        made(send(shares(99.99, new, order="interleaved", paired_factor="")))
        for new in (99.99, 99.90)
    ]
    for each in both:
        compute.analyse(each)

    page = Page(client.get("/compare/", {"c": [each.pk for each in both]}))
    assert "−0.09 points" in page.text


@pytest.mark.parametrize(
    ("value", "name", "lower"), [(100.0, "availability", False), (0.0, "failed", True)]
)
def test_equal_values_are_values_of_a_share_and_not_equivalent(send, value, name, lower):
    assert sentence_of(send, value, value, name=name, lower=lower) == (
        "No difference is shown between new and old: not enough data."
    )
