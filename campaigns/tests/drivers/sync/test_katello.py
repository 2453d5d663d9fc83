"""The kind `sync` with a Katello, against the sandbox's stand-in: none has been seen for real yet."""

import threading
from dataclasses import replace

import pytest

from campaigns.clients import katello as client_of
from campaigns.clients.connection import Connection
from campaigns.clients.katello import ForemanLogin, Katello
from campaigns.drivers.base import (
    STAND_IN,
    Cancelled,
    DriverError,
    NotClean,
    Target,
    TargetUnavailable,
)
from campaigns.drivers.sync import driver
from campaigns.drivers.sync.katello import clearing, watching
from campaigns.tests.drivers.sync.suite import RULES, Place, found, good
from campaigns.tests.engines.processes import until
from sandbox.process import running


@pytest.fixture(scope="module")
def stand_in():
    with running(katello={"sync_seconds": 0.4, "skip_seconds": 0.1}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def katello(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    stand_in.renew()
    target = Target("stand-in", "katello", stand_in.base_url, "admin", "password")
    place = KatelloPlace(target, tmp_path)
    yield place
    place.close()
    stand_in.renew()


class KatelloPlace(Place):
    def client(self):
        login = ForemanLogin(self.target.username, self.target.password)
        connection = Connection(self.target.base_url, RULES)
        self.connections.append(connection)
        return Katello(connection, self.target.base_url, login)


def parameters(**changes):
    initial = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    asked = {"repository_ids": "3", "repeat": "unchanged", "optimize": "off"} | changes
    form = driver.parameters(initial | asked)
    assert form.is_valid(), form.errors
    fixed = form.cleaned_data
    assert driver.misfits("katello", fixed, {}) == {}
    return fixed


def begin(katello, **changes):
    """Everything up to where the syncs begin."""
    values = parameters(**changes)
    katello.reset(values)
    katello.apply(values)
    return values


def when_it_runs(stand_in, action):
    """Do something as soon as a sync runs."""

    def wait():
        assert until(lambda: stand_in.told()["tasks"].get("running"))
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def unfinished(stand_in):
    return {s: n for s, n in stand_in.told()["tasks"].items() if s != "stopped"}


def test_a_probe_tells_what_katello_this_is(katello):
    proofs = driver.probe(katello.target, RULES)

    assert good(proofs)
    told = found(proofs)
    assert told["Foreman"] == "3.14.0 stand-in"
    assert told["Katello"] == "4.16.0 stand-in"
    assert told["service pulp3"] == "ok"
    assert abs(told["clock"]) < 5


def test_a_probe_tells_of_a_service_and_of_a_clock_that_are_wrong(katello, stand_in):
    stand_in.behave(failing_service="pulp3", clock_offset_seconds=-900)

    bad = {
        proof.name: proof.measured for proof in driver.probe(katello.target, RULES) if not proof.ok
    }

    assert bad.pop("clock") == pytest.approx(-900, abs=5)
    assert bad == {"service pulp3": "pulp3 does not answer"}


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"username": "nobody"}])
def test_a_login_that_is_refused_is_told(katello, changes):
    target = replace(katello.target, **changes)

    with pytest.raises(
        DriverError, match=r"refuses the login \(Unable to authenticate user .*page"
    ):
        driver.probe(target, RULES)


def test_a_server_that_is_no_katello_is_told(katello, stand_in):
    target = replace(katello.target, base_url=f"{stand_in.base_url}/elsewhere")

    with pytest.raises(NotClean, match="this Foreman has no Katello"):
        driver.probe(target, RULES)


def test_a_sync_that_looks_at_everything_is_timed_by_foremans_duration(katello, stand_in):
    measured, proofs = katello.run(parameters())

    assert good(proofs), proofs
    assert measured.values["task_duration"] == pytest.approx(0.4)
    assert measured.values["task_duration"] < measured.values["wall_duration"]
    assert measured.values["queue_duration"] < 1.0
    assert measured.health.verdict == "healthy"
    assert found(proofs)["resolution of the duration"] == 0.001
    assert found(proofs)["skip_metadata_check"] == 1
    assert found(proofs)["units of content, repository 3"] == 120
    assert measured.samples["state"] == ["stopped, success"]
    assert stand_in.told()["forced"] == [True]
    assert {phase.name: phase.seconds for phase in measured.phases}["task"] == pytest.approx(0.4)
    assert "parses packages" in {phase.name for phase in measured.phases}
    assert measured.phases[-1].name == "indexes, and the rest"


def test_an_unchanged_sync_may_be_skipped_and_that_is_recorded(katello):
    measured, proofs = katello.run(parameters(optimize="on"))

    assert good(proofs), proofs
    assert found(proofs)["syncs skipped"] == 1
    assert measured.values["task_duration"] == pytest.approx(0.1)


def test_several_repositories_are_synced_at_once(katello):
    measured, proofs = katello.run(parameters(repository_ids="3, 5"))

    assert good(proofs), proofs
    assert measured.samples["repository"] == ["repository 3", "repository 5"]
    assert found(proofs)["units of content, repository 5"] == 80
    assert measured.units_done == 2
    assert measured.values["task_duration"] >= 0.4
    assert found(proofs)["resolution of the duration"] == 1.0


@pytest.mark.parametrize(("ids", "name"), [("", "proxy 2"), ("3", "repository 3 on proxy 2")])
def test_a_proxy_is_synced_too(katello, ids, name):
    measured, proofs = katello.run(parameters(repository_ids=ids, proxy=2))

    assert good(proofs), proofs
    assert measured.samples["repository"] == [name]
    assert found(proofs)["units counted, proxy 2"] == 360


def test_whole_seconds_are_recorded_and_warned_of(katello, stand_in):
    stand_in.behave(duration=False, sync_seconds=1.2)

    measured, proofs = katello.run(parameters())

    assert measured.values["task_duration"] in (1.0, 2.0)
    assert found(proofs)["resolution of the duration"] == 1.0
    assert measured.health.verdict == "warned"
    assert "tells the duration to 1 s" in measured.health.reasons[0]
    assert measured.health.figures["resolution_seconds"] == 1.0


def test_instants_with_fractions_are_as_good_as_a_duration(katello, stand_in):
    stand_in.behave(duration=False, iso=True)

    measured, proofs = katello.run(parameters(repository_ids="3, 5"))

    assert measured.values["task_duration"] == pytest.approx(0.4, abs=0.3)
    assert found(proofs)["resolution of the duration"] == 0.001


def test_what_the_repositories_are_set_to_is_read_back(katello):
    values = parameters(proxy=2)
    katello.reset(values)

    settings = {setting.name: setting.in_force for setting in katello.apply(values)}

    assert settings == {
        "repository 3": "bench (yum)",
        "repository 3: url": "http://feed.example/bench/",
        "repository 3: download policy": "on_demand",
        "repository 3: units of content": 120,
        "proxy 2": "capsule.example (Dynflow, Pulpcore)",
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repository_ids": "77"}, "has no repository 77 that the user may see"),
        ({"repository_ids": "7"}, "“no feed”.* has no URL to sync from"),
        ({"repository_ids": "8"}, "“never synced”.*Sync it in Katello once"),
        ({"proxy": 4}, "“dns.example”.*holds no content"),
        ({"proxy": 99}, "has no smart proxy 99"),
    ],
)
def test_what_cannot_be_synced_is_told_before_the_clock_runs(katello, changes, words):
    values = parameters(**changes)

    with pytest.raises(DriverError, match=words):
        katello.run(values)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ("6", "Cannot skip metadata check on non-yum/deb repositories"),
        ("9", "attempted to sync a non-library repository"),
    ],
)
@pytest.mark.parametrize("old_errors", [True, False])
def test_what_katello_refuses_is_told_in_its_words(katello, stand_in, ids, words, old_errors):
    stand_in.behave(old_errors=old_errors)
    values = begin(katello, repository_ids=ids)

    with pytest.raises(DriverError, match=words):
        katello.measure(values)


def test_a_sync_of_somebody_else_is_left_alone_and_named(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    stand_in.begin_sync(repository=3, user="jane", skip_metadata_check=True)

    with pytest.raises(
        NotClean, match=r"Synchronize: Skip Metadata Check repository 'bench'.* of jane"
    ):
        katello.reset(parameters())

    driver.clean_up(katello.target, parameters(), katello.context())
    assert sum(unfinished(stand_in).values()) == 1


def test_a_sync_of_somebody_else_on_the_proxy_is_named_too(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    stand_in.begin_sync(proxy=2, user="jane")

    with pytest.raises(NotClean, match=r"capsule\.example.* of jane"):
        katello.reset(parameters(repository_ids="", proxy=2))
    assert found(katello.reset(parameters()))["other tasks running in Foreman"] == 1


def test_a_lock_makes_the_run_void_and_names_who_holds_it(katello, stand_in):
    values = begin(katello)
    stand_in.behave(sync_seconds=30)
    stand_in.begin_sync(repository=3, user="jane", skip_metadata_check=True)

    with pytest.raises(
        NotClean, match=r"something else holds it: Required lock .*foreman_tasks/tasks/"
    ):
        katello.measure(values)


@pytest.mark.parametrize(
    ("outcome", "error", "failure"),
    [
        ("warning", "404, message='Not Found'", "feed 4xx"),
        ("error", "Cannot connect to host feed.example:80", "feed unreachable"),
        ("cancelled", "", "cancelled"),
        ("pause", "the step broke", "paused"),
    ],
)
def test_a_sync_that_does_not_come_through_is_failed(katello, stand_in, outcome, error, failure):
    stand_in.behave(outcome=outcome, error=error)

    measured, _ = katello.run(parameters())

    assert measured.failures == {failure: 1}
    assert f"1 of 1 syncs failed (1 {failure}). Foreman says: " in measured.failure
    assert (error or "Task canceled") in measured.failure
    assert "task_duration" not in measured.values


def test_a_paused_sync_is_stopped_so_that_the_next_one_can_begin(katello, stand_in):
    stand_in.behave(outcome="pause")
    measured, _ = katello.run(parameters())
    assert "could be resumed in Foreman" in measured.failure

    driver.clean_up(katello.target, parameters(), katello.context())

    assert unfinished(stand_in) == {}
    stand_in.behave(outcome="success")
    katello.attempt = 2
    assert not katello.run(parameters())[0].failure


def test_a_paused_sync_that_cannot_be_stopped_is_told(katello, stand_in):
    stand_in.behave(outcome="pause", can_stop=False)
    katello.run(parameters())
    katello.attempt = 2

    with pytest.raises(
        NotClean, match=r"is paused, and keeps its repository locked.*unlock it there"
    ):
        katello.reset(parameters())


def test_what_says_nothing_of_the_level_makes_the_run_void(katello, stand_in):
    stand_in.behave(outcome="warning", error="[Errno 28] No space left on device")

    with pytest.raises(TargetUnavailable, match=r"disk full.*No space left"):
        katello.run(parameters())


def test_a_sync_that_somebody_cancels_is_failed(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    thread = when_it_runs(stand_in, stand_in.cancel_tasks)

    measured, _ = katello.run(parameters())

    thread.join()
    assert measured.failures == {"cancelled": 1}


def test_the_time_limit_ends_the_tasks_and_is_a_lower_limit(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    katello.deadline_seconds = 0.5

    measured, _ = katello.run(parameters(repository_ids="3, 5"))

    assert "time limit of 0.5 s" in measured.failure
    assert measured.censored == {"task_duration", "wall_duration"}
    assert measured.values["task_duration"] >= 0.5
    assert unfinished(stand_in) == {}


def test_cancelling_ends_the_tasks_in_foreman(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    values = begin(katello)
    thread = when_it_runs(stand_in, katello.cancelled.set)

    with pytest.raises(Cancelled):
        katello.measure(values)
    thread.join()
    driver.clean_up(katello.target, values, katello.context())

    assert unfinished(stand_in) == {}


def test_a_run_that_nobody_ended_is_ended_by_the_next(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    mark = clearing.mark_of(katello.context())
    katello.client().sync_repository(3, {"skip_metadata_check": True}, mark + "beef")
    stand_in.behave(sync_seconds=0.4)
    katello.attempt = 2

    proofs = katello.reset(parameters())

    assert found(proofs)["tasks of earlier runs ended"] == 1
    assert unfinished(stand_in) == {}
    assert not katello.run(parameters())[0].failure


FOLLOWS = {
    "repository": 3,
    "skip_metadata_check": True,
    "request_id": "perfdash-attempt-1-beef",
    "label": "Actions::Katello::Repository::CapsuleSync",
}
"""What Katello begins by itself after a sync, with the same request's id."""


def test_what_katello_begins_after_a_sync_is_waited_for_and_not_cancelled(katello, stand_in):
    stand_in.behave(sync_seconds=0.5)
    stand_in.begin_sync(**FOLLOWS)
    driver.clean_up(katello.target, parameters(), katello.context())
    assert unfinished(stand_in) == {"running": 1}

    proofs = found(katello.reset(parameters()))

    assert proofs["tasks of earlier runs ended"] == 0
    assert proofs["unfinished tasks on what is synced"] == 0


def test_what_katello_begins_after_a_sync_and_does_not_end_is_told(katello, stand_in, monkeypatch):
    monkeypatch.setattr(clearing, "CLEAR_SECONDS", 0.1)
    stand_in.behave(sync_seconds=30)
    stand_in.begin_sync(**FOLLOWS)

    with pytest.raises(NotClean, match="Katello began it after a sync of an earlier run"):
        katello.reset(parameters())


def test_a_clean_up_ends_what_another_attempt_began_never(katello, stand_in):
    stand_in.behave(sync_seconds=30)
    katello.client().sync_repository(3, {}, "perfdash-attempt-77-beef")

    driver.clean_up(katello.target, parameters(), katello.context())

    assert sum(unfinished(stand_in).values()) == 1


def test_tasks_are_known_by_their_ids_where_no_request_id_reaches_foreman(katello, stand_in):
    stand_in.behave(sync_seconds=30, request_ids=False)
    values = begin(katello)
    thread = when_it_runs(stand_in, katello.cancelled.set)
    with pytest.raises(Cancelled):
        katello.measure(values)
    thread.join()

    driver.clean_up(katello.target, values, katello.context())

    assert unfinished(stand_in) == {}


def test_content_that_changes_meanwhile_is_not_the_same_work(katello, stand_in):
    stand_in.behave(added=5)

    _, proofs = katello.run(parameters())

    bad = [proof for proof in proofs if not proof.ok]
    assert [(p.name, p.expected, p.measured) for p in bad] == [
        ("units of content, repository 3", 120, 125)
    ]


@pytest.mark.parametrize("fault", [{"unavailable": True}, {"broken": True}])
def test_a_foreman_that_is_away_for_a_while_is_waited_for(katello, stand_in, fault):
    stand_in.behave(sync_seconds=1.0)
    values = begin(katello)

    def away():
        stand_in.behave(**fault)
        timer = threading.Timer(0.3, stand_in.behave, kwargs=dict.fromkeys(fault, False))
        timer.start()
        timer.join()

    thread = when_it_runs(stand_in, away)

    measured = katello.measure(values)

    thread.join()
    assert measured.values["task_duration"] == pytest.approx(1.0)


def test_a_foreman_that_stays_away_makes_the_run_void(katello, stand_in, monkeypatch):
    monkeypatch.setattr(watching, "AWAY_SECONDS", 0.2)
    stand_in.behave(sync_seconds=30)
    values = begin(katello)
    thread = when_it_runs(stand_in, lambda: stand_in.behave(unavailable=True))

    with pytest.raises(TargetUnavailable, match="away for more than"):
        katello.measure(values)

    thread.join()


def test_services_that_are_away_keep_a_run_from_beginning(katello, stand_in):
    stand_in.behave(failing_service="foreman_tasks")

    with pytest.raises(TargetUnavailable, match="foreman_tasks: foreman_tasks does not answer"):
        katello.reset(parameters())


def test_a_user_without_rights_is_told(katello, stand_in):
    values = begin(katello)
    stand_in.behave(may_write=False)

    with pytest.raises(DriverError, match=r"required permissions: sync_products.*administrator"):
        katello.measure(values)


def test_the_password_is_sent_once_and_again_where_the_session_ends(katello, stand_in):
    stand_in.behave(sync_seconds=1.0)
    values = begin(katello)
    before = stand_in.told()["passwords"]
    thread = when_it_runs(stand_in, stand_in.expire_sessions)

    measured = katello.measure(values)

    thread.join()
    assert not measured.failure
    assert stand_in.told()["passwords"] == before + 2


def test_a_result_of_a_stand_in_says_so(katello):
    facts = driver.environment(katello.target, katello.context())

    assert facts["Foreman"] == "3.14.0 stand-in"
    assert facts[STAND_IN] == "stand-in of Katello 4.16.0"
    assert "pulp3 ok" in facts["services"]
    assert "capsule.example (Dynflow, Pulpcore)" in facts["smart proxies"]


def test_a_lost_lease_sends_nothing_more(katello):
    katello.lease_seconds = 0.0

    with pytest.raises(Cancelled):
        driver.clean_up(katello.target, {}, katello.context())
