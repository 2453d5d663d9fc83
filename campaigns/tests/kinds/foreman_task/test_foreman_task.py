"""The kind `foreman_task` against the simulated Katello: none has been seen for real yet."""

import json
import threading
import time
from dataclasses import replace

import pytest

from campaigns.kinds.base import (
    Cancelled,
    DriverError,
    NotClean,
    RemovedByOthers,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.foreman import mark_of
from campaigns.kinds.foreman_task import driver as kind
from campaigns.kinds.foreman_task.driver import driver
from campaigns.kinds.foreman_task.form import ForemanTaskForm
from campaigns.kinds.servers import katello as client_of
from campaigns.tests.kinds.foreman_place import RULES, Place, when
from campaigns.tests.kinds.programs.processes import until
from sandbox.process import running

pytestmark = pytest.mark.system
VIEWS = "/katello/api/v2/content_views"


@pytest.fixture(scope="module")
def simulator():
    settings = {"publish_seconds": 0.1, "promote_seconds": 0.1, "iso": True}
    with running(katello=settings) as sandbox:
        yield sandbox.katello


@pytest.fixture
def place(simulator, tmp_path, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    simulator.renew()
    target = Target("simulator", "katello", simulator.base_url, "admin", "password")
    yield Place(driver, replace(target, installation="0a1b2c3d"), tmp_path)
    simulator.renew()


def parameters(**changes):
    initial = {name: each.initial for name, each in ForemanTaskForm.base_fields.items()}
    form = ForemanTaskForm(initial | {"repository_ids": "3, 5"} | changes)
    assert form.is_valid(), form.errors
    return form.cleaned_data


def made(place):
    """The ids of the content views of the attempt."""
    return json.loads((place.context().directory / "content_views.json").read_text())["views"]


def mark(place):
    """A request id of the attempt."""
    return f"{mark_of(place.target, place.context())}beef"


def left(simulator):
    return simulator.told()["content_views"]


def when_it_runs(simulator, action):
    """Do something as soon as a task runs."""
    return when(lambda: simulator.told()["tasks"].get("running"), action)


def test_a_promotion_needs_an_environment():
    form = ForemanTaskForm({"task": "promote", "content_views": 1, "repository_ids": "3"})

    assert form.errors == {"environment": ["Name the environment to promote to, such as Test."]}


def test_content_views_are_published_at_once_and_removed(place, simulator):
    measured, proofs = place.run(parameters(content_views=3))

    assert all(proof.ok for proof in proofs), proofs
    values = measured.values
    assert values["task_time_p50"] <= values["task_time_max"] <= values["duration"] + 0.002
    assert values["duration"] < values["wall_duration"]
    assert values["task_rate"] == pytest.approx(3 / values["duration"])
    assert measured.samples["state"] == ["stopped, success"] * 3
    assert (measured.units_done, measured.units_failed) == (3, 0)
    assert measured.health.verdict == "healthy"
    assert left(simulator) == 0
    assert place.lines == ["clean-up: 3 content views removed"]


def test_content_views_are_promoted_to_an_environment(place, simulator):
    measured, proofs = place.run(parameters(task="promote", environment="Test", content_views=2))

    assert {proof.name for proof in proofs if proof.ok} >= {
        "content views with one version, in Test"
    }
    assert measured.samples["task"][0].startswith("Promote content view")
    assert left(simulator) == 0


def test_more_dynflow_workers_publish_several_sooner_as_the_model_says(place, simulator):
    simulator.behave(publish_seconds=0.4)
    durations = []
    for place.attempt, workers in enumerate((1, 3), start=1):
        simulator.set("dynflow_workers", workers)
        durations.append(place.run(parameters(content_views=4))[0].values["duration"])

    assert durations[0] / durations[1] == pytest.approx(2.8 / 1.6, rel=0.2)


def test_what_waits_for_a_thread_is_told(place, simulator):
    simulator.set("dynflow_threads", 1)
    simulator.behave(publish_seconds=0.5)

    measured, _ = place.run(parameters(content_views=2))

    assert measured.values["wait"] >= 0.05


def test_views_of_others_are_not_touched(place, simulator):
    theirs = place.send("POST", VIEWS, {"name": "ours", "repository_ids": [3]})["id"]
    alike = place.send(
        "POST", VIEWS, {"name": "perfdash-4e5f6071-attempt-1-1", "repository_ids": [3]}
    )

    place.run(parameters())

    assert {theirs, alike["id"]} == {
        each["id"] for each in [place_view(place, theirs), place_view(place, alike["id"])]
    }


def place_view(place, pk):
    return place.send("GET", f"{VIEWS}/{pk}")


def test_what_a_dead_run_left_is_ended_and_removed_by_the_next(place, simulator):
    simulator.behave(publish_seconds=60)
    values = parameters(content_views=2)
    place.begin(values)
    name = f"{place.target.installation}-attempt-1-"
    work = json.loads((place.context().directory / "content_views.json").read_text())
    for pk in work["views"]:
        assert name in place_view(place, pk)["name"]
    thread = when_it_runs(simulator, place.cancelled.set)
    with pytest.raises(Cancelled):
        place.measure(values)
    thread.join()
    simulator.behave(publish_seconds=0.1)
    place.attempt, place.cancelled = 2, threading.Event()

    measured, _ = place.run(values)

    assert not measured.failure
    assert left(simulator) == 0


def test_cancelling_removes_what_was_made(place, simulator):
    simulator.behave(publish_seconds=60)
    values = parameters()
    place.begin(values)
    thread = when_it_runs(simulator, place.cancelled.set)

    with pytest.raises(Cancelled):
        place.measure(values)
    thread.join()
    place.clean_up(values)

    assert left(simulator) == 0
    assert not simulator.told()["tasks"].get("running")


def test_the_time_limit_ends_the_tasks_and_is_a_lower_limit(place, simulator):
    simulator.behave(publish_seconds=60)
    place.deadline_seconds = 0.5
    values = parameters(content_views=2)
    place.begin(values)

    measured = place.measure(values)

    assert "time limit of 0.5 s ended the run with 0 of 2 tasks" in measured.failure
    assert measured.censored == {"duration", "wall_duration"}
    assert (measured.units_done, measured.units_failed) == (0, 2)


def test_tasks_that_fail_are_counted_and_told(place, simulator):
    simulator.behave(outcome="error", error="Pulp ran into an error")
    values = parameters(content_views=2)
    place.begin(values)

    measured = place.measure(values)
    simulator.behave(outcome="success")
    place.clean_up(values)

    assert measured.failure == (
        "2 of 2 tasks failed (2 error). Foreman says: Pulp ran into an error"
    )
    assert "duration" not in measured.values
    assert left(simulator) == 0


def test_a_task_that_somebody_cancels_makes_the_run_void(place, simulator):
    simulator.behave(publish_seconds=60)
    values = parameters()
    place.begin(values)
    thread = when_it_runs(simulator, simulator.cancel_tasks)

    with pytest.raises(TargetUnavailable, match="Somebody cancelled 1 of 1 tasks"):
        place.measure(values)
    thread.join()


def test_somebody_elses_task_is_named_and_nothing_is_measured(place, simulator):
    simulator.behave(sync_seconds=60)
    simulator.begin_sync(repository=3, user="jane")

    with pytest.raises(NotClean, match=r"at work on 1 other task, such as “Synchronize.*of jane"):
        driver.reset(place.target, parameters(), place.context())


def test_a_task_of_somebody_else_on_a_view_of_ours_is_not_ended(place, simulator):
    values = parameters(content_views=3)
    place.begin(values)
    _, second, _ = made(place)
    simulator.behave(publish_seconds=60)
    place.send("POST", f"{VIEWS}/{second}/publish")

    with pytest.raises(NotClean, match="Somebody else works on a content view of perfdash"):
        place.clean_up(values)

    assert left(simulator) == 1  # the others are removed all the same


def test_a_removal_that_fails_says_what_is_left(place, simulator):
    values = parameters()
    place.begin(values)
    simulator.behave(outcome="error", error="locked by Pulp")

    with pytest.raises(
        NotClean, match=r"did not remove the content view.*locked by Pulp.*Remove it"
    ):
        place.clean_up(values)


def test_a_view_whose_removal_failed_is_still_there(place, simulator):
    values = parameters()
    place.begin(values)
    simulator.behave(outcome="error")
    with pytest.raises(NotClean):
        place.clean_up(values)
    assert left(simulator) == 1


def test_a_removal_that_goes_on_is_waited_for_and_not_cancelled(place, simulator):
    values = parameters()
    place.begin(values)
    (pk,) = made(place)
    place.send("PUT", f"{VIEWS}/{pk}/remove", {"destroy_content_view": True}, mark(place))

    place.clean_up(values)

    assert left(simulator) == 0
    assert simulator.told()["tasks"] == {"stopped": 1}


def test_a_view_that_somebody_removes_makes_the_run_void(place, simulator):
    values = parameters()
    place.begin(values)
    (pk,) = made(place)
    place.send("PUT", f"{VIEWS}/{pk}/remove", {"destroy_content_view": True})
    assert until(lambda: left(simulator) == 0)

    with pytest.raises(RemovedByOthers):
        place.measure(values)


def test_a_foreman_that_is_away_at_the_time_limit_makes_the_run_void(place, simulator):
    simulator.behave(publish_seconds=60)
    place.deadline_seconds = 1.0
    values = parameters()
    place.begin(values)
    thread = when_it_runs(simulator, lambda: simulator.behave(unavailable=True))

    with pytest.raises(TargetUnavailable, match="has not answered for"):
        place.measure(values)
    thread.join()
    simulator.behave(unavailable=False)


def test_tasks_that_have_ended_before_the_time_limit_are_seen(place, simulator, monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 2.0)  # one rest, until after the time limit
    simulator.behave(publish_seconds=0.01)
    place.deadline_seconds = 1.0
    values = parameters(content_views=12)
    place.begin(values)

    measured = place.measure(values)

    assert not measured.failure
    assert measured.units_done == 12


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repository_ids": "99"}, "no repository 99"),
        ({"repository_ids": "8"}, "holds no content yet"),
        ({"task": "promote", "environment": "Nowhere"}, "“Nowhere”; after Library there are Test"),
        ({"task": "promote", "environment": "Production"}, "right after Library are Test"),
        ({"task": "promote", "environment": "Library"}, "right after Library are Test"),
    ],
)
def test_what_cannot_be_asked_is_told_before_a_run(place, changes, words):
    with pytest.raises(DriverError, match=words):
        driver.look(place.target, parameters(**changes), RULES)


def test_whole_seconds_are_told_and_a_short_task_has_no_duration(place, simulator):
    values = parameters()
    place.begin(values)
    until_next = -time.time() % 1  # noqa: TID251 - the clock of the simulator follows it
    simulator.behave(
        duration=False, iso=False, publish_seconds=0.01, clock_offset_seconds=until_next
    )

    measured = place.measure(values)  # within a second of the simulator's clock

    assert "reports whole seconds only" in measured.failure


def test_the_presets_are_of_repositories_of_the_sandbox():
    named = {preset.name: preset for preset in driver.presets("http://sandbox.example")}

    assert named["dynflow-workers"].factors == {"dynflow_workers": ("1", "3")}
    assert named["ten-at-once"].parameters["repository_ids"] == "3, 5"
    assert all("repository_ids" not in each.parameters for each in driver.presets(""))
    assert kind.KATELLO in driver.families


def test_each_repository_is_asked_for_once(place, simulator):
    asked = "GET katello"
    before = simulator.told()["requests"].get(asked, 0)

    driver.look(place.target, parameters(), RULES)

    assert simulator.told()["requests"][asked] - before == 2


def registered(place, count):
    """Register hosts, as their own clients do; return their ids."""
    for number in range(count):
        facts = {"network.hostname": f"host{number}.example", "dmi.system.uuid": f"dmi-{number}"}
        path = "/rhsm/consumers?owner=ACME&activation_keys=bench-ak"
        place.send("POST", path, {"facts": facts})
    return [number + 1 for number in range(count)]


def applicability(**changes):
    return parameters(
        task="applicability", repository_ids="", search_query="name ~ example", **changes
    )


@pytest.mark.parametrize("environment", ["", "Test"])
def test_content_views_are_synced_to_a_proxy_at_once_and_removed(place, simulator, environment):
    values = parameters(task="sync", proxy=2, content_views=3, environment=environment)

    measured, proofs = place.run(values)

    assert all(proof.ok for proof in proofs), proofs
    assert f"content views with one version, in {environment or 'Library'}" in {
        proof.name for proof in proofs
    }
    assert measured.samples["state"] == ["stopped, success"] * 3
    assert {task[:22] for task in measured.samples["task"]} == {"Synchronize smart prox"}
    assert measured.values["duration"] > 0
    assert left(simulator) == 0


def test_more_content_views_on_one_worker_are_synced_later_as_the_model_says(place, simulator):
    simulator.behave(proxy_sync_seconds=0.4)
    durations = []
    for place.attempt, count in enumerate((1, 4), start=1):
        values = parameters(task="sync", proxy=2, content_views=count)
        durations.append(place.run(values)[0].values["duration"])

    assert durations[1] / durations[0] == pytest.approx(2.8, rel=0.2)


@pytest.mark.parametrize(
    ("changes", "behaviour", "words"),
    [
        ({"proxy": 99}, {}, "no smart proxy 99"),
        ({"proxy": 4}, {}, "does not take content"),
        (
            {"proxy": 2, "environment": "Production"},
            {},
            "environments right after Library are Test",
        ),
        ({"proxy": 1}, {}, "does not hold the lifecycle environment “Library”; it holds none"),
        (
            {"proxy": 2},
            {"foreman_proxy_content_auto_sync": True},
            "Set foreman_proxy_content_auto_sync to No",
        ),
    ],
)
def test_a_sync_that_cannot_be_measured_is_told_before_a_run(
    place, simulator, changes, behaviour, words
):
    simulator.behave(**behaviour)

    with pytest.raises(DriverError, match=words):
        driver.look(place.target, parameters(task="sync", **changes), RULES)


def test_syncs_of_a_dead_run_are_ended_by_the_next_and_those_of_others_are_not(place, simulator):
    simulator.behave(proxy_sync_seconds=60)
    values = parameters(task="sync", proxy=2)
    place.begin(values)
    thread = when_it_runs(simulator, place.cancelled.set)
    with pytest.raises(Cancelled):
        place.measure(values)
    thread.join()
    simulator.behave(proxy_sync_seconds=0.1)
    place.attempt, place.cancelled = 2, threading.Event()

    measured, _ = place.run(values)

    assert not measured.failure
    assert simulator.told()["tasks"].get("running", 0) == 0
    simulator.begin_sync(proxy=2)
    with pytest.raises(NotClean, match="other task"):
        driver.reset(place.target, values, place.context())
    assert simulator.told()["tasks"]["running"] == 1


def test_a_cancelled_sync_leaves_nothing(place, simulator):
    simulator.behave(proxy_sync_seconds=60)
    values = parameters(task="sync", proxy=2, content_views=2)
    place.begin(values)
    thread = when_it_runs(simulator, place.cancelled.set)
    with pytest.raises(Cancelled):
        place.measure(values)
    thread.join()
    place.cancelled.clear()

    place.clean_up(values)

    assert left(simulator) == 0
    assert simulator.told()["tasks"].get("running", 0) == 0


def test_a_sync_needs_a_proxy_and_repositories():
    form = ForemanTaskForm({"task": "sync", "content_views": 1, "hosts": 1})

    assert form.errors == {
        "proxy": ["Give the id of the smart proxy to sync to."],
        "repository_ids": ["Give the ids of the repositories that content views hold."],
    }


def test_the_errata_of_many_hosts_are_found_by_tasks_for_up_to_50_of_them(place, simulator):
    simulator.behave(applicability_seconds=0.01)
    registered(place, 70)

    measured, proofs = place.run(applicability(hosts=60))

    assert all(proof.ok for proof in proofs), proofs
    assert (measured.units_done, measured.units_failed) == (60, 0)
    assert 2 <= len(measured.samples["task"]) <= 60
    assert measured.values["host_rate"] == pytest.approx(60 / measured.values["duration"])
    assert simulator.told()["hosts"] == 70


def test_a_run_within_the_second_of_another_one_has_its_own_tasks(place, simulator):
    simulator.behave(applicability_seconds=0.01)
    registered(place, 4)
    known = []
    for place.attempt in (1, 2, 3, 4):
        measured, _ = place.run(applicability(hosts=4))
        known.append(len(measured.samples["task"]))
    tasks = place.send(
        "GET",
        "/foreman_tasks/api/tasks?search=label%20%3D%20Actions::Katello::Applicability::Hosts::BulkGenerate&per_page=100",
    )
    assert sum(known) == len(tasks["results"])


def test_no_host_is_asked_for_after_the_time_limit(place, simulator):
    simulator.behave(applicability_seconds=0.01)
    registered(place, 20)
    values = applicability(hosts=20)
    place.begin(values)
    place.deadline_seconds = 0.0

    measured = place.measure(values)

    assert "0 of 20 hosts were done" in measured.failure
    time.sleep(0.2)
    tasks = place.send(
        "GET",
        "/foreman_tasks/api/tasks?search=label%20%3D%20Actions::Katello::Applicability::Hosts::BulkGenerate&per_page=100",
    )
    assert tasks["results"] == []


def test_too_few_hosts_are_told_before_a_run(place):
    registered(place, 3)

    with pytest.raises(DriverError, match="finds 3 hosts with content, and 4 are asked for"):
        driver.look(place.target, applicability(hosts=4), RULES)


def test_hosts_that_are_not_done_in_time_have_failed(place, simulator):
    simulator.behave(applicability_seconds=5)
    registered(place, 2)
    values = applicability(hosts=2)
    place.begin(values)
    place.deadline_seconds = 0.5

    measured = place.measure(values)

    assert "0 of 2 hosts were done" in measured.failure
    assert (measured.units_done, measured.units_failed) == (0, 2)
    assert measured.censored >= {"duration"}
