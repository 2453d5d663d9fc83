"""One worker executes the runs of a campaign in a row, without dispatch between them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from campaigns.execution import dispatch, running
from campaigns.execution.running import execute_in_a_row
from campaigns.models import (
    Attempt,
    Campaign,
    GeneratorLease,
    LogLine,
    Run,
    TargetLease,
    Worker,
)
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 45
"""Of a run in a row, with BEGIN and COMMIT."""


@pytest.fixture
def measure(worker):
    """Dispatch once, and let the worker `measure@here` execute what it may; return the states of all runs."""

    def go_on(campaign):
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        execute_in_a_row(attempt.pk, "measure@here", "here", lambda attempt: None)
        return list(campaign.runs.order_by("position").values_list("state", flat=True))

    return go_on


def test_the_runs_of_a_block_are_executed_in_a_row_and_then_an_analysis_is_due(launched, measure):
    campaign = launched(factors={"level": [1, 2, 3]})

    states = measure(campaign)

    assert states == [Run.State.DONE] * 3 + [Run.State.PLANNED] * 3
    assert Campaign.objects.get().analysis_requested_at is not None
    tokens = Attempt.objects.order_by("pk").values_list("token", flat=True)
    assert list(tokens) == sorted(set(tokens))
    assert TargetLease.objects.get().attempt is None


def test_a_run_in_a_row_takes_few_statements(launched, measure):
    campaign = launched(factors={"level": [1, 2, 3, 4, 5, 6]}, repetitions=1)
    with CaptureQueriesContext(connection) as all_runs:
        measure(campaign)

    texts = [query["sql"] for query in all_runs]
    begins = [at for at, text in enumerate(texts) if 'INSERT INTO "campaigns_attempt"' in text]
    assert len(begins) == 6
    assert (begins[4] - begins[1]) / 3 <= MOST_STATEMENTS


def test_where_the_worker_dies_right_after_the_claim_the_run_is_repeated(
    launched, measure, monkeypatch
):
    campaign = launched(factors={"level": [1, 2, 3]})
    execute = running._execute

    def die_at_the_second(claimed, *arguments):
        if claimed.attempt.run.position == 2:
            raise SystemExit
        return execute(claimed, *arguments)

    monkeypatch.setattr(running, "_execute", die_at_the_second)
    with pytest.raises(SystemExit):
        measure(campaign)
    held = Attempt.objects.get(state=Attempt.State.RUNNING)
    assert TargetLease.objects.get().attempt == held
    assert GeneratorLease.objects.get().attempt == held
    assert TargetLease.objects.get().token == held.token

    monkeypatch.setattr(running, "_execute", execute)
    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    states = measure(campaign)

    assert states[:3] == [Run.State.DONE] * 3
    assert Attempt.objects.get(pk=held.pk).state == Attempt.State.LOST
    assert campaign.runs.get(position=2).attempts.count() == 2


def test_what_cannot_go_on_is_stored_all_the_same(launched, measure, monkeypatch):
    campaign = launched(factors={"level": [1, 2, 3]})

    def fail(ended, run):
        TargetLease.objects.create(address=TargetLease.objects.get().address)

    monkeypatch.setattr(running, "claim_next", fail)

    assert measure(campaign) == [Run.State.DONE] + [Run.State.PLANNED] * 5
    assert Attempt.objects.get(state=Attempt.State.ACCEPTED).measurements.exists()


def test_lines_of_the_log_keep_their_order(launched, measure):
    measure(launched(factors={"level": [1, 2]}, repetitions=1))

    words = ("claimed by", "reset:", "apply:", "measure: the clock", "verify:", "accepted")
    lines = LogLine.objects.filter(run__position=1).order_by("pk").values_list("text", "at")
    assert [next(w for w in words if w in text) for text, _ in lines] == list(words)
    assert [at for _, at in lines] == sorted(at for _, at in lines)


@pytest.mark.parametrize(
    "change", [{"cool_down_seconds": 1}, {"state": Campaign.State.PAUSED}], ids=str
)
def test_dispatch_decides_where_the_campaign_must_not_go_on_at_once(
    launched, measure, change, controlled
):
    campaign = launched(factors={"level": [1, 2, 3]})
    verify = controlled.verify

    def changed(*arguments):
        Campaign.objects.update(**change)
        return verify(*arguments)

    controlled.verify = changed

    assert measure(campaign).count(Run.State.DONE) == 1
    assert not Attempt.objects.filter(state__in=Attempt.OPEN).exists()


def test_a_campaign_that_was_put_ahead_gets_the_target(launched, measure, controlled):
    first, second = launched(factors={"level": [1, 2, 3]}), launched()
    verify = controlled.verify

    def changed(*arguments):
        Campaign.objects.filter(pk=second.pk).update(queue_place=0)
        return verify(*arguments)

    controlled.verify = changed
    measure(first)
    dispatch.dispatch()

    assert Attempt.objects.get(state=Attempt.State.QUEUED).run.campaign == second


def test_a_run_waits_for_the_analysis_of_another_campaign(launched, measure, controlled):
    first, second = launched(factors={"level": [1, 2, 3]}), launched()
    verify = controlled.verify

    def changed(*arguments):
        request_analysis(second)
        return verify(*arguments)

    controlled.verify = changed

    assert measure(first).count(Run.State.DONE) == 1


def test_a_worker_that_is_about_to_end_begins_no_further_run(launched, measure, controlled):
    campaign = launched(factors={"level": [1, 2, 3]})
    verify = controlled.verify

    def changed(*arguments):
        Worker.objects.filter(name="measure@here").delete()
        return verify(*arguments)

    controlled.verify = changed

    assert measure(campaign).count(Run.State.DONE) == 1
    assert TargetLease.objects.get().attempt is None


def test_what_is_cancelled_meanwhile_is_not_begun(launched, measure, controlled):
    campaign = launched(factors={"level": [1, 2, 3]})
    verify = controlled.verify

    def cancelled(*arguments):
        controlled.verify = verify
        lifecycle.cancel_run(campaign.runs.get(position=2), "not needed")
        return verify(*arguments)

    controlled.verify = cancelled

    assert measure(campaign)[:3] == [Run.State.DONE, Run.State.CANCELLED, Run.State.DONE]
