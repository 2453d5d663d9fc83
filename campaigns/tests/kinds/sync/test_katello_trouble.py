"""Syncs of others, locks, failures, limits and servers that are away, on the simulated Katello."""

import threading

import pytest

from campaigns.kinds.base import Cancelled, NotClean, RemovedByOthers, TargetUnavailable, under_way
from campaigns.kinds.base.foreman import mark_of
from campaigns.kinds.sync.driver import driver
from campaigns.kinds.sync.katello import steps, watching
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.sync.katello_place import begin, parameters, unfinished, when_it_runs
from campaigns.tests.kinds.sync.katello_place import katello as katello
from campaigns.tests.kinds.sync.katello_place import simulator as simulator
from campaigns.tests.kinds.sync.suite import ANOTHER, INSTALLATION, found

pytestmark = pytest.mark.system


def test_a_sync_of_somebody_else_is_left_alone_and_named(katello, simulator):
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(repository=3, user="jane", skip_metadata_check=True)

    with pytest.raises(
        NotClean, match=r"Synchronize: Skip Metadata Check repository 'bench'.* of jane"
    ):
        katello.reset(parameters())

    driver.clean_up(katello.target, parameters(), katello.context())
    assert sum(unfinished(simulator).values()) == 1


def test_a_sync_of_somebody_else_on_the_proxy_is_named_too(katello, simulator):
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(proxy=2, user="jane")

    with pytest.raises(NotClean, match=r"capsule\.example.* of jane"):
        katello.reset(parameters(repository_ids="", proxy=2))
    assert found(katello.reset(parameters()))["other tasks running in Foreman"] == 1


def test_a_lock_makes_the_run_void_and_names_who_holds_it(katello, simulator):
    values = begin(katello)
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(repository=3, user="jane", skip_metadata_check=True)

    with pytest.raises(
        NotClean, match=r"something else holds it: Required lock .*foreman_tasks/tasks/"
    ):
        katello.measure(values)


@pytest.mark.parametrize(
    ("outcome", "error", "failure"),
    [
        ("warning", "404, message='Not Found'", "feed 4xx"),
        ("error", "Cannot connect to host feed.example:80", "feed unreachable"),
        ("pause", "the step broke", "paused"),
    ],
)
def test_a_sync_that_does_not_come_through_is_failed(katello, simulator, outcome, error, failure):
    simulator.behave(outcome=outcome, error=error)

    measured, _ = katello.run(parameters())

    assert measured.failures == {failure: 1}
    assert f"1 of 1 syncs failed (1 {failure}). Foreman says: " in measured.failure
    assert error in measured.failure
    assert "task_duration" not in measured.values


def test_a_paused_sync_is_stopped_so_that_the_next_one_can_begin(katello, simulator):
    simulator.behave(outcome="pause")
    measured, _ = katello.run(parameters())
    assert "could be resumed in Foreman" in measured.failure

    driver.clean_up(katello.target, parameters(), katello.context())

    assert unfinished(simulator) == {}
    simulator.behave(outcome="success")
    katello.attempt = 2
    assert not katello.run(parameters())[0].failure


def test_a_paused_sync_that_cannot_be_stopped_is_told(katello, simulator):
    simulator.behave(outcome="pause", can_stop=False)
    katello.run(parameters())
    katello.attempt = 2

    with pytest.raises(
        NotClean, match=r"is paused, and keeps what it is about locked.*unlock it there"
    ):
        katello.reset(parameters())


def test_what_says_nothing_of_the_level_makes_the_run_void(katello, simulator):
    simulator.behave(outcome="warning", error="[Errno 28] No space left on device")

    with pytest.raises(
        TargetUnavailable, match=r"disk full.*No space left on device\. Make room where"
    ):
        katello.run(parameters())


def test_a_sync_that_somebody_cancels_makes_the_run_void(katello, simulator):
    simulator.behave(sync_seconds=30)
    thread = when_it_runs(simulator, simulator.cancel_tasks)

    with pytest.raises(TargetUnavailable, match=r"Task canceled\. Somebody cancelled the task"):
        katello.run(parameters())

    thread.join()


def test_the_time_limit_ends_the_tasks_and_is_a_lower_limit(katello, simulator):
    simulator.behave(sync_seconds=30)
    katello.deadline_seconds = 0.5

    measured, _ = katello.run(parameters(repository_ids="3, 5"))

    assert "time limit of 0.5 s" in measured.failure
    assert measured.censored == {"task_duration", "wall_duration"}
    assert measured.values["task_duration"] >= 0.5
    assert unfinished(simulator) == {}


def test_a_run_whose_tasks_do_not_end_at_the_time_limit_keeps_what_was_measured(
    katello, simulator, monkeypatch
):
    monkeypatch.setattr(steps, "CANCEL_SECONDS", 0.0)
    simulator.behave(sync_seconds=30, cancel_seconds=30)
    katello.deadline_seconds = 0.2

    measured, _ = katello.run(parameters())

    assert "Foreman was asked to cancel its tasks. Synchronize" in measured.failure
    assert "is still running after" in measured.failure
    assert measured.censored == {"task_duration", "wall_duration"}


def test_cancelling_ends_the_tasks_in_foreman(katello, simulator):
    simulator.behave(sync_seconds=30)
    values = begin(katello)
    thread = when_it_runs(simulator, katello.cancelled.set)

    with pytest.raises(Cancelled):
        katello.measure(values)
    thread.join()
    driver.clean_up(katello.target, values, katello.context())

    assert unfinished(simulator) == {}


def test_a_run_that_nobody_ended_is_ended_by_the_next(katello, simulator):
    simulator.behave(sync_seconds=30)
    mark = mark_of(katello.target, katello.context())
    katello.client().sync_repository(3, {"skip_metadata_check": True}, mark + "beef")
    simulator.behave(sync_seconds=0.4)
    katello.attempt = 2

    proofs = katello.reset(parameters())

    assert found(proofs)["tasks of earlier runs ended"] == 1
    assert unfinished(simulator) == {}
    assert not katello.run(parameters())[0].failure


FOLLOWS = {
    "repository": 3,
    "skip_metadata_check": True,
    "request_id": f"perfdash-{INSTALLATION}-attempt-1-beef",
    "label": "Actions::Katello::Repository::CapsuleSync",
}
"""What Katello begins by itself after a sync, with the same request's id."""


def test_what_katello_begins_after_a_sync_is_waited_for_and_not_cancelled(katello, simulator):
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(**FOLLOWS)
    driver.clean_up(katello.target, parameters(), katello.context())
    assert unfinished(simulator) == {"running": 1}
    its_end = threading.Timer(0.3, simulator.cancel_tasks)
    its_end.start()

    proofs = found(katello.reset(parameters()))

    its_end.join()
    assert proofs["tasks of earlier runs ended"] == 0
    assert proofs["unfinished tasks on what is synced"] == 0


def test_what_katello_begins_after_a_sync_and_does_not_end_is_told(katello, simulator, monkeypatch):
    monkeypatch.setattr(steps, "CLEAR_SECONDS", 0.1)
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(**FOLLOWS)

    with pytest.raises(NotClean, match="Katello began it after a sync of an earlier run"):
        katello.reset(parameters())


@pytest.mark.parametrize("mark", [f"perfdash-{ANOTHER}-attempt-1-beef", "perfdash-attempt-1-beef"])
def test_the_task_of_another_perfdash_or_of_an_earlier_version_is_told_and_goes_on(
    katello, simulator, mark
):
    simulator.behave(sync_seconds=30)
    katello.client().sync_repository(3, {"skip_metadata_check": True}, mark)

    with pytest.raises(NotClean, match="Somebody else uses the content"):
        katello.reset(parameters())

    driver.clean_up(katello.target, parameters(), katello.context())
    assert sum(unfinished(simulator).values()) == 1


def test_a_repository_that_somebody_removes_before_the_sync_makes_the_run_void(katello, simulator):
    values = begin(katello)
    simulator.behave(fault="absent", fault_on="repositories/3/sync")

    with pytest.raises(RemovedByOthers, match="had repository 3 when the run began"):
        katello.measure(values)


def test_a_sync_that_begins_after_the_end_of_a_cancelled_run_is_ended(
    katello, simulator, monkeypatch
):
    monkeypatch.setattr(under_way, "LEAST_SECONDS", 60.0)  # a slow machine has time for its looks
    values = begin(katello)
    simulator.behave(commit_seconds=3600.0, sync_seconds=30)

    def cancel():
        assert until(lambda: simulator.told()["committing"])
        katello.cancelled.set()

    def commit_after_two_looks():
        def looks():
            return simulator.told()["requests"].get("GET foreman_tasks", 0)

        before = looks()
        assert until(lambda: looks() > before + 2)
        simulator.commit()

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(Cancelled):
        katello.measure(values)
    cancelling.join()
    simulator.behave(commit_seconds=0.0)
    committing = threading.Thread(target=commit_after_two_looks)
    committing.start()
    driver.clean_up(katello.target, values, katello.context())
    committing.join()

    assert unfinished(simulator) == {}
    assert "1 tasks removed, 1 of them appeared up to" in katello.lines[-1]


def test_a_clean_up_ends_what_another_attempt_began_never(katello, simulator):
    simulator.behave(sync_seconds=30)
    katello.client().sync_repository(
        3, {"skip_metadata_check": True}, f"perfdash-{INSTALLATION}-attempt-77-beef"
    )

    driver.clean_up(katello.target, parameters(), katello.context())

    assert sum(unfinished(simulator).values()) == 1


def test_tasks_are_known_by_their_ids_where_no_request_id_reaches_foreman(katello, simulator):
    simulator.behave(sync_seconds=30, request_ids=False)
    values = begin(katello)
    thread = when_it_runs(simulator, katello.cancelled.set)
    with pytest.raises(Cancelled):
        katello.measure(values)
    thread.join()

    driver.clean_up(katello.target, values, katello.context())

    assert unfinished(simulator) == {}


def test_content_that_changes_meanwhile_is_not_the_same_work(katello, simulator):
    simulator.behave(added=5)

    _, proofs = katello.run(parameters())

    bad = [proof for proof in proofs if not proof.ok]
    assert [(p.name, p.expected, p.measured) for p in bad] == [
        ("units of content, repository 3", 120, 125)
    ]


@pytest.mark.parametrize("fault", [{"unavailable": True}, {"broken": True}])
def test_a_foreman_that_is_away_for_a_while_is_waited_for(katello, simulator, fault):
    simulator.behave(sync_seconds=1.0)
    values = begin(katello)

    def away():
        simulator.behave(**fault)
        timer = threading.Timer(0.3, simulator.behave, kwargs=dict.fromkeys(fault, False))
        timer.start()
        timer.join()

    thread = when_it_runs(simulator, away)

    measured = katello.measure(values)

    thread.join()
    assert measured.values["task_duration"] == pytest.approx(1.0)


def test_a_foreman_that_stays_away_makes_the_run_void(katello, simulator, monkeypatch):
    monkeypatch.setattr(watching, "AWAY_SECONDS", 0.2)
    simulator.behave(sync_seconds=30)
    values = begin(katello)
    thread = when_it_runs(simulator, lambda: simulator.behave(unavailable=True))

    with pytest.raises(TargetUnavailable, match="away for more than"):
        katello.measure(values)

    thread.join()


def test_a_lost_lease_sends_nothing_more(katello):
    katello.lease_seconds = 0.0

    with pytest.raises(Cancelled):
        driver.clean_up(katello.target, {}, katello.context())


def test_a_task_that_does_not_say_why_it_failed_is_told_by_its_result(katello, simulator):
    simulator.behave(outcome="warning", error="")

    measured, _ = katello.run(parameters())

    assert measured.failures == {"other": 1}
    assert "Foreman says: nothing (result warning)" in measured.failure
