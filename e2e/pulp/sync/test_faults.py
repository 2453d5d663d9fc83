"""A real Pulp that breaks in the middle of a run: what is told, and that the next run is good."""

import os
import signal
import threading
from dataclasses import replace

import psycopg
import pytest

from campaigns.kinds.base import DriverError, TargetUnavailable
from campaigns.kinds.sync import syncing
from campaigns.kinds.sync.driver import driver
from campaigns.tests.kinds.sync.suite import RULES, good, parameters
from e2e.conftest import wait_for
from e2e.pulp.sync.test_suite import in_flight, pulp
from perfdash.local import postgres
from perfdash.local.pulp.directory import PulpDirectory

__all__ = ["pulp"]

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(300)]

NO_DATABASE = "(answered 500|got no answer)"
"""Pulp's API answers 500 for as long as it lives without its database, and may then end itself."""


@pytest.fixture
def begun(pulp, feed, request):
    """The parameters of a slow sync that only has to be measured, and what runs in its middle."""
    label = request.node.name[-60:].strip("[]").replace("[", "-")
    values = parameters(
        feed.manifest(files=30, size=1000, latency=300, label=label), download_concurrency=1
    )
    pulp.reset(values)
    pulp.apply(values)

    def measured_while(action):
        def act():
            wait_for(lambda: pulp.progress, "a look at the sync")
            wait_for(lambda: in_flight(feed, label), "a download")
            action()

        thread = threading.Thread(target=act)
        thread.start()
        try:
            return pulp.measure(values)
        finally:
            thread.join()

    return values, measured_while


def the_next_run_is_good(pulp, feed):
    pulp.attempt += 1
    measured, proofs = pulp.run(parameters(feed.manifest(files=3, size=1000)))
    assert not measured.failure
    assert good(proofs), proofs


def stop_database(real_pulp):
    """Have PostgreSQL break off its sessions and end in order."""
    os.kill(real_pulp.state["services"]["database"], signal.SIGINT)
    wait_for(lambda: real_pulp.run("status") == 3, "a Pulp that is not ready")


def test_a_database_that_is_started_again_makes_the_run_void(pulp, real_pulp, feed, begun):
    _, measured_while = begun

    def bounce():
        stop_database(real_pulp)
        real_pulp.start()

    with pytest.raises(TargetUnavailable, match=r"worker gone.*Pulp's worker was"):
        measured_while(bounce)

    the_next_run_is_good(pulp, feed)


def test_a_database_that_stays_away_makes_the_run_void_and_says_where_to_look(
    pulp, real_pulp, feed, begun, monkeypatch
):
    monkeypatch.setattr(syncing, "AWAY_SECONDS", 2.0)
    values, measured_while = begun
    try:
        with pytest.raises(TargetUnavailable, match=rf"away for more than 2 s .* {NO_DATABASE}"):
            measured_while(lambda: stop_database(real_pulp))
        for step in (
            lambda: driver.clean_up(pulp.target, values, pulp.context()),
            lambda: pulp.reset(values),
            lambda: driver.probe(pulp.target, RULES),
        ):
            with pytest.raises(TargetUnavailable, match=r"whether its database runs|got no answer"):
                step()
    finally:
        real_pulp.start()
    the_next_run_is_good(pulp, feed)


def test_sessions_that_end_in_the_middle_are_begun_anew(real_pulp, begun):
    _, measured_while = begun
    ended = []

    def expire():
        with psycopg.connect(postgres.url(PulpDirectory(real_pulp.data))) as connection:
            ended.append(connection.execute("DELETE FROM django_session").rowcount)

    measured = measured_while(expire)

    assert ended[0] >= 1
    assert not measured.failure
    assert measured.samples["state"] == ["completed"]


def test_a_user_that_is_locked_out_in_the_middle_is_told_and_the_next_run_cleans(
    pulp, real_pulp, feed, begun
):
    values, measured_while = begun
    directory = PulpDirectory(real_pulp.data)

    def lock(*, out):
        with psycopg.connect(postgres.url(directory)) as connection:
            connection.execute("UPDATE auth_user SET is_active = %s", [not out])

    try:
        with pytest.raises(DriverError, match=r"refuses the login .*on the target's page"):
            measured_while(lambda: lock(out=True))
        with pytest.raises(DriverError, match="refuses the login"):
            driver.clean_up(pulp.target, values, pulp.context())
    finally:
        lock(out=False)
    the_next_run_is_good(pulp, feed)


@pytest.fixture
def nobody(pulp, rest):
    """The target with a user who may log in, and nothing else."""
    made = rest.post("users/", username="nobody", password="may-do-nothing-1")  # noqa: S106
    yield replace(pulp.target, username="nobody", password="may-do-nothing-1")  # noqa: S106
    rest.remove(made)


def test_a_user_without_rights_is_told_what_it_may_not_do(pulp, feed, nobody, monkeypatch):
    monkeypatch.setattr(pulp, "target", nobody)
    for target, asked in (
        (nobody, "POST /pulp/api/v3/orphans/cleanup/"),
        (replace(nobody, dedicated=False), "GET /pulp/api/v3/artifacts/"),
    ):
        monkeypatch.setattr(pulp, "target", target)
        with pytest.raises(DriverError, match=rf"may not {asked} .*rights of an administrator"):
            pulp.reset({})
    with pytest.raises(DriverError, match=r"may not POST /pulp/api/v3/remotes/file/file/"):
        pulp.apply(parameters(feed.manifest(files=1)))
    with pytest.raises(DriverError, match=r"may not GET /pulp/api/v3/artifacts/"):
        driver.probe(nobody, RULES)
