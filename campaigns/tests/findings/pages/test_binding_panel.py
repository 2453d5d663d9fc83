"""The panel of a result on which resource binds."""

import pytest
from django.urls import reverse

from campaigns.reviews.reports.parts import part_of
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.watched import watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100)
    return campaign


def text(browser, campaign):
    return browser.get(reverse("campaign-print", args=[campaign.pk])).content.decode()


def test_the_strip_stands_under_the_curve(browser, campaign):
    for run in campaign.runs.all():
        watch(run, 0.98)
    page = text(browser, finish(campaign))
    assert "Which resource binds" in page
    assert "CPU of the target binds" in page
    assert "Resources of each run" in page
    assert "because" not in page.lower().partition("which resource binds")[2][:3000]


def test_no_panel_without_watches(browser, campaign):
    assert "Which resource binds" not in text(browser, finish(campaign))


def test_a_report_says_it_unless_it_is_public(campaign):
    for run in campaign.runs.all():
        watch(run, 0.98)
    campaign = finish(campaign)
    facts = dict(part_of(campaign).facts)
    assert "binds" in facts["Which resource binds"]
    assert "Which resource binds" not in dict(part_of(campaign, public=True).facts)
