import csv
import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.compared import MOST_CELLS
from campaigns.models import Campaign, EnvironmentFact
from campaigns.planning import checking, drafts
from campaigns.results.importing.demonstration import published_campaign
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

MOST_QUERIES = 20


@pytest.fixture
def measured(target, person):
    """Make a finished campaign over numbers of workers; `factor` times as slow as others."""

    def make(name, factor=1.0, levels=(2, 4), failing=(), **changes):
        shape = {"factors": {"workers": list(levels)}, "order": "interleaved", "repetitions": 4}
        campaign = launched(target, person, name=name, **(shape | changes))
        store(campaign, lambda run: _seconds(run, factor), failing=failing)
        return finish(campaign)

    return make


def _seconds(run, factor):
    wave = 1 + 0.01 * (run.position % 3)
    return factor * wave * 100 / run.cell.levels_by_factor.get("workers", 1)


def get(browser, **query):
    response = browser.get(reverse("compare"), query)
    assert response.status_code == 200
    return response


def text_of(browser, **query):
    return Page(get(browser, **query)).text


def figure(response):
    marker = '<script id="compared-figure" type="application/json">'
    return json.loads(response.content.decode().split(marker)[1].split("</script>")[0])


def cells_of(campaign):
    return [f"{campaign.pk}:{key}" for key in campaign.cells.values_list("pk", flat=True)]


def test_two_campaigns_are_compared_cell_by_cell_and_as_one_number(browser, measured):
    before, after = measured("before"), measured("after", 0.8)

    text = text_of(browser, c=[before.pk, after.pk])

    assert "“after” vs. “before”: −20.0 %" in text
    assert "faster: 2 of 2" in text
    assert "workers 4 4 and 4 25.2 s 20.1 s −20.0 %" in text
    assert "all 2 cells, geometric" in text


def test_one_session_each_is_said_beside_every_verdict(browser, measured):
    text = text_of(browser, c=[measured("a").pk, measured("b", 0.8).pk])

    assert text.count("one session each") == 2
    assert "One session each does not count as confirmation." in text


def test_the_order_of_the_address_is_that_of_the_page_and_the_first_is_the_baseline(
    browser, measured
):
    one, two, three = measured("one"), measured("two", 0.8), measured("three", 0.5)

    response = get(browser, c=[three.pk, one.pk, two.pk])

    page = Page(response)
    headings = [each for each in ("“one” vs. “three”", "“two” vs. “three”") if each in page.text]
    assert headings == ["“one” vs. “three”", "“two” vs. “three”"]
    assert page.text.index("“one” vs. “three”") < page.text.index("“two” vs. “three”")
    assert "slower: 4 of 4" in page.text
    names = [trace["name"] for trace in figure(response)["data"] if "name" in trace]
    runs = [name for name in names if name.startswith("run ")]
    assert runs == ["run 1 three", "run 2 one", "run 3 two"]


def test_each_point_of_a_run_knows_the_page_of_that_run(browser, measured):
    one, two = measured("one"), measured("two", 0.8)

    traces = figure(get(browser, c=[one.pk, two.pk]))["data"]

    opened = {page for trace in traces for page in trace.get("customdata", ())}
    pages = {
        reverse("run", args=[campaign.pk, run.position])
        for campaign in (one, two)
        for run in campaign.runs.all()
    }
    assert opened == pages
    assert browser.get(min(opened)).status_code == 200


def test_links_move_remove_swap_and_choose_another_baseline_and_keep_the_rest(browser, measured):
    keys = [measured(name).pk for name in ("a", "b", "c")]
    response = get(browser, c=keys, metric="duration")
    links = [a.get("href") for tag, a in Page(response).elements if tag == "a"]

    def address(*order):
        return "?" + "&".join([*(f"c={keys[place]}" for place in order), "metric=duration"])

    for order in ((1, 0, 2), (0, 2, 1), (2, 0, 1), (0, 1), (1, 2)):
        assert address(*order) in links
    swapped = Page(get(browser, c=keys[:2]))
    assert f"?c={keys[1]}&c={keys[0]}" in [a.get("href") for t, a in swapped.elements if t == "a"]


def test_other_work_is_refused_with_both_values_and_is_not_drawn(browser, measured):
    one, two = measured("one"), measured("two", parameters={"path": "/b"})

    response = get(browser, c=[one.pk, two.pk])

    text = Page(response).text
    assert "“two” is not comparable with “one” (path: /a vs. /b)." in text
    assert "refused: path: /a vs. /b" in text
    assert "compared-figure" not in response.content.decode()


def test_a_headline_names_many_paths_by_their_parameter_alone(browser, measured):
    paths = [f"/repo/files={number}/size=20kB/PULP_MANIFEST" for number in range(1, 4)]
    pair = (
        measured("one", parameters={"path": paths[0]}),
        measured("two", parameters={"path": paths[1]}),
    )

    page = text_of(browser, c=[each.pk for each in pair])

    assert "“two” is not comparable with “one” (another path)." in page
    assert f"refused: path: {paths[0]} vs. {paths[1]}" in page


def test_levels_of_work_without_one_in_common_are_refused(browser, measured):
    one = measured("one", factors={"path": ["/a", "/b"], "workers": [2, 4]}, parameters={})
    two = measured("two", parameters={"path": "/c"})

    assert "not comparable with “one” (path: /a, /b vs. /c)" in text_of(browser, c=[one.pk, two.pk])


def test_another_kind_is_refused(browser, measured, person):
    published, _ = published_campaign(person)
    compute.analyse(published)

    text = text_of(browser, c=[measured("toy one").pk, published.pk])

    assert "kind: Toy vs. External" in text
    assert "path" not in text.split("What is compared")[0]


def test_another_environment_is_allowed_and_named_in_red(browser, measured):
    one, two = measured("one"), measured("two", 0.8)
    for campaign, version in ((one, "3.122"), (two, "3.123")):
        for run in campaign.runs.all():
            EnvironmentFact.objects.create(
                attempt=run.attempts.get(), side="target", name="Pulp", value=version
            )

    response = get(browser, c=[one.pk, two.pk])

    text = Page(response).text
    assert "The only recorded difference of “two” is Pulp (3.122 → 3.123)." in text
    assert text.count("environment differs") == 3
    assert 'data-tone="worse"' in response.content.decode().split("What differs between")[1]


def test_several_differences_cannot_be_told_apart_and_that_is_said(browser, measured):
    one = measured("one")
    two = measured("two", 0.8, parameters={"path": "/a", "engine": "old", "slow": 1})

    text = text_of(browser, c=[one.pk, two.pk])

    assert "2 things differ for “two”: engine (new → old), slow (0 → 1)" in text
    assert "cannot be attributed to one of them alone" in text


def test_what_was_recorded_on_one_side_only_is_unknown_not_different(browser, measured):
    one, two = measured("one"), measured("two")
    run = two.runs.first()
    EnvironmentFact.objects.create(
        attempt=run.attempts.get(), side="generator", name="kernel", value="6.1"
    )

    text = text_of(browser, c=[one.pk, two.pk])

    assert "kernel generator not recorded 6.1" in text
    assert "No difference in settings or environment is recorded, except the time." in text


def test_a_level_that_is_fixed_in_the_other_campaign_finds_its_cell(browser, measured):
    one = measured("one", levels=(2, 4, 8))
    two = measured("two", factors={"engine": ["new"]}, parameters={"path": "/a", "workers": 4})

    text = text_of(browser, c=[one.pk, two.pk])

    assert "Only in one: workers 2; workers 8." in text
    assert "4 and 4" in text


def test_campaigns_without_a_cell_in_common_say_which_factor_it_is(browser, measured):
    text = text_of(browser, c=[measured("one").pk, measured("two", levels=(8, 16)).pk])

    assert "“two” and “one” have no cell with the same levels" in text
    assert "No level in common: workers: 2, 4 vs. 8, 16." in text


def test_cells_of_campaigns_are_compared_with_the_first_chosen(browser, measured):
    one, two = measured("one"), measured("two")
    (fast,), slow = cells_of(two)[1:], cells_of(one)[0]

    text = text_of(browser, cell=[slow, fast])

    assert "two: workers 4 vs. one: workers 2: faster, −50" in text
    assert "workers: 2 vs. 4" in text


def test_a_chosen_cell_of_other_work_is_refused(browser, measured):
    one = measured("one", factors={"path": ["/a", "/b"]}, parameters={})

    text = text_of(browser, cell=cells_of(one))

    assert "not comparable" in text
    assert "refused: path: /a vs. /b" in text


def test_cells_of_one_campaign_are_sent_to_its_own_page(browser, measured):
    assert "Its own page compares them within its blocks" in text_of(
        browser, cell=cells_of(measured("one"))
    )


def test_another_metric_is_compared_where_both_have_it(browser, target, person):
    keys = []
    for name, rate in (("one", 40.0), ("two", 50.0)):
        shape = {"factors": {"workers": [2, 4]}, "order": "interleaved", "repetitions": 3}
        campaign = launched(target, person, name=name, **shape)
        store(campaign, lambda run: 1.0 + run.position / 100, rate=rate)
        keys.append(finish(campaign).pk)

    assert "+25.0 %" in text_of(browser, c=keys, metric="rate")
    assert "metric Duration" in text_of(browser, c=keys, metric="nonsense")


def test_failing_cells_have_no_number(browser, measured):
    one, two = measured("one"), measured("two", failing=range(1, 9))

    text = text_of(browser, c=[one.pk, two.pk])

    assert "too many failures: 2 of 2" in text
    assert "100 % of the runs failed in the candidate" in text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "Choose campaigns"),
        ({"c": "99999999"}, "There is no campaign 99999999."),
        ({"c": "x<y>\x00"}, "“x<y>” is no number of a campaign."),
        ({"c": "9" * 30}, "is no number of a campaign."),
        ({"hardware": "maybe"}, "“maybe” says nothing about hardware: 1 compares"),
        ({"cell": "1"}, "“1” is no number of a cell (campaign:cell)."),
        ({"cell": "1:2:3"}, "is no number of a cell"),
        ({"cell": "5:6"}, "There is no campaign 5."),
        ({"q": "nothing\x00 fits"}, "No matching campaigns"),
        ({"metric": "\x00'; --"}, "Choose campaigns"),
    ],
)
def test_what_cannot_be_read_is_said(browser, query, said):
    assert said in text_of(browser, **query)


def test_a_campaign_alone_waits_for_another_one(browser, measured):
    one, other = measured("one"), measured("other")

    page = Page(get(browser, c=one.pk))

    assert "Compare with another campaign" in page.text
    assert str(other.pk) in [box["value"] for box in page.named("c") if box["type"] == "checkbox"]


def test_the_same_campaign_twice_counts_once(browser, measured):
    one = measured("one")

    assert "Some campaigns are named twice; each counts once." in text_of(
        browser, c=[one.pk, one.pk]
    )


def test_drafts_running_campaigns_and_those_without_findings_say_why_they_are_left_out(
    browser, target, person, measured
):
    one = measured("one")
    draft = drafts.create(checking.check(definition(target=target.pk, name="sketch")), person)
    running = launched(target, person, name="going on")
    bare = Campaign.objects.create(
        name="bare", question="?", kind="toy", state="finished", launched_at="2026-01-01T00:00Z",
        primary_metric="duration",
    )  # fmt: skip

    text = text_of(browser, c=[one.pk, draft.pk, running.pk, bare.pk])

    assert "“sketch” is a draft: it has no runs to compare." in text
    assert "“going on” is still measured" in text
    assert "“bare” has no findings" in text
    assert text.count("left out") == 3


def test_a_kind_that_is_gone_is_refused_unless_all_is_alike(browser, measured):
    one, two, three = measured("one"), measured("two"), measured("three", parameters={"path": "/b"})
    Campaign.objects.update(kind="gone")

    text = text_of(browser, c=[one.pk, two.pk, three.pk])

    assert "“three” is not comparable (path)" in text


def test_fifty_campaigns_are_bounded_and_that_is_said(browser, measured):
    keys = [measured("one").pk, *range(10**6, 10**6 + 49)]

    assert "At most 6 campaigns are compared at a time; 44 are left out." in text_of(
        browser, c=keys
    )


def test_too_many_cells_are_bounded(browser, measured):
    one = measured("one", levels=range(1, 21), repetitions=1)

    assert f"At most {MOST_CELLS} cells are compared" in text_of(browser, cell=cells_of(one))


def test_a_cancelled_campaign_is_marked(browser, measured):
    one, two = measured("one"), measured("two")
    Campaign.objects.filter(pk=two.pk).update(state="cancelled")

    assert "cancelled half-way" in text_of(browser, c=[one.pk, two.pk])


def test_names_are_written_as_text(browser, measured):
    response = get(browser, c=[measured("<b>x</b>").pk, measured("@ink", 0.8).pk])

    assert "<b>x</b>" not in response.content.decode()


def test_the_number_of_queries_grows_neither_with_campaigns_nor_with_runs(browser, measured):
    keys = [
        measured(name, repetitions=size).pk for name, size in zip("abcd", (2, 8, 3, 2), strict=True)
    ]
    measured("offered in both cases")

    get(browser, c=keys[:1])  # the first request of a session also notes the session
    counts = []
    for some in (keys[:2], keys):
        with CaptureQueriesContext(connection) as found:
            get(browser, c=some)
        counts.append(len(found))

    assert counts[0] == counts[1] <= MOST_QUERIES


def test_the_csv_has_exact_numbers_and_refusals(browser, measured):
    one, two = measured("one"), measured("two", 0.8)
    other = measured("=other", parameters={"path": "/b"})

    answer = browser.get(reverse("compare-csv"), {"c": [one.pk, two.pk, other.pk]})

    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["verdict"] for row in rows] == ["not_comparable", "better", "better"]
    assert rows[0]["fields"] == "path: /a | /b"
    assert rows[0]["candidate"] == "'=other"
    assert float(rows[1]["change_pct"]) == pytest.approx(-20)
    assert rows[1]["baseline_cell"] == "workers 2"
    assert rows[1]["data_hash"].startswith("v1:")


def test_the_csv_of_nothing_has_its_head(browser):
    answer = browser.get(reverse("compare-csv"))

    assert answer.getvalue().decode().startswith("baseline,candidate,")


def test_the_list_and_the_result_lead_to_the_comparison(browser, measured, draft):
    one = measured("one")

    listed = Page(browser.get(reverse("campaign-list")))
    assert [box["value"] for box in listed.named("c")] == [str(one.pk)]
    result = browser.get(reverse("campaign", args=[one.pk])).content.decode()
    assert f'{reverse("compare")}?c={one.pk}"' in result


def test_nobody_compares_without_signing_in(client):
    assert client.get(reverse("compare")).status_code == 302
    assert client.get(reverse("compare-csv")).status_code == 302


def test_nothing_is_changed_by_a_look(browser):
    assert browser.post(reverse("compare")).status_code == 405


def test_what_settings_carry_is_compared_whatever_the_loads(browser, target, person):
    def carrying(name, carried, levels):
        campaign = launched(
            target, person, name=name, factors={"workers": levels}, order="interleaved",
            repetitions=3,
        )  # fmt: skip
        campaign.factors.update(role="load")
        limit = {"conditions": [{"metric": "duration", "at_most": 10.0}]}
        Campaign.objects.filter(pk=campaign.pk).update(criterion=limit)
        wave = {1: 0.99, 2: 1.0, 3: 1.01}
        store(
            campaign,
            lambda run: (
                10 * run.cell.levels_by_factor["workers"] / carried * wave[run.block.repetition]
            ),
        )
        campaign.refresh_from_db()
        return finish(campaign).pk

    pair = [carrying("v1", 60.0, [40, 50, 62, 77]), carrying("v2", 90.0, [60, 75, 95, 115])]

    text = text_of(browser, c=pair)

    assert "“v2” carries 8" in text
    assert "1.50 times as many" in text
    assert "single loads are not compared" in text
    assert "What is carried: “v2” vs. “v1”" in text
    assert "carries more" in text
    assert "one session each" in text
    answer = browser.get(reverse("compare-csv"), {"c": pair}).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(answer)))
    assert [(row["verdict"], row["metric"]) for row in rows if row["model"] == "capacity"] == [
        ("better", "capacity")
    ]
