"""The kind `sync` against the simulated Pulp, which can also break in every way that Pulp can."""

import threading

import pytest

from campaigns.kinds.base import (
    SIMULATOR,
    Cancelled,
    NotClean,
    Target,
    TargetUnavailable,
    under_way,
)
from campaigns.kinds.sync import repositories, steps, syncing
from campaigns.kinds.sync.driver import driver
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.sync.suite import *  # noqa: F403 - the tests of every Pulp
from campaigns.tests.kinds.sync.suite import Place, parameters
from campaigns.tests.kinds.sync.suite_feeds import *  # noqa: F403
from campaigns.tests.kinds.sync.suite_rpm import *  # noqa: F403
from sandbox.process import running


@pytest.fixture(scope="module")
def process():
    with running(pulp={}) as sandbox:
        yield sandbox


@pytest.fixture
def feed(process):
    process.reset()
    return process


@pytest.fixture
def pulp(feed, tmp_path):
    feed.pulp.renew()
    feed.pulp.behave(retry_seconds=0.02)
    target = Target("simulator", "pulp", feed.pulp.base_url, "admin", "password", dedicated=True)
    place = Place(target, tmp_path)
    yield place
    place.close()
    feed.pulp.renew()


def begin(pulp, feed, **changes):
    """Begin a sync that takes its time, up to where `measure` would look at it."""
    url = feed.manifest(files=20, size=1000, latency=200, label="slow")
    values = parameters(url, download_concurrency=1, **changes)
    pulp.reset(values)
    pulp.apply(values)
    return values


def when_it_loads(feed, action):
    """Do something as soon as Pulp downloads."""

    def wait():
        assert until(lambda: feed.stats()["labels"].get("slow", {}).get("in_flight"))
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_session_that_ends_in_the_middle_is_begun_anew(pulp, feed):
    values = begin(pulp, feed)
    thread = when_it_loads(feed, feed.pulp.expire_sessions)

    measured = pulp.measure(values)

    thread.join()
    assert not measured.failure


def test_a_password_is_sent_for_each_login_and_never_for_a_look(pulp, feed):
    values = begin(pulp, feed)
    before = feed.pulp.told()["passwords"]

    pulp.measure(values)

    assert feed.pulp.told()["passwords"] == before + 1


def test_a_sync_that_begins_after_the_end_of_a_cancelled_run_is_cancelled(pulp, feed, monkeypatch):
    """The request for it is under way when the run is cancelled, and Pulp commits it after the first looks."""
    monkeypatch.setattr(under_way, "LEAST_SECONDS", 60.0)  # a slow machine has time for its looks
    values = begin(pulp, feed)
    feed.pulp.behave(commit_seconds=3600.0)

    def cancel():
        assert until(lambda: feed.pulp.told()["committing"])
        pulp.cancelled.set()

    def commit_after_two_looks():
        def looks():
            return feed.pulp.told()["requests"].get("GET tasks", 0)

        before = looks()
        assert until(lambda: looks() > before + 2)
        feed.pulp.commit()

    cancelling, committing = map(_thread, (cancel, commit_after_two_looks))
    cancelling.start()
    with pytest.raises(Cancelled):
        pulp.measure(values)
    cancelling.join()
    committing.start()
    driver.clean_up(pulp.target, values, pulp.context())
    committing.join()

    assert pulp.client().count("tasks/", state__in="running,waiting,canceling") == 0
    assert "1 tasks removed, 1 of them appeared up to" in pulp.lines[-1]


def _thread(work):
    return threading.Thread(target=work)


def test_a_pulp_that_is_restarted_is_waited_for(pulp, feed):
    values = begin(pulp, feed)
    thread = when_it_loads(feed, lambda: feed.pulp.restart(1.0))

    measured = pulp.measure(values)

    thread.join()
    assert measured.values["task_duration"] > 0


def test_a_pulp_that_goes_away_before_the_first_look_is_waited_for(pulp, feed, monkeypatch):
    values = begin(pulp, feed)
    start = repositories.start_sync

    def start_and_go_away(*arguments):
        href = start(*arguments)
        feed.pulp.restart(1.0)
        return href

    monkeypatch.setattr(syncing, "start_sync", start_and_go_away)

    assert pulp.measure(values).values["task_duration"] > 0


@pytest.mark.parametrize("fault", [{"unavailable": True}, {"database": False}])
def test_a_pulp_that_stays_away_makes_the_run_void(pulp, feed, monkeypatch, fault):
    monkeypatch.setattr(syncing, "AWAY_SECONDS", 0.5)
    values = begin(pulp, feed)
    thread = when_it_loads(feed, lambda: feed.pulp.behave(**fault))

    with pytest.raises(TargetUnavailable, match="away for more than"):
        pulp.measure(values)

    thread.join()


def test_a_worker_that_was_killed_makes_the_run_void_and_is_told(pulp, feed):
    values = begin(pulp, feed)

    def kill():
        feed.pulp.kill_worker()
        feed.pulp.replace_workers()

    thread = when_it_loads(feed, kill)

    with pytest.raises(TargetUnavailable, match=r"worker gone.*Worker has gone missing"):
        pulp.measure(values)

    thread.join()


def test_a_run_whose_worker_is_never_replaced_is_void_at_the_time_limit(pulp, feed, monkeypatch):
    monkeypatch.setattr(steps, "CANCEL_SECONDS", 0.0)
    values = begin(pulp, feed)
    feed.pulp.behave(heartbeat_seconds=0)
    pulp.deadline_seconds = 2.0
    thread = when_it_loads(feed, feed.pulp.kill_worker)

    with pytest.raises(
        TargetUnavailable, match=r"not end within 2 s\. No worker of Pulp is online"
    ):
        pulp.measure(values)

    thread.join()


@pytest.mark.parametrize(
    ("heartbeat_seconds", "told"),
    [(30.0, "Its worker has perhaps been killed"), (0.0, "No worker of Pulp is online.*start one")],
)
def test_a_task_that_no_worker_ends_keeps_the_next_run_from_beginning(
    pulp, feed, monkeypatch, heartbeat_seconds, told
):
    monkeypatch.setattr("campaigns.kinds.sync.cleaning.CLEAN_SECONDS", 1.0)
    feed.pulp.behave(heartbeat_seconds=heartbeat_seconds)
    values = begin(pulp, feed)
    client = pulp.client()
    (repository,) = client.list("repositories/")
    (remote,) = client.list("remotes/")
    thread = when_it_loads(feed, feed.pulp.kill_worker)
    client.start("POST", f"{repository['pulp_href']}sync/", {"remote": remote["pulp_href"]})
    thread.join()
    pulp.attempt = 2

    with pytest.raises(NotClean, match=told):
        pulp.reset(values)


def test_content_of_others_in_a_simulator_is_never_touched(pulp, feed):
    feed.pulp.add_content("theirs", files=7)

    with pytest.raises(NotClean, match="“theirs”"):
        pulp.reset(parameters(feed.manifest(files=1)))

    assert pulp.client().count("content/") == 7


def test_a_result_of_a_simulator_says_so(pulp):
    facts = driver.environment(pulp.target, pulp.context())

    assert facts[SIMULATOR] == "simulated Pulp 3.123.1"


def test_a_worker_more_is_seen_by_the_next_look(pulp, feed):
    before = driver.environment(pulp.target, pulp.context())
    feed.pulp.behave(workers=2)

    after = driver.environment(pulp.target, pulp.context())

    assert {name for name in before if before[name] != after[name]} == {"workers"}


def test_a_run_whose_tasks_do_not_end_at_the_time_limit_keeps_what_was_measured(
    pulp, feed, monkeypatch
):
    monkeypatch.setattr(steps, "CANCEL_SECONDS", 0.0)
    values = begin(pulp, feed)
    feed.pulp.behave(cancel_seconds=30)
    pulp.deadline_seconds = 0.3

    measured = pulp.measure(values)

    assert "Pulp was asked to cancel its tasks. The task " in measured.failure
    assert "is still canceling after" in measured.failure
    assert "task_duration" in measured.censored
