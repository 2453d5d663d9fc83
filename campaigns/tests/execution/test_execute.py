"""One attempt from its claim to its end."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.keeper import NOT_RENEWED, Keeper
from campaigns.execution.running import execute, interrupt_worker
from campaigns.kinds.base import Proof
from campaigns.kinds.base.content import DIGEST
from campaigns.kinds.programs.deadline import monotonic
from campaigns.models import (
    Attempt,
    Campaign,
    GeneratorLease,
    Measurement,
    Run,
    Target,
    TargetLease,
)
from campaigns.planning import lifecycle
from campaigns.planning.pages.define import refused_levels
from campaigns.tests.execution.beside import Beside
from campaigns.tests.execution.together import until

pytestmark = pytest.mark.django_db
COMMITS = pytest.mark.django_db(transaction=True)
"""Of tests in which somebody else, with a connection of its own, reads what was stored."""


def finished(attempt):
    run = execute(attempt.pk, "measure@here", "here")
    attempt.refresh_from_db()
    return run


def test_what_was_observed_is_stored_with_its_proofs(attempt_of):
    attempt = attempt_of()

    run = finished(attempt)

    assert run.state == Run.State.DONE
    assert attempt.state == Attempt.State.ACCEPTED
    assert {m.metric.name: (m.value, m.unit) for m in attempt.measurements.all()} == {
        "duration": (3.0, "s"),
        "rate": (2.0, "1/s"),
    }
    assert [p.step for p in attempt.proofs.all()] == ["reset", "verify"]
    assert attempt.effective_settings.get().in_force == 3
    assert list(attempt.phases.values_list("name", flat=True)) == [
        "reset",
        "apply",
        "measure",
        "verify",
    ]
    assert attempt.series.get().values == [1.0, 2.0]
    assert attempt.raw_samples.count == 2
    assert attempt.failures == {"5xx": 1}
    assert attempt.environment.filter(side="generator", name="python").exists()


@pytest.mark.parametrize(
    ("manners", "state", "reason"),
    [
        ("dirty", "void", "3 files were left"),
        ("occupied", "void", "content of others"),
        ("unclean", "void", "Not clean before the run: files 0 files, expected 0"),
        ("stubborn", "void", "asked 3, in force 99. Somebody is stubborn."),
        ("unreachable", "void", "refused the connection"),
        ("lazy", "void", "Not the same work"),
        ("proofless", "void", "Not clean before the run: nothing proves it"),
        ("unprovable", "void", "Not the same work: nothing proves it"),
        ("unreadable", "failed", "The target said a\ufffdb"),
        ("infinite", "void", "duration, rate came out as no number"),
        ("odd", "void", "cannot be stored"),
        ("chatty", "accepted", ""),
        ("refusing", "failed", "The manifest is empty."),
        ("picky", "failed", "Refused: level = 3 (Too many.)"),
        ("timed out", "failed", "longer than 5 s"),
    ],
)
def test_what_did_not_come_through_is_said_in_words(attempt_of, manners, state, reason):
    attempt = attempt_of(manners)

    finished(attempt)

    assert attempt.state == state
    assert reason in attempt.reason


def test_a_driver_is_told_what_the_owner_of_the_target_allows(attempt_of, controlled, target):
    Target.objects.filter(pk=target.pk).update(max_concurrency=3, max_requests_per_second=2.5)

    finished(attempt_of())

    assert controlled.context.most_concurrent == 3
    assert controlled.context.most_per_second == 2.5


def test_a_void_run_is_repeated_at_once_up_to_a_limit(attempt_of, controlled):
    attempt = attempt_of("unreachable")
    run = attempt.run
    for number in (1, 2, 3):
        dispatch.dispatch()
        attempt = run.attempts.get(state=Attempt.State.QUEUED)
        assert attempt.number == number
        finished(attempt)

    run.refresh_from_db()
    assert run.state == Run.State.VOID
    assert "refused the connection" in run.reason
    assert controlled.cleaned == 3


def test_a_void_run_that_would_end_alike_again_is_not_repeated(attempt_of):
    attempt = attempt_of("occupied")

    run = finished(attempt)
    dispatch.dispatch()

    assert run.state == Run.State.VOID
    assert run.reason == "It holds content of others; nobody but they may delete it."
    assert run.attempts.count() == 1


def test_a_failed_run_is_an_observation_and_is_not_repeated(attempt_of):
    attempt = attempt_of("refusing")

    run = finished(attempt)
    dispatch.dispatch()

    assert run.state == Run.State.FAILED
    assert run.attempts.count() == 1


def test_what_the_target_refused_is_kept_beside_its_level(attempt_of):
    attempt = attempt_of("picky")

    finished(attempt)

    seen = attempt.effective_settings.get()
    assert (seen.name, seen.asked, seen.in_force, seen.ok) == (
        "level",
        3,
        "refused: Too many.",
        False,
    )
    assert refused_levels(attempt.run.campaign) == [("level", 3, "Too many.")]


def test_a_timed_out_value_is_kept_as_a_limit(attempt_of):
    attempt = attempt_of("timed out")

    finished(attempt)

    measurement = attempt.measurements.get()
    assert measurement.censored
    assert measurement.value == 5.0


def test_the_value_of_a_saturated_generator_is_a_bound(attempt_of):
    attempt = attempt_of("saturated")

    finished(attempt)

    assert set(attempt.measurements.values_list("bound", flat=True)) == {True}


def test_a_bug_keeps_its_traceback_and_is_raised_again(attempt_of):
    attempt = attempt_of("buggy")

    with pytest.raises(ZeroDivisionError):
        execute(attempt.pk, "w", "here")

    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.VOID
    assert "ZeroDivisionError" in attempt.traceback
    assert "a bug" in attempt.reason


def test_a_metric_that_nobody_declared_is_not_stored(attempt_of):
    attempt = attempt_of("undeclared")

    finished(attempt)

    assert attempt.state == Attempt.State.VOID
    assert "nonsense" in attempt.reason
    assert not Measurement.objects.exists()


def test_a_kind_that_is_gone_is_said_in_words(attempt_of, monkeypatch):
    attempt = attempt_of()
    Campaign.objects.update(kind="gone")

    finished(attempt)

    assert attempt.state == Attempt.State.VOID
    assert "There is no kind “gone”" in attempt.reason


def test_a_password_that_no_key_opens_is_said_in_words(attempt_of, target):
    attempt = attempt_of()
    Target.objects.update(password="gAAAA")  # noqa: S106

    finished(attempt)

    assert attempt.state == Attempt.State.VOID
    assert "PERFDASH_ENCRYPTION_KEYS" in attempt.reason
    assert not attempt.traceback


def test_an_attempt_works_in_a_directory_of_its_own_which_is_gone_afterwards(
    attempt_of, controlled, tmp_path
):
    killed = tmp_path / "attempt-1-killed"
    (killed / "work").mkdir(parents=True)
    (killed / "lock").touch()

    attempt = attempt_of()
    finished(attempt)

    directory = controlled.context.directory
    assert directory.name == "work"
    assert directory.parent.name.startswith(f"attempt-{attempt.pk}-")
    assert list(tmp_path.iterdir()) == []


def test_a_message_for_a_claimed_attempt_returns_at_once(attempt_of):
    attempt = attempt_of()
    finished(attempt)

    assert execute(attempt.pk, "w", "here") is None
    assert Attempt.objects.count() == 1


def test_an_attempt_whose_lease_has_lapsed_is_not_claimed(attempt_of):
    attempt = attempt_of()
    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))

    assert execute(attempt.pk, "w", "here") is None
    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.QUEUED


def test_an_attempt_whose_target_has_moved_is_queued_for_its_new_address(attempt_of, target):
    attempt = attempt_of()
    Target.objects.update(address="127.0.0.2:9", base_url="http://127.0.0.2:9")

    assert execute(attempt.pk, "w", "here") is None
    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))
    dispatch.dispatch()

    assert TargetLease.objects.get(attempt=attempt).address == "127.0.0.2:9"


@pytest.mark.parametrize("minutes", [1, -5])
def test_a_host_that_measures_already_gives_the_target_back(attempt_of, draft, minutes):
    attempt = attempt_of()
    other = attempt.run.campaign.runs.create(
        cell=attempt.run.cell, block=attempt.run.block, position=99
    )
    holder = Attempt.objects.create(run=other, number=1, pool="measure", token=1)
    GeneratorLease.objects.create(
        host="here", attempt=holder, expires_at=Now() + timedelta(minutes=minutes)
    )

    assert execute(attempt.pk, "w", "here") is None
    assert GeneratorLease.objects.get().attempt == holder
    assert not TargetLease.objects.filter(attempt=attempt).exists()


def in_background(attempt):
    """Execute beside the test, as a worker would; give a function that waits for it."""
    executing = Beside(execute, attempt.pk, "measure@here", "here")

    def joined():
        assert executing.ended(20)
        executing.get()
        attempt.refresh_from_db()
        return attempt

    return joined


@COMMITS
def test_cancelling_the_campaign_stops_what_is_measured(attempt_of, controlled):
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)

    lifecycle.cancel(attempt.run.campaign, "too slow")
    joined()
    dispatch.dispatch()

    assert attempt.state == Attempt.State.CANCELLED
    assert attempt.reason == "too slow"
    assert attempt.run.campaign.runs.get().state == Run.State.CANCELLED
    assert Campaign.objects.get().state == Campaign.State.CANCELLED
    assert controlled.cleaned == 1


@COMMITS
def test_cancelling_one_run_lets_the_campaign_go_on(attempt_of, controlled):
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)

    lifecycle.cancel_run(attempt.run, "a mistake")
    joined()

    assert attempt.state == Attempt.State.CANCELLED
    assert Campaign.objects.get().state == Campaign.State.RUNNING


@COMMITS
def test_a_worker_that_shuts_down_gives_the_run_back(attempt_of, controlled):
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)

    interrupt_worker("measure@here")
    joined()

    assert attempt.state == Attempt.State.LOST
    assert "shut down" in attempt.reason
    run = Run.objects.get()
    assert (run.state, run.started_at) == (Run.State.PLANNED, None)
    assert not TargetLease.objects.exclude(attempt=None).exists()
    assert not GeneratorLease.objects.exclude(attempt=None).exists()


@COMMITS
def test_a_run_is_given_back_as_often_as_workers_shut_down(attempt_of, controlled, open_attempt):
    attempt_of("slow")
    Run.objects.update(attempts_allowed=1)
    for _ in range(2):
        controlled.measuring.clear()
        joined = in_background(open_attempt())
        assert controlled.measuring.wait(10)
        interrupt_worker("measure@here")
        assert joined().state == Attempt.State.LOST
        dispatch.dispatch()

    controlled.go_on.set()
    assert finished(open_attempt()).state == Run.State.DONE


@COMMITS
def test_the_lease_is_renewed_while_it_measures(attempt_of, controlled, settings):
    settings.RENEW_SECONDS = 0.2
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)
    TargetLease.objects.update(expires_at=Now() + timedelta(seconds=1))

    for _ in range(100):
        if TargetLease.objects.filter(expires_at__gt=Now() + timedelta(seconds=5)).exists():
            break
        controlled.go_on.wait(0.05)

    assert TargetLease.objects.filter(expires_at__gt=Now() + timedelta(seconds=5)).exists()
    controlled.go_on.set()
    assert joined().state == Attempt.State.ACCEPTED


@COMMITS
def test_a_keeper_without_its_lease_stops_and_stores_nothing(attempt_of, controlled, settings):
    settings.RENEW_SECONDS = 0.2
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)

    TargetLease.objects.update(token=99, attempt=None)
    Attempt.objects.update(state=Attempt.State.LOST)
    joined()

    assert attempt.state == Attempt.State.LOST
    assert not Measurement.objects.exists()
    assert controlled.cleaned == 1


def test_the_lease_counts_from_before_the_claim(attempt_of, settings):
    attempt = claim(attempt_of().pk, "measure@here", "here")
    assert attempt is not None

    keeper = Keeper(attempt, monotonic() - settings.LEASE_SECONDS)

    assert keeper.lease_seconds() < 0


def test_a_keeper_that_was_stopped_for_too_long_renews_nothing(attempt_of, settings):
    attempt = claim(attempt_of().pk, "measure@here", "here")
    assert attempt is not None
    lease = TargetLease.objects.get()
    keeper = Keeper(attempt, monotonic())

    keeper._certain_until = keeper._renew_at = monotonic() - 1
    keeper._mind()

    assert (keeper.lost, keeper.why) == (True, NOT_RENEWED)
    assert TargetLease.objects.get().expires_at == lease.expires_at


@COMMITS
def test_a_keeper_that_cannot_renew_stops_at_its_own_deadline(attempt_of, controlled, settings):
    settings.LEASE_SECONDS = 1.5
    settings.LEASE_MARGIN_SECONDS = 0.5
    settings.RENEW_SECONDS = 60
    attempt = attempt_of("slow")
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)

    joined()

    assert attempt.state == Attempt.State.LOST
    assert "could not be renewed" in attempt.reason


@COMMITS
def test_a_keeper_leaves_no_connection_behind(attempt_of, open_attempt, controlled):
    def connections():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND backend_type = 'client backend'"
            )
            return cursor.fetchone()[0]

    attempt = attempt_of("slow")
    before = connections()
    joined = in_background(attempt)
    assert controlled.measuring.wait(10)
    assert connections() > before

    controlled.go_on.set()
    joined()

    # The server notices a closed connection a moment later: also one of the test before, counted first.
    until(lambda: connections() <= before)


@pytest.mark.parametrize(("second", "state"), [("abc", "accepted"), ("xyz", "void")])
def test_the_content_of_a_cells_first_run_is_demanded_of_the_next(
    launched, open_attempt, controlled, monkeypatch, second, state
):
    launched(factors={"level": [3]}, repetitions=2)
    digests = iter(["abc", second])
    proved = controlled.verify

    def verify(*arguments):
        return [*proved(*arguments), Proof(DIGEST, "any", next(digests), "", ok=True)]

    monkeypatch.setattr(controlled, "verify", verify)
    attempts = []
    for _ in range(2):
        dispatch.dispatch()
        attempts.append(open_attempt())
        finished(attempts[-1])

    assert [each.state for each in attempts] == ["accepted", state]
    proof = attempts[1].proofs.get(name=DIGEST)
    assert (proof.expected, proof.ok) == ("abc", state == "accepted")
