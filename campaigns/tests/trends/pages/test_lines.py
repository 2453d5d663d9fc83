"""Pages of lines: from a campaign to a line, its page, measuring by hand, what it does not show, and its queries."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.models import Line, Team
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody
from campaigns.tests.trends.conftest import browser, person, target, toy, worker
from campaigns.tests.trends.measuring import another, line_from, measured, telling

__all__ = ["browser", "person", "target", "telling", "toy", "worker"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(telling, target, person):
    return measured(target, person, days=9)


@pytest.fixture
def line(campaign, person):
    return line_from(campaign, person)


def shown(browser, line, **query):
    return browser.get(reverse("line", args=[line.pk]), query)


def test_three_clicks_lead_from_a_campaign_to_a_line(browser, campaign):
    page = browser.get(reverse("campaign", args=[campaign.pk])).content.decode()
    path = reverse("line-new", args=[campaign.pk])
    assert f'href="{path}"' in page

    form = browser.get(path).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    response = browser.post(path, sent)

    line = Line.objects.get()
    assert response["Location"] == reverse("line", args=[line.pk])
    assert (line.subject, line.cron, line.zone) == ("core", "30 2 * * *", "UTC")
    again = browser.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert path not in again
    assert f'href="{reverse("line", args=[line.pk])}"' in again


def test_a_line_that_cannot_be_says_why_at_its_field(browser, campaign):
    path = reverse("line-new", args=[campaign.pk])

    response = browser.post(path, {"name": "A", "cron": "@daily", "minutes_a_week": 600})

    assert response.status_code == 422
    assert "exactly five fields" in Page(response).text
    assert not Line.objects.exists()


def test_a_page_says_the_newest_value_and_how_far_sessions_differ(browser, line, person):
    another(line, person, days=5, seconds=10.2)
    another(line, person, days=4, core="3.2.0", seconds=12.0)

    text = Page(shown(browser, line)).text.replace(line.question, "")

    assert "Duration: Engine new: 12 s in the newest of 3 sessions, core 3.2.0." in text
    assert "Sessions in which nothing changed differ by 1.4 % (sd, 2 sessions)." in text
    assert "There is too little history to judge the newest session" in text
    assert "suspected" not in text
    for word in ("faster", "slower", "regress"):
        assert word not in text


def test_a_chart_is_drawn_by_the_server_with_a_line_at_a_border(browser, line, person):
    another(line, person, days=5)
    another(line, person, days=4, kernel="6.12")

    response = shown(browser, line)

    assert 'class="drawing"' in response.content.decode()
    assert response.context["plot"].key[1].count == 1
    assert "Target: kernel changed from 6.1 to 6.12" in Page(response).text


@pytest.mark.parametrize("axis", ["versions", "days", "nonsense"])
def test_both_axes_show_all_sessions(browser, line, person, axis):
    another(line, person, days=5, core="3.2.0")

    response = shown(browser, line, axis=axis, trend="x")

    assert response.status_code == 200
    assert len(response.context["page"].object_list) == 2


def test_markup_of_a_target_stays_text(browser, line, person):
    another(line, person, days=5, core="<script>alert(1)</script> 1", kernel="<b>6</b>")

    assert b"<script>alert(1)" not in shown(browser, line).content
    assert b"<b>6</b>" not in shown(browser, line).content


def test_measuring_by_hand_leads_to_the_campaign_and_a_second_click_launches_nothing(browser, line):
    path = reverse("line-measure", args=[line.pk])

    first = browser.post(path, {"key": "a1"})
    second = browser.post(path, {"key": "a1"})
    third = browser.post(path, {"key": "a2"}, follow=True)

    made = line.campaigns.get(state="running")
    assert first["Location"] == second["Location"] == reverse("campaign", args=[made.pk])
    assert "one at a time" in Page(third).text


def test_it_is_paused_resumed_changed_and_ended(browser, line):
    for step in ("pause", "resume"):
        browser.post(reverse(f"line-{step}", args=[line.pk]))
    path = reverse("line-edit", args=[line.pk])
    browser.post(
        path, {"name": "Zeppelins", "cron": "0 5 * * *", "zone": "UTC", "minutes_a_week": 60}
    )
    line.refresh_from_db()
    assert (line.name, line.cron, line.state, line.subject) == (
        "Zeppelins",
        "0 5 * * *",
        "on",
        "core",
    )

    browser.post(reverse("line-end", args=[line.pk]))

    assert reverse("line-measure", args=[line.pk]) not in shown(browser, line).content.decode()
    assert browser.get(path).status_code == 404
    assert "Zeppelins" not in Page(browser.get(reverse("line-list"))).text
    assert "Zeppelins" in Page(browser.get(reverse("line-list"), {"ended": 1})).text


def test_another_team_sees_none(line):
    client = Client()
    client.force_login(somebody("eve", team=Team.objects.create(name="Others")))

    assert line.name not in Page(client.get(reverse("line-list"))).text
    assert shown(client, line).status_code == 404


def test_a_viewer_sees_it_and_changes_nothing(line):
    client = Client()
    client.force_login(somebody("vic", "viewer"))

    assert reverse("line-pause", args=[line.pk]) not in shown(client, line).content.decode()
    assert client.post(reverse("line-measure", args=[line.pk]), {"key": "a"}).status_code == 403


def test_queries_do_not_grow_with_the_history(browser, line, person):
    def queries(path):
        with CaptureQueriesContext(connection) as captured:
            browser.get(path)
        return len(captured)

    paths = [reverse("line", args=[line.pk]), reverse("line-list"), reverse("board")]
    another(line, person, days=8)
    for path in paths:
        queries(path)
    few = [queries(path) for path in paths]
    for days in (7, 6, 5):
        another(line, person, days=days, core=f"3.{days}.0")

    assert [queries(path) for path in paths] == few


def test_the_board_shows_the_small_curve_of_a_line(browser, line, person):
    another(line, person, days=3, seconds=11)

    page = browser.get(reverse("board"))

    assert "Engines, nightly" in Page(page).text
    assert "g-spark" in page.content.decode()
