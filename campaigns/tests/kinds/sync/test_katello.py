"""The kind `sync` with a Katello, against the simulated one: none has been seen for real yet."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import SIMULATOR, DriverError, NotClean, TargetUnavailable
from campaigns.kinds.sync.driver import driver
from campaigns.tests.kinds.sync.katello_place import begin, parameters, when_it_runs
from campaigns.tests.kinds.sync.katello_place import katello as katello
from campaigns.tests.kinds.sync.katello_place import simulator as simulator
from campaigns.tests.kinds.sync.suite import RULES, found, good

pytestmark = pytest.mark.system


def test_a_probe_tells_what_katello_this_is(katello):
    proofs = driver.probe(katello.target, RULES)

    assert good(proofs)
    told = found(proofs)
    assert told["Foreman"] == "3.14.0 simulated"
    assert told["Katello"] == "4.16.0 simulated"
    assert told["service pulp3"] == "ok"
    assert abs(told["clock"]) < 5


def test_a_katello_without_tasks_is_quiet(katello):
    assert driver.quiet(katello.target, RULES) == ""


def test_a_probe_tells_of_a_service_and_of_a_clock_that_are_wrong(katello, simulator):
    simulator.behave(failing_service="pulp3", clock_offset_seconds=-900)

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


def test_a_server_that_is_no_katello_is_told(katello, simulator):
    target = replace(katello.target, base_url=f"{simulator.base_url}/elsewhere")

    with pytest.raises(NotClean, match="this Foreman has no Katello"):
        driver.probe(target, RULES)


def test_a_sync_that_looks_at_everything_is_timed_by_foremans_duration(katello, simulator):
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
    assert simulator.told()["forced"] == [True]
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
    assert found(proofs)["units counted, proxy 2"] == 4360


def test_whole_seconds_are_recorded_and_warned_of(katello, simulator):
    simulator.behave(duration=False, sync_seconds=1.2)

    measured, proofs = katello.run(parameters())

    assert measured.values["task_duration"] in (1.0, 2.0)
    assert found(proofs)["resolution of the duration"] == 1.0
    assert measured.health.verdict == "warned"
    assert "reports the duration to 1 s" in measured.health.reasons[0]
    assert measured.health.figures["resolution_seconds"] == 1.0


def test_instants_with_fractions_are_as_good_as_a_duration(katello, simulator):
    simulator.behave(duration=False, iso=True)

    measured, proofs = katello.run(parameters(repository_ids="3, 5"))

    assert measured.values["task_duration"] >= 0.4
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


def test_a_login_in_the_url_of_a_feed_is_not_kept(katello):
    values = parameters(repository_ids="5")
    katello.reset(values)

    settings = {setting.name: setting.in_force for setting in katello.apply(values)}

    assert settings["repository 5: url"] == "http://feed.example/more/"


def test_a_user_who_may_not_see_the_smart_proxies_can_measure_repositories(katello, simulator):
    simulator.behave(may_list_proxies=False)

    facts = driver.environment(katello.target, katello.context())

    assert facts["smart proxies"] == "not told"


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
def test_what_katello_refuses_is_told_in_its_words(katello, simulator, ids, words, old_errors):
    simulator.behave(old_errors=old_errors)
    values = begin(katello, repository_ids=ids)

    with pytest.raises(DriverError, match=words):
        katello.measure(values)


def test_services_that_are_away_keep_a_run_from_beginning(katello, simulator):
    simulator.behave(failing_service="foreman_tasks")

    with pytest.raises(TargetUnavailable, match="foreman_tasks: foreman_tasks does not answer"):
        katello.reset(parameters())


def test_a_user_without_rights_is_told(katello, simulator):
    values = begin(katello)
    simulator.behave(may_write=False)

    with pytest.raises(DriverError, match=r"required permissions: sync_products.*administrator"):
        katello.measure(values)


def test_the_password_is_sent_once_and_again_where_the_session_ends(katello, simulator):
    simulator.behave(sync_seconds=1.0)
    values = begin(katello)
    before = simulator.told()["passwords"]
    thread = when_it_runs(simulator, simulator.expire_sessions)

    measured = katello.measure(values)

    thread.join()
    assert not measured.failure
    assert simulator.told()["passwords"] == before + 2


def test_a_result_of_a_simulator_says_so(katello):
    facts = driver.environment(katello.target, katello.context())

    assert facts["Foreman"] == "3.14.0 simulated"
    assert facts[SIMULATOR] == "simulated Katello 4.16.0"
    assert "pulp3 ok" in facts["services"]
    assert "capsule.example (Dynflow, Pulpcore)" in facts["smart proxies"]
