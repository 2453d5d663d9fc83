"""Changes of the environment, and the label of a simulator: on pages, in charts, in what goes out."""

import csv
import io
import json
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kinds.base import SIMULATOR
from campaigns.models import Attempt, EnvironmentFact
from campaigns.results.closing import close
from campaigns.results.environment import changes_of, environment_of
from campaigns.tests.browsing import Page, evidence_of
from campaigns.tests.findings.spoken import caveats_of
from campaigns.tests.measured import begin, finish, launched, outcome

pytestmark = pytest.mark.django_db
SIMULATED = "simulated Pulp 3.123.1"
RED = "The environment changed during the campaign"


@pytest.fixture
def measured(target, person):
    """A campaign of six runs, whose environment each test says: one (before, after) a run."""

    def make(*seen, simulator=""):
        campaign = launched(target, person, order="interleaved")
        for run, (before, after) in zip(campaign.runs.order_by("position"), seen, strict=True):
            told = {SIMULATOR: simulator} if simulator else {}
            ended = replace(
                outcome(failures={}, units_failed=0),
                same_work=[],
                environment={"target": {"workers": before} | told},
                environment_after={"target": {"workers": after} | told},
            )
            close(begin(run), ended)
        return finish(campaign)

    return make


def changes(campaign):
    found = changes_of(campaign, environment_of(campaign))
    return [(c.before, c.after, c.last_run_before, c.first_run_after) for c in found]


def page_of(browser, campaign):
    return Page(browser.get(reverse("campaign-print", args=[campaign.pk])))


def test_an_environment_that_stays_is_no_note(browser, measured):
    campaign = measured(*[("1", "1")] * 6)

    assert changes(campaign) == []
    assert RED not in page_of(browser, campaign).text


def test_a_change_between_two_runs_names_both_of_them(browser, measured):
    campaign = measured(*[("1", "1")] * 3, *[("2", "2")] * 3)

    assert changes(campaign) == [("1", "2", 3, 4)]
    text = page_of(browser, campaign).text
    assert RED in text
    assert "workers (target): from 1 to 2 between run 3 and run 4." in text
    assert "not directly comparable" in text
    assert "A new session begins at run 4: workers (target) 1 → 2." in text
    assert "1 block lies on both sides of a border" in text


def test_a_change_during_the_last_run_is_seen(browser, measured):
    campaign = measured(*[("1", "1")] * 5, ("1", "2"))

    assert changes(campaign) == [("1", "2", 6, 6)]
    assert "from 1 to 2 during run 6" in page_of(browser, campaign).text
    values = {
        (fact.value, fact.runs) for fact in environment_of(campaign) if fact.name == "workers"
    }
    assert values == {("1", 6), ("2", 1)}


def test_a_value_that_comes_and_goes_is_told_three_times_and_counted(browser, measured):
    campaign = measured(*[("1", "2")] * 6)

    assert len(changes(campaign)) == 11
    text = page_of(browser, campaign).text
    assert "and 8 more changes." in text
    assert "A new session begins" not in text


def test_many_changed_facts_cost_no_more_queries_than_one(measured, django_assert_num_queries):
    campaign = measured(*[("1", "2")] * 6)
    for attempt in Attempt.objects.all():
        attempt.environment.bulk_create(
            EnvironmentFact(
                attempt=attempt, side="target", name=f"fact {number}", value="a", value_after="b"
            )
            for number in range(5)
        )
    facts = environment_of(campaign)

    with django_assert_num_queries(1):
        found = changes_of(campaign, facts)

    assert len({change.name for change in found}) == 6


def test_the_page_of_a_run_tells_what_changed_during_it(browser, measured):
    campaign = measured(*[("1", "1")] * 5, ("1", "2"))

    changed = browser.get(reverse("run", args=[campaign.pk, 6]))
    same = browser.get(reverse("run", args=[campaign.pk, 5]))

    assert "workers (target) from 1 to 2" in Page(changed).text
    assert "changed during this run" not in Page(same).text


def test_facts_that_could_not_be_read_again_are_told(browser, measured):
    campaign = measured(*[("1", "1")] * 6)
    Attempt.objects.filter(run__position=2).update(facts_unread="It was away.")
    compute.analyse(campaign)

    assert "After 1 run the target's facts could not be read" in page_of(browser, campaign).text
    assert "It was away." in Page(browser.get(reverse("run", args=[campaign.pk, 2]))).text


def test_the_answer_has_the_change_as_its_caveat(measured):
    campaign = measured(*[("1", "1")] * 3, *[("2", "2")] * 3)

    caveat = answers_of([campaign.pk])[campaign.pk].caveat
    assert caveat.startswith("The environment changed during the campaign: workers (target)")


def test_a_simulator_hides_no_other_caveat(measured):
    campaign = measured(*[("1", "1")] * 3, *[("2", "2")] * 3, simulator=SIMULATED)

    caveat = caveats_of(answers_of([campaign.pk])[campaign.pk])
    assert caveat.startswith(f"Measured on a {SIMULATED}, not on a real server. The environment")
    assert len(caveat.split(". ")) > 2


def test_rest_and_json_tell_the_changes(browser, measured):
    campaign = measured(*[("1", "1")] * 5, ("1", "2"))
    expected = {
        "side": "target",
        "name": "workers",
        "before": "1",
        "after": "2",
        "last_run_before": 6,
        "first_run_after": 6,
        "target": "",
    }

    told = browser.get(reverse("api-campaign", args=[campaign.pk])).json()
    exported = json.loads(browser.get(reverse("campaign-json", args=[campaign.pk])).getvalue())
    run = browser.get(reverse("api-run", args=[campaign.pk, 6])).json()

    assert told["environment_changes"] == [expected] == exported["environment_changes"]
    assert exported["environment"][0]["name"] == "workers"
    assert run["attempts"][0]["environment"][0]["value_after"] == "2"


def test_a_result_of_a_simulator_is_labelled_wherever_it_is_shown(browser, measured):
    campaign = measured(*[("1", "1")] * 6, simulator=SIMULATED)

    page = browser.get(reverse("campaign-print", args=[campaign.pk]))
    run = browser.get(reverse("run", args=[campaign.pk, 1]))
    listed = browser.get(reverse("campaign-list"))
    home = browser.get(reverse("home"))

    assert f"not on a real server: {SIMULATED}" in Page(page).text
    assert SIMULATED in Page(run).text
    assert SIMULATED in listed.content.decode()
    assert "simulated" in Page(home).text
    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.badges[0].word == "simulated"
    assert SIMULATED in answer.caveat


def test_every_chart_of_a_simulator_carries_the_mark_in_the_plot(browser, measured):
    campaign = measured(*[("1", "1")] * 6, simulator=SIMULATED)

    result = browser.get(reverse("campaign-print", args=[campaign.pk]))
    run = browser.get(reverse("run", args=[campaign.pk, 1])).context
    panels = [panel.plot for panel in evidence_of(result).panels]
    plots = [result.context["plot"], *panels, *run["view"].plots]

    assert len(plots) >= 3
    for plot in plots:
        assert [a["text"] for a in plot.figure["layout"]["annotations"]][-1] == "simulated"
        assert plot.title.endswith("(simulated)")
        assert SIMULATED in plot.label


def test_the_live_chart_of_a_simulator_carries_the_mark_too(browser, target, person):
    campaign = launched(target, person)
    attempt = begin(campaign.runs.get(position=1))
    Attempt.objects.filter(pk=attempt.pk).update(simulator=SIMULATED)

    page = browser.get(reverse("campaign-print", args=[campaign.pk]))
    live = browser.get(reverse("campaign-live", args=[campaign.pk])).json()

    assert SIMULATED in Page(page).text
    assert live["figure"]["layout"]["annotations"][-1]["text"] == "simulated"


def test_exports_and_rest_name_the_simulator(browser, measured):
    campaign = measured(*[("1", "1")] * 6, simulator=SIMULATED)

    lines = browser.get(reverse("campaign-runs-csv", args=[campaign.pk])).getvalue().decode()
    document = json.loads(browser.get(reverse("campaign-json", args=[campaign.pk])).getvalue())
    told = browser.get(reverse("api-campaign", args=[campaign.pk])).json()
    run = browser.get(reverse("api-run", args=[campaign.pk, 1])).json()

    assert {row["simulator"] for row in csv.DictReader(io.StringIO(lines))} == {SIMULATED}
    assert document["campaign"]["simulators"] == [SIMULATED] == told["simulators"]
    assert {entry["simulator"] for entry in document["runs"]} == {SIMULATED}
    assert run["simulator"] == run["attempts"][0]["simulator"] == SIMULATED


def test_a_result_of_a_real_server_has_no_label_anywhere(browser, measured):
    campaign = measured(*[("1", "1")] * 6)

    page = browser.get(reverse("campaign-print", args=[campaign.pk]))

    assert "simulated" not in page.content.decode()
    assert not EnvironmentFact.objects.filter(name=SIMULATOR).exists()


def test_facts_that_came_after_the_analysis_are_shown_until_it_is_made_anew(browser, measured):
    campaign = measured(*[("1", "1")] * 6)
    Attempt.objects.filter(run__position=2).update(facts_unread="It was away.")
    told = "After 1 run the target's facts could not be read"

    before = page_of(browser, campaign).text
    type(campaign).objects.filter(pk=campaign.pk).update(analysis_requested_at=timezone.now())
    awaited = page_of(browser, campaign).text

    assert told not in before
    assert told in awaited
