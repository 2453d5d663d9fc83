import math

import numpy as np
import pytest

from campaigns.models import Campaign
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.results.importing import demonstration
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

BLIND = {"factors": {}, "paired_factor": "blind_label", "repetitions": 10}


def calibrated(target, person, b_is=1.0, **changes):
    campaign = launched(target, person, **(BLIND | changes))
    rng = np.random.default_rng(1)

    def value_of(run):
        label = run.cell.levels_by_factor["blind_label"]
        return float(10 * (b_is if label == "B" else 1) * math.exp(rng.normal(0, 0.02)))

    store(campaign, value_of)
    return finish(campaign)


def made():
    return Campaign.objects.get(paired_factor="blind_label")


def test_one_click_on_a_draft_makes_the_draft_of_a_calibration(browser, draft, person):
    assert "Calibrate (A/A)" in Page(browser.get(f"/campaigns/{draft.pk}/")).text

    page = Page(browser.post(f"/campaigns/{draft.pk}/calibrate/", follow=True))

    found = made()
    assert (found.state, found.author, found.clone_of) == ("draft", person, draft)
    assert (found.order, found.repetitions) == ("paired", 10)
    assert found.parameters["engine"] == "new"
    assert "How large a difference does toy server show between identical runs?" in page.text
    assert "A/A: both labels are one setting." in page.text


def test_one_click_on_a_result_too(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100)
    finish(campaign)

    assert "Calibrate (A/A)" in Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text
    browser.post(f"/campaigns/{campaign.pk}/calibrate/")

    assert made().target == target


def test_a_look_makes_nothing(browser, draft):
    assert browser.get(f"/campaigns/{draft.pk}/calibrate/").status_code == 405


def test_what_comes_from_outside_is_not_calibrated(browser, person):
    campaign, _ = demonstration.published_campaign(person)

    assert "Calibrate (A/A)" not in Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text
    page = Page(browser.post(f"/campaigns/{campaign.pk}/calibrate/", follow=True))

    assert "come from outside" in page.text
    assert Campaign.objects.count() == 1


def test_a_target_that_was_retired_is_not_measured(browser, draft):
    draft.target.retired_at = draft.created_at
    draft.target.save()

    page = Page(browser.post(f"/campaigns/{draft.pk}/calibrate/", follow=True))

    assert "There is no target" in page.text
    assert Campaign.objects.count() == 1


def test_the_page_of_a_calibration_says_what_was_shown(browser, target, person):
    campaign = calibrated(target, person)

    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text

    assert "Identical runs differ by up to" in text
    assert "no difference exists by construction" in text
    assert "Noise floor" in text
    assert "3 pairs 5 pairs 10 pairs" in text
    assert "The one comparison was not called better or worse." in text
    assert "A/A noise" in text
    assert "B is faster" not in text


def test_a_false_alarm_is_told_as_one(browser, target, person):
    campaign = calibrated(target, person, b_is=1.5)

    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text

    assert "1 of 1 comparison called better or worse: a false alarm, which 5 % of such" in text
    assert "false alarm: 1 of 1 comparison" in text


def test_the_false_alarms_of_all_calibrations_are_counted(browser, target, person):
    calibrated(target, person, b_is=1.5)
    campaign = calibrated(target, person)

    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text

    assert (
        "Of 2 A/A comparisons of this kind and metric on this server, 1 was a false alarm; at most about 5 % should be."
        in text
    )


def test_while_it_runs_nothing_is_said(browser, target, person):
    campaign = calibrated(target, person)
    Campaign.objects.filter(pk=campaign.pk).update(state="running")

    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text

    assert "What identical runs show" not in text


def test_the_target_tells_what_is_known_and_offers_the_click(browser, target, person):
    before = Page(browser.get(f"/targets/{target.pk}/"))
    assert "Toy: not known" in before.text
    (address,) = [
        attributes["href"]
        for tag, attributes in before.elements
        if tag == "a" and "kind=toy" in (attributes.get("href") or "")
    ]
    assert address == f"/campaigns/new/?kind=toy&target={target.pk}&calibrate=1"

    campaign = calibrated(target, person)

    after = Page(browser.get(f"/targets/{target.pk}/"))
    assert "Toy: up to" in after.text
    actions = [attributes.get("action") for tag, attributes in after.elements if tag == "form"]
    assert f"/campaigns/{campaign.pk}/calibrate/" in actions


def test_the_form_begins_with_a_calibration_where_it_is_asked_to(browser, target):
    page = Page(browser.get(f"/campaigns/new/?kind=toy&target={target.pk}&calibrate=1"))

    (repetitions,) = page.named("repetitions")
    assert repetitions["value"] == "10"
    chosen = [a["value"] for tag, a in page.elements if tag == "option" and "selected" in a]
    assert "blind_label" in chosen
    sent = {
        "act": "save",
        "kind": "toy",
        "question": "How large?",
        "target": target.pk,
        "order": "paired",
        "paired_factor": "blind_label",
        "repetitions": "10",
        "p-path": "/a",
    }
    browser.post("/campaigns/new/", sent)
    assert storage.definition_of(made())["factors"] == {"blind_label": ["A", "B"]}


def test_the_plan_offers_it_and_the_form_is_not_lost(browser, target):
    sent = {
        "kind": "toy",
        "target": target.pk,
        "order": "interleaved",
        "repetitions": "3",
        "p-path": "/a",
        "vary-workers": "on",
        "levels-workers": "2 4",
    }
    page = Page(browser.post("/campaigns/plan/", sent))
    (button,) = [a for tag, a in page.elements if a.get("value") == "calibrate"]
    assert button["formtarget"] == "_blank"

    browser.post("/campaigns/new/", sent | {"act": "calibrate"})

    assert Campaign.objects.count() == 1
    assert made().parameters["workers"] == 2


def test_a_form_that_is_wrong_is_not_calibrated(browser, target):
    response = browser.post("/campaigns/new/", {"act": "calibrate", "kind": "toy"})

    assert response.status_code == 422
    assert not Campaign.objects.exists()


def test_a_draft_of_it_can_be_edited(browser, target, person):
    draft = drafts.create(check(definition(target=target.pk, **BLIND)), person)

    page = Page(browser.get(f"/campaigns/{draft.pk}/edit/"))

    chosen = [a["value"] for tag, a in page.elements if tag == "option" and "selected" in a]
    assert "blind_label" in chosen
