"""Load on a production server begins only after somebody typed its name."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign, Run, Target
from campaigns.planning import lifecycle
from campaigns.tests.browsing import Page
from campaigns.tests.measured import launched

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(target):
    target.is_production = True
    target.save()
    return target


def post(browser, name, campaign, **data):
    return browser.post(reverse(name, args=[campaign.pk]), data)


def state_of(campaign):
    return Campaign.objects.get(pk=campaign.pk).state


def asked(response):
    """The input for the name, on the page that asks for it."""
    return Page(response).by_id("f-confirmed_name")


def test_a_launch_asks_for_the_name_and_starts_nothing(browser, draft):
    answer = post(browser, "campaign-launch", draft)

    assert answer.status_code == 200
    assert "aria-invalid" not in asked(answer)
    assert "toy server" in Page(answer).text
    assert state_of(draft) == Campaign.State.DRAFT


def test_the_page_that_asks_is_there_where_another_target_marks_the_server(browser, draft):
    own = draft.target
    own.is_production = False
    own.save()
    Target.objects.create(
        name="the same",
        family=own.family,
        base_url=own.base_url,
        address=own.address,
        is_production=True,
    )

    for answer in (
        browser.get(reverse("campaign-launch", args=[draft.pk])),
        post(browser, "campaign-launch", draft),
    ):
        assert "aria-invalid" not in asked(answer)
    assert state_of(draft) == Campaign.State.DRAFT


def test_another_name_is_told_beside_its_field_and_starts_nothing(browser, draft):
    answer = post(browser, "campaign-launch", draft, confirmed_name="Toy Server")

    page = Page(answer)
    assert answer.status_code == 422
    assert asked(answer)["aria-invalid"] == "true"
    assert asked(answer)["value"] == "Toy Server"
    assert "“Toy Server” is not its name; the server is called “toy server”" in page.text
    assert "Nothing was started" in page.text
    assert state_of(draft) == Campaign.State.DRAFT


def test_an_empty_name_is_told_too(browser, draft):
    answer = post(browser, "campaign-launch", draft, confirmed_name=" ")

    assert answer.status_code == 422
    assert "The name is missing" in Page(answer).text


def test_the_name_launches(browser, draft):
    answer = post(browser, "campaign-launch", draft, confirmed_name=" toy server ")

    assert answer["Location"] == reverse("campaign", args=[draft.pk])
    assert state_of(draft) == Campaign.State.RUNNING


def test_the_question_has_an_address_of_its_own(browser, draft):
    answer = browser.get(reverse("campaign-launch", args=[draft.pk]))

    assert "value" in asked(answer)
    assert state_of(draft) == Campaign.State.DRAFT


def test_a_try_out_keeps_the_cell_that_was_chosen(browser, draft):
    second = draft.cells.get(position=2)

    answer = post(browser, "campaign-try", draft, cell=second.pk)
    (kept,) = Page(answer).named("cell")
    post(browser, "campaign-try", draft, cell=kept["value"], confirmed_name="toy server")

    assert draft.runs.get().cell == second


def test_an_extension_keeps_its_repetitions(browser, draft, person):
    campaign = lifecycle.launch(draft, person, "toy server")

    answer = post(browser, "campaign-extend", campaign, blocks="2")
    (kept,) = Page(answer).named("blocks")
    assert campaign.runs.count() == 6
    post(browser, "campaign-extend", campaign, blocks=kept["value"], confirmed_name="toy server")

    assert campaign.runs.count() == 10


def test_what_was_paused_goes_on_only_by_name(browser, draft, person):
    campaign = lifecycle.pause(lifecycle.launch(draft, person, "toy server"), person)

    answer = post(browser, "campaign-resume", campaign)
    assert "value" in asked(answer)
    assert state_of(campaign) == Campaign.State.PAUSED
    post(browser, "campaign-resume", campaign, confirmed_name="toy server")

    assert state_of(campaign) == Campaign.State.RUNNING


def test_a_run_is_made_again_only_by_name(browser, draft, person):
    campaign = lifecycle.launch(draft, person, "toy server")
    Run.objects.filter(campaign=campaign, position=1).update(state=Run.State.FAILED)
    path = reverse("run-again", args=[campaign.pk, 1])

    answer = browser.post(path)
    assert "value" in asked(answer)
    assert campaign.runs.get(position=1).state == Run.State.FAILED
    browser.post(path, {"confirmed_name": "toy server"})

    assert campaign.runs.get(position=1).state == Run.State.PLANNED


@pytest.mark.parametrize("act", ["launch", "try"])
def test_the_form_saves_a_draft_and_asks(browser, target, act):
    sent = {
        "kind": "toy",
        "question": "Is it asked?",
        "target": str(target.pk),
        "p-path": "/a",
        "order": "interleaved",
        "repetitions": "1",
        "act": act,
    }

    answer = browser.post(reverse("campaign-new"), sent)

    stored = Campaign.objects.get()
    assert answer["Location"] == reverse(f"campaign-{act}", args=[stored.pk])
    assert stored.state == Campaign.State.DRAFT
    assert not stored.runs.exists()
    assert "is saved as a draft" in Page(browser.get(answer["Location"])).text


def test_a_target_that_is_no_production_server_asks_nothing(browser, target, draft):
    Target.objects.update(is_production=False)

    post(browser, "campaign-launch", draft)

    assert state_of(draft) == Campaign.State.RUNNING


def test_pages_mark_a_production_server_where_something_can_be_launched(browser, draft, person):
    page = browser.get(reverse("campaign", args=[draft.pk]))
    Target.objects.update(is_production=False)
    launched(draft.target, person)
    Target.objects.update(is_production=True)
    running = Campaign.objects.get(state=Campaign.State.RUNNING)

    assert "production" in Page(page).text
    assert "production" in Page(browser.get(reverse("campaign", args=[running.pk]))).text
    assert "production" in Page(browser.get(reverse("campaign-new"), {"kind": "toy"})).text
