from datetime import timedelta

import pytest
from django.db.models.functions import Now

from campaigns.models import Attempt, Campaign, Run, Target, Worker
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.preview import OVERHEAD_SECONDS, preview
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


def texts(planned) -> str:
    return " ".join(text for _, text in [*planned.remarks, *planned.found])


def test_without_earlier_runs_the_time_is_the_drivers_guess(target):
    sent = definition(
        target=target.pk,
        order="interleaved",
        factors={"slow": [1, 3]},
        warm_ups=2,
        cool_down_seconds=10,
    )

    planned = preview(check(sent))

    assert planned.estimated_from == 0
    assert (planned.measured_runs, planned.warm_up_runs, planned.blocks) == (6, 2, 3)
    warm_up_seconds = planned.seconds - (3 * 1 + 3 * 3) - 8 * OVERHEAD_SECONDS - 7 * 10
    assert 2 <= warm_up_seconds <= 6


def test_earlier_runs_on_the_target_tell_the_time(target):
    campaign = drafts.create(check(definition(target=target.pk)), None)
    lifecycle.launch(campaign, None)
    for run, seconds in zip(campaign.runs.all(), (4, 5, 60), strict=False):
        run.state = run.State.DONE
        run.save(update_fields=["state"])
        Attempt.objects.create(
            run=run,
            number=1,
            pool="measure",
            token=1,
            state=Attempt.State.ACCEPTED,
            claimed_at=Now() - timedelta(seconds=seconds),
            finished_at=Now(),
        )

    planned = preview(check(definition(target=target.pk)))

    assert planned.estimated_from == 3
    assert planned.seconds == pytest.approx(6 * 5, rel=0.01)


def test_nothing_is_stored(target):
    preview(check(definition(target=target.pk)))

    assert not Campaign.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"order": "interleaved"}, "not confounded"),
        ({"order": "blocked"}, "a slow hour looks like a slow level"),
        ({"order": "random"}, "not taken out"),
        ({"order": "paired"}, "who begins alternates"),
        ({"order": "random", "factors": {}}, "no comparison possible"),
        ({"repetitions": 2}, "no verdict is given below 3"),
        ({"order": "random", "factors": {"path": ["/a", "/b"]}}, "not compared"),
    ],
)
def test_remarks_say_what_the_design_can_tell(target, changes, words):
    planned = preview(check(definition(target=target.pk) | changes))

    assert words in texts(planned)


def test_a_target_that_is_not_ready_is_remarked(target):
    Target.objects.update(health=Target.Health.UNREACHABLE)

    assert "toy server is unreachable" in texts(preview(check(definition(target=target.pk))))


def test_a_plan_that_is_longer_than_its_budget_is_remarked(target):
    sent = definition(target=target.pk, order="random", factors={"slow": [1]}, repetitions=100)

    short = texts(preview(check(sent | {"time_budget_seconds": "1 min 30 s"})))
    long = texts(preview(check(sent | {"time_budget_seconds": "8 h"})))

    assert "longer than the time budget of 1 min 30 s" in short
    assert "budget" not in long


def test_a_pool_without_a_worker_is_said_with_those_that_have_one(target):
    Worker.objects.create(name="near@there", host="there", pools=["near", "generate"])
    Worker.objects.create(name="control@here", host="here", pools=["control"])

    far = preview(check(definition(target=target.pk, pool="far")))
    near = preview(check(definition(target=target.pk, pool="near")))

    assert "No worker of the pool “far” answers" in texts(far)
    assert "Pools with one: near." in texts(far)
    assert "No worker" not in texts(near)
