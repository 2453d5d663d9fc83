"""The checkbox of a build in the form: it is installed anew in each whole plot."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign, Setting
from campaigns.tests.browsing import Page
from campaigns.tests.planning.pages.test_criterion import typed

pytestmark = pytest.mark.django_db
VARIES = {"vary-build": "on", "levels-build": "1.0\n2.0"}


@pytest.fixture(autouse=True)
def settings_of_the_target(target):
    for name, build in (("build", True), ("threads", False)):
        Setting.objects.create(
            target=target, name=name, type="text", is_build=build, apply={}, read_back={}
        )


def sent(target, **changes):
    return typed(target, anew="on", **changes)


def test_it_stands_at_a_build_and_is_shown_again(browser, target, toy):
    browser.post(reverse("campaign-new"), sent(target, **VARIES))

    campaign = Campaign.objects.get()
    assert campaign.anew
    page = Page(browser.get(reverse("campaign-edit", args=[campaign.pk])))
    assert ["checked" in each for each in page.named("anew")] == [True], "of the build alone"


def test_it_is_dropped_where_no_build_varies(browser, target, toy):
    browser.post(reverse("campaign-new"), sent(target))

    assert not Campaign.objects.get().anew
