"""The kind `remote_execution` against the simulated Katello: none has been seen for real yet."""

import time
from dataclasses import replace
from urllib.parse import quote

import pytest

from campaigns.kinds.base import (
    Cancelled,
    DriverError,
    NotClean,
    Target,
    TargetUnavailable,
    foreman,
)
from campaigns.kinds.base.foreman import mark_of
from campaigns.kinds.remote_execution import driver as kind
from campaigns.kinds.remote_execution import preparing, watching
from campaigns.kinds.remote_execution.driver import driver
from campaigns.kinds.remote_execution.form import ANSIBLE_DEFAULT, RemoteExecutionForm
from campaigns.kinds.servers import katello as client_of
from campaigns.kinds.servers.job_invocations import COLLECTIONS
from campaigns.tests.kinds.foreman_place import when
from campaigns.tests.kinds.remote_execution.place import JOBS, RULES, Place, parameters
from sandbox.process import running

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def simulator():
    settings = {"hosts": 40, "job_plan_seconds": 0.0, "iso": True, "rex_seconds": 0.05}
    with running(katello=settings | {"cancel_seconds": 0}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def place(simulator, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    monkeypatch.setattr(watching, "FIRST_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(kind, "PAGE_REST_SECONDS", 0.0)
    simulator.renew()
    target = Target("simulator", "katello", simulator.base_url, "admin", "password")
    yield Place(driver, replace(target, installation="0a1b2c3d"), tmp_path)
    simulator.renew()


def when_it_runs(simulator, action):
    """Do something as soon as a job runs."""
    return when(lambda: simulator.told()["jobs"]["running"], action)


def test_a_job_on_all_hosts_is_measured_and_proved(place, simulator):
    measured, proofs = place.run(parameters())

    assert measured.failure == ""
    assert all(proof.ok for proof in proofs), proofs
    assert measured.values["success"] == 100
    assert (measured.units_done, measured.units_failed) == (40, 0)
    duration = measured.values["job_duration"]
    assert measured.values["hosts_rate"] == pytest.approx(40 / duration)
    assert measured.values["host_time_p50"] <= measured.values["host_time_max"] <= duration + 0.01
    assert set(measured.samples["exit_status"]) == {"0"}
    assert set(measured.samples["proxy"]) == {"runner.example"}
    assert len(set(measured.samples["host"])) == 40
    assert sum(measured.series[0].values) == 40
    assert measured.series[1].values[-1] == 0
    assert simulator.told()["jobs"]["listings_while_running"] == 0


def test_fewer_hosts_are_those_with_the_lowest_ids(place):
    measured, proofs = place.run(parameters(hosts=7))

    assert all(proof.ok for proof in proofs), proofs
    assert sorted(measured.samples["host"]) == [
        f"container-{number:05}.example" for number in range(1, 8)
    ]


def test_hundreds_of_hosts_are_named_in_the_job(place, simulator):
    simulator.behave(hosts=600)
    simulator.set("rex_seconds", 0.01)

    measured, proofs = place.run(parameters(hosts=500))

    assert all(proof.ok for proof in proofs), proofs
    assert measured.values["succeeded"] == 500
    assert simulator.told()["jobs"]["host_collections"] == 0


def test_of_many_hosts_a_collection_is_made_and_removed_again(place, simulator, monkeypatch):
    monkeypatch.setattr(preparing, "MOST_IN_QUERY", 5)

    place.begin(parameters(hosts=7))
    assert simulator.told()["jobs"]["host_collections"] == 1
    measured = place.measure(parameters(hosts=7))
    place.clean_up(parameters(hosts=7))

    assert measured.values["succeeded"] == 7
    assert simulator.told()["jobs"]["host_collections"] == 0


def test_a_collection_that_a_killed_worker_left_is_removed_by_the_next_run(
    place, simulator, monkeypatch
):
    monkeypatch.setattr(preparing, "MOST_IN_QUERY", 5)
    place.send("POST", COLLECTIONS, {"name": "somebody's", "organization_id": 1, "host_ids": [1]})
    place.begin(parameters(hosts=7))
    place.attempt = 2

    place.run(parameters(hosts=3))

    names = [each["name"] for each in place.send("GET", COLLECTIONS)["results"]]
    assert names == ["somebody's"]


def test_the_other_backend_is_another_template(place):
    measured, proofs = place.run(parameters(template=ANSIBLE_DEFAULT))

    assert all(proof.ok for proof in proofs), proofs
    assert measured.values["success"] == 100


def test_a_feature_names_the_template(place):
    _, settings = place.begin(parameters(template="", feature="ansible_run_host"))

    assert settings[1].in_force == ANSIBLE_DEFAULT
    assert place.measure(parameters(template="", feature="ansible_run_host")).failure == ""


def test_a_limit_of_hosts_at_a_time_takes_longer(place, simulator):
    simulator.set("rex_seconds", 0.02)
    free = place.run(parameters())[0].values["job_duration"]
    place.attempt = 2

    held = place.run(parameters(concurrency_level=4))[0].values["job_duration"]

    assert held > 2 * free


def test_a_host_that_fails_is_no_failure_of_the_run(place, simulator):
    simulator.behave(job_failure="connect")
    simulator.set("rex_fail_share", 0.025)

    measured, proofs = place.run(parameters())

    assert measured.failure == ""
    assert all(proof.ok for proof in proofs), proofs
    assert measured.values["success"] == 97.5
    assert (measured.units_done, measured.units_failed) == (39, 1)
    assert measured.failures == {"connect": 1}


@pytest.mark.parametrize("failure", ["script", "connect", "pickup", "timeout", "proxy", "planning"])
def test_why_hosts_fail_is_told_by_class(place, simulator, failure):
    simulator.behave(job_failure=failure)
    simulator.set("rex_fail_share", 0.5)

    measured, _ = place.run(parameters())

    assert measured.failures == {failure: 20}
    assert measured.samples["proxy"].count("") == (20 if failure == "planning" else 0)


def test_a_host_that_hangs_ends_the_run_after_a_while_without_progress(place, simulator):
    simulator.set("rex_hang_share", 0.025)
    values = parameters() | {"give_up_seconds": 0.5}

    place.begin(values)
    measured = place.measure(values)

    assert measured.failure.startswith("The job did not finish: 39 of 40 hosts had succeeded")
    assert measured.failures == {"unfinished": 1}
    assert (measured.units_done, measured.units_failed) == (39, 1)
    assert measured.censored == {"job_duration"}
    assert measured.samples["failure"].count("unfinished") == 1
    assert simulator.told()["jobs"]["running"] == 0


def test_a_job_that_a_proxy_does_not_end_is_ended_by_force(place, simulator, monkeypatch):
    monkeypatch.setattr(kind, "CANCEL_SECONDS", 0.2)
    simulator.behave(lost_cancels=1)
    simulator.set("rex_hang_share", 1.0)
    values = parameters() | {"give_up_seconds": 0.3}

    place.begin(values)
    measured = place.measure(values)

    assert "0 of 40 hosts" in measured.failure
    assert simulator.told()["jobs"]["running"] == 0


def test_the_time_of_the_run_ends_the_job(place, simulator):
    simulator.set("rex_seconds", 600)
    place.deadline_seconds = 0.3

    place.begin(parameters())
    measured = place.measure(parameters())

    assert "within the time of the run: 0 of 40 hosts" in measured.failure
    assert measured.units_failed == 40
    assert simulator.told()["jobs"]["running"] == 0


def test_a_run_ends_early_when_more_hosts_have_failed_than_may(place, simulator):
    simulator.set("rex_seconds", 0.02)
    simulator.set("rex_slots", 1)
    simulator.set("rex_fail_share", 1.0)
    place.most_failed = 0.1

    place.begin(parameters())
    measured = place.measure(parameters())
    assert simulator.told()["jobs"]["running"] == 1
    place.clean_up(parameters())

    assert measured.failure.startswith("Cut short")
    assert simulator.told()["jobs"]["running"] == 0


def test_a_job_that_somebody_cancels_says_nothing_of_the_level(place, simulator):
    simulator.set("rex_seconds", 600)
    place.begin(parameters())
    other = when_it_runs(simulator, simulator.cancel_tasks)

    with pytest.raises(TargetUnavailable, match="Somebody cancelled the job on 40 of 40 hosts"):
        place.measure(parameters())
    other.join()


def test_a_job_of_somebody_else_is_named_and_left_alone(place, simulator):
    simulator.set("rex_seconds", 600)
    place.job()

    with pytest.raises(NotClean, match="“Run hosts job: Nightly patching” of admin"):
        driver.reset(place.target, parameters(), place.context())
    assert simulator.told()["jobs"]["running"] == 1


@pytest.mark.parametrize("by", ["the request", "the description"])
def test_a_job_that_an_earlier_run_left_is_ended_first(place, simulator, by):
    simulator.set("rex_seconds", 600)
    simulator.behave(request_ids=by == "the request")
    mark = mark_of(place.target, place.context())
    place.job(mark=f"{mark}beef", name=f"{mark}beef: Run Command")
    place.attempt = 2

    proofs = driver.reset(place.target, parameters(), place.context())

    assert (
        next(proof.measured for proof in proofs if proof.name == "jobs of earlier runs ended") == 1
    )
    assert simulator.told()["jobs"]["running"] == 0


def test_a_paused_job_of_an_earlier_run_is_stopped(place, simulator):
    simulator.behave(outcome="pause", sync_seconds=0)
    mark = mark_of(place.target, place.context())
    label = "Actions::RemoteExecution::RunHostsJob"
    simulator.begin_sync(repository=3, request_id=f"{mark}beef", label=label)
    place.attempt = 2

    place.begin(parameters())

    assert simulator.told()["tasks"].get("paused", 0) == 0


def test_a_cancelled_run_ends_its_job(place, simulator):
    simulator.set("rex_seconds", 600)
    place.begin(parameters())
    when_it_runs(simulator, place.cancelled.set)

    with pytest.raises(Cancelled):
        place.measure(parameters())
    place.clean_up(parameters())

    assert simulator.told()["jobs"]["running"] == 0


def test_a_foreman_that_is_away_for_long_makes_the_run_void(place, simulator, monkeypatch):
    monkeypatch.setattr(foreman, "AWAY_SECONDS", 0.2)
    simulator.set("rex_seconds", 600)
    place.begin(parameters())
    other = when_it_runs(simulator, lambda: simulator.behave(unavailable=True))

    with pytest.raises(TargetUnavailable, match="has not answered for"):
        place.measure(parameters())
    other.join()
    simulator.behave(unavailable=False)
    place.clean_up(parameters())
    assert simulator.told()["jobs"]["running"] == 0


def test_a_foreman_that_is_away_for_a_moment_is_waited_for(place, simulator):
    simulator.set("rex_seconds", 0.5)
    place.begin(parameters())

    def blink():
        simulator.behave(unavailable=True)
        time.sleep(0.3)
        simulator.behave(unavailable=False)

    other = when_it_runs(simulator, blink)
    measured = place.measure(parameters())
    other.join()

    assert measured.values["success"] == 100


def test_whole_seconds_that_are_coarse_for_the_duration_are_warned_of(place, simulator):
    simulator.behave(duration=False, iso=False)
    simulator.set("rex_seconds", 1.2)

    measured, proofs = place.run(parameters())

    assert measured.health.verdict == "warned"
    assert "Foreman reports the duration to 1 s" in measured.health.reasons[0]
    assert (
        next(proof.measured for proof in proofs if proof.name == "resolution of the duration")
        == 1.0
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hosts": 41}, "finds 40 hosts, and the job is to run on 41"),
        ({"template": "Run Comand"}, "no job template “Run Comand”"),
        ({"template": "", "feature": "katello_upgrade"}, "no feature “katello_upgrade”"),
        ({"inputs": "comand=date"}, "has no input “comand”; it has command"),
        ({"inputs": ""}, "needs the input “command”"),
    ],
    ids=["hosts", "template", "feature", "unknown input", "missing input"],
)
def test_what_no_job_can_have_is_told_before_the_launch(place, changes, message):
    with pytest.raises(DriverError, match=message):
        driver.look(place.target, parameters(**changes), RULES)


def test_a_login_that_may_not_run_jobs_is_told_which_right_it_lacks(place, simulator):
    simulator.behave(may_run_jobs=False)
    place.begin(parameters())

    with pytest.raises(DriverError, match="create_job_invocations"):
        place.measure(parameters())


def test_a_mark_reaches_the_job(place, simulator):
    place.run(parameters())

    [job] = place.send("GET", f"{JOBS}?per_page=5")["results"]
    assert job["description"].startswith(mark_of(place.target, place.context()))


def test_the_duration_ends_with_the_last_host_and_not_with_foremans_look(place, simulator):
    simulator.behave(job_look_seconds=3)

    measured, _ = place.run(parameters())

    assert measured.values["success"] == 100
    assert measured.values["job_duration"] < 1 < measured.phases[0].seconds + 3
    assert measured.values["job_duration"] == max(measured.samples["end_seconds"])


def test_one_host_that_somebody_cancels_makes_the_run_void(place, simulator):
    simulator.set("rex_slots", 1)
    simulator.set("rex_seconds", 0.1)
    place.begin(parameters(hosts=4))

    def cancel_one():
        search = "label = Actions::RemoteExecution::RunHostJob and state = running"
        found = place.send("GET", f"/foreman_tasks/api/tasks?search={quote(search)}")["results"]
        ids = [found[0]["id"]]
        place.send("POST", "/foreman_tasks/api/tasks/bulk_cancel", {"task_ids": ids})

    other = when_it_runs(simulator, cancel_one)
    with pytest.raises(TargetUnavailable, match="Somebody cancelled the job on 1 of 4 hosts"):
        place.measure(parameters(hosts=4))
    other.join()


def test_a_cancel_by_somebody_else_is_no_overload_of_a_search(place, simulator):
    simulator.set("rex_seconds", 600)
    place.most_failed = 0.1
    place.begin(parameters())
    other = when_it_runs(simulator, simulator.cancel_tasks)

    with pytest.raises(TargetUnavailable, match="Somebody cancelled the job on 40"):
        place.measure(parameters())
    other.join()


def test_a_task_of_another_kind_that_an_earlier_run_left_is_waited_for(place, simulator):
    simulator.behave(sync_seconds=0.5)
    mark = mark_of(place.target, place.context())
    simulator.begin_sync(repository=3, request_id=f"{mark}beef")
    place.attempt = 2

    place.begin(parameters())

    assert simulator.told()["tasks"].get("running", 0) == 0


def test_a_template_that_is_gone_in_mid_campaign_makes_the_run_void(place):
    with pytest.raises(NotClean, match="no job template “Gone”"):
        driver.reset(place.target, parameters(template="Gone"), place.context())


def test_inputs_of_other_templates_are_left_to_foreman(place, simulator):
    values = parameters(inputs="command=date\nErrata search query=id = 1")
    with pytest.raises(DriverError, match="has no input “Errata search query”"):
        driver.look(place.target, values, RULES)

    simulator.behave(foreign_inputs=True)
    driver.look(place.target, values, RULES)
    measured, proofs = place.run(values)

    assert measured.values["success"] == 100
    assert all(proof.ok for proof in proofs), proofs


def test_a_run_has_time_to_read_the_tasks_of_its_hosts():
    few, many = (driver.seconds_beside_load(parameters(hosts=hosts)) for hosts in (10, 20_000))

    assert 60 < few < many
    assert many >= 100 * kind.PAGE_REST_SECONDS * 2


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, ""),
        ({"template": ANSIBLE_DEFAULT, "inputs": "command=true"}, ""),
        ({"inputs": "command=rm -rf /tmp/x"}, "The job"),
        ({"template": "Service Action - Script Default", "inputs": "command=date"}, "The job"),
        ({"template": "", "feature": "run_script"}, "The job"),
    ],
    ids=["date", "true", "another command", "another template", "feature"],
)
def test_a_job_that_changes_something_needs_a_confirmation(changes, what):
    assert driver.executes(parameters(**changes)) == what
    assert driver.rights(Target("k", "katello", "http://127.0.0.1"), RULES) == (
        "commands on the hosts of this Foreman",
    )


def test_refusals_of_the_form():
    for changes, name, words in (
        ({"feature": "run_script"}, "feature", "not both"),
        ({"template": ""}, "template", "Name a job template"),
        ({"inputs": "date"}, "inputs", "“date” is no input"),
        ({"inputs": "command=a\ncommand=b"}, "inputs", "given twice"),
        ({"concurrency_level": 0}, "concurrency_level", "greater than or equal to 1"),
        ({"hosts": 0}, "hosts", "greater than or equal to 1"),
        ({"give_up_seconds": 5}, "give_up_seconds", "greater than or equal to 60"),
    ):
        initial = {key: each.initial for key, each in RemoteExecutionForm.base_fields.items()}
        form = RemoteExecutionForm(initial | changes)
        assert not form.is_valid()
        assert words in str(form.errors[name]), (changes, form.errors)
