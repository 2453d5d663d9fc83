"""The primary contrast in the browser: chosen in the form, shown on the pages."""

import re

import pytest

from campaigns.models import Campaign
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

FACTORS = {"workers": [2, 4, 8], "engine": ["new", "old"]}
CONTRAST = {"factor": "workers", "candidate": 8, "baseline": 4, "at": {"engine": "old"}}


def sent(target, **changes):
    return {
        "act": "save",
        "kind": "toy",
        "question": "How many workers?",
        "target": target.pk,
        "primary_metric": "duration",
        "order": "interleaved",
        "repetitions": "3",
        "p-path": "/a",
        "vary-workers": "on",
        "levels-workers": "2 4 8",
        "vary-engine": "on",
        "levels-engine": ["new", "old"],
        "primary_contrast.candidate": "workers=8",
        "primary_contrast.baseline": "workers=4",
        "primary_contrast.at": "engine=old",
    } | changes


def test_it_is_chosen_in_the_form_without_a_script(browser, target):
    browser.post("/campaigns/new/", sent(target))

    assert Campaign.objects.get().primary_contrast == CONTRAST


def test_nothing_chosen_is_none(browser, target):
    browser.post(
        "/campaigns/new/",
        sent(target, **{"primary_contrast.candidate": "", "primary_contrast.baseline": ""}),
    )

    assert Campaign.objects.get().primary_contrast is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"primary_contrast.baseline": "engine=new"}, "8 is a level of workers, new one of engine"),
        ({"primary_contrast.baseline": ""}, "Say which level is the baseline: 2, 4, 8."),
        ({"primary_contrast.candidate": "workers=9"}, "“9” is not a level of workers"),
        ({"primary_contrast.candidate": "workers=4"}, "are both 4; choose two levels"),
        (
            {"primary_contrast.candidate": "note=1", "primary_contrast.baseline": "note=2"},
            "“note” is none",
        ),
        ({"primary_contrast.at": "engine=older"}, "“older” is not a level of engine"),
        ({"primary_contrast.at": "everywhere"}, "is no combination"),
        ({"excluded": "workers=8, engine=old"}, "8 and 4 are measured together nowhere"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_lost(browser, target, changes, words):
    response = browser.post("/campaigns/new/", sent(target, **changes))

    page = Page(response)
    assert response.status_code == 422
    assert words in page.text
    assert not Campaign.objects.exists()
    chosen = {attributes["value"] for tag, attributes in page.elements if "selected" in attributes}
    assert {"workers=8", "engine=old"} & chosen


def test_the_choices_follow_the_levels_that_are_typed(browser, target):
    response = browser.post("/campaigns/plan/", sent(target, **{"levels-workers": "3 5"}))

    page = Page(response)
    ids = [attributes.get("id") for tag, attributes in page.elements if "hx-swap-oob" in attributes]
    assert ids[-3:] == [
        "f-primary_contrast.candidate",
        "f-primary_contrast.baseline",
        "f-primary_contrast.at",
    ]
    values = [attributes["value"] for tag, attributes in page.elements if tag == "option"]
    assert {"workers=3", "workers=5", "engine=new", "engine=old"} <= set(values)
    assert "workers=2" not in values
    assert "workers=8" in values  # what was chosen stays until another is


def test_only_the_paired_factor_is_offered_for_pairs(browser, target):
    changes = {
        "order": "paired",
        "paired_factor": "engine",
        "primary_contrast.candidate": "engine=old",
    }
    response = browser.post(
        "/campaigns/plan/", sent(target, **changes, **{"primary_contrast.at": "workers=4"})
    )

    values = [attributes["value"] for tag, attributes in Page(response).elements if tag == "option"]
    assert [value for value in values if value == "workers=4"] == ["workers=4"] * 2


def test_levels_of_other_work_are_not_offered(browser, target):
    changes = {"vary-path": "on", "levels-path": "/a\n/b"}

    page = Page(browser.post("/campaigns/plan/", sent(target, **changes)))

    values = [attributes["value"] for tag, attributes in page.elements if tag == "option"]
    assert "path=/a" not in values
    assert "path=/a, engine=old" in values or "engine=old, path=/a" in values


def test_the_form_of_an_edit_and_of_a_clone_keep_it(browser, target, person):
    data = definition(target=target.pk, factors=FACTORS, order="interleaved")
    draft = drafts.create(check(data | {"primary_contrast": CONTRAST}), person)

    for page in ("edit", "clone"):
        shown = Page(browser.get(f"/campaigns/{draft.pk}/{page}/"))
        chosen = [attributes for tag, attributes in shown.elements if "selected" in attributes]
        assert {"workers=8", "workers=4", "engine=old"} <= {each["value"] for each in chosen}


def test_draft_running_and_result_name_it(browser, target, person):
    words = "workers 8 vs. 4, at engine old"
    data = definition(target=target.pk, factors=FACTORS, order="interleaved")
    draft = drafts.create(check(data | {"primary_contrast": CONTRAST}), person)
    campaign = launched(
        target, person, factors=FACTORS, order="interleaved", primary_contrast=CONTRAST
    )

    assert words in Page(browser.get(f"/campaigns/{draft.pk}/")).text
    assert words in Page(browser.get(f"/campaigns/{campaign.pk}/")).text
    store(campaign, lambda run: 8.0 / run.cell.levels_by_factor["workers"] + run.position / 1000)
    finish(campaign)
    text = Page(browser.get(f"/campaigns/{campaign.pk}/print/")).text
    assert re.search(r"Workers 8 is [0-9.]+ % faster than 4 at engine old\.", text)


def test_pairs_have_one_by_nature(browser, draft):
    text = Page(browser.get(f"/campaigns/{draft.pk}/")).text

    assert "primary contrast engine old vs. new" in text
