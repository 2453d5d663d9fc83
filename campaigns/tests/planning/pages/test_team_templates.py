import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import AuditEvent, Campaign, Team, Template
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


def save(browser, campaign, **fields):
    values = {"name": "Engines", "notes": "Monthly."} | fields
    return browser.post(reverse("template-new", args=[campaign.pk]), values)


@pytest.fixture
def template(browser, draft):
    save(browser, draft)
    return Template.objects.get()


def test_a_campaign_is_saved_as_a_template_of_its_team(browser, draft, person):
    assert save(browser, draft).status_code == 302

    template = Template.objects.get()
    assert (template.team, template.made_by) == (draft.team, person)
    assert template.definition["factors"] == {"engine": ["new", "old"]}
    assert not {"name", "seed"} & template.definition.keys()
    assert "Monthly." in Page(browser.get(reverse("template-list"))).text


def test_a_name_is_taken_once_in_a_team_until_it_is_retired(browser, draft, template):
    again = save(browser, draft)

    assert again.status_code == 422
    assert "has a template “Engines” already" in Page(again).text

    browser.post(reverse("template-retire", args=[template.pk]))

    assert save(browser, draft).status_code == 302
    assert Template.objects.count() == 2


def test_a_campaign_begins_with_a_template(browser, template, target):
    path = reverse("template-begin", args=[template.pk])
    assert target.name in Page(browser.get(path)).text

    response = browser.post(path, {"question": "And today?", "target": target.pk})

    made = Campaign.objects.latest("pk")
    assert response["Location"] == reverse("campaign-edit", args=[made.pk])
    assert (made.template, made.question, made.state) == (template, "And today?", "draft")
    assert [factor.name for factor in made.factors.all()] == ["engine"]


@pytest.mark.parametrize("key", ["", "999999", "x", "9" * 30])
def test_a_target_that_there_is_not_is_refused(browser, template, key):
    path = reverse("template-begin", args=[template.pk])

    response = browser.post(path, {"question": "And today?", "target": key})

    assert response.status_code == 422
    assert "Choose a target of the template&#x27;s team" in response.content.decode()
    assert Campaign.objects.count() == 1


def test_a_template_is_renamed(browser, template):
    path = reverse("template-edit", args=[template.pk])
    assert "Engines" in browser.get(path).content.decode()

    browser.post(path, {"name": "Engines, monthly", "notes": ""})

    template.refresh_from_db()
    assert template.name == "Engines, monthly"


def test_a_retired_template_is_hidden_and_begins_nothing(browser, template, target):
    browser.post(reverse("template-retire", args=[template.pk]))

    assert (
        "Engines" not in Page(browser.get(reverse("template-list"))).text.partition("is retired")[2]
    )
    assert "Engines" in Page(browser.get(reverse("template-list"), {"retired": 1})).text
    path = reverse("template-begin", args=[template.pk])
    assert browser.post(path, {"question": "?", "target": target.pk}).status_code == 404


def test_what_was_done_is_recorded(browser, template):
    browser.post(reverse("template-edit", args=[template.pk]), {"name": "B"})
    browser.post(reverse("template-retire", args=[template.pk]))

    told = AuditEvent.objects.filter(action__startswith="template").order_by("pk")
    assert list(told.values_list("action", flat=True)) == [
        "template_created",
        "template_edited",
        "template_retired",
    ]


def test_another_team_sees_none(template):
    client = Client()
    client.force_login(somebody("eve", team=Team.objects.create(name="Others")))

    assert "Engines" not in Page(client.get(reverse("template-list"))).text
    assert client.get(reverse("template-begin", args=[template.pk])).status_code == 404


def test_a_viewer_sees_them_and_changes_nothing(template):
    client = Client()
    client.force_login(somebody("vic", "viewer"))

    page = client.get(reverse("template-list")).content.decode()

    assert "Engines" in page
    assert reverse("template-begin", args=[template.pk]) not in page
    assert client.post(reverse("template-retire", args=[template.pk])).status_code == 403


def test_markup_in_names_stays_text(browser, draft):
    save(browser, draft, name="<img src=x onerror=alert(1)>")

    assert "<img" not in browser.get(reverse("template-list")).content.decode()
