"""The form states a criterion and load, and keeps what was typed where it is wrong."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign
from campaigns.planning.amendments import amendments_of
from campaigns.planning.criterion import criterion_of
from campaigns.planning.lifecycle import launch
from campaigns.planning.pages import forms
from campaigns.tests.browsing import Page
from campaigns.tests.planning.pages.test_amending import form_of

pytestmark = pytest.mark.django_db


def typed(target, **changes):
    return {
        "kind": "toy",
        "target": target.pk,
        "question": "How slow?",
        "primary_metric": "duration",
        "order": "interleaved",
        "repetitions": 3,
        "p-path": "a",
        "vary-slow": "on",
        "levels-slow": "1\n2",
        "p-engine": "new",
        "p-workers": 4,
        "act": "save",
        **changes,
    }


def test_rows_become_conditions_and_are_shown_again(browser, target, toy):
    sent = {
        "condition_0_metric": "duration",
        "condition_0_limit": "3 min",
        "condition_3_metric": "rate",
        "condition_3_limit": "5",
        "criterion_failed": "2",
        "criterion_resolution": "2",
        "load-slow": "on",
    }

    browser.post(reverse("campaign-new"), typed(target, **sent))

    campaign = Campaign.objects.get()
    assert campaign.criterion == {
        "conditions": [
            {"metric": "duration", "at_most": 180},
            {"metric": "rate", "at_least": 5},
        ],
        "failed_percent": 2,
        "resolution": 2,
    }
    assert campaign.factors.get(name="slow").role == "load"
    page = Page(browser.get(reverse("campaign-edit", args=[campaign.pk])))
    assert page.named("condition_0_limit")[0]["value"] == "3 min"
    assert "checked" in page.named("load-slow")[0]
    draft = Page(browser.get(reverse("campaign", args=[campaign.pk]))).text
    assert (
        "Duration: at most 3 min; Rate: at least 5 files/s; at most 2 % of the work fails" in draft
    )


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"condition_1_metric": "duration", "condition_1_limit": ""}, "Give its limit"),
        ({"condition_1_metric": "duration", "condition_1_limit": "5 MB"}, "is in MB"),
        ({"condition_1_metric": "", "condition_1_limit": "5"}, "Choose a metric for this limit"),
        ({"criterion_failed": "200"}, "out of range"),
        ({"criterion_resolution": "1"}, "out of range"),
    ],
)
def test_what_is_wrong_is_said_at_its_row_and_stays(browser, target, toy, sent, words):
    answer = browser.post(reverse("campaign-new"), typed(target, **sent))

    page = Page(answer)
    assert answer.status_code == 422
    assert words in page.text
    for name, text in sent.items():
        if text and not name.endswith("_metric"):
            assert page.named(name)[0]["value"] == text
    assert not Campaign.objects.exists()


def test_a_criterion_is_amended_as_lines_and_load_by_name(browser, target, toy):
    browser.post(reverse("campaign-new"), typed(target))
    campaign = Campaign.objects.latest("pk")
    launch(campaign, None)
    address = reverse("campaign-amend", args=[campaign.pk])
    sent = form_of(browser, campaign) | {
        "criterion": "duration <= 3 min\nfailed <= 5 %",
        "load": "slow",
        "reason": "agreed",
    }

    answer = browser.post(address, sent)

    assert answer.status_code == 302, Page(answer).text
    campaign.refresh_from_db()
    assert criterion_of(campaign.criterion).failed_percent == 5
    assert {line.after for line in amendments_of(campaign)} == {
        "Duration: at most 3 min; at most 5 % of the work fails",
        "slow load",
    }


def test_a_wrong_line_of_an_amendment_is_named(browser, target, toy):
    browser.post(reverse("campaign-new"), typed(target))
    campaign = Campaign.objects.latest("pk")
    launch(campaign, None)
    answer = browser.post(
        reverse("campaign-amend", args=[campaign.pk]), {"criterion": "soon", "reason": "agreed"}
    )

    assert answer.status_code == 422
    assert "Line 1, “soon”, is no condition" in Page(answer).text


def test_a_preset_brings_its_criterion(settings):
    settings.SANDBOX_URL = "http://sandbox.example"

    entered = forms.with_preset(forms.blank("registration", frozenset()), "carries")

    assert forms.to_data(entered)[0]["criterion"] == {
        "conditions": [{"metric": "registration_time", "at_most": "9 s"}],
        "failed_percent": "5",
    }
