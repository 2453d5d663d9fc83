import pytest

from campaigns.definition import life
from campaigns.models import Attempt
from campaigns.tests.analysis.conftest import findings, noisy, store

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


def test_where_too_much_failed_everywhere_nothing_is_called_best(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}))
    Attempt.objects.update(units_done=18, units_failed=12)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No setting can be called best: too much failed in every cell."
    assert answer["facts"] == []


def test_a_cell_of_two_runs_that_has_a_verdict_is_not_said_to_have_none(
    interleaved, django_user_model
):
    campaign = interleaved([2, 4, 8, 12])
    store(campaign, noisy({2: 80.0, 4: 40.0, 8: 20.0, 12: 10.0}, sd=0.01))
    owner = django_user_model.objects.create(username="ann")
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
