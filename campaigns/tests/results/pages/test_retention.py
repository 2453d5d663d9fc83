import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import AuditEvent, Campaign, LogLine, Retention, Target, Team
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def over(target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position)
    return finish(campaign)


def archive(browser, campaign):
    return browser.post(reverse("campaign-archive", args=[campaign.pk]), follow=True)


def listed(browser, **query):
    return [row.campaign for row in browser.get(reverse("campaign-list"), query).context["rows"]]


def test_an_archived_campaign_is_hidden_unless_it_is_asked_for(browser, over):
    archive(browser, over)

    assert listed(browser) == []
    assert listed(browser, archived="only") == listed(browser, archived="all") == [over]
    assert over.question not in Page(browser.get(reverse("home"))).text
    assert "is in the archive" in Page(browser.get(reverse("campaign", args=[over.pk]))).text


def test_it_comes_back(browser, over):
    archive(browser, over)
    browser.post(reverse("campaign-unarchive", args=[over.pk]))

    assert listed(browser) == [over]
    told = AuditEvent.objects.filter(action__contains="archived").order_by("pk")
    assert [each.action for each in told] == ["campaign_archived", "campaign_unarchived"]
    assert LogLine.objects.filter(campaign=over, text__startswith="archived by reviewer").exists()


def test_what_goes_on_is_not_archived(browser, target, person):
    campaign = launched(target, person)

    page = Page(archive(browser, campaign))

    assert "archive it when it is over" in page.text
    assert Campaign.objects.get(pk=campaign.pk).archived_at is None


def test_a_viewer_archives_nothing(over):
    client = Client()
    client.force_login(somebody("vic", "viewer"))

    assert client.post(reverse("campaign-archive", args=[over.pk])).status_code == 403


def test_the_page_of_disk_used_has_every_campaign_with_its_kinds(browser, over):
    page = browser.get(reverse("storage"))

    assert over.name in Page(page).text
    used = {one.campaign: one.bytes for one in page.context["used"]}
    assert used[over]["measurements"] > 0
    assert used[over]["findings"] > 0


def test_a_stranger_sees_nothing_of_it(over):
    client = Client()
    client.force_login(somebody("eve", team=Team.objects.create(name="Others")))

    page = client.get(reverse("storage"))

    assert over.name not in page.content.decode()
    assert page.context["used"] == []


def test_an_admin_says_how_long_samples_are_kept(browser, over):
    team = over.team
    path = reverse("storage-rule", args=[team.pk])

    browser.post(path, {"keep_samples_days": "30"})
    assert team.retention.keep_samples_days == 30

    browser.post(path, {"keep_samples_days": ""})
    assert not Retention.objects.exists()


@pytest.mark.parametrize("days", ["0", "-1", "x", "1e9", "99999999999"])
def test_a_rule_that_is_none_is_refused_with_a_reason(browser, over, days):
    response = browser.post(
        reverse("storage-rule", args=[over.team.pk]), {"keep_samples_days": days}
    )

    assert response.status_code == 422
    assert Page(response).by_id("f-keep_samples_days")["aria-invalid"] == "true"


def test_before_its_end_a_target_tells_what_depends_on_it(browser, over, draft):
    text = Page(browser.get(reverse("target-end", args=[over.target.pk]))).text

    assert "Campaigns: 1" in text
    assert "Drafts: 1" in text
    assert over.name in text
    assert "cannot be deleted" in text


def test_a_target_that_something_needs_is_not_deleted(browser, over):
    page = browser.post(reverse("target-delete", args=[over.target.pk]), follow=True)

    assert "is needed (campaigns: 1)" in Page(page).text
    assert Target.objects.filter(pk=over.target.pk).exists()


def test_a_target_that_nothing_needs_is_deleted(browser, target):
    assert "Nothing: no campaign" in Page(browser.get(reverse("target-end", args=[target.pk]))).text

    browser.post(reverse("target-delete", args=[target.pk]))

    assert not Target.objects.exists()
    assert AuditEvent.objects.filter(action="target_deleted").exists()
