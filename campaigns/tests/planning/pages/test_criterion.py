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
        "criterion.conditions.0.metric": "duration",
        "criterion.conditions.0.limit": "3 min",
        "criterion.conditions.3.metric": "rate",
        "criterion.conditions.3.limit": "5",
        "criterion.failed_percent": "2",
        "criterion.resolution": "2",
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
    assert page.named("criterion.conditions.0.limit")[0]["value"] == "3 min"
    assert "checked" in page.named("load-slow")[0]
    draft = Page(browser.get(reverse("campaign", args=[campaign.pk]))).text
    assert (
        "Duration: at most 3 min; Rate: at least 5 files/s; at most 2 % of the work fails" in draft
    )


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (
            {"criterion.conditions.1.metric": "duration", "criterion.conditions.1.limit": ""},
            "Give its limit",
        ),
        (
            {"criterion.conditions.1.metric": "duration", "criterion.conditions.1.limit": "5 MB"},
            "is in MB",
        ),
        (
            {"criterion.conditions.1.metric": "", "criterion.conditions.1.limit": "5"},
            "Choose a metric for this limit",
        ),
        ({"criterion.failed_percent": "200"}, "out of range"),
        ({"criterion.resolution": "1"}, "out of range"),
    ],
)
def test_what_is_wrong_is_said_at_its_row_and_stays(browser, target, toy, sent, words):
    answer = browser.post(reverse("campaign-new"), typed(target, **sent))

    page = Page(answer)
    assert answer.status_code == 422
    assert words in page.text
    for name, text in sent.items():
        if text and not name.endswith(".metric"):  # the row before it is empty, so it moves up
            assert page.named(name.replace(".1.", ".0."))[0]["value"] == text
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    "name",
    [
        *("criterion.conditions", "criterion.conditions.0", "criterion.conditions.foo.metric"),
        *("criterion.conditions.0.metric.x", "criterion.conditions.0.0", "criterion.surprise"),
        *("search.load.x", "search.first.0", "primary_contrast.at.engine", "criterion.."),
    ],
)
@pytest.mark.parametrize("act", ["save", "kind"])
def test_inputs_that_the_form_does_not_have_are_ignored(browser, target, toy, name, act):
    sent = {"criterion.conditions.0.metric": "duration", "criterion.conditions.0.limit": "3 min"}

    answer = browser.post(
        reverse("campaign-new"), typed(target, **sent, **{name: "abc", "act": act})
    )

    assert answer.status_code == (302 if act == "save" else 200)


def test_a_limit_without_its_metric_outlives_another_kind(browser, target, toy):
    sent = {"criterion.conditions.0.limit": "180 s", "drawn_for": "downloader", "act": "kind"}

    page = Page(browser.post(reverse("campaign-new"), typed(target, **sent)))

    assert page.named("criterion.conditions.0.limit")[0]["value"] == "180 s"


def test_more_conditions_than_there_may_be_stay_and_are_told_at_the_criterion(browser, target, toy):
    rows = {f"criterion.conditions.{row}.metric": "duration" for row in range(12)}
    limits = {f"criterion.conditions.{row}.limit": "1 s" for row in range(12)}

    page = Page(browser.post(reverse("campaign-new"), typed(target, **rows, **limits)))

    assert "12 are too many; send at most 10." in page.text
    assert page.named("criterion.conditions.11.limit")[0]["value"] == "1 s"


def test_a_condition_on_a_metric_that_is_gone_stays_in_a_clone_until_somebody_takes_it_out(
    browser, target, toy
):
    browser.post(reverse("campaign-new"), typed(target))
    campaign = Campaign.objects.latest("pk")
    gone = {"conditions": [{"metric": "speed_of_old", "at_least": 3.0}]}
    Campaign.objects.filter(pk=campaign.pk).update(criterion=gone)

    page = Page(browser.get(reverse("campaign-clone", args=[campaign.pk])))

    assert page.named("criterion.conditions.0.limit")[0]["value"] == "3"
    assert "“speed_of_old” is not a metric of this campaign" in page.text


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

    assert forms.as_definition(entered)[0]["criterion"] == {
        "conditions": [{"metric": "registration_time", "at_most": "9 s"}],
        "failed_percent": "5",
    }
