"""The watches of a target while an attempt runs: what they see is stored, what they do ends no run."""

import threading
import time
import zlib

import numpy as np
import pytest

from campaigns.execution.running import execute
from campaigns.models import (
    Attempt,
    Binding,
    LogLine,
    Phase,
    Run,
    Watch,
    Watched,
    WatchedSeries,
    WatchedSummary,
)
from campaigns.results.watched import (
    Summary,
    binding_from,
    judge_again,
    observed,
    unpack,
    watched_of,
)
from campaigns.stats.binding import RULE, RunWord
from campaigns.stats.binding_rule import judge
from campaigns.targets.watches import collect
from campaigns.targets.watches.base import ClockReading, Event, Frame, Key, Source, WatchFailed

pytestmark = pytest.mark.django_db(transaction=True)

AHEAD = 1_000.0


class Steady(Source):
    """Gives frames of a machine whose two cores are busy, by a clock of its own."""

    name, label, steps = "steady", "steady", (1.0, 0.2)

    def host_and_port(self, address):
        return "127.0.0.1", 9

    def sample(self, access, sink, stopped):
        began = time.monotonic()
        sink.clock(ClockReading(began, began + 0.002, began + 0.001 + AHEAD))
        sink.fact("cores", 2)
        sink.fact("token", access.password)
        sink.event(Event("oom", f"killed java {access.password}", began + AHEAD))
        for number in range(400):
            # Half a minute in a moment: the run of these tests takes no time.
            at = began - 20 + number * 0.1
            values = {
                Key("cpu.user"): 0.2 * number,
                Key("cpu.idle"): 0.0,
                Key("pressure.cpu.some"): 0.05 * number,
            }
            sink.frame(Frame(at + AHEAD, at, values, 100.0 + at))
        sink.cost(0.02)
        stopped(10)


class Refused(Steady):
    def sample(self, access, sink, stopped):
        raise WatchFailed("Connection refused: is sshd on?")


class Broken(Steady):
    def sample(self, access, sink, stopped):
        super().sample(access, sink, lambda seconds: True)
        raise ZeroDivisionError("a bug")


class Hanging(Steady):
    released = threading.Event()

    def sample(self, access, sink, stopped):
        self.released.wait(30)


class Afterwards(Steady):
    live = False

    def fetch(self, access, sink, span):
        assert 0 <= span.end - span.begin < 400
        super().sample(access, sink, lambda seconds: True)


@pytest.fixture
def watched(monkeypatch, attempt_of):
    """Make an attempt on a target with a watch by one of the sources here, and execute it."""

    def go(source, **fields):
        sources = {each.name: each for each in [source()]}
        for module in ("campaigns.execution.watching", "campaigns.targets.watches.rows"):
            monkeypatch.setattr(f"{module}.source_of", sources.__getitem__)
        attempt = attempt_of()
        run = attempt.run
        run.campaign.__class__.objects.filter(pk=run.campaign_id).update(**fields)
        Watch.objects.create(target=run.target, source=source.name, address="127.0.0.1:9")
        execute(attempt.pk, "measure@here", "here")
        attempt.refresh_from_db()
        return attempt

    return go


def long_run(monkeypatch):
    """Let the clock of the measurement run for ten seconds in the past."""
    monkeypatch.setattr(
        "campaigns.execution.watching.Watching.start_the_clock",
        lambda self: setattr(self, "_zero", time.monotonic() - 10),
    )


def test_what_is_seen_is_stored_and_judged(watched, monkeypatch):
    long_run(monkeypatch)

    attempt = watched(Steady)

    assert attempt.state == Attempt.State.ACCEPTED
    row = Watched.objects.get(attempt=attempt)
    assert row.frames == 400
    assert row.uncertainty_seconds == pytest.approx(0.001)
    assert row.cpu_seconds == pytest.approx(0.02)
    stored = watched_of(attempt)
    user = next(each for each in stored.series() if each.key == Key("cpu.user"))
    assert user.within(1, 5) == pytest.approx([2.0] * 4, rel=1e-3)
    assert stored.binding is not None
    assert stored.binding.word == RunWord.BINDS
    assert [each.resource for each in stored.binding.strongest] == ["cpu"]
    mean = WatchedSummary.objects.get(attempt=attempt, quantity="cpu.user", phase="steady")
    assert mean.mean == pytest.approx(2.0, rel=1e-3)
    assert isinstance(stored.summary_of("cpu.user"), Summary)
    (event,) = stored.events
    assert event.matters


def test_a_stored_run_is_judged_as_it_was(watched, monkeypatch):
    long_run(monkeypatch)
    attempt = watched(Steady)
    stored = watched_of(attempt)
    measured = attempt.phases.get(of="attempt", name="measure").seconds + 10

    again = judge(observed(stored.sources, measured))

    assert stored.binding is not None
    assert again.word == stored.binding.word
    assert list(again.strongest) == list(stored.binding.strongest)


@pytest.mark.parametrize(
    ("source", "state", "reason"),
    [
        (Refused, "not", "Connection refused"),
        (Broken, "partly", "An error of perfdash itself: ZeroDivisionError: a bug"),
        (Hanging, "not", "nothing"),
        (Afterwards, "whole", ""),
    ],
)
def test_no_watch_ends_a_run(watched, monkeypatch, source, state, reason):
    monkeypatch.setattr(collect, "STOP_SECONDS", 0.1)
    monkeypatch.setattr("campaigns.execution.watching.FIRST_FRAME_SECONDS", 0.1)

    attempt = watched(source)
    Hanging.released.set()

    assert attempt.state == Attempt.State.ACCEPTED
    assert attempt.run.state == Run.State.DONE
    row = Watched.objects.get(attempt=attempt)
    assert row.state == state
    assert reason in row.reason
    said = LogLine.objects.filter(run=attempt.run, text__contains=reason or "not watched")
    assert said.exists() == bool(reason)


def test_a_campaign_may_require_its_watches(watched):
    attempt = watched(Refused, requires_watch=True)

    assert attempt.state == Attempt.State.VOID
    assert "Connection refused" in attempt.reason
    assert not Binding.objects.exists()


def test_a_required_watch_that_sees_the_target_is_proved(watched):
    attempt = watched(Steady, requires_watch=True)

    assert attempt.state == Attempt.State.ACCEPTED
    assert attempt.proofs.get(name="the target is watched").ok


def test_no_secret_of_a_watch_is_stored(watched, monkeypatch):
    from campaigns.kit import redaction

    long_run(monkeypatch)
    redaction.remember("hunter2-of-the-watch")
    monkeypatch.setattr(Steady, "label", "steady")
    original = Steady.sample

    def telling(self, access, sink, stopped):
        sink.fact("conninfo", "password=hunter2-of-the-watch")
        sink.event(Event("login", "hunter2-of-the-watch", time.monotonic() + AHEAD))
        original(self, access, sink, stopped)

    monkeypatch.setattr(Steady, "sample", telling)
    attempt = watched(Steady)

    row = Watched.objects.get(attempt=attempt)
    texts = f"{row.facts} {[each.text for each in watched_of(attempt).events]}"
    assert "hunter2" not in texts
    assert "conninfo" in texts


def test_an_attempt_without_watches_stores_nothing(attempt_of):
    attempt = attempt_of()
    execute(attempt.pk, "measure@here", "here")

    assert not Watched.objects.exists()
    assert watched_of(attempt).sources == ()
    assert not list(watched_of(attempt).series())


def test_a_judgement_by_an_earlier_rule_is_made_anew(watched, monkeypatch):
    long_run(monkeypatch)
    attempt = watched(Steady)
    before = Binding.objects.get(attempt=attempt).result
    Phase.objects.filter(attempt=attempt, name="measure").update(seconds=10.0)
    Binding.objects.update(rule=0, result={**before, "word": "none", "strongest": []})

    again = judge_again(attempt)

    row = Binding.objects.get(attempt=attempt)
    assert (row.rule, row.result["word"]) == (RULE, "binds")
    assert again is not None
    assert [each.resource for each in again.strongest] == ["cpu"]
    WatchedSeries.objects.all().delete()
    assert judge_again(attempt) is None


class Unstorable(Steady):
    """Gives what no column of JSON can hold, behind the back of the recording."""

    def sample(self, access, sink, stopped):
        super().sample(access, sink, lambda seconds: True)
        sink.facts["cores"] = float("inf")


def test_what_cannot_be_stored_of_a_watch_costs_the_run_nothing(watched, monkeypatch):
    long_run(monkeypatch)

    attempt = watched(Unstorable)

    assert attempt.state == Attempt.State.ACCEPTED
    assert attempt.measurements.exists()
    assert not Watched.objects.exists()


def test_a_source_that_is_asked_afterwards_is_proved_too(watched):
    attempt = watched(Afterwards, requires_watch=True)

    assert attempt.state == Attempt.State.ACCEPTED


def test_a_judgement_of_a_bundle_may_be_anything():
    assert binding_from({}) is None
    assert np.isnan(unpack(zlib.compress(b"x" * 10), 3)[2])
    assert len(unpack(zlib.compress(bytes(10**6)), 10**9)) < 10**5
