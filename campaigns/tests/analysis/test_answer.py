from dataclasses import replace

import pytest

from campaigns.analysis.cells import summarise_cells
from campaigns.definition import life
from campaigns.drivers import driver_of
from campaigns.models import Attempt, Campaign
from campaigns.queries.runs import observed_runs_by_metric
from campaigns.stats.criteria import Criteria
from campaigns.tests.analysis.conftest import findings, noisy, store
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

    assert answer["sentence"].startswith("Manifest /sound, concurrency 4 is the fastest setting")
    assert "/broken" not in answer["sentence"] + str(answer["facts"])
    assert "In 2 of 4 cells too much of the work failed" in answer["caveat"]


def test_how_much_may_fail_is_the_campaigns_to_say(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    Attempt.objects.update(units_done=18, units_failed=12)
    Campaign.objects.update(failed_limit=0.5)
    campaign.refresh_from_db()

    found = findings(campaign)

    assert found["answer"]["sentence"].startswith("Concurrency 4 is the fastest setting")
    assert not any(cell["counts"]["too_many_failures"] for cell in found["cells"]["cells"])


def test_where_too_much_failed_there_is_no_mean_of_what_came_through(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    broken = Attempt.objects.filter(run__cell__position=1)
    assert broken.update(units_done=18, units_failed=12) == 3
    metric = replace(driver_of("downloader").primary_metric, of_survivors=True)
    runs = observed_runs_by_metric(campaign, {metric.name: metric})[metric.name]

    one, other = summarise_cells(campaign, metric, runs, Criteria())["cells"]

    assert (one["summary"]["mean"], one["summary"]["gmean"]) == (None, None)
    assert (one["summary"]["n_ok"], one["summary"]["flags"]) == (3, ("too_many_failures",))
    assert other["summary"]["mean"] == pytest.approx(20, rel=0.1)


def test_where_too_much_failed_everywhere_nothing_is_called_best(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    Attempt.objects.update(units_done=18, units_failed=12)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No setting can be called best: too much failed in every cell."
    assert answer["facts"] == []


def test_a_cell_of_two_runs_that_has_a_verdict_is_not_said_to_have_none(interleaved):
    campaign = interleaved([2, 4, 8, 12])
    store(campaign, noisy({2: 80.0, 4: 40.0, 8: 20.0, 12: 10.0}, sd=0.01))
    owner = somebody("ann")
    life.exclude(campaign.runs.order_by("position").first(), owner, "The disk was full.")

    found = findings(campaign)

    (group,) = found["levels"]["groups"]
    assert {row["comparison"]["verdict"]["word"] for row in group["comparisons"]} == {"better"}
    assert found["answer"]["caveat"] == (
        "Some cells have fewer than 3 runs: what is said of them rests on the noise of the others."
    )


def test_the_best_of_unlike_rows_says_that_not_all_was_measured(interleaved):
    campaign = interleaved([2, 4, 8], engine=["futures", "asyncio"])
    gone = cells_with(campaign, engine="futures", concurrency=8)
    campaign.runs.filter(cell__in=gone).delete()
    campaign.cells.filter(pk__in=gone).delete()
    store(campaign, noisy({2: 40.0, 4: 20.0, 8: 10.0}))

    assert findings(campaign)["answer"]["sentence"].endswith(
        "; not every level was measured everywhere."
    )


def test_the_cost_of_a_knee_is_told_beside_it(published):
    (knee,) = [text for text in texts(findings(published)) if text.startswith("The knee lies")]

    assert knee.endswith(
        "To stay at 5, where two of three methods put it, costs +71.4 % against 20 "
        "(at most +92.7 %)."
    )
