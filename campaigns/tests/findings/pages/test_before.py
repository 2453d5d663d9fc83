"""The campaign before on the page of the answer: which one it is, and what is said of both."""

import pytest
from django.urls import reverse

from campaigns.findings.pages.before import before_of
from campaigns.models import Campaign, Template
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(target, person):
    """Make a finished campaign of so many seconds a run."""

    def make(seconds, **changes):
        definition = {"factors": {"workers": [1, 2]}, "order": "interleaved", "repetitions": 4}
        campaign = launched(target, person, **definition | changes)
        store(campaign, lambda run: seconds + run.position % 3 / 100)
        return finish(campaign)

    return make


def found(campaign):
    before = before_of(campaign, {campaign.team_id})
    return before and before.campaign


def test_it_is_the_latest_of_the_same_definition(made):
    first, second, third = made(10), made(20), made(10)

    assert found(first) is None
    assert found(second) == first
    assert found(third) == second


@pytest.mark.parametrize(
    "changes",
    [{"factors": {"workers": [1, 4]}}, {"question": "Another?"}, {"parameters": {"path": "/else"}}],
)
def test_another_definition_is_another_series(made, changes):
    made(10)

    assert found(made(10, **changes)) is None


def test_campaigns_of_a_template_belong_together_whatever_was_changed(made):
    first, other = made(10, factors={"workers": [1, 4]}), made(10)
    template = Template.objects.create(team=first.team, name="Nightly", definition={})
    Campaign.objects.filter(pk__in=(first.pk, other.pk)).update(template=template)
    other.refresh_from_db()

    before = before_of(other, {other.team_id})

    assert before
    assert (before.campaign, before.same) == (first, "the same template")


def test_an_open_campaign_is_compared_with_none_and_none_with_it(made):
    first, second = made(10), made(10)
    Campaign.objects.filter(pk=first.pk).update(state=Campaign.State.PAUSED)
    assert found(second) is None

    Campaign.objects.filter(pk=first.pk).update(state=Campaign.State.FINISHED)
    second.state = Campaign.State.RUNNING
    assert found(second) is None


def test_a_campaign_of_a_team_that_is_not_the_readers_is_not_told_of(made):
    made(10)

    assert before_of(made(10), set()) is None


def test_the_answer_says_what_changed_and_links_the_comparison(browser, made):
    first, second = made(10), made(20)

    page = browser.get(reverse("campaign", args=[second.pk]))
    text = Page(page).text

    assert "Compared with the campaign before" in text
    assert "slower" in text.split("Compared with the campaign before")[1][:600]
    assert f"/compare/?c={first.pk}&amp;c={second.pk}" in page.content.decode()
    assert (
        "Compared with the campaign before"
        not in Page(browser.get(reverse("campaign", args=[first.pk]))).text
    )
