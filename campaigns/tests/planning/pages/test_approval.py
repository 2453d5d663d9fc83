"""A second person's yes, on the pages."""

import pytest
from django.urls import reverse

from campaigns.models import LaunchRequest, Run, Target, Team
from campaigns.planning import lifecycle
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(draft, person):
    """It goes on; its server became one of production, and its team wants two people there."""
    found = lifecycle.launch(draft, person)
    Target.objects.update(is_production=True)
    Team.objects.update(second_for_production=True)
    return found


def test_who_makes_a_run_again_learns_that_it_waits_and_another_one_says_yes(
    browser, client, campaign
):
    Run.objects.filter(campaign=campaign, position=2).update(state="failed", reason="no")
    again = reverse("run-again", args=[campaign.pk, 2])

    page = Page(browser.post(again, {"confirmed_name": "toy server"}, follow=True))

    assert "the repetition of a run waits for approval by a second person" in page.text
    assert "asked for run 2 to be repeated on toy server" in page.text
    assert campaign.runs.get(position=2).state == "failed"
    client.force_login(somebody("bob", "operator"))
    client.post(reverse("launch-approve", args=[LaunchRequest.objects.get().pk]))
    assert campaign.runs.get(position=2).state == "planned"


def test_a_stop_rule_that_may_load_more_is_refused_and_the_page_says_so_before(browser, campaign):
    address = reverse("campaign-amend", args=[campaign.pk])

    assert "needs approval by a second person" in Page(browser.get(address)).text
    sent = {"stop_rule": "precision", "was-stop_rule": "fixed", "reason": "more"}
    page = Page(browser.post(address, sent | {"confirmed_name": "toy server"}, follow=True))

    assert "Extend the campaign, or clone it" in page.text
    campaign.refresh_from_db()
    assert campaign.stop_rule == "fixed"


def test_one_operator_does_not_take_the_mark_of_production_off_and_the_form_says_so(
    client, campaign
):
    target = campaign.target
    address = reverse("target-edit", args=[target.pk])
    client.force_login(somebody("bob", "operator"))
    note = "An admin of the team can remove the mark"

    assert note in Page(client.get(address)).text
    sent = client.post(
        address, {"name": target.name, "family": target.family, "base_url": target.base_url}
    )

    assert sent.status_code == 403
    assert "An admin of the team" in Page(sent).text
    assert Target.objects.get(pk=target.pk).is_production
    client.force_login(somebody("boss", "admin"))
    assert note not in Page(client.get(address)).text
