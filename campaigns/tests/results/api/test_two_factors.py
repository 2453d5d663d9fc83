"""Two settings that differ in two factors, as published experiments compare them: 2 x 16 against 4 x 8."""

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.tests.browsing import Page
from campaigns.tests.findings.spoken import details_of
from campaigns.tests.results.api.documents import made

pytestmark = pytest.mark.django_db

SLOW, QUICK = [20.0, 20.3, 19.8], [17.0, 17.2, 16.9]


def puma(first, second, **campaign):
    settings = {"workers": 2, "threads": 16}, {"workers": 4, "threads": 8}
    return {
        "campaign": {"question": "Which Puma?", "order": "interleaved", **campaign},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {"tags": tags, "values": {"duration": value}, "block": block}
            for tags, values in zip(settings, (first, second), strict=True)
            for block, value in enumerate(values, 1)
        ],
    }


def analysed(answer):
    campaign = made(answer)
    compute.analyse(campaign)
    return campaign


def test_they_are_compared_on_every_face(send, client):
    campaign = analysed(send(puma(SLOW, QUICK)))

    sentence = (
        "Threads 8 with workers 4 is the fastest; threads 16 with workers 2 is 17.6 % slower."
    )
    assert answers_of([campaign.pk])[campaign.pk].sentence == sentence
    found = client.get(f"/api/v1/campaigns/{campaign.pk}/findings/levels").json()
    (pair,) = found["result"]["pairs"]
    assert (pair["word"], round(pair["pct_change"], 1)) == ("better", -15.0)
    page = Page(client.get(f"/campaigns/{campaign.pk}/print/"))
    assert sentence in page.text
    assert "Other pairs of settings" in page.text
    assert "No setting is ranked" not in page.text


def test_equal_ones_crown_nobody_anywhere(send, client):
    campaign = analysed(send(puma(SLOW, [20.1, 20.2, 19.7])))

    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    page = Page(client.get(f"/campaigns/{campaign.pk}/print/"))
    assert "is the fastest" not in sentence + page.text
    assert "best of all" not in page.text


def test_a_setting_of_which_a_run_failed_wins_nothing(send):
    document = puma(SLOW, QUICK)
    document["runs"].append(
        {
            "tags": {"workers": 4, "threads": 8},
            "values": {"duration": None},
            "block": 4,
            "state": "failed",
            "reason": "The server stopped.",
        }
    )
    campaign = analysed(send(document))

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence.endswith("; threads 8, workers 4 fails too often.")
    assert "Threads 8, workers 4: fails too often (1 of 4 runs failed)" in details_of(answer)
