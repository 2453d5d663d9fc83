import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.kinds.base import Health
from campaigns.models import Attempt, LogLine, Run
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.importing.demonstration import published_campaign
from campaigns.tests.browsing import Page
from campaigns.tests.measured import begin, launched, outcome, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, person):
    return launched(target, person)


def get(browser, run, **query):
    return browser.get(reverse("run", args=[run.campaign_id, run.position]), query)


def measured(run, state=Attempt.State.ACCEPTED, **changes):
    close(begin(run), outcome(state, **changes))
    run.refresh_from_db()
    return run


def test_a_run_shows_all_that_its_attempt_observed(browser, campaign):
    page = Page(get(browser, measured(campaign.runs.get(position=1))))

    for words in (
        "2.5 s",  # the primary metric
        "40 files/s",
        "first byte",  # a part of the measured time
        "clean state",
        "same work",
        "does not",  # a proof that does not hold
        "5xx",
        "file 2, status 503",
        "cpu share",
        "healthy",
        "Lease token",
    ):
        assert words in page.text, words


def test_series_are_drawn(browser, campaign):
    content = get(browser, measured(campaign.runs.get(position=1))).content.decode()

    assert 'id="series-1-figure"' in content


def test_proofs_and_settings_are_written_as_people_read_them(browser, campaign):
    text = Page(get(browser, measured(campaign.runs.get(position=1)))).text

    assert "3 files" in text
    assert "2 files" in text
    assert "new new" in text


def test_a_planned_run_waits(browser, campaign):
    page = Page(get(browser, campaign.runs.get(position=6)))

    assert "Not started." in page.text
    assert "Cancel…" in page.text
    assert "Exclude…" not in page.text


def test_the_status_of_a_run_ends_with_it(browser, campaign):
    run = campaign.runs.get(position=1)
    attempt = begin(run)
    url = reverse("run-status", args=[campaign.pk, 1])

    going_on = browser.get(url)
    close(attempt, outcome())
    ended = browser.get(url)

    assert "measure" in Page(going_on).text
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")


def test_a_void_attempt_stays_on_record(browser, campaign):
    run = campaign.runs.get(position=1)
    measured(run, Attempt.State.VOID, reason="3 files were left.")
    measured(run)

    accepted, void = Page(get(browser, run)), Page(get(browser, run, attempt="1"))

    assert "3 files were left." in accepted.text
    assert "attempt 2" in accepted.text
    assert "attempt 1" in void.text


def test_a_bug_shows_its_traceback_folded(browser, campaign):
    run = measured(
        campaign.runs.get(position=1),
        Attempt.State.FAILED,
        reason="a bug: ZeroDivisionError",
        traceback="Traceback <b>here</b>",
    )

    response = get(browser, run)

    assert "Traceback &lt;b&gt;here&lt;/b&gt;" in response.content.decode()
    assert "a bug: ZeroDivisionError" in Page(response).text
    assert "Run again" in Page(response).text


def test_a_saturated_generator_makes_a_bound(browser, campaign):
    run = measured(
        campaign.runs.get(position=1), health=Health("saturated", ("No descriptors left.",), {})
    )

    text = Page(get(browser, run)).text

    assert "at most 2.5 s" in text
    assert "No descriptors left." in text


def test_an_exclusion_shows_who_and_why(browser, campaign, person):
    store(campaign, lambda run: 10.0)
    run = campaign.runs.get(position=1)
    lifecycle.exclude(run, person, "another <i>sync</i>")

    response = get(browser, run)

    assert "another &lt;i&gt;sync&lt;/i&gt;" in response.content.decode()
    assert "Include again" in Page(response).text
    assert "reviewer" in Page(response).text


def test_the_log_of_a_run_is_there(browser, campaign):
    run = campaign.runs.get(position=1)
    LogLine.objects.create(campaign=campaign, run=run, text="reset: 0 files")

    assert "reset: 0 files" in Page(get(browser, run)).text


def test_try_outs_have_pages_of_their_own(browser, draft, person):
    run = lifecycle.try_one(draft, person)
    measured(run)

    page = Page(browser.get(reverse("trial", args=[draft.pk, run.position])))

    assert "Try-out 1" in page.text
    assert "never analysed" in page.text
    assert browser.get(reverse("run", args=[draft.pk, run.position])).status_code == 404


def test_an_imported_run_says_what_is_not_stored(browser, person):
    campaign, _ = published_campaign(person)

    text = Page(get(browser, campaign.runs.get(position=1))).text

    assert "No proof is stored for this attempt." in text
    assert "10:36" in text
    assert "7200 rpm" in text


def test_a_run_costs_as_many_queries_with_many_attempts(browser, campaign):
    run = campaign.runs.get(position=1)
    Run.objects.filter(pk=run.pk).update(attempts_allowed=9)
    browser.get("/account/")  # the first request of a session is noted
    counts = []
    for _ in range(2):
        measured(run, Attempt.State.VOID)
        with CaptureQueriesContext(connection) as found:
            assert get(browser, run).status_code == 200
        counts.append(len(found))

    assert counts[0] == counts[1]
    assert counts[0] <= 30


@pytest.mark.parametrize("position", [0, 99])
def test_there_is_no_such_run(browser, campaign, position):
    url = reverse("run", args=[campaign.pk, position])

    assert browser.get(url).status_code == 404
    assert browser.post(f"{url}again/").status_code == 404
