"""Several generators load one target from one instant on: all of them, or the run is void."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.dispatch import due
from campaigns.execution.generators import gathering
from campaigns.execution.generators.serving import generate
from campaigns.execution.generators.totals import added_progress
from campaigns.execution.parcels import key_of_attempt
from campaigns.execution.running import interrupt_worker
from campaigns.execution.waiting import waiting_for
from campaigns.kit import encryption, histogram
from campaigns.models import Attempt, Generator, GeneratorLease, Run, TargetLease, Worker
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.storing import Outcome
from campaigns.tests.execution.together import run_together, together, until, workers

__all__ = ["run_together", "together", "workers"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]
STATE = Generator.State


def states():
    return list(Generator.objects.values_list("state", flat=True))


def test_three_generators_are_measured_as_one(run_together, together):
    _, joined = run_together()

    attempt = joined()

    assert (attempt.state, attempt.reason) == (Attempt.State.ACCEPTED, "")
    result, samples = together.outcome.result, together.outcome.samples
    assert result["failures"] == {"5xx": 3}
    assert result["per_second"] == {"done": [6]}
    whole = histogram.encode([1000, 2000, 2000, 3000, 3000, 3000])
    added = histogram.counts_of(result["histograms"]["service"].encode("ascii"))
    assert list(added.counts) == list(histogram.counts_of(whole.encoded).counts)
    assert samples["generator"] == [1, 2, 2, 3, 3, 3]
    assert samples["time_us"] == [1000, 2000, 2000, 3000, 3000, 3000]


def test_all_begin_at_one_instant_of_the_databases_clock(run_together, together):
    joined = run_together()[1]

    joined()

    starts = set(Generator.objects.values_list("start_at", flat=True))
    assert len(starts) == 1
    known = Generator.objects.filter(
        ready_at__lt=F("start_at"),
        finished_at__gt=F("start_at"),
        clock_uncertainty_seconds__range=(1e-6, 1),
        clock_offset_seconds__range=(-1, 1),  # it is the same machine
    )
    assert known.count() == 3
    assert all(0 <= late < 200_000 for late in together.outcome.samples["late_us"])


def test_failures_of_all_generators_together_end_the_load_of_all(run_together, together):
    together.planned = 20
    _, joined = run_together(seconds=15, counts={"failed": 1})

    attempt = joined()

    assert attempt.state == Attempt.State.FAILED
    assert attempt.reason.startswith("Cut short: 3 of 20 hosts had failed")
    assert (attempt.units_done, attempt.units_failed) == (17, 3)
    assert together.outcome is None
    assert set(states()) == {STATE.FAILED}


def test_what_a_program_is_asked_for_is_encrypted_and_gone_at_the_end(run_together):
    _, joined = run_together(2, seconds=1.0)
    until(lambda: states() == [STATE.STARTED] * 2)
    row = Generator.objects.get(number=1)
    assert "secret" not in row.request
    assert b"host 7" not in row.request.encode()
    assert encryption.unseal(row.request, key_of_attempt(row.attempt_id))

    joined()

    for row in Generator.objects.all():
        assert (row.request, row.samples) == ("", None)
        assert row.result


def test_the_run_holds_every_machine_that_it_uses_and_gives_it_back(run_together, workers):
    workers.hosts = {1: "here", 2: "b", 3: "b"}
    attempt, joined = run_together(seconds=0.8)
    until(lambda: states() == [STATE.STARTED] * 3)

    held = GeneratorLease.objects.filter(attempt=attempt).values_list("host", flat=True)
    assert set(held) == {"here", "b"}

    assert joined().state == Attempt.State.ACCEPTED
    assert not GeneratorLease.objects.exclude(attempt=None).exists()


def test_a_machine_that_measures_another_run_does_not_take_part(run_together, workers, settings):
    hosts, workers.hosts = workers.hosts, {}
    attempt, joined = run_together()
    other = attempt.run.campaign.runs.create(
        cell=attempt.run.cell, block=attempt.run.block, position=99, state=Run.State.DONE
    )
    holder = Attempt.objects.create(
        run=other, number=1, pool="measure", token=1, state="lost", claimed_at=Now()
    )
    GeneratorLease.objects.create(host="b", attempt=holder, holder="run 99 of another")

    workers.hosts = hosts
    until(lambda: len(states()) == 3)
    workers.ask(attempt.pk)
    until(lambda: states().count(STATE.READY) == 2)
    until(lambda: Generator.objects.filter(number=2).exclude(reason="").exists())
    settings.GENERATORS_SECONDS = 0
    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert "2 of 3 generators came within" in attempt.reason
    assert (
        "Generator 2 of 3 (pool generate) waits: b is measuring run 99 of another."
        in attempt.reason
    )
    assert GeneratorLease.objects.get(host="b").attempt == holder


def test_of_many_that_do_not_come_some_are_told(run_together, workers, settings, monkeypatch):
    monkeypatch.setattr(gathering, "MOST_TOLD", 1)
    del workers.hosts[2], workers.hosts[3]
    _, joined = run_together()
    until(lambda: states().count(STATE.READY) == 1)

    settings.GENERATORS_SECONDS = 0
    reason = joined().reason

    assert "Generator 2 of 3 (pool generate) was taken by no worker" in reason
    assert "Generator 3" not in reason
    assert reason.endswith("1 more did not come either.")


def test_two_of_three_that_come_make_no_run(run_together, workers, settings):
    del workers.hosts[3]
    _, joined = run_together()
    until(lambda: states().count(STATE.READY) == 2)

    settings.GENERATORS_SECONDS = 0
    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert attempt.reason.startswith("2 of 3 generators came within")
    assert "Generator 3 of 3 (pool generate) was taken by no worker" in attempt.reason
    assert not Generator.objects.exclude(start_at=None).exists()
    assert Run.objects.get().state == Run.State.PLANNED


def test_one_that_is_not_ready_in_time_makes_no_run(run_together, settings):
    _, joined = run_together(2, ways={"1": "slow"})
    until(lambda: states() == [STATE.READY, STATE.CLAIMED])

    settings.GENERATORS_SECONDS = 0
    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert "Generator 2 of 2 (generate@b on b) was still preparing itself." in attempt.reason


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("broken", "no such luck"),
        ("dying", "it fell over"),
        ("hasty", "before it was told to begin"),
    ],
)
def test_one_that_breaks_makes_the_run_void_and_the_others_stop(run_together, way, words):
    _, joined = run_together(seconds=30, ways={"1": way})

    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert attempt.reason.startswith("Generator 2 of 3 (generate@b on b) failed: ")
    assert words in attempt.reason
    assert Generator.objects.filter(reason="the run needs it no more").count() == 2
    assert not Generator.objects.filter(state__in=Generator.OPEN).exists()


def test_a_generator_whose_worker_gives_no_sign_is_lost(run_together, workers):
    workers.hosts = {1: "a"}
    _, joined = run_together(2, seconds=30)
    Attempt.objects.get()
    until(lambda: STATE.READY in states())
    silent = Generator.objects.filter(number=2)
    silent.update(
        state=STATE.READY, worker="generate@b", host="b", claimed_at=Now(),
        expires_at=Now() + timedelta(seconds=1.5),
    )  # fmt: skip
    until(lambda: STATE.STARTED in states())

    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert attempt.reason.startswith("Generator 2 of 2 (generate@b on b) was lost")


def test_one_that_hears_of_the_start_too_late_makes_the_run_void(run_together, monkeypatch):
    monkeypatch.setattr(gathering, "START_MARGIN_SECONDS", -0.5)
    _, joined = run_together(2, seconds=30)

    attempt = joined()

    assert attempt.state == Attempt.State.VOID
    assert "came too late: it heard of the start" in attempt.reason
    assert STATE.LATE in states()


def test_a_cancel_ends_all_of_them_before_the_target_is_given_back(run_together):
    attempt, joined = run_together(seconds=30)
    until(lambda: states() == [STATE.STARTED] * 3)

    lifecycle.cancel(attempt.run.campaign, "too slow")
    attempt = joined()

    assert (attempt.state, attempt.reason) == (Attempt.State.CANCELLED, "too slow")
    assert set(states()) == {STATE.FAILED}
    assert not Generator.objects.filter(finished_at__gt=attempt.finished_at).exists()
    assert not TargetLease.objects.exclude(attempt=None).exists()


def test_a_generators_worker_that_shuts_down_gives_the_run_back(run_together):
    _, joined = run_together(seconds=30)
    until(lambda: states() == [STATE.STARTED] * 3)

    assert interrupt_worker("generate@c") == 1
    attempt = joined()

    assert attempt.state == Attempt.State.LOST
    assert attempt.interrupted_at is not None
    assert Run.objects.get().state == Run.State.PLANNED


def test_a_run_that_lost_its_lease_stops_its_generators(run_together, settings):
    settings.RENEW_SECONDS = 0.1
    _, joined = run_together(2, seconds=30)
    until(lambda: states() == [STATE.STARTED] * 2)

    TargetLease.objects.update(token=99, attempt=None)
    joined()

    until(lambda: set(states()) == {STATE.FAILED})


def test_the_worst_generator_decides_whether_values_are_bounds(run_together):
    _, joined = run_together(2, busy=0.95)

    attempt = joined()

    assert (attempt.state, attempt.health) == (Attempt.State.ACCEPTED, "saturated")
    assert any(reason.startswith("Generator 2 (b): ") for reason in attempt.health_reasons)
    for row in Generator.objects.all():
        assert row.health == "saturated"
        assert row.health_figures["busiest_process_cores"] == 0.95


def test_a_message_for_a_generator_that_somebody_has_does_nothing(run_together):
    _, joined = run_together(2, seconds=0.8)
    until(lambda: states() == [STATE.STARTED] * 2)
    before = list(Generator.objects.values_list("worker", "claimed_at"))

    for row in Generator.objects.all():
        generate(row.pk, "generate@elsewhere", "elsewhere")

    assert list(Generator.objects.values_list("worker", "claimed_at")) == before
    assert joined().state == Attempt.State.ACCEPTED
    for row in Generator.objects.all():
        generate(row.pk, "generate@elsewhere", "elsewhere")
    assert states() == [STATE.DONE] * 2


def test_a_machine_that_does_not_see_the_runs_directory_gives_its_program_one(
    run_together, settings, tmp_path
):
    settings.WORK_DIRECTORY = tmp_path / "here"
    _, joined = run_together(2, directory=str(tmp_path / "elsewhere" / "work"))

    assert joined().state == Attempt.State.ACCEPTED
    assert not list(settings.WORK_DIRECTORY.glob("attempt-*"))
    assert not (tmp_path / "elsewhere").exists()


def test_no_run_begins_before_there_is_a_worker_for_its_generators(
    together, launched, open_attempt
):
    campaign = launched(
        factors={"level": [3]}, parameters={"generators": 2, "generator_pools": "far"}
    )

    dispatch.dispatch()
    assert not Attempt.objects.exists()
    assert "No worker of the pool “far” answers" in waiting_for(campaign).why

    Worker.objects.create(name="far@a", host="a", pools=["far"], seen_at=timezone.now())
    dispatch.dispatch()
    assert open_attempt().run.campaign == campaign


def test_messages_are_sent_again_where_nobody_took_them(run_together, workers, monkeypatch):
    workers.hosts = {}
    attempt, joined = run_together(2)
    until(lambda: len(states()) == 2)
    sent = []
    monkeypatch.setattr(due, "send", lambda *message: sent.append(message))
    rows = list(Generator.objects.values_list("pk", flat=True))

    dispatch.ask_generators(attempt.pk)
    dispatch.ask_generators(attempt.pk)
    key = key_of_attempt(attempt.pk)
    assert sent == [("campaigns.generate", row, "generate", key) for row in rows]

    Generator.objects.update(sent_at=Now() - timedelta(minutes=1))
    dispatch.dispatch()
    dispatch.send_again(["generate"])
    assert set(Generator.objects.values_list("sent_at", flat=True)) == {None}

    lifecycle.cancel(attempt.run.campaign, "enough")
    assert joined().state == Attempt.State.CANCELLED
    dispatch.ask_generators(attempt.pk)
    assert len(sent) == 2


def test_a_lost_run_leaves_no_generator_open_and_nothing_secret(run_together, workers):
    workers.hosts = {}
    _, joined = run_together(2)
    until(lambda: len(states()) == 2)

    Attempt.objects.update(worker="gone")
    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    dispatch.dispatch()
    joined()

    assert set(Generator.objects.values_list("state", "request")) == {(STATE.FAILED, "")}


def test_progress_of_all_of_them_is_added():
    parts = [
        {"seconds": 1.0, "hosts_done": 3, "per_second": [1, 2], "doing": "registers"},
        {
            "seconds": 2.0,
            "hosts_done": 4,
            "per_second": [5, 6, 7],
            "doing": "registers",
            "waited_share": 0.3,
        },
    ]

    assert added_progress(parts) == {
        "seconds": 2.0,
        "hosts_done": 7,
        "per_second": [6, 8, 7],
        "doing": "registers",
        "waited_share": 0.3,
    }
    assert added_progress([]) == {}


def test_the_target_is_kept_while_a_generator_that_nobody_hears_of_may_load_it(
    together, attempt_of, worker
):
    attempt = claim(attempt_of().pk, "measure@here", "here")
    assert attempt is not None
    until_then = timezone.now() + timedelta(seconds=20)
    Generator.objects.create(
        attempt=attempt, number=1, pool="generate", module="m", state=STATE.STARTED, worker="w",
        host="far", claimed_at=Now(), start_at=Now(), expires_at=until_then,
    )  # fmt: skip

    close(attempt, Outcome(Attempt.State.LOST, "the database did not answer"))
    dispatch.dispatch()

    lease = TargetLease.objects.get()
    assert (lease.attempt, lease.expires_at) == (attempt, until_then)
    assert Run.objects.get().state == Run.State.PLANNED
    assert not Attempt.objects.filter(state=Attempt.State.QUEUED).exists()

    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))
    dispatch.dispatch()
    assert Attempt.objects.filter(state=Attempt.State.QUEUED).exists()
