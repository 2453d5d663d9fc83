import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.models import Amendment, Campaign, EnvironmentFact, Run
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.importing.demonstration import published_campaign
from campaigns.results.storing import Value
from campaigns.tests.browsing import Page
from campaigns.tests.measured import begin, finish, launched, outcome, store
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

MOST_QUERIES = 40


@pytest.fixture
def published(person):
    campaign, _ = published_campaign(person)
    compute.analyse(campaign)
    return campaign


def get(browser, campaign, **query):
    return browser.get(reverse("campaign-print", args=[campaign.pk]), query)


def figure(response, name):
    text = response.content.decode().split(f'<script id="{name}" type="application/json">')[1]
    return json.loads(text.split("</script>")[0])


def queries_of(browser, campaign):
    with CaptureQueriesContext(
        connection,
    ) as found:
        assert get(browser, campaign).status_code == 200
    return len(found)


def test_the_published_runs_answer_with_a_caveat_on_their_order(browser, published):
    page = Page(get(browser, published))

    assert answers_of([published.pk])[published.pk].sentence in page.text
    assert "Caveat." in page.text
    assert "what differs may be the hour" in page.text.split("Caveat.")[1][:300]
    assert "29:10" in page.text
    assert "10:39" in page.text


@pytest.mark.usefixtures("all_resamples")
def test_the_published_page_compares_steps_and_names_the_cost_of_each_setting(browser, published):
    page = Page(get(browser, published))

    assert "Concurrency, step by step" in page.text
    assert "a noisy level" not in page.text
    assert "Other pairs of settings" in page.text
    assert "+71.4 %" in page.text
    assert "Can these numbers be trusted?" in page.text
    assert "level and time of day are fully confounded" in page.text
    band = figure(get(browser, published), "curve-figure")["layout"]["shapes"][0]
    assert (band["x0"], band["x1"]) == (pytest.approx(5, abs=0.3), pytest.approx(8, abs=0.6))


def test_no_step_is_judged_while_a_campaign_goes_on(browser, target, person):
    campaign = launched(
        target,
        person,
        factors={"workers": [2, 4]},
        order="interleaved",
        paired_factor="",
        baseline=None,
        repetitions=3,
    )
    store(campaign, lambda run: 10.0 / run.cell.levels_by_factor["workers"])
    compute.analyse(campaign)

    assert "step by step" not in Page(get(browser, campaign)).text
    finish(campaign)
    assert "step by step" in Page(get(browser, campaign)).text


def test_an_import_shows_how_exact_it_is_and_no_seed(browser, published):
    text = Page(get(browser, published)).text

    assert "import: raw values" in text
    assert "measured here" not in text
    assert "seed" not in text


def test_every_run_is_drawn_and_listed(browser, published):
    response = get(browser, published)

    rings = [t for t in figure(response, "curve-figure")["data"] if "marker" in t]
    assert max(len(trace["x"]) for trace in rings) == 18
    page = Page(response)
    assert (
        len([1 for tag, a in page.elements if tag == "tr" and a.get("data-state") == "done"]) == 18
    )
    assert "18 of 18 runs" in page.text


def test_the_legend_says_that_there_are_no_failures(browser, published):
    text = Page(get(browser, published)).text

    assert "failed, no value (0)" in text
    assert "excluded (0)" in text


def test_the_number_of_queries_does_not_grow_with_the_runs(browser, target, person):
    browser.get("/account/")  # the first request of a session also notes the session
    counts = []
    for repetitions in (3, 12):
        question = f"What do {repetitions} show?"  # another one: none is the campaign before
        campaign = launched(target, person, repetitions=repetitions, question=question)
        store(campaign, lambda run: 10 + run.position / 10, rate=4.0)
        counts.append(queries_of(browser, finish(campaign)))

    assert counts[0] == counts[1]
    assert counts[0] <= MOST_QUERIES


def test_a_paired_campaign_shows_change_interval_and_word_of_each_stratum(browser, target, person):
    campaign = launched(
        target,
        person,
        factors={"engine": ["new", "old"], "path": ["/a", "/b"]},
        parameters={},
        paired_factor="engine",
    )
    store(
        campaign,
        lambda run: (
            (20 if run.cell.levels_by_factor["engine"] == "old" else 10)
            * (1 + run.block.repetition / 1000)
        ),
    )

    response = get(browser, finish(campaign))

    page = Page(response)
    assert "old vs. new" in page.text
    assert "+100.0 %" in page.text
    assert "slower" in page.text
    assert "/a" in page.text
    assert figure(response, "forest-figure")["data"]


def test_percentages_have_a_true_minus(browser, target, person):
    campaign = launched(target, person, baseline="old")
    noise = [0.0, 0.1, 0.05, 0.12, 0.02, 0.08]
    store(
        campaign,
        lambda run: (
            (20 if run.cell.levels_by_factor["engine"] == "old" else 10) + noise[run.position - 1]
        ),
    )

    text = Page(get(browser, finish(campaign))).text

    assert "−50" in text or "−49" in text
    assert " -50" not in text


def test_another_metric_is_descriptive(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0, rate=40.0)
    finish(campaign)

    text = Page(get(browser, campaign, metric="rate")).text

    assert "Rate describes the runs; it does not answer the question." in text
    assert "40 files/s" in text


@pytest.mark.parametrize(
    "query", [{"metric": "nonsense"}, {"x": "\x00"}, {"page": "-1"}, {"state": "'"}]
)
def test_nonsense_in_the_address_changes_nothing(browser, published, query):
    assert get(browser, published, **query).status_code == 200


@pytest.mark.parametrize("metric", ["nonsense", "\x00", "x" * 5000])
def test_a_metric_that_nobody_knows_shows_the_primary_one(browser, published, metric):
    assert Page(get(browser, published, metric=metric)).text == Page(get(browser, published)).text


def test_a_cell_whose_runs_all_failed_is_shown_as_failed(browser, target, person):
    campaign = launched(target, person, order="interleaved")
    failing = {
        run.position
        for run in campaign.runs.select_related("cell")
        if run.cell.levels_by_factor["engine"] == "old"
    }
    store(campaign, lambda run: 10.0, failing=failing)

    page = Page(get(browser, finish(campaign)))

    assert "3 failed" in page.text
    assert page.text.count("It refused.") >= 3
    assert "failed, no value (3)" in page.text


def test_many_runs_without_a_value_are_shown_in_part_and_found_in_the_table(
    browser, target, person
):
    campaign = launched(target, person, order="interleaved", repetitions=12, warm_ups=1)
    store(campaign, lambda run: 10.0, failing=range(1, 13))
    finish(campaign)

    page = Page(get(browser, campaign))
    found = Page(get(browser, campaign, state="without"))

    assert "11 failed" in page.text
    assert "and 5 more" in page.text
    assert any("state=without" in (a.get("href") or "") for _, a in page.elements)
    assert "11 of 25 runs" in found.text


def test_the_reading_help_names_the_marks_that_are_drawn(browser, target, person):
    two = {"engine": ["new", "old"], "workers": [1, 2, 4]}
    of_one = launched(target, person, order="interleaved")
    of_two = launched(target, person, factors=two, order="interleaved", repetitions=2)
    for campaign in (of_one, of_two):
        store(campaign, lambda run: 10.0 + run.position)
        finish(campaign)

    assert "The diamond is the geometric mean" in Page(get(browser, of_one)).text
    assert "The filled symbol is the geometric mean" in Page(get(browser, of_two)).text


def test_a_run_that_timed_out_lies_above_its_limit(browser, target, person):
    campaign = launched(target, person, order="interleaved")
    first = campaign.runs.order_by("position").first()
    attempt = begin(first)
    close(
        attempt,
        outcome(
            "failed",
            values={"duration": 30.0},
            censored=frozenset({"duration"}),
            reason="Too long.",
        ),
    )
    store_rest(campaign, first)

    page = Page(get(browser, finish(campaign)))

    assert "above 30 s" in page.text
    assert "timed out" in page.text
    assert "timed out, true value above (1)" in page.text


def store_rest(campaign, but):
    """Give all other runs a value."""
    others = Campaign.objects.get(pk=campaign.pk)
    Run.objects.filter(pk=but.pk).update(position=10_000)
    for run in others.runs.exclude(pk=but.pk).order_by("position"):
        import_run(
            run,
            [Value("duration", 10.0, "s", lower_is_better=True)],
            started_at=None,
            finished_at=None,
        )
    Run.objects.filter(pk=but.pk).update(position=but.position)


def test_an_excluded_run_is_crossed_out_with_who_and_why(browser, published, person):
    lifecycle.exclude(published.runs.get(position=3), person, "another sync ran")
    compute.analyse(published)

    page = Page(get(browser, published))

    (row,) = [a for tag, a in page.elements if tag == "tr" and a.get("class") == "excluded"]
    assert row["data-state"] == "excluded"
    assert "Excluded by reviewer: another sync ran" in page.text
    assert "excluded (1)" in page.text
    assert "Without and with the excluded runs" in page.text
    assert "20 vs. 15" in page.text


def test_runs_are_filtered_by_the_server_too(browser, published):
    page = Page(get(browser, published, q="concurrency 20"))

    assert "3 of 18 runs" in page.text


def test_the_filters_of_the_runs_stay_in_the_form(browser, published):
    page = Page(get(browser, published, q="concurrency", state="done", sort="-value"))

    assert page.by_id("f-q")["value"] == "concurrency"
    assert ("option", {"value": "done", "selected": ""}) in [
        (tag, {name: value or "" for name, value in each.items()}) for tag, each in page.elements
    ]
    assert [hidden["value"] for hidden in page.named("sort")] == ["-value"]
    assert "Ensure this value has at most 200" in Page(get(browser, published, q="x" * 201)).text


def test_a_state_without_runs_gives_an_empty_table(browser, published):
    assert "No matching runs." in Page(get(browser, published, state="failed")).text


def test_many_runs_come_in_pages(browser, target, person):
    campaign = launched(target, person, repetitions=60)
    store(campaign, lambda run: 10.0 + run.position % 3)
    finish(campaign)

    first, second = Page(get(browser, campaign)), Page(get(browser, campaign, page="2"))

    assert "1 to 100 of 120" in first.text
    assert "101 to 120 of 120" in second.text


def test_the_axis_of_two_factors_can_be_chosen(browser, target, person):
    campaign = launched(
        target,
        person,
        factors={"engine": ["new", "old"], "workers": [1, 2, 4]},
        order="interleaved",
        repetitions=2,
    )
    store(campaign, lambda run: 10.0 + run.position)
    finish(campaign)

    by_workers = figure(get(browser, campaign), "curve-figure")
    by_engine = figure(get(browser, campaign, x="engine"), "curve-figure")

    assert by_workers["layout"]["xaxis"]["title"]["text"] == "workers"
    assert by_engine["layout"]["xaxis"]["title"]["text"] == "engine"


def test_without_findings_the_page_says_so_and_waits(browser, target, person):
    campaign = launched(target, person)
    lifecycle.cancel(campaign, "no time")
    Campaign.objects.filter(pk=campaign.pk).update(
        state=Campaign.State.CANCELLED, analysis_requested_at="2026-01-01T00:00Z"
    )

    page = Page(get(browser, campaign))

    assert "Nothing to show yet" in page.text
    assert "Analysing…" in page.text
    assert "Cancelled: no time." in page.text


def test_the_page_loads_again_when_the_analysis_is_there(browser, published):
    url = reverse("campaign-analysis", args=[published.pk])
    Campaign.objects.filter(pk=published.pk).update(analysis_requested_at="2026-01-01T00:00Z")

    waiting = browser.get(url)
    compute.analyse(Campaign.objects.get(pk=published.pk))
    done = browser.get(url)

    assert waiting.status_code == 204
    assert (done.status_code, done["HX-Refresh"]) == (286, "true")


def test_results_so_far_are_a_tab_of_a_running_campaign(browser, target, person):
    campaign = launched(target, person, order="interleaved")
    run = campaign.runs.order_by("position").first()
    close(begin(run), outcome())
    compute.analyse(campaign)

    page = Page(get(browser, campaign, view="results"))

    assert "Results so far" in page.text
    assert "2.5 s" in page.text


def test_markup_in_names_is_text(browser, target, person):
    bad = "<img src=x onerror=alert(1)>"
    campaign = launched(target, person, question=f"{bad}?", name=bad, tags=f"{bad[:30]}")
    store(campaign, lambda run: 10.0, failing={1})
    Run.objects.filter(campaign=campaign, position=1).update(reason=f"</script>{bad}")

    content = get(browser, finish(campaign)).content.decode()

    assert bad not in content
    assert "</script><img" not in content


def test_a_changed_environment_is_a_red_note(browser, published):
    fact = EnvironmentFact.objects.filter(attempt__run__position=18, name="disk").get()
    EnvironmentFact.objects.filter(pk=fact.pk).update(value="SSD")
    compute.analyse(published)

    page = Page(get(browser, published))

    assert "The environment changed during the campaign" in page.text
    assert "disk (target): from" in page.text
    assert "between run 17 and run 18" in page.text


def test_amendments_are_shown(browser, published, person):
    Amendment.objects.create(
        campaign=published, field="margin", before=0.02, after=0.05, reason="agreed", user=person
    )

    text = Page(get(browser, published)).text

    assert "Changed after launch" in text
    assert "agreed" in text


def test_a_campaign_of_a_kind_that_is_gone_is_still_read(browser, published):
    Campaign.objects.filter(pk=published.pk).update(kind="vanished")

    assert get(browser, published).status_code == 200


def test_there_is_no_such_campaign(browser):
    assert browser.get(reverse("campaign", args=[99])).status_code == 404


def test_long_levels_are_shortened_to_what_tells_them_apart(browser, target, person):
    paths = [f"repo/files={n}/latency=20/PULP_MANIFEST" for n in (500, 1000)]
    campaign = launched(target, person, factors={"path": paths}, parameters={}, order="interleaved")
    store(campaign, lambda run: 10.0 + run.position)

    page = Page(get(browser, finish(campaign)))

    assert "files=500" in page.text
    titles = [a.get("title") for tag, a in page.elements if tag == "th"]
    assert paths[0] in titles


def test_nothing_is_judged_before_the_stop_rule(browser, target, person):
    campaign = launched(target, person, paired_factor="engine")
    store(campaign, lambda run: 20 if run.cell.levels_by_factor["engine"] == "old" else 10)
    finish(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.RUNNING)

    text = Page(get(browser, campaign, view="results")).text

    assert "no verdict yet" in text
    assert "slower" not in text
    assert "+100.0 %" in text
