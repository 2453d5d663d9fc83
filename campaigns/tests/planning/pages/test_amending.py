import json

import pytest

from campaigns.models import Amendment, Campaign
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, person):
    return launched(target, person, factors={"workers": [2, 4, 8]}, order="interleaved")


def form_of(browser, campaign):
    """What a browser would send if nobody typed anything."""
    page = Page(browser.get(f"/campaigns/{campaign.pk}/amend/"))
    sent = {
        str(attributes["name"]): attributes.get("value") or ""
        for tag, attributes in page.elements
        if tag == "input" and attributes.get("name")
    }
    names = {str(a["name"]) for tag, a in page.elements if tag in ("select", "textarea")}
    return sent | {name: sent.get(f"was-{name}", "") for name in names}


def amend(browser, campaign, **changes):
    sent = form_of(browser, campaign) | changes
    return browser.post(f"/campaigns/{campaign.pk}/amend/", sent, follow=True)


def test_a_reason_and_what_was_typed_anew_are_kept(browser, campaign, person):
    page = Page(amend(browser, campaign, smallest_effect_percent="2", reason="It pays."))

    made = Amendment.objects.get()
    assert (made.field, made.after, made.reason, made.user) == (
        "smallest_effect",
        0.02,
        "It pays.",
        person,
    )
    campaign.refresh_from_db()
    assert campaign.smallest_effect == 0.02
    assert campaign.analysis_requested_at is not None
    assert "The amendment is on record" in page.text


def test_running_and_result_show_it_to_everybody(browser, campaign, client, person):
    amend(browser, campaign, question="Are 8 workers enough?", reason="Asked anew.")

    running = Page(browser.get(f"/campaigns/{campaign.pk}/")).text
    assert "Changed after launch" in running
    assert (
        "question : “Is the new engine faster?” → “Are 8 workers enough?” . Asked anew." in running
    )
    store(campaign, lambda run: 8.0 / run.cell.levels_by_factor["workers"] + run.position / 1000)
    finish(campaign)
    result = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text
    assert "Amended after launch: question “Is the new engine faster?”" in result
    assert "by reviewer: Asked anew." in result
    exported = json.loads(browser.get(f"/campaigns/{campaign.pk}/campaign.json").getvalue())
    assert [each["label"] for each in exported["amendments"]] == ["question"]


def test_nothing_typed_is_no_amendment(browser, campaign):
    response = amend(browser, campaign, reason="why not")

    assert response.status_code == 422
    assert "Nothing would change" in Page(response).text
    assert not Amendment.objects.exists()


def test_what_somebody_else_amended_meanwhile_stays(browser, campaign):
    stale = form_of(browser, campaign)
    amend(browser, campaign, margin_percent="1", reason="first")

    sent = stale | {"smallest_effect_percent": "3", "reason": "second"}
    browser.post(f"/campaigns/{campaign.pk}/amend/", sent)

    campaign.refresh_from_db()
    assert (campaign.margin, campaign.smallest_effect) == (0.01, 0.03)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"margin_percent": "50"}, "wider than the smallest effect"),
        ({"reason": "", "margin_percent": "1"}, "This field is required."),
        (
            {"primary_contrast.candidate": "workers=9", "primary_contrast.baseline": "workers=2"},
            "“9” is not a level of workers",
        ),
        (
            {"primary_contrast.candidate": "workers=8", "primary_contrast.baseline": "x=2"},
            "one of x: choose two",
        ),
        ({"question": ""}, "This field is required."),
        ({"stop_most": "many", "stop_rule": "precision"}, "Enter a whole number."),
        ({"primary_metric": "beauty"}, "is not a metric"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(browser, campaign, changes, words):
    before = Campaign.objects.values().get()

    response = amend(browser, campaign, **({"reason": "because"} | changes))

    page = Page(response)
    assert response.status_code == 422
    assert words in page.text
    assert Campaign.objects.values().get() == before
    if "stop_most" in changes:
        (field,) = page.named("stop_most")
        assert field["value"] == "many"


def test_the_primary_contrast_is_chosen_and_taken_back(browser, campaign):
    chosen = {"primary_contrast.candidate": "workers=8", "primary_contrast.baseline": "workers=2"}
    amend(browser, campaign, **chosen, reason="That is what we ship.")
    campaign.refresh_from_db()
    assert campaign.primary_contrast["candidate"] == 8

    amend(browser, campaign, **dict.fromkeys(chosen, ""), reason="All count.")

    campaign.refresh_from_db()
    assert not campaign.primary_contrast
    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text
    assert "workers 8 vs. 2 → none . All count." in text


def test_a_draft_is_edited(browser, draft):
    response = browser.get(f"/campaigns/{draft.pk}/amend/", follow=True)

    assert response.redirect_chain[0][0] == f"/campaigns/{draft.pk}/edit/"


def test_a_stop_rule_that_has_ruled_is_not_offered(browser, campaign):
    store(campaign, lambda run: 1.0 + run.position)
    finish(campaign)

    sent = form_of(browser, campaign)

    assert "stop_rule" not in sent
    assert "margin_percent" in sent
    page = Page(amend(browser, campaign, stop_rule="precision", reason="more"))
    assert "Nothing would change" in page.text


def test_a_production_server_is_named_where_the_stop_rule_changes(browser, campaign):
    campaign.target.is_production = True
    campaign.target.save()

    refused = amend(browser, campaign, stop_rule="precision", reason="more")
    assert refused.status_code == 422
    assert "Nobody typed its name." in Page(refused).text
    amend(
        browser, campaign, stop_rule="precision", reason="more", confirmed_name=campaign.target.name
    )

    campaign.refresh_from_db()
    assert campaign.stop_rule == "precision"


def test_a_kind_that_is_gone_is_told(browser, campaign):
    Campaign.objects.filter(pk=campaign.pk).update(kind="vanished")

    page = Page(amend(browser, campaign, margin_percent="1", reason="because"))

    assert "There is no kind “vanished”" in page.text
