"""A campaign whose server is away waits for it, and goes on by itself."""

from datetime import timedelta

import pytest
from celery import current_app
from django.db.models.functions import Now

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.kinds.base import MachineRefused, Proof, TargetUnavailable
from campaigns.models import Attempt, Campaign, LogLine, Run, Target
from campaigns.planning import lifecycle
from campaigns.results import closing
from campaigns.targets.probing import probe

pytestmark = pytest.mark.django_db(transaction=True)
STATE = Campaign.State


class Server:
    """Whether the server answers, and during which step of a run it is asked."""

    def __init__(self, controlled, monkeypatch):
        self.away, self.until = True, "reset"
        self.error: type[TargetUnavailable] = TargetUnavailable
        reset, measure = controlled.reset, controlled.measure

        def answer():
            if self.away:
                raise self.error("server: connection refused")

        def proved(target, rules):
            answer()
            return [Proof("answers", "yes", "yes", "", ok=True)]

        def first(step, name):
            def act(*arguments):
                if self.until == name:
                    answer()
                return step(*arguments)

            return act

        monkeypatch.setattr(controlled, "probe", proved)
        monkeypatch.setattr(controlled, "reset", first(reset, "reset"))
        monkeypatch.setattr(controlled, "measure", first(measure, "measure"))


@pytest.fixture
def server(controlled, monkeypatch, worker):
    return Server(controlled, monkeypatch)


@pytest.fixture
def sent(monkeypatch):
    names = []
    monkeypatch.setattr(current_app, "send_task", lambda name, *_, **__: names.append(name))
    return names


def go_on():
    """Let dispatch decide, and a worker execute what it has queued; return whether it had."""
    dispatch.dispatch()
    queued = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
    if queued is not None:
        execute(queued.pk, "measure@here", "here")
    return queued is not None


def test_it_waits_for_a_server_that_does_not_answer_a_probe_either(launched, server, sent):
    campaign = launched(factors={"level": [3]}, repetitions=1)

    assert [go_on() for _ in range(4)] == [True, False, False, False]

    run = campaign.runs.get()
    assert (run.state, run.attempts.get().state) == (Run.State.PLANNED, Attempt.State.VOID)
    campaign.refresh_from_db()
    assert campaign.state == STATE.RUNNING
    wait = waiting_for(campaign)
    assert "does not answer since" in wait.why
    assert wait.open_end
    target = Target.objects.get()
    assert (target.health, target.health_message) == (
        Target.Health.UNREACHABLE,
        "server: connection refused",
    )
    assert "campaigns.probe_target" not in sent  # it was asked just now
    Target.objects.update(probed_at=Now() - timedelta(seconds=11))
    dispatch.dispatch()
    assert sent[-1] == "campaigns.probe_target"


def test_it_goes_on_by_itself_and_says_so_however_often_the_server_was_away(launched, server, sent):
    campaign = launched(factors={"level": [3]}, repetitions=1)
    for _ in range(5):
        assert go_on()
        probe(Target.objects.get())
        assert not go_on()
        server.away = False
        probe(Target.objects.get())
        server.away = True
    server.away = False

    assert go_on()

    assert campaign.runs.get().state == Run.State.DONE
    campaign.refresh_from_db()
    assert campaign.away_since is None
    told = "\n".join(LogLine.objects.values_list("text", flat=True))
    assert told.count("does not answer; the campaign waits for it, 30 min at most") == 5
    assert told.count("answers again after") == 5


def test_it_pauses_after_the_time_that_its_design_sets(launched, server, sent):
    campaign = launched(factors={"level": [3]}, repetitions=1, server_wait_seconds=60)
    go_on()
    Campaign.objects.update(away_since=Now() - timedelta(seconds=61))

    assert not go_on()

    campaign.refresh_from_db()
    assert campaign.state == STATE.PAUSED
    assert (
        "did not answer for 1 min, the last one: server: connection refused"
        in campaign.state_reason
    )
    server.away = False
    lifecycle.resume(campaign)
    assert go_on()
    assert campaign.runs.get().state == Run.State.DONE


def test_a_server_that_a_load_ends_is_awaited_but_the_attempts_count(launched, server, sent):
    server.until = "measure"
    campaign = launched(factors={"level": [3]}, repetitions=1)
    for _ in range(10):
        go_on()
        server.away = False
        probe(Target.objects.get())
        server.away = True

    run = campaign.runs.get()
    assert run.state == Run.State.VOID
    assert run.attempts.count() == run.attempts_allowed


def test_a_server_that_answers_probes_and_nothing_else_ends_a_run_all_the_same(
    launched, server, sent, monkeypatch
):
    monkeypatch.setattr(closing, "MOST_UNCOUNTED", 2)
    campaign = launched(factors={"level": [3]}, repetitions=1)
    for _ in range(20):
        go_on()
        Target.objects.update(health=Target.Health.READY)

    run = campaign.runs.get()
    assert run.state == Run.State.VOID
    assert run.attempts.count() == run.attempts_allowed + 2


def test_an_attempt_that_fails_on_a_server_that_answers_is_repeated_at_once(
    launched, server, controlled, sent, monkeypatch
):
    monkeypatch.setattr(
        controlled, "probe", lambda *_: [Proof("answers", "yes", "yes", "", ok=True)]
    )
    campaign = launched(factors={"level": [3]}, repetitions=1)

    while go_on():
        pass

    assert campaign.runs.get().state == Run.State.VOID
    campaign.refresh_from_db()
    assert campaign.away_since is None


def test_a_machine_that_lets_nobody_in_pauses_the_campaign_at_once_and_costs_no_run(
    launched, server, sent
):
    server.error = MachineRefused
    campaign = launched(factors={"level": [3]}, repetitions=1)

    assert [go_on() for _ in range(3)] == [True, False, False]

    campaign.refresh_from_db()
    assert campaign.state == STATE.PAUSED
    assert "does not let perfdash in, the last one: server: connection" in campaign.state_reason
    assert campaign.runs.get().state == Run.State.PLANNED
    server.away = False
    lifecycle.resume(campaign)
    assert go_on()
    assert campaign.runs.get().state == Run.State.DONE
