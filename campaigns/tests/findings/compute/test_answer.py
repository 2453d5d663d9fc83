import math
import re
from dataclasses import replace

import pytest

from campaigns.findings.compute.cells import summarise_cells
from campaigns.kinds.registry import driver_of
from campaigns.models import Attempt, Campaign, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.results.values import observed_runs_by_metric
from campaigns.stats.criteria import Criteria
from campaigns.tests.findings.compute.conftest import findings, noisy, store
from campaigns.tests.findings.spoken import caveats_of, details_of
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


def cells_with(campaign, **levels):
    return [
        cell.pk for cell in campaign.cells.all() if levels.items() <= cell.levels_by_factor.items()
    ]


def texts(found):
    return [each["text"] for each in found["answer"]["statements"]]


def test_cells_of_which_too_much_failed_are_not_called_the_fastest(interleaved):
    campaign = interleaved([2, 4], manifest=["/sound", "/broken"])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    broken = Attempt.objects.filter(run__cell__in=cells_with(campaign, manifest="/broken"))
    assert broken.update(units_done=18, units_failed=12) == 6

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == (
        "The fastest concurrency: 4 (manifest /sound); 1 combination cannot be judged."
    )
    assert (
        "Manifest /broken, concurrency 2: fails too often (40 % of the work failed); "
        "manifest /broken, concurrency 4: fails too often (40 % of the work failed)."
    ) in details_of(answer)
    assert "In 2 of 4 cells too much of the work failed" in answer["caveat"]


def test_how_much_may_fail_is_the_campaigns_to_say(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    Attempt.objects.update(units_done=18, units_failed=12)
    Campaign.objects.update(failed_limit=0.5)
    campaign.refresh_from_db()

    found = findings(campaign)

    assert re.fullmatch(r"Concurrency 4 is \S+ % faster than 2\.", found["answer"]["sentence"])
    assert not any(cell["counts"]["too_many_failures"] for cell in found["cells"]["cells"])


def test_where_too_much_failed_there_is_no_mean_of_what_came_through(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    broken = Attempt.objects.filter(run__cell__position=1)
    assert broken.update(units_done=18, units_failed=12) == 3
    metric = replace(driver_of("downloader").primary_metric, of_survivors=True)
    runs = observed_runs_by_metric(campaign, {metric.name: metric})[metric.name]

    one, other = summarise_cells(campaign, metric, runs, Criteria()).cells

    assert (one.summary.mean, one.summary.gmean) == (None, None)
    assert (one.summary.n_ok, one.summary.flags) == (3, ("too_many_failures",))
    assert other.summary.mean == pytest.approx(20, rel=0.1)


def test_where_too_much_failed_everywhere_nothing_is_called_best(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    Attempt.objects.update(units_done=18, units_failed=12)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No setting can be called best: too much failed in every cell."
    assert not answer["facts"]


def test_a_cell_of_two_runs_has_neither_verdict_nor_rank(interleaved):
    campaign = interleaved([2, 4, 8, 12])
    store(campaign, noisy({2: 80.0, 4: 40.0, 8: 20.0, 12: 10.0}, sd=0.01))
    lifecycle.exclude(
        campaign.runs.filter(cell=cells_with(campaign, concurrency=12)[0]).first(),
        somebody("ann"),
        "The disk was full.",
    )

    found = findings(campaign)

    (group,) = found["levels"]["groups"]
    words = [row["comparison"]["verdict"]["word"] for row in group["comparisons"]]
    assert words == ["better", "better", "not_enough_data"]
    assert found["answer"]["sentence"] == (
        "No setting is called the fastest: concurrency 12 cannot be judged (it has 2 runs)."
    )
    assert found["answer"]["caveat"].startswith(
        "1 of 4 cells has fewer than 3 runs: no verdict is given for it."
    )


@pytest.mark.parametrize("order", ["interleaved", "blocked", "random"])
def test_settings_of_one_or_two_runs_are_not_ranked(interleaved, order):
    campaign = interleaved([2, 4, 8])
    Campaign.objects.update(order=order)
    campaign.runs.filter(block__number__gt=2).delete()
    last = campaign.runs.filter(cell=cells_with(campaign, concurrency=8)[0]).last()
    campaign.runs.filter(pk=last.pk).delete()
    store(campaign, noisy({2: 80.0, 4: 40.0, 8: 20.0}))

    found = findings(campaign)

    answer = found["answer"]
    assert answer["sentence"] == "No setting is ranked: 3 of 3 settings have fewer than 3 runs."
    assert answer["certainty"] == "Duration is 20.1 s to 80.7 s on average, 5 runs."
    assert [fact["label"] for fact in answer["facts"]] == [
        "concurrency 2",
        "concurrency 4",
        "concurrency 8",
    ]
    assert found["levels"]["groups"][0]["best"] is None


def test_a_cancelled_campaign_ranks_nothing(interleaved):
    campaign = interleaved([2, 4, 8], engine=["futures", "asyncio"])
    store(campaign, noisy({2: 80.0, 4: 40.0, 8: 20.0}))
    Campaign.objects.update(state=Campaign.State.CANCELLED)

    found = findings(campaign)

    assert found["answer"]["sentence"].startswith(
        "No setting is ranked: the campaign was cancelled before its stop rule was met."
    )
    assert all(group["best"] is None for group in found["levels"]["groups"])
    rows = [row for each in found["matrix"]["factors"].values() for row in each["rows"]]
    assert {(row["best"], row["recommended"]) for row in rows} == {(None, None)}


def test_the_cost_of_a_knee_is_told_beside_it(published):
    (knee,) = [text for text in texts(findings(published)) if text.startswith("The knee lies")]

    assert knee.endswith(
        "Staying at 5, where two of three methods put it, costs +71.4 % compared with 20 "
        "(up to +92.7 % with 95 % confidence)."
    )


def test_the_bounds_of_a_knee_are_told_as_computed(published):
    found = findings(published)
    (knee,) = [text for text in texts(found) if text.startswith("The knee lies")]

    low, high = found["levels"]["groups"][0]["knee"]["uncertainty"]["interval"]
    assert (low, 7 < high < 10) == (pytest.approx(5.0), True)
    assert knee.startswith(
        f"The knee lies between 5 and 10 (5 to {math.ceil(high * 100) / 100:g}, "
    )


def test_a_value_that_is_too_large_for_a_measurement_is_named(interleaved):
    campaign = interleaved([5])
    store(campaign, lambda run: 1e200 if run.position == 2 else 10.0)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No cell has a value that can be averaged."
    assert "zero, negative or no number (run 2): this cell is not compared" in answer["caveat"]


def test_runs_that_were_done_and_have_no_value_are_not_called_lost(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    of_first = campaign.runs.filter(cell__position=1)
    Measurement.objects.filter(attempt__run__in=of_first).delete()
    lost = of_first.order_by("position").first()
    Run.objects.filter(pk=lost.pk).update(state=Run.State.VOID)

    caveat = caveats_of(findings(campaign)["answer"])

    assert (
        "2 of 6 runs have no value of duration. 1 of 6 runs was void, lost or cancelled" in caveat
    )
