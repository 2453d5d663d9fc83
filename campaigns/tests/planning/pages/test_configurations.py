"""The table of named configurations in the form: typed, kept where it is wrong, and shown again."""

import pytest
from django.urls import reverse

from campaigns.models import Campaign, Setting
from campaigns.planning.pages import forms
from campaigns.tests.browsing import Page
from campaigns.tests.planning.pages.test_criterion import typed

pytestmark = pytest.mark.django_db

ROWS = {
    "configuration-0-name": "2 x 16",
    "configuration-0-threads": "16",
    "configuration-0-processes": "2",
    "configuration-3-name": "4 x 8",
    "configuration-3-threads": "8",
    "configuration-3-processes": "4",
}
STORED = {"2 x 16": {"processes": 2, "threads": 16}, "4 x 8": {"processes": 4, "threads": 8}}


@pytest.fixture(autouse=True)
def settings_of_the_target(target):
    for name in ("processes", "threads"):
        Setting.objects.create(target=target, name=name, minimum=1, apply={}, read_back={})


def sent(target, **changes):
    fields = typed(target, **ROWS, **changes)
    return {name: value for name, value in fields.items() if not name.endswith("-slow")}


def test_rows_become_levels_and_are_shown_again(browser, target, toy):
    browser.post(reverse("campaign-new"), sent(target))

    campaign = Campaign.objects.get()
    assert campaign.configurations == STORED
    assert [level.value for level in campaign.factors.get().levels.all()] == ["2 x 16", "4 x 8"]
    page = Page(browser.get(reverse("campaign-edit", args=[campaign.pk])))
    assert page.named("configuration-0-name")[0]["value"] == "2 x 16"
    assert page.named("configuration-1-threads")[0]["value"] == "8"
    assert page.named("configuration-2-name")[0]["value"] == ""


def test_what_is_wrong_is_told_at_the_table_and_what_was_typed_stays(browser, target, toy):
    answer = browser.post(
        reverse("campaign-new"),
        sent(target) | {"configuration-3-threads": "", "configuration-0-processes": "0"},
    )

    page = Page(answer)
    assert answer.status_code == 422
    assert "2 x 16.processes: Ensure this value is greater than or equal to 1." in page.text
    assert page.named("configuration-1-name")[0]["value"] == "4 x 8"
    assert not Campaign.objects.exists()


def test_two_rows_of_one_name_are_refused(browser, target, toy):
    answer = browser.post(
        reverse("campaign-new"), sent(target) | {"configuration-3-name": "2 x 16"}
    )

    assert answer.status_code == 422
    assert "Two rows are called “2 x 16”; rename one." in Page(answer).text


def test_a_pair_of_configurations_is_offered(browser, target, toy):
    answer = browser.post(
        reverse("campaign-new"),
        sent(target) | {"order": "paired", "paired_factor": "configuration", "baseline": "4 x 8"},
    )

    assert answer.status_code == 302
    assert Campaign.objects.get().baseline == "4 x 8"


def test_the_result_says_what_a_configuration_sets(browser, target, toy):
    browser.post(reverse("campaign-new"), sent(target))

    page = Page(browser.get(reverse("campaign", args=[Campaign.objects.get().pk])))

    told = "Configuration 2 x 16 processes 2, threads 16 Configuration 4 x 8 processes 4, threads 8"
    assert told in page.text


def test_a_target_without_settings_has_no_table(browser, target, toy):
    Setting.objects.all().delete()

    assert not Page(browser.get(reverse("campaign-new"))).named("configuration-0-name")


def test_a_comparison_of_two_inputs_names_them(target, toy):
    data = {
        "kind": "toy",
        "target": target.pk,
        "parameters": {"path": "/a"},
        "factors": {"configuration": STORED},
        "excluded": [],
    }
    entered = forms.from_definition(data, frozenset({target.team_id}))

    assert forms.as_shown(entered)["configurations"] == (
        "2 x 16: processes 2, threads 16; 4 x 8: processes 4, threads 8"
    )
