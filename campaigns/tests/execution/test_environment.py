"""Facts of the target, asked before and after what is measured."""

import pytest

from campaigns.execution.running import execute
from campaigns.kinds.base import SIMULATOR, TargetUnavailable
from campaigns.models import Attempt, LogLine

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tells(controlled, monkeypatch):
    """Let the target tell these facts, one answer after another; an error is raised."""

    def tell(*answers):
        left = list(answers)

        def environment(target, context):
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(controlled, "environment", environment, raising=False)

    return tell


def ended(attempt):
    execute(attempt.pk, "measure@here", "here")
    attempt.refresh_from_db()
    return attempt


def facts(attempt):
    rows = attempt.environment.filter(side="target")
    return {fact.name: (fact.value, fact.value_after) for fact in rows}


def test_a_fact_that_is_another_one_after_the_run_is_kept_twice(attempt_of, tells):
    tells({"workers": "1", "version": "3"}, {"workers": "2", "version": "3"})

    attempt = ended(attempt_of())

    assert attempt.state == Attempt.State.ACCEPTED
    assert facts(attempt) == {"workers": ("1", "2"), "version": ("3", "")}


def test_a_fact_that_one_of_the_two_looks_lacks_is_not_told_there(attempt_of, tells):
    tells({"hosts": "a"}, {"cache": "on"})

    attempt = ended(attempt_of())

    assert facts(attempt) == {"hosts": ("a", "not told"), "cache": ("not told", "on")}


@pytest.mark.parametrize(("manners", "state"), [("good", "accepted"), ("timed out", "failed")])
def test_a_target_that_is_silent_after_the_run_takes_nothing_from_it(
    attempt_of, tells, manners, state
):
    tells({"workers": "1"}, TargetUnavailable("It refused the connection."))

    attempt = ended(attempt_of(manners))

    assert attempt.state == state
    assert attempt.measurements.exists()
    assert attempt.facts_unread == "It refused the connection."
    assert facts(attempt) == {"workers": ("1", "")}
    assert LogLine.objects.filter(text__contains="environment after the run", tone="bad").exists()


def test_a_target_that_says_it_is_a_simulator_labels_the_attempt(attempt_of, tells):
    told = {SIMULATOR: "simulated Pulp 3.1"}
    tells(told, told)

    assert ended(attempt_of()).simulator == "simulated Pulp 3.1"


def test_a_target_that_turns_into_a_simulator_labels_the_attempt_too(attempt_of, tells):
    tells({}, {SIMULATOR: "simulated Pulp 3.1"})

    assert ended(attempt_of()).simulator == "simulated Pulp 3.1"


def test_the_label_is_there_while_the_run_goes_on(attempt_of, tells, controlled, monkeypatch):
    tells({SIMULATOR: "simulated Pulp 3.1"}, {})
    attempt = attempt_of()
    measure, seen = controlled.measure, []

    def look(target, parameters, context):
        seen.append(Attempt.objects.get(pk=attempt.pk).simulator)
        return measure(target, parameters, context)

    monkeypatch.setattr(controlled, "measure", look)

    ended(attempt)

    assert seen == ["simulated Pulp 3.1"]


def test_a_real_target_has_no_label(attempt_of, tells):
    tells({"workers": "1"}, {"workers": "1"})

    assert ended(attempt_of()).simulator == ""
