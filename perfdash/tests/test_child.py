import signal
import subprocess
import sys

import pytest

from perfdash.local import child as bookkeeping
from perfdash.local.child import LONGEST_SECONDS, QUIET_SECONDS, Child, Patience
from perfdash.local.process import Service


@pytest.fixture(scope="module")
def process():
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        yield ended


def a_child(*, ready):
    return Child(Service("web", (), {}, ready=lambda pid: ready))


def live_and_end(child, process, code, *, times=1, excused=False):
    for _ in range(times):
        child.begin(process)
        child.check()
        child.end(code, excused=excused)


@pytest.mark.parametrize("code", [0, 1, -signal.SIGSEGV, -signal.SIGABRT])
def test_ends_before_it_was_ready_are_counted(process, code):
    child = a_child(ready=False)

    live_and_end(child, process, code, times=3)

    assert child.false_starts == 3


@pytest.mark.parametrize("code", [-signal.SIGKILL, -signal.SIGTERM])
def test_what_somebody_kills_is_not_counted_however_often(process, code):
    child = a_child(ready=False)

    live_and_end(child, process, code, times=600)

    assert child.false_starts == 0


def test_what_was_ready_is_not_counted_however_often(process):
    child = a_child(ready=True)

    live_and_end(child, process, 1, times=600)

    assert child.false_starts == 0


def test_an_excused_end_is_not_counted_and_forgives_none(process):
    child = a_child(ready=False)

    live_and_end(child, process, 1, times=2)
    live_and_end(child, process, 1, times=600, excused=True)

    assert child.false_starts == 2


def test_coming_up_once_forgives_all_that_was_before(process):
    child = a_child(ready=False)
    live_and_end(child, process, 1, times=5)

    child.begin(process)
    child.ready = True
    child.end(1, excused=False)

    assert child.false_starts == 0


def test_what_came_up_once_is_given_up_much_later(process):
    never, once = a_child(ready=False), a_child(ready=True)
    live_and_end(once, process, 1)
    once.service = never.service

    live_and_end(never, process, 1, times=bookkeeping.MOST_FALSE_STARTS)
    live_and_end(once, process, 1, times=bookkeeping.MOST_FALSE_STARTS_LATER - 1)

    assert never.hopeless
    assert not once.hopeless
    live_and_end(once, process, 1)
    assert once.hopeless


def test_without_a_way_to_ask_living_for_a_while_is_coming_up(process, monkeypatch):
    child = Child(Service("beat", (), {}))
    live_and_end(child, process, 1, times=5)
    assert child.false_starts == 5

    monkeypatch.setattr(bookkeeping, "STABLE_SECONDS", -1.0)
    live_and_end(child, process, 1)

    assert child.false_starts == 0


def test_what_worked_until_somebody_killed_it_starts_again_at_once(process):
    child = a_child(ready=True)

    live_and_end(child, process, -signal.SIGKILL, times=20)

    assert child.delay == bookkeeping.FIRST_DELAY_SECONDS


def test_waits_grow_to_a_limit_and_begin_anew_after_a_long_life(process, monkeypatch):
    child = a_child(ready=True)
    waits = []
    for _ in range(8):
        live_and_end(child, process, 1)
        waits.append(round(child.delay, 1))
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]

    monkeypatch.setattr(bookkeeping, "STABLE_SECONDS", -1.0)
    live_and_end(child, process, 1)

    assert child.delay == bookkeeping.FIRST_DELAY_SECONDS


class Start:
    """A start as somebody sees it who waits for it, by a clock that is turned by hand."""

    def __init__(self) -> None:
        self.now, self.written, self.used, self.wants = 1000.0, 0, 0.0, False
        self.patience = Patience(
            lambda: self.written, lambda: self.used, lambda: self.now, lambda: self.wants
        )

    def goes_on(self, seconds: float, *, written: int = 0, used: float = 0.0) -> str:
        """Let time pass, with so much done in each second; give why nobody waits any longer."""
        for _ in range(int(seconds)):
            self.now += 1.0
            self.written += written
            self.used += used
            if why := self.patience.exhausted():
                return why
        return ""


@pytest.mark.parametrize("progress", [{"written": 1}, {"used": 0.01}])
def test_a_slow_machine_is_waited_for_as_long_as_something_happens(progress):
    assert Start().goes_on(20 * QUIET_SECONDS, **progress) == ""


def test_what_waits_for_a_busy_processor_or_disk_is_waited_for():
    start = Start()
    start.wants = True

    assert start.goes_on(20 * QUIET_SECONDS) == ""


def test_a_long_wait_is_reported_less_and_less_often():
    start = Start()
    reports = {}
    for second in range(1, 100):
        start.goes_on(1, written=1 if second < 30 else 0)
        if report := start.patience.report():
            reports[second] = report

    assert reports == {
        10: "10 s so far, it is at work",
        20: "20 s so far, it is at work",
        40: "40 s so far, quiet for 11 s",
        80: "80 s so far, quiet for 51 s",
    }


def test_what_does_nothing_is_given_up_after_a_minute():
    start = Start()

    assert start.goes_on(5 * QUIET_SECONDS, used=0.05) == ""
    assert start.goes_on(QUIET_SECONDS - 3) == ""
    assert "wrote nothing and used no processor time" in start.goes_on(5)


def test_what_only_wakes_up_now_and_then_does_nothing():
    assert "has done nothing" in Start().goes_on(2 * QUIET_SECONDS, used=0.0005)


def test_what_is_busy_for_ever_is_given_up_at_last():
    start = Start()

    assert start.goes_on(LONGEST_SECONDS, used=1.0) == ""
    assert start.goes_on(5, used=1.0) == "is still busy, and not ready after 30 minutes"


def test_what_was_started_again_is_not_measured_by_what_the_former_one_used():
    start = Start()
    start.goes_on(QUIET_SECONDS, used=0.5)
    start.used = 0.0

    assert start.goes_on(5 * QUIET_SECONDS, used=0.01) == ""
