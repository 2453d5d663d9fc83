"""A step that takes too long is stopped; one that hangs is ended together with its process."""

import signal
import time
from math import inf

import pytest
from django.db import OperationalError
from django.db.models import F

from campaigns.execution import dispatch, keeper, running, steps
from campaigns.execution.running import execute
from campaigns.execution.steps import LOOK_AGAIN_SECONDS, SLACK_SECONDS
from campaigns.models import Attempt, GeneratorLease, Run, TargetLease
from campaigns.tests.execution import own_process

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = ("reset", "apply", "measure", "verify", "clean_up")


@pytest.fixture(autouse=True)
def _quick_looks(monkeypatch):
    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.05)


@pytest.fixture
def hanging(controlled, monkeypatch):
    """Let one step of the controlled kind wait before it does what it does; that one alone has little time."""

    def let_hang(step, wait, seconds=0.3):
        done, begin = getattr(controlled, step), keeper.Keeper.begin

        def hang(*arguments):
            wait(arguments[2])
            return done(*arguments)

        def begin_with_little_time(self, name, allowed):
            begin(self, name, seconds if name == step.replace("_", "-") else allowed)

        monkeypatch.setattr(controlled, step, hang)
        monkeypatch.setattr(keeper.Keeper, "begin", begin_with_little_time)

    return let_hang


@pytest.fixture
def impatient(monkeypatch):
    """What does not end when it is told to is killed soon: for a process of its own alone."""
    monkeypatch.setattr(keeper, "HUNG_SECONDS", 0.2)


def wait_for_the_context(context):
    while True:
        context.check()
        time.sleep(0.02)


def execute_in_a_process_of_its_own(attempt):
    """Give the signal that ended it."""
    return own_process.ended_by(own_process.begin(attempt))


def words(step):
    return f"{step.replace('_', '-')} took longer than "


@pytest.mark.parametrize(
    ("prepares", "run_limit", "apply"),
    [(False, 100, 70), (True, 100, 100 + SLACK_SECONDS), (True, 5, 70)],
)
def test_measure_may_take_as_long_as_the_longest_run_and_each_other_step_its_own_time(
    launched, controlled, open_attempt, monkeypatch, settings, prepares, run_limit, apply
):
    settings.STEP_SECONDS = 70
    controlled.prepares_at_length = lambda parameters: prepares
    begin, given = keeper.Keeper.begin, {}

    def begin_and_note(self, name, seconds):
        given[name] = seconds
        begin(self, name, seconds)

    monkeypatch.setattr(keeper.Keeper, "begin", begin_and_note)
    launched(repetitions=1, run_limit_seconds=run_limit)
    dispatch.dispatch()

    execute(open_attempt().pk, "measure@here", "here")

    usual = dict.fromkeys(["preparation", "reset", "apply", "verify", "clean-up"], 70)
    its_own = {"measure": run_limit + SLACK_SECONDS, "the look at the facts": LOOK_AGAIN_SECONDS}
    assert given == {**usual, "apply": apply, **its_own, "": inf}


@pytest.mark.parametrize("step", STEPS[:4])
def test_a_step_that_takes_too_long_is_told_to_stop(
    launched, controlled, hanging, open_attempt, step
):
    hanging(step, wait_for_the_context)
    launched(repetitions=1)
    dispatch.dispatch()

    execute(open_attempt().pk, "measure@here", "here")

    attempt = Attempt.objects.get(number=1)
    assert attempt.state == ("failed" if step == "measure" else "void")
    assert attempt.reason.startswith(words(step))
    assert controlled.cleaned == 1
    assert not TargetLease.objects.exclude(attempt=None).exists()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.usefixtures("impatient")
def test_a_step_that_hangs_is_ended_with_its_process(launched, hanging, open_attempt, step):
    hanging(step, lambda context: time.sleep(60))
    campaign = launched(factors={"level": [1]}, repetitions=1)
    Run.objects.update(attempts_allowed=1)
    dispatch.dispatch()

    ended_by = execute_in_a_process_of_its_own(open_attempt().pk)

    assert ended_by == signal.SIGKILL
    attempt = Attempt.objects.get()
    state = "failed" if step == "measure" else "void"
    assert (attempt.state, campaign.runs.get().state) == (state, state)
    assert attempt.reason.startswith(words(step))
    assert not GeneratorLease.objects.exclude(attempt=None).exists()
    lease = TargetLease.objects.get()
    assert lease.attempt == attempt
    assert lease.expires_at is not None
    assert campaign.log.filter(text__contains=words(step)).exists()


@pytest.fixture
def slow_to_tell(controlled, monkeypatch):
    """Let the target wait before it tells its facts after the run, for which it has little time."""
    monkeypatch.setattr(steps, "LOOK_AGAIN_SECONDS", 0.2)

    def let_wait(wait):
        looks = iter([lambda context: None, wait])

        def environment(target, context):
            next(looks)(context)
            return {}

        monkeypatch.setattr(controlled, "environment", environment, raising=False)

    return let_wait


@pytest.mark.parametrize(("manners", "state"), [("good", "accepted"), ("timed out", "failed")])
def test_a_target_that_is_slow_to_tell_its_facts_takes_nothing_from_the_run(
    attempt_of, controlled, slow_to_tell, manners, state
):
    slow_to_tell(wait_for_the_context)
    attempt = attempt_of(manners)

    execute(attempt.pk, "measure@here", "here")

    attempt.refresh_from_db()
    assert (attempt.state, controlled.cleaned) == (state, 1)
    assert attempt.measurements.exists()
    assert attempt.facts_unread.startswith("the look at the facts took longer than ")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("impatient")
def test_a_look_at_the_facts_that_hangs_ends_the_process_and_keeps_the_run(
    attempt_of, slow_to_tell
):
    slow_to_tell(lambda context: time.sleep(60))
    attempt = attempt_of()

    assert execute_in_a_process_of_its_own(attempt.pk) == signal.SIGKILL

    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.ACCEPTED
    assert attempt.measurements.exists()
    assert attempt.facts_unread.startswith("the look at the facts took longer than ")


def test_a_lease_that_is_lost_while_the_facts_are_told_loses_the_run(
    attempt_of, slow_to_tell, monkeypatch, settings
):
    monkeypatch.setattr(steps, "LOOK_AGAIN_SECONDS", 60.0)
    settings.RENEW_SECONDS = 0.05

    def lose_the_lease(context):
        TargetLease.objects.update(token=F("token") + 1)
        wait_for_the_context(context)

    slow_to_tell(lose_the_lease)
    attempt = attempt_of()

    execute(attempt.pk, "measure@here", "here")

    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.LOST


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("impatient")
def test_the_target_of_what_hung_is_leased_again_when_the_process_is_surely_gone(
    launched, hanging, open_attempt, monkeypatch
):
    monkeypatch.setattr("campaigns.results.closing.HUNG_LEASE_SECONDS", 0.0)
    hanging("reset", lambda context: time.sleep(60))
    campaign = launched(factors={"level": [1]}, repetitions=1)
    dispatch.dispatch()
    execute_in_a_process_of_its_own(open_attempt().pk)

    dispatch.dispatch()

    assert open_attempt().number == 2
    assert campaign.log.filter(text__endswith="; it is repeated").exists()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("impatient")
def test_a_person_who_cancels_does_not_wait_for_a_step_that_hangs(
    launched, hanging, open_attempt, monkeypatch
):
    monkeypatch.setattr(keeper, "STOP_SECONDS", 0.2)

    def cancel_and_hang(context):
        Attempt.objects.update(cancel_requested_at="2026-01-01T00:00:00Z")
        time.sleep(60)

    hanging("reset", cancel_and_hang, seconds=600)
    campaign = launched(factors={"level": [1]}, repetitions=1)
    dispatch.dispatch()

    assert execute_in_a_process_of_its_own(open_attempt().pk) == signal.SIGKILL
    assert campaign.runs.get().state == Run.State.CANCELLED


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_outcome_that_waits_for_the_database_is_not_taken_for_a_step_that_hangs(
    launched, open_attempt, monkeypatch
):
    monkeypatch.setattr(running, "FIRST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(keeper, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(keeper, "HUNG_SECONDS", 0.0)
    store, failures = running._store, iter(range(3))

    def store_later(*arguments, **named):
        for _ in failures:
            Attempt.objects.update(cancel_requested_at="2026-01-01T00:00:00Z")
            raise OperationalError("away")
        return store(*arguments, **named)

    monkeypatch.setattr(running, "_store", store_later)
    campaign = launched(factors={"level": [1]}, repetitions=1)
    dispatch.dispatch()

    assert execute_in_a_process_of_its_own(open_attempt().pk) is None
    assert campaign.runs.get().state == Run.State.DONE
