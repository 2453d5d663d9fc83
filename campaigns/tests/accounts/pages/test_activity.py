import json
from datetime import UTC, datetime

import psutil
import pytest
from django.db import connection
from django.test import Client

from campaigns.accounts.activity_export import FORMATS
from campaigns.accounts.activity_list import events_for
from campaigns.kit.activity import Action, by_means, record, token_means
from campaigns.models import AuditEvent, Team
from campaigns.tests.people import somebody
from campaigns.tests.toy import target, toy

__all__ = ["target", "toy"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return somebody("ada", "viewer")


@pytest.fixture
def browser(ada):
    made = Client()
    made.force_login(ada)
    return made


def read(browser, **query):
    answer = browser.get("/activity/", query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split()).replace(" >", ">")


def test_a_row_says_who_did_what_by_which_means(browser, ada, campaign):
    record(
        Action.CAMPAIGN_AMENDED,
        user=ada,
        campaign=campaign,
        changes={"margin": {"before": 0.02, "after": 0.01}},
    )

    page = read(browser)

    assert "amended" in page
    assert f'<a href="/campaigns/{campaign.pk}/">Faster?</a>' in page
    assert "margin: 0.02 → 0.01" in page
    assert "<td>system</td>" in page


def test_another_teams_deeds_and_another_persons_sign_ins_are_not_seen(browser, ada):
    other = Team.objects.create(name="Others")
    bob = somebody("bob", team=other)
    record(Action.TEAM_EDITED, user=bob, subject=other)
    record(Action.SIGNED_IN, user=bob, subject=bob)
    record(Action.SIGN_IN_FAILED, user=None, subject=ada)

    page = read(browser, team=other.pk) + read(browser)

    assert "Others" not in page
    assert "bob" not in page
    assert "failed to sign in" in page
    assert not events_for(ada).filter(user=bob).exists()


def test_the_owner_of_the_installation_sees_all(ada):
    other = Team.objects.create(name="Others")
    record(Action.TEAM_EDITED, user=somebody("bob", team=other), subject=other)
    ada.is_superuser = True

    assert events_for(ada).filter(team=other).exists()


@pytest.mark.parametrize(
    "query",
    [
        {"person": "ada"},
        {"action": "campaign_launched"},
        {"means": "token"},
        {"from": "2000-01-01", "to": "2999-12-31"},
    ],
)
def test_filters_narrow(browser, ada, campaign, query):
    somebody("bea")
    with by_means(token_means("ci")):
        record(Action.CAMPAIGN_LAUNCHED, user=ada, campaign=campaign)
    record(Action.CAMPAIGN_PAUSED, user=None, campaign=campaign)

    page = read(browser, **query, campaign=campaign.pk).partition('id="found"')[2]

    assert "launched" in page
    assert ("paused" in page) == ("from" in query)
    assert "No matching activity" in read(browser, person="bea", campaign=campaign.pk)


def test_a_filter_that_cannot_be_read_says_so(browser, ada, campaign):
    record(Action.CAMPAIGN_LAUNCHED, user=ada, campaign=campaign)
    query = {"action": "<script>alert", "team": "x", "campaign": "9" * 30, "from": "yesterday"}

    page = read(browser, **query).partition('id="found"')[2]

    assert "Action: “&lt;script&gt;alert” is not one of" in page
    assert "Team: Enter a whole number." in page
    assert "Campaign: Ensure this value is less than" in page
    assert "From: Enter a valid date." in page
    assert "launched</td>" not in page
    assert "<script>alert" not in page
    assert browser.get("/activity/activity.csv", {"team": "x"})["Location"] == "/activity/?team=x"


def test_a_day_is_whole_and_the_calendar_has_an_end(browser, ada, campaign):
    end = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    AuditEvent.objects.create(
        at=end, user=ada, team=campaign.team, action=Action.CAMPAIGN_LAUNCHED, means="browser"
    )

    def launched(**query):
        return "launched" in read(browser, **query).partition('id="found"')[2]

    assert launched(**{"from": "2026-01-31", "to": "2026-01-31"})
    assert not launched(to="2026-01-30")
    assert not launched(**{"from": "2026-02-01"})
    assert launched(to="9999-12-31")


def test_markup_in_names_and_details_is_text(browser, ada, campaign):
    campaign.name = "<img src=x onerror=alert(1)>"
    record(
        Action.CAMPAIGN_CANCELLED, user=ada, campaign=campaign, reason="<script>alert(1)</script>"
    )

    page = read(browser)

    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_older_rows_follow_on_further_pages(browser, ada, campaign):
    for number in range(60):
        record(Action.CAMPAIGN_CANCELLED, user=ada, campaign=campaign, reason=f"number {number}.")

    first = read(browser, campaign=campaign.pk)
    link = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    second = browser.get(f"/activity/{link}").content.decode()

    assert "number 59." in first
    assert "number 9." not in first
    assert "number 9." in second
    assert "number 59." not in second
    assert 'rel="first"' in second


def test_the_oldest_rows_are_one_click_away(browser, ada, campaign):
    for number in range(130):
        record(Action.CAMPAIGN_CANCELLED, user=ada, campaign=campaign, reason=f"number {number}.")

    first = read(browser, action="campaign_cancelled")
    link = first.partition('rel="last" href="')[2].partition('"')[0].replace("&amp;", "&")
    last = browser.get(f"/activity/{link}").content.decode()

    assert "number 0." in last
    assert "number 49." in last
    assert "number 50." not in last
    assert 'rel="last"' not in last


def test_a_page_costs_few_queries_however_many_rows_it_has(
    browser, ada, campaign, django_assert_max_num_queries
):
    for _ in range(50):
        record(Action.CAMPAIGN_LAUNCHED, user=ada, campaign=campaign)

    with django_assert_max_num_queries(16):
        read(browser)


def test_files_hold_what_fits_and_formulas_are_text(browser, ada, campaign):
    campaign.name = "=1+1"
    record(Action.CAMPAIGN_LAUNCHED, user=ada, campaign=campaign, runs=3)
    record(Action.CAMPAIGN_PAUSED, user=ada, campaign=campaign)

    csv = b"".join(browser.get("/activity/activity.csv?action=campaign_launched")).decode()
    lines = b"".join(browser.get("/activity/activity.jsonl?action=campaign_launched")).decode()

    assert len(csv.splitlines()) == 2
    assert "'=1+1" in csv
    (row,) = map(json.loads, lines.splitlines())
    assert (row["user"], row["action"], row["details"]) == ("ada", "campaign_launched", {"runs": 3})
    assert row["campaign"] == campaign.pk


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_fifty_thousand_rows_are_streamed_without_being_held(ada, team, name):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO campaigns_auditevent (at, user_id, team_id, means, action, details,"
            " subject_kind, subject_name)"
            " SELECT now(), %s, %s, 'browser', 'campaign_launched', '{\"runs\": 30}', 'campaign', n"
            " FROM generate_series(1, 50000) n",
            [ada.pk, team.pk],
        )
    process = psutil.Process()
    before, most, sent = process.memory_info().rss, 0, 0
    for piece in FORMATS[name].pieces(events_for(ada)):
        sent += len(piece)
        most = max(most, process.memory_info().rss)

    assert sent > 5_000_000
    assert most - before < 15_000_000, "bytes that are held at a time"
