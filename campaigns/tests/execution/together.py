"""A kind that several generators load, and workers that take them, each a thread with a real program."""

import threading
from dataclasses import dataclass, field, replace

import pytest
from django.db import connection
from django.utils import timezone

from campaigns.execution import dispatch, keeper
from campaigns.execution.generators import gathering, hold
from campaigns.execution.generators.serving import generate
from campaigns.execution.running import execute
from campaigns.kinds import registry
from campaigns.kinds.base import CutShort, Measured, cut_short, parts_of
from campaigns.models import Generator, Worker
from campaigns.tests.execution.beside import Beside
from campaigns.tests.execution.conftest import Controlled, ControlledForm

COUNTING = "campaigns.tests.kinds.programs.counting"


class TogetherForm(ControlledForm):
    """The same parameters."""


class Together(Controlled):
    """Measures with a program; `request` is what a test adds to what it is asked for.

    planned: hosts, of which no more than a tenth may fail; 0: any number may.
    """

    generators = True
    parameters = TogetherForm
    request: dict = {"seconds": 0.4}
    outcome = None
    planned = 0

    def measure(self, target, parameters, context):
        self.context = context
        self.measuring.set()
        request = {"seconds": 0.4, "name": "secret key of host 7"} | self.request
        context = replace(context, most_failed=0.1 if self.planned else None)
        parts = parts_of(request, parameters["generators"])
        try:
            with cut_short(
                context, self.planned, lambda values: (0, values.get("failed", 0))
            ) as watched:
                self.outcome = watched.generate(COUNTING, parts, 20.0)
        except CutShort as cut:
            return cut.measured("hosts")
        measured = self._measured({"duration": self.outcome.result["seconds"], "rate": 1.0})
        assert isinstance(measured, Measured)
        return measured


@dataclass
class Workers:
    """Takes generators as workers do: `hosts` by the generator's number; those without one wait."""

    hosts: dict[int, str] = field(default_factory=lambda: {1: "a", 2: "b", 3: "c"})
    taken: list[Beside] = field(default_factory=list)

    def ask(self, attempt_pk):
        for row in Generator.objects.filter(attempt=attempt_pk, state=Generator.State.WANTED):
            if row.number in self.hosts:
                host = self.hosts[row.number]
                self.taken.append(Beside(generate, row.pk, f"generate@{host}", host))

    def ended(self):
        return all(taken.ended(10) for taken in self.taken)


@pytest.fixture
def together(controlled, monkeypatch):
    driver = Together()
    monkeypatch.setitem(registry.all_kinds(), "controlled", driver)
    for module in (gathering, keeper, hold):
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(gathering, "START_MARGIN_SECONDS", 0.4)
    monkeypatch.setattr(hold, "START_LOOK_SECONDS", 0.03)
    return driver


@pytest.fixture
def workers():
    found = Workers()
    yield found
    assert found.ended(), "a generator did not end"


@pytest.fixture
def run_together(together, workers, launched, open_attempt):
    """Execute an attempt with so many generators beside the test; give it and a function to join it."""

    Worker.objects.create(name="generate@a", host="a", pools=["generate"], seen_at=timezone.now())

    def begin(generators=3, **request):
        together.request = request
        launched(factors={"level": [3]}, parameters={"generators": generators}, repetitions=1)
        dispatch.dispatch()
        attempt = open_attempt()
        executing = Beside(execute, attempt.pk, "measure@here", "here", workers.ask)

        def joined():
            assert executing.ended(20), "it does not end"
            executing.get()
            attempt.refresh_from_db()
            return attempt

        return attempt, joined

    return begin


def until(condition, seconds=10.0):
    """Wait for a condition of the database, from a thread of the test."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        found = condition()
        if found:
            return found
        pause.wait(0.02)
    connection.close()
    raise AssertionError("it did not come to it")
