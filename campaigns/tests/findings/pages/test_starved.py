"""Campaigns whose generator others kept waiting in some runs: what their page, their comparison, REST and checklist say."""

import re

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.models import Attempt
from campaigns.reviews.checklist import checks_of
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db

BUSY = {"waited_share": 0.34, "others_cpu_share": 0.98, "machine_cpu_share": 1.0, "cores": 2.0}
CALM = BUSY | {"waited_share": 0.01, "others_cpu_share": 0.1}
BEFORE_THE_RULE = {
    "cpu_waiting_cores": 0.6,
    "cpu_cores": 0.04,
    "others_cpu_share": 0.98,
    "machine_cpu_share": 1.0,
    "cores": 2.0,
    "target_is_here": 1.0,
}
NOT_JUDGED = "Not judged: other programs kept the load generator waiting in {} runs."


def was_starved(runs, figures=None, word="starved"):
    """Store the health of runs as the keeper does."""
    attempts = Attempt.objects.filter(run__in=runs)
    attempts.update(health=word, health_figures=BUSY if figures is None else figures)
    if word in ("starved", "saturated"):
        for attempt in attempts:
            attempt.measurements.update(bound=True)


@pytest.fixture
def measured(target, person):
    """Make a finished campaign over numbers of workers, of which the chosen runs were starved."""

    def make(
        name="busy",
        starved=lambda run: False,
        levels=(2, 4),
        figures=None,
        word="starved",
        slower=1.0,
    ):
        campaign = launched(
            target,
            person,
            name=name,
            factors={"workers": list(levels)},
            order="interleaved",
            repetitions=5,
        )
        store(
            campaign,
            lambda run: (
                slower
                * (1 + 0.01 * (run.position % 3))
                * 100
                / run.cell.levels_by_factor["workers"]
            ),
        )
        runs = list(campaign.runs.select_related("cell"))
        was_starved([run for run in runs if not starved(run)], CALM, "healthy")
        was_starved([run for run in runs if starved(run)], figures, word)
        return finish(campaign)

    return make


def page_of(browser, campaign):
    return Page(browser.get(reverse("campaign-print", args=[campaign.pk])))


def answer_of(campaign):
    return answers_of([campaign.pk])[campaign.pk]


def finding(campaign, name):
    return campaign.findings.get(name=name).result


def test_a_campaign_whose_runs_were_all_starved_is_not_judged(browser, measured):
    campaign = measured(starved=lambda run: True)

    text = page_of(browser, campaign).text

    assert answer_of(campaign).sentence == NOT_JUDGED.format("10 of 10")
    assert NOT_JUDGED.format("10 of 10") in text
    assert "fastest" not in text
    assert "Other programs on the generator 10 of 10" in text


def test_what_versions_before_the_rule_stored_is_judged_by_it(measured):
    campaign = measured(starved=lambda run: True, figures=BEFORE_THE_RULE, word="warned")

    (cell, _) = finding(campaign, "cells")["cells"]
    assert cell["counts"]["starved"] == 5
    assert {run["state"] for run in cell["runs"]} == {"bound"}


def test_one_starved_run_is_amber_and_counts_for_nothing(browser, measured):
    campaign = measured(starved=lambda run: run.position == 3)

    checks = {each["name"]: each for each in finding(campaign, "checks")["checks"]}
    assert checks["starved"]["outcome"] == "warn"
    assert checks["starved"]["positions"] == [3]
    assert checks["starved"]["figures"] == {"runs": 10.0, "most": 0.34}
    assert checks["saturation"]["outcome"] == "pass"
    counted = sum(cell["summary"]["n_ok"] for cell in finding(campaign, "cells")["cells"])
    assert counted == 9
    assert re.search(r"Workers 4 is \S+ % faster than 2", answer_of(campaign).sentence)
    assert (
        "Other programs kept the load generator waiting in 1 of 10 runs"
        in answer_of(campaign).caveat
    )
    assert "Other programs on the generator 1 of 10" in page_of(browser, campaign).text


def test_a_level_of_which_too_many_were_starved_is_named_and_nothing_is_the_fastest(measured):
    campaign = measured(
        starved=lambda run: run.cell.levels_by_factor["workers"] == 2 and run.position > 4,
        levels=(2, 4, 8),
    )

    sentence = answer_of(campaign).sentence
    assert "no setting is called the fastest" in sentence.lower()
    assert (
        "2 cannot be judged (other programs kept the load generator waiting in 4 of 5 runs)"
        in sentence
    )


def test_a_run_that_is_saturated_is_no_starved_one(measured):
    campaign = measured(starved=lambda run: run.position in (1, 2), figures=CALM, word="saturated")

    checks = {each["name"]: each for each in finding(campaign, "checks")["checks"]}
    assert (checks["starved"]["outcome"], checks["saturation"]["outcome"]) == ("pass", "fail")
    assert checks["saturation"]["positions"] == [1, 2]


def test_a_run_that_was_warned_of_is_amber_and_counts(measured):
    campaign = measured(starved=lambda run: run.position == 2, figures=CALM, word="warned")

    checks = {each["name"]: each for each in finding(campaign, "checks")["checks"]}
    assert (checks["starved"]["outcome"], checks["saturation"]["outcome"]) == ("pass", "warn")
    assert checks["saturation"]["positions"] == [2]
    assert sum(cell["summary"]["n_ok"] for cell in finding(campaign, "cells")["cells"]) == 10


def test_a_run_that_failed_beside_a_starved_generator_is_no_failure_of_the_server(measured):
    campaign = measured(starved=lambda run: run.position == 3)
    campaign.runs.filter(position=3).update(state="failed")
    Attempt.objects.filter(run__campaign=campaign, run__position=3).update(state="failed")
    compute.analyse(campaign)

    assert sum(cell["summary"]["n_failed"] for cell in finding(campaign, "cells")["cells"]) == 0


def test_a_comparison_names_that_one_generator_was_kept_waiting(browser, measured):
    quiet = measured("quiet")
    busy = measured("busy", starved=lambda run: run.position in (1, 2), slower=3.0)

    text = Page(browser.get(reverse("compare"), {"c": [quiet.pk, busy.pk]})).text

    assert "No difference in settings or environment is recorded" not in text
    assert "other programs kept the load generator waiting" in text
    assert "in none in 2 of 10 runs" in text


def test_two_quiet_campaigns_differ_in_nothing(browser, measured):
    one, two = measured("one"), measured("two", slower=3.0)

    text = Page(browser.get(reverse("compare"), {"c": [one.pk, two.pk]})).text

    assert "No difference in settings or environment is recorded" in text


def test_the_checklist_is_amber_from_the_first_run(measured):
    campaign = measured(starved=lambda run: run.position == 3)

    (line,) = [check for check in checks_of([campaign])[campaign.pk] if check.name == "starved"]

    assert (line.state, line.number) == ("warn", "1 of 10")
    assert "up to 34 % of the time" in line.words
