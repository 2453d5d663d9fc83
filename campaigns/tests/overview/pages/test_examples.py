"""The examples of the first minute: who sees them, what a click makes, and until when."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, PublishedAnswer, Target
from campaigns.overview.examples import EXAMPLES, for_overview, offered
from campaigns.planning import preview, storage
from campaigns.planning.checking import check
from campaigns.results.importing import demonstration
from campaigns.results.importing.simulated_katello import certificates_in, katello_target
from campaigns.stats.methods import METHODS
from campaigns.tests.browsing import Page
from campaigns.tests.people import everywhere, somebody
from sandbox.katello.authority import Authority

pytestmark = pytest.mark.django_db
NAMES = [example.name for example in EXAMPLES]
RUNS = {"sync-study": 18, "two-downloaders": 30, "registrations": 8}
HOME, LIST = "home", "example-list"


@pytest.fixture
def simulators(settings):
    settings.OWNER_CONFIRMS = True
    settings.ALLOWED_ADDRESSES = "127.0.0.1:8099"
    demonstration.sandbox_target("http://127.0.0.1:8099")
    demonstration.pulp_target("http://127.0.0.1:8199")
    ca = certificates_in(Authority.new().pem)
    katello_target("https://127.0.0.1:8399", ca, somebody("boss"))


def shown(client, page):
    html = client.get(reverse(page)).content.decode()
    return [name for name in NAMES if f'id="example-{name}"' in html]


def main_of(client):
    html = client.get(reverse(HOME)).content.decode()
    return html.partition("<main")[2].partition("</main>")[0]


def start(client, name, **sent):
    return client.post(reverse("example-start", args=[name]), sent)


@pytest.mark.parametrize("name", NAMES)
def test_one_click_launches_a_campaign_as_it_was_planned(browser, simulators, worker, name):
    answer = start(browser, name)

    campaign = Campaign.objects.get(tags__contains=["example"])
    assert answer["Location"] == reverse("campaign", args=[campaign.pk])
    assert (campaign.state, campaign.runs.count()) == ("running", RUNS[name])
    planned = preview.preview(check(storage.definition_of(campaign)))
    assert not [text for tone, text in planned.remarks if "no verdict" in text]
    assert f"{RUNS[name]} runs" in next(each.takes for each in EXAMPLES if each.name == name)


def test_a_card_tells_what_is_simulated_how_long_it_takes_and_what_was_published(
    browser, simulators
):
    page = Page(browser.get(reverse(HOME)))

    assert shown(browser, HOME) == NAMES
    assert len(page.named("csrfmiddlewaretoken")) > len(NAMES)
    for example in EXAMPLES:
        for text in (example.title, example.simulated, example.takes, example.published):
            assert text in page.text


def test_a_card_leads_to_its_campaign_and_then_tells_its_answer(browser, simulators):
    start(browser, "sync-study")
    running = Page(browser.get(reverse(HOME))).text
    campaign = Campaign.objects.get(tags__contains=["example"])
    Campaign.objects.filter(pk=campaign.pk).update(state="finished")
    assert "Finished: see it" in Page(browser.get(reverse(HOME))).text
    campaign.findings.create(name="answer", data_hash="x", versions={"methods": METHODS}, result={})
    PublishedAnswer.objects.create(campaign=campaign, sentence="20 is the fastest.", caveat="")

    ended = Page(browser.get(reverse(HOME))).text

    assert "watch it" in running
    assert "20 is the fastest." in ended
    assert "Launch again" in ended


def test_it_may_be_a_draft_first(browser, simulators):
    start(browser, "two-downloaders", draft="on")

    assert Campaign.objects.get(tags__contains=["example"]).state == "draft"
    assert shown(browser, HOME) == NAMES


def test_once_something_was_launched_they_are_folded_below_the_answers(browser, simulators):
    fresh = browser.get(reverse(HOME)).content.decode()
    assert fresh.index('id="example-sync-study"') < fresh.index('id="h-answers"')

    start(browser, "sync-study", draft="on")
    assert "<details" not in main_of(browser)
    start(browser, "registrations")

    assert shown(browser, HOME) == NAMES
    answers, _, folded = main_of(browser).partition("<details")
    assert 'id="h-answers"' in answers
    assert "Published experiments (3)" in folded
    assert all(f'id="example-{name}"' in folded for name in NAMES)


def test_they_leave_the_overview_once_all_were_launched_and_the_first_days_are_over(
    browser, simulators
):
    for name in NAMES:
        start(browser, name)
    Campaign.objects.filter(tags__contains=["example"]).update(state="finished")
    assert shown(browser, HOME) == NAMES

    Target.objects.update(created_at=timezone.now() - timedelta(days=8))

    assert shown(browser, HOME) == []
    assert shown(browser, LIST) == NAMES
    assert reverse(LIST) in browser.get(reverse(HOME)).content.decode()


def test_without_a_sandbox_there_is_no_example(browser):
    assert offered(everywhere().see) == []
    assert for_overview([]) == []
    assert "No simulated server here" in Page(browser.get(reverse(LIST))).text
    assert start(browser, "sync-study").status_code == 404


def test_a_server_of_somebody_with_the_name_of_a_simulator_is_not_loaded(browser, simulators):
    Target.objects.filter(name="Sandbox Pulp").update(family="http")

    assert shown(browser, HOME) == ["two-downloaders", "registrations"]
    assert start(browser, "sync-study").status_code == 404


def test_who_may_only_look_sees_no_button(client, simulators):
    reader = somebody("reader", "viewer")
    client.force_login(reader)

    page = Page(client.get(reverse(HOME)))

    assert shown(client, HOME) == NAMES
    assert "An author and operator of the team can launch it." in page.text
    assert reverse("example-start", args=["sync-study"]) not in str(page.elements)
    assert start(client, "sync-study").status_code == 403


def test_the_number_of_queries_does_not_depend_on_what_was_launched(
    browser, simulators, django_assert_num_queries
):
    teams = everywhere().see
    with django_assert_num_queries(2):
        offered(teams)
    for name in NAMES:
        start(browser, name)

    with django_assert_num_queries(3):
        assert all(each.is_active for each in offered(teams))


def test_a_simulator_that_is_marked_as_production_asks_for_its_name(browser, simulators):
    Target.objects.update(is_production=True)

    answer = start(browser, "sync-study")

    campaign = Campaign.objects.get(tags__contains=["example"])
    assert answer["Location"] == reverse("campaign-launch", args=[campaign.pk])
    assert campaign.state == "draft"
    assert "production" in browser.get(reverse(HOME)).content.decode()
