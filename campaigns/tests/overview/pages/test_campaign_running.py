import json
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from campaigns.execution import live, progress
from campaigns.findings import compute
from campaigns.kinds.base import Health
from campaigns.models import Attempt, Campaign, Finding, LogLine, Run, Worker
from campaigns.overview.pages import live as live_pages
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.storing import Value
from campaigns.stats.methods import METHODS
from campaigns.tests.browsing import Page
from campaigns.tests.findings.compute import loads
from campaigns.tests.findings.compute.conftest import http_server
from campaigns.tests.measured import begin, launched, outcome

pytestmark = pytest.mark.django_db

PARTS = ["campaign-progress", "campaign-matrix", "campaign-so-far"]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def campaign(target, person):
    return launched(target, person, order="interleaved")


@pytest.fixture
def attempt(campaign):
    """The first run is being measured, and says so."""
    attempt = begin(campaign.runs.order_by("position")[0])
    progress.write(
        attempt.pk,
        {
            "phase": "measure",
            "seconds": 7.0,
            "files_done": 120,
            "files_total": 200,
            "bytes_done": 5_000_000,
            "in_flight": 4,
            "cpu_share": 0.34,
            "rate_series": [1e6, 2e6],
            "step_seconds": 0.5,
        },
    )
    yield attempt
    progress.forget(attempt.pk)


def url(name, campaign):
    return reverse(name, args=[campaign.pk])


def test_the_page_shows_what_is_going_on(browser, campaign, attempt):
    page = Page(browser.get(url("campaign", campaign)))

    assert "0 of 6" in page.text
    assert "Run 1" in page.text
    assert "7 s · 120 of 200 files" in page.text
    assert "worker measure@host" in page.text
    assert "34 %" in page.text
    assert "Run 1: throughput" in page.text
    assert "launched: 6 runs" in page.text


@pytest.mark.parametrize(
    ("share", "told"), [(None, False), (0.02, False), (0.1, False), (0.34, True)]
)
def test_the_page_says_while_it_happens_that_others_keep_the_generator_waiting(
    browser, campaign, attempt, share, told
):
    reported = progress.read(attempt.pk) or {}
    progress.write(attempt.pk, reported | ({} if share is None else {"waited_share": share}))

    text = Page(browser.get(url("campaign-progress", campaign))).text

    sentence = (
        "Other programs keep the generator waiting for a CPU, 34 % of the time so far: what this run measures will count for "
        "nothing."
    )
    assert (sentence in text) is told
    assert ("keep the generator waiting" in text) is told


def test_the_page_says_in_how_many_runs_so_far_others_kept_the_generator_waiting(browser, campaign):
    figures = {"waited_share": 0.5, "others_cpu_share": 0.98}
    first, second = campaign.runs.order_by("position")[:2]
    close(begin(first), outcome(health=Health("starved", ("It waited.",), figures)))
    close(begin(second), outcome())
    compute.analyse(campaign)

    text = Page(browser.get(url("campaign-so-far", campaign))).text

    assert (
        "Other programs kept the load generator waiting in 1 of 2 runs: it counts for nothing."
        in text
    )


def test_the_matrix_shows_each_run_by_its_state(browser, campaign, attempt):
    runs = list(campaign.runs.order_by("position"))
    second = begin(runs[1])
    close(second, outcome())
    Run.objects.filter(pk=runs[2].pk).update(state=Run.State.FAILED, reason="It refused.")
    Run.objects.filter(pk=runs[3].pk).update(state=Run.State.VOID, reason="Not clean.")

    page = Page(browser.get(url("campaign-matrix", campaign)))

    looks = {n: page.by_id(f"square-{n}")["data-state"] for n in range(1, 7)}
    assert looks == {1: "now", 2: "done", 3: "failed", 4: "void", 5: "planned", 6: "planned"}
    assert "2.5 s" in page.text
    assert "Not clean." in str(page.by_id("square-4")["title"])


def test_a_bound_looks_unlike_a_value(browser, campaign):
    run = campaign.runs.order_by("position").first()
    close(begin(run), outcome(health=Health("saturated", ("No descriptors left.",), {})))

    page = Page(browser.get(url("campaign", campaign)))

    assert page.by_id(f"square-{run.position}")["data-state"] == "bound"
    assert "≤ 2.5 s" in page.text


@pytest.mark.parametrize(("repetitions", "wide"), [(3, False), (6, True)])
def test_a_matrix_of_many_repetitions_has_the_whole_width(
    browser, target, person, repetitions, wide
):
    campaign = launched(target, person, repetitions=repetitions)

    text = browser.get(url("campaign", campaign)).content.decode()

    assert text.count('id="matrix"') == 1
    assert (text.index('id="matrix"') < text.index('id="log"')) is wide


def test_pairs_stand_together_in_the_matrix(browser, target, person):
    campaign = launched(
        target,
        person,
        factors={"engine": ["new", "old"], "path": ["/a", "/b"]},
        paired_factor="engine",
        baseline="old",
        parameters={},
    )

    text = Page(browser.get(url("campaign-matrix", campaign))).text

    assert "pair 1 pair 2 pair 3" in text
    assert text.index("/a") < text.index("old") < text.index("new") < text.index("/b")


@pytest.mark.parametrize("part", PARTS)
def test_what_did_not_change_is_not_sent_again(browser, campaign, part, monkeypatch):
    monkeypatch.setattr(live_pages, "monotonic", lambda: 100.0)  # the tag has it, in steps
    with time_machine.travel(timezone.now(), tick=False):  # elapsed times change
        first = browser.get(url(part, campaign))
        tag = {"If-None-Match": first["ETag"]}

        assert first.status_code == 200
        assert browser.get(url(part, campaign), headers=tag).status_code == 304
        assert browser.get(url(part, campaign), headers=HTMX | tag).status_code == 204


@pytest.mark.parametrize("part", PARTS)
def test_a_part_asks_with_the_tag_that_it_carries(browser, campaign, part):
    response = browser.get(url(part, campaign))

    asking = [a for _, a in Page(response).elements if "hx-get" in a]
    (root,) = [a for a in asking if str(a["hx-get"]).partition("?")[0] == url(part, campaign)]
    assert json.loads(str(root["hx-headers"])) == {"If-None-Match": response["ETag"]}


def test_the_page_loads_again_where_the_campaign_paused_by_itself(browser, campaign):
    (root,) = [
        a for _, a in Page(browser.get(url("campaign", campaign))).elements
        if a.get("id") == "progress"
    ]  # fmt: skip

    before = browser.get(root["hx-get"], headers=HTMX)
    Campaign.objects.update(state=Campaign.State.PAUSED, state_reason="5 runs failed in a row.")
    after = browser.get(root["hx-get"], headers=HTMX)

    assert "HX-Refresh" not in before
    assert after["HX-Refresh"] == "true"


REASON = "stopped automatically: 5 runs in a row failed, the last one: refused. Look at the target."


def test_a_campaign_that_paused_by_itself_says_why_once_and_offers_to_go_on(browser, campaign):
    Campaign.objects.update(state=Campaign.State.PAUSED, state_reason=REASON)

    page = Page(browser.get(url("campaign", campaign)))

    assert "Paused automatically 5 runs in a row failed, the last one: refused." in page.text
    assert page.text.count("5 runs in a row failed") == 1
    assert page.text.count("Resume ") == page.text.count("Cancel…") == 1


def test_the_first_page_says_why_a_campaign_paused_by_itself(browser, campaign):
    Campaign.objects.update(state=Campaign.State.PAUSED, state_reason=REASON)

    assert "Paused Stopped automatically: 5 runs in a row failed" in Page(browser.get("/")).text


@pytest.mark.parametrize(
    ("state", "words"), [("running", "Ends automatically"), ("finished", "Ended automatically")]
)
def test_a_campaign_whose_budget_is_over_says_so(browser, campaign, state, words):
    Campaign.objects.update(state=state, state_reason="time budget of 8 h is over")

    page = Page(browser.get(url("campaign", campaign)))

    assert f"{words} Time budget of 8 h is over." in page.text


def test_a_campaign_that_somebody_paused_did_not_do_it_by_itself(browser, campaign):
    lifecycle.pause(campaign)

    assert "Paused automatically" not in Page(browser.get(url("campaign", campaign))).text


def test_the_limits_of_a_campaign_stand_on_its_page(browser, campaign):
    Campaign.objects.update(time_budget_seconds=28_800, max_consecutive_failures=2)

    text = Page(browser.get(url("campaign", campaign))).text

    assert "pauses automatically after 2 failures in a row or when more than 50 % failed" in text
    assert "ends after 8 h" in text


def test_what_changed_is_sent_again(browser, campaign):
    first = browser.get(url("campaign-matrix", campaign))

    begin(campaign.runs.order_by("position")[0])
    second = browser.get(
        url("campaign-matrix", campaign), headers=HTMX | {"If-None-Match": first["ETag"]}
    )

    assert second.status_code == 200
    assert second["ETag"] != first["ETag"]


@pytest.mark.parametrize("part", [*PARTS, "campaign-log", "campaign-live"])
def test_polling_ends_with_the_campaign(browser, campaign, part):
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)

    answer = browser.get(url(part, campaign))

    assert (answer.status_code, answer["HX-Refresh"]) == (286, "true")


def test_a_part_that_did_not_change_costs_few_queries(browser, campaign):
    tag = {"If-None-Match": browser.get(url("campaign-matrix", campaign))["ETag"]}

    with CaptureQueriesContext(connection) as found:
        browser.get(url("campaign-matrix", campaign), headers=HTMX | tag)

    assert len(found) <= 7  # three of them for the session, its user and his right


def test_the_log_sends_what_is_new(browser, campaign):
    LogLine.objects.create(campaign=campaign, text="<b>one</b>", tone="bad")
    last = LogLine.objects.filter(campaign=campaign).latest("pk").pk

    everything = browser.get(url("campaign-log", campaign))
    nothing = browser.get(url("campaign-log", campaign), {"after": last})
    LogLine.objects.create(campaign=campaign, text="two")
    rest = browser.get(url("campaign-log", campaign), {"after": last})

    assert "&lt;b&gt;one&lt;/b&gt;" in everything.content.decode()
    assert nothing.status_code == 204
    assert "two" in Page(rest).text
    assert "one" not in Page(rest).text


def test_the_live_figure_is_that_of_the_run_that_is_on(browser, campaign, attempt):
    answer = browser.get(url("campaign-live", campaign)).json()

    assert answer["title"] == "Run 1: throughput"
    (rates,) = [t["y"] for t in answer["figure"]["data"] if 2 in t["y"]]
    assert rates[:2] == [1, 2]  # MB/s
    assert "MB/s" in answer["label"]


def test_before_the_clock_runs_the_figure_is_that_of_the_last_run(browser, campaign):
    first, second = campaign.runs.order_by("position")[:2]
    close(begin(first), outcome())
    begin(second, Attempt.Phase.RESET)

    answer = browser.get(url("campaign-live", campaign)).json()

    assert answer["title"] == "Run 1 (ended): bytes"


def test_before_any_run_the_live_figure_is_empty(browser, campaign):
    answer = browser.get(url("campaign-live", campaign)).json()

    assert "No value yet." in answer["label"]


def test_so_far_says_what_is_to_come_where_precision_ends_it(browser, campaign):
    assert "more block" not in Page(browser.get(url("campaign-so-far", campaign))).text
    Finding.objects.create(
        campaign=campaign,
        name="outlook",
        computed_at=timezone.now(),
        versions={"methods": METHODS},
        result={
            "primary": False,
            "stop": "",
            "target_pct": 3.0,
            "half_width_pct": 4.2,
            "more": 3,
            "expected_pct": 2.9,
            "seconds": 1440.0,
            "closed": 16,
        },
    )

    text = Page(browser.get(url("campaign-so-far", campaign))).text

    assert "The widest interval is ±4.2 %; it ends at ±3 %." in text
    assert "3 more blocks, about 24 min, expected ±2.9 %." in text


def test_so_far_shows_cells_without_a_verdict(browser, campaign):
    run = campaign.runs.order_by("position")[0]
    close(begin(run), outcome())
    compute.analyse(campaign)

    text = Page(browser.get(url("campaign-so-far", campaign))).text

    assert "1/3" in text
    assert "2.5 s" in text
    assert "verdict withheld until the stop rule is met" in text


def test_so_far_shows_p95_and_the_rate_at_each_load(browser, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    campaign = loads.launch(http_server(), {"concurrency": [50, 100]})
    loads.store(
        campaign,
        also=lambda run: [
            Value(
                "file_time_p95",
                10.0 * run.cell.levels_by_factor["concurrency"],
                "s",
                lower_is_better=True,
            ),
            Value("throughput", 31.0, "MB/s", lower_is_better=False),
        ],
    )
    compute.analyse(campaign)

    text = Page(browser.get(url("campaign-so-far", campaign))).text

    for told in ("Time of a file, p95", "500 ms", "1,000 ms", "Throughput", "31 MB/s"):
        assert told in text


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (Campaign.State.RUNNING, "No worker of the pool “measure” answers."),
        (Campaign.State.PAUSED, "Paused"),
    ],
)
def test_it_says_why_nothing_goes_on(browser, campaign, state, words):
    Campaign.objects.filter(pk=campaign.pk).update(state=state)

    assert words in Page(browser.get(url("campaign-progress", campaign))).text


def test_a_cool_down_is_said(browser, campaign):
    Worker.objects.create(name="measure@host", host="host", pools=["measure"])
    Campaign.objects.filter(pk=campaign.pk).update(
        not_before=timezone.now() + timedelta(seconds=60)
    )

    assert "Cool-down until" in Page(browser.get(url("campaign-progress", campaign))).text


def test_the_time_that_is_left_comes_from_the_runs_so_far(browser, campaign):
    for run in campaign.runs.order_by("position")[:3]:
        attempt = begin(run)
        close(attempt, outcome())
        Attempt.objects.filter(pk=attempt.pk).update(
            finished_at=attempt.claimed_at + timedelta(seconds=100)
        )

    text = Page(browser.get(url("campaign-progress", campaign))).text

    assert "5:00" in text
    assert "3 of 6" in text


def test_a_cool_down_is_part_of_the_time_that_is_left(browser, campaign):
    Worker.objects.create(name="measure@host", host="host", pools=["measure"])
    close(begin(campaign.runs.order_by("position").first()), outcome())
    before = live.seconds_left(campaign, None)
    campaign.not_before = timezone.now() + timedelta(hours=1)
    cooling = live.seconds_left(campaign, None)

    assert before is not None
    assert cooling is not None
    assert cooling - before == pytest.approx(3600, abs=60)


def test_a_wait_of_unknown_length_has_no_end(browser, campaign):
    close(begin(campaign.runs.order_by("position").first()), outcome())
    attempt = campaign.runs.order_by("position").first().attempts.get()
    Attempt.objects.filter(pk=attempt.pk).update(
        finished_at=attempt.claimed_at + timedelta(seconds=100)
    )

    text = Page(browser.get(url("campaign-progress", campaign))).text

    assert "time remaining not known its runs take about 8:20" in text
    assert "until" not in text.partition("No worker")[0]


def test_the_draft_shows_definition_and_plan(browser, draft):
    text = Page(browser.get(url("campaign", draft))).text

    assert "Lock and launch" in text
    assert "Try one run" in text
    assert "2 × 3" in text
    assert "Delete the draft" in text


def test_a_draft_that_cannot_run_any_more_says_why(browser, draft, target):
    target.retired_at = timezone.now()
    target.save(update_fields=["retired_at"])

    page = Page(browser.get(url("campaign", draft)))

    assert "There is no target" in page.text
    assert "No plan" in page.text or "There is no plan" in page.text


def test_a_try_out_is_watched_until_it_ends(browser, draft, person):
    run = lifecycle.try_one(draft, person)

    watched = browser.get(url("campaign-trials", draft))
    close(begin(run), outcome())
    ended = browser.get(url("campaign-trials", draft))

    assert "hx-get" in watched.content.decode()
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")
    assert "2.5 s" in Page(browser.get(url("campaign", draft))).text


def test_a_paused_campaign_offers_to_resume(browser, campaign):
    lifecycle.pause(campaign)

    text = Page(browser.get(url("campaign", campaign))).text

    assert "Resume" in text
    assert "Pause after this run" not in text


def test_a_large_matrix_is_cut_around_the_run_that_is_on(browser, target, person):
    campaign = launched(
        target,
        person,
        factors={"workers": list(range(1, 51))},
        order="interleaved",
        repetitions=20,
    )
    store_none = campaign.runs.filter(block__repetition=15).first()
    begin(store_none)

    page = Page(browser.get(url("campaign-matrix", campaign)))

    assert page.by_id(f"square-{store_none.position}")["data-state"] == "now"
    assert "repetitions 5 to 16 of 20" in page.text


def test_nobody_sees_a_campaign_without_signing_in(client, campaign):
    for name in ("campaign", "campaign-progress", "campaign-runs-csv", "campaign-json"):
        assert client.get(url(name, campaign)).status_code == 302
