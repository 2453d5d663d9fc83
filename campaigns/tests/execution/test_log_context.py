"""Lines of a worker say which attempt they belong to, those of its keeper's thread too."""

import logging

import pytest
from django.db import OperationalError

from campaigns import tasks
from campaigns.execution import dispatch, keeper, running
from campaigns.execution.keeper import Keeper
from campaigns.execution.running import execute
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit import log_context
from campaigns.models import Attempt
from campaigns.tests.kinds.programs.processes import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lines():
    """Logger and context of each line, as it is written."""
    seen = []
    log_context.clear()  # of what a test client has not read to its end

    class Watch(logging.Handler):
        def emit(self, record):
            seen.append((record.name, dict(log_context.current())))

    watch = Watch()
    logging.getLogger("campaigns").addHandler(watch)
    yield seen
    logging.getLogger("campaigns").removeHandler(watch)
    log_context.clear()


@pytest.fixture
def attempt(launched):
    launched(factors={"level": [3]}, parameters={"manners": "good"}, repetitions=1)
    dispatch.dispatch()
    return Attempt.objects.select_related("run").get(state=Attempt.State.QUEUED)


def test_lines_name_campaign_run_and_attempt(attempt, lines):
    execute(attempt.pk, "measure@here", "here")

    belongs = {"attempt": attempt.pk, "campaign": attempt.run.campaign_id, "run": 1}
    assert [line for line in lines if line[0] == running.__name__] == [
        (running.__name__, belongs),
        (running.__name__, belongs),
    ]


def test_the_keepers_thread_names_them_too(attempt, lines, monkeypatch):
    def refuse(self):
        raise OperationalError("connection refused")

    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Keeper, "_look", refuse)
    log_context.add(attempt=attempt.pk)

    with Keeper(attempt, claimed_at=monotonic()) as kept:
        until(lambda: lines or kept.cancelled.is_set())

    assert (keeper.__name__, {"attempt": attempt.pk}) in lines


def test_the_next_task_belongs_to_nothing_of_the_last():
    log_context.add(campaign=1, run=2, attempt=3)

    tasks.forget_log_context()

    assert log_context.current() == {}
