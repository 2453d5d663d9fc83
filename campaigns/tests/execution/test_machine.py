"""A run begins only where this machine can generate its load."""

from dataclasses import replace

import pytest

from campaigns.execution import dispatch, machine
from campaigns.execution.machine import MIB, Machine, judge
from campaigns.execution.running import execute
from campaigns.models import Attempt

ROOMY = Machine(
    descriptors=65_536, memory=4096 * MIB, ports=28_000, disk=50_000 * MIB, directory="/srv/work"
)


def test_a_roomy_machine_is_good_for_anything_usual():
    assert judge(ROOMY, 1000) == machine.Judgement()
    assert judge(ROOMY, None) == machine.Judgement()


@pytest.mark.parametrize(
    ("less", "words"),
    [
        ({"descriptors": 1024}, "1,000 connections need more open files than the 1,024"),
        ({"memory": 500 * MIB}, "500 MiB of memory are free; this needs about 628 MiB"),
        ({"ports": 999}, "need more ports than the 999 that are free"),
        ({"disk": 99 * MIB}, "99 MiB are free in /srv/work"),
    ],
)
def test_what_is_missing_is_told_with_what_to_do(less, words):
    found = judge(replace(ROOMY, **less), 1000)

    assert len(found.problems) == 1
    assert words in found.problems[0]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "less", [{"memory": 1000 * MIB}, {"ports": 1500}, {"disk": 500 * MIB}], ids=str
)
def test_what_is_scarce_is_a_warning(less):
    found = judge(replace(ROOMY, **less), 1000)

    assert found.problems == ()
    assert len(found.warnings) == 1


def test_the_figures_of_this_machine_are_real(tmp_path):
    found = machine.look(tmp_path / "not" / "there" / "yet")

    assert found.descriptors >= 256
    assert found.memory > MIB
    assert 0 < found.ports < 65_536
    assert found.disk > 0


@pytest.mark.django_db(transaction=True)
def test_a_run_that_this_machine_cannot_generate_is_void(launched, open_attempt, monkeypatch):
    monkeypatch.setattr(machine, "look", lambda directory: replace(ROOMY, disk=0))
    launched()
    dispatch.dispatch()

    execute(open_attempt().pk, "measure@here", "here")

    attempt = Attempt.objects.get(number=1)
    assert attempt.state == Attempt.State.VOID
    assert "WORK_DIRECTORY" in attempt.reason


@pytest.mark.django_db(transaction=True)
def test_what_is_scarce_is_told_in_the_log(launched, open_attempt, monkeypatch):
    monkeypatch.setattr(machine, "look", lambda directory: replace(ROOMY, disk=500 * MIB))
    campaign = launched()
    dispatch.dispatch()

    run = execute(open_attempt().pk, "measure@here", "here")

    assert run is not None
    assert run.state == "done"
    assert campaign.log.filter(text__contains="only 500 MiB are free").exists()
