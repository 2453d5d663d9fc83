"""Analysis, tables, exports, history and the REST API name the same value for a run."""

import json

import pytest
from django.utils import timezone

from campaigns.models import Attempt, Exclusion, Measurement, Run
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results import records
from campaigns.results.api.run_outputs import RunOutput
from campaigns.results.history import history_of
from campaigns.results.rows import accepted_of, run_rows
from campaigns.results.run_stream import measured_runs
from campaigns.results.values import observed_runs_by_metric
from campaigns.tests.metrics import metric
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition, target, toy, worker

__all__ = ["target", "toy", "worker"]

STATE = Attempt.State


@pytest.fixture
def run(target, worker):
    campaign = lifecycle.launch(
        drafts.create(checking.check(definition(target=target.pk)), None), None
    )
    return campaign.runs.get(position=1)


def attempt(run, state, **values):
    """Add an attempt that ended so and measured these values."""
    now = timezone.now()
    made = Attempt.objects.create(
        run=run,
        number=run.attempts.count() + 1,
        state=state,
        pool="measure",
        token=0,
        claimed_at=now,
        finished_at=now,
    )
    Measurement.objects.bulk_create(
        Measurement(attempt=made, metric=metric(name), value=value)
        for name, value in values.items()
    )
    return made


def ended(run, state):
    run.state, run.started_at = state, timezone.now()
    run.save()


def told(run, metric="duration"):
    """The value of a run, where all who read it agree on one."""
    run = Run.objects.get(pk=run.pk)
    campaign = run.campaign
    campaign.primary_metric = metric
    row = next(each for each in run_rows(campaign, metric) if each.run == run.pk).measured
    one = accepted_of(run, metric)
    page = RunOutput(records.runs(campaign).get(pk=run.pk), context={"request": None})
    rest = page.fields["measurements"].to_representation(page.instance).get(metric)
    past = json.loads(history_of(campaign, metric, most=9).columns["value"])
    found = {
        observed_runs_by_metric(campaign, [metric])[metric][0].value,
        row and row.value,
        one and one.value,
        rest and rest["value"],
        past[0] if past else None,
        *(_streamed(run, metric, by_cell=by_cell) for by_cell in (True, False)),
    }
    assert len(found) == 1
    assert len(past) <= 1
    return found.pop()


def _streamed(run, metric, *, by_cell):
    streamed = measured_runs(run.campaign, by_cell=by_cell)
    found = next(each.values.get(metric) for each in streamed if each.row.run == run.pk)
    return found and found.value


def test_the_accepted_attempt_counts_more_than_failed_ones(run):
    attempt(run, STATE.FAILED, duration=1.0)
    attempt(run, STATE.ACCEPTED, duration=2.0)
    ended(run, Run.State.DONE)

    assert told(run) == 2.0


def test_the_last_failed_attempt_that_measured_counts_where_none_was_accepted(run):
    attempt(run, STATE.FAILED, duration=1.0)
    attempt(run, STATE.FAILED, duration=2.0)
    attempt(run, STATE.FAILED)
    ended(run, Run.State.FAILED)

    assert told(run) == 2.0


@pytest.mark.parametrize("state", [STATE.VOID, STATE.LOST, STATE.CANCELLED])
def test_what_an_attempt_measured_that_was_void_lost_or_cancelled_never_counts(run, state):
    attempt(run, STATE.FAILED, duration=1.0)
    attempt(run, state, duration=2.0)
    ended(run, Run.State.FAILED)

    assert told(run) == 1.0


@pytest.mark.parametrize("state", [Run.State.VOID, Run.State.CANCELLED])
def test_a_run_that_ended_void_or_cancelled_has_no_value(run, state):
    attempt(run, STATE.FAILED, duration=1.0)
    attempt(run, STATE.VOID, duration=2.0)
    ended(run, state)

    assert told(run) is None


def test_a_run_that_is_repeated_has_no_value_until_it_is_over_again(run):
    attempt(run, STATE.FAILED, duration=1.0)
    ended(run, Run.State.FAILED)
    lifecycle.run_again(run, None)

    assert told(run) is None

    attempt(run, STATE.ACCEPTED, duration=2.0)
    ended(run, Run.State.DONE)

    assert told(run) == 2.0


def test_an_excluded_run_keeps_its_value(run):
    attempt(run, STATE.ACCEPTED, duration=2.0)
    ended(run, Run.State.DONE)
    Exclusion.objects.create(run=run, user=somebody("owner"), reason="somebody copied a disk")

    assert told(run) == 2.0


def test_each_metric_of_a_run_has_a_value_of_its_own(run):
    attempt(run, STATE.FAILED, duration=1.0, rate=10.0, a=100.0)
    attempt(run, STATE.FAILED, duration=2.0, rate=20.0)
    attempt(run, STATE.FAILED, a=300.0)
    ended(run, Run.State.FAILED)

    assert [told(run, metric) for metric in ("a", "duration", "rate", "z")] == [
        300.0,
        2.0,
        20.0,
        None,
    ]
