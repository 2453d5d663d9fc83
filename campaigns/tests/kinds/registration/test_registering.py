"""A whole run on the simulator: clean before, hosts there, clean after; and what comes of failures."""

import os
import re
import signal
import threading
import time
from dataclasses import replace

import pytest

from campaigns.execution.machine import Machine, judge
from campaigns.kinds.base import (
    SIMULATOR,
    Cancelled,
    DriverError,
    NotClean,
    NotOurs,
    ParametersRefused,
    RemovedByOthers,
    TargetUnavailable,
)
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.registration import katello as katello_server
from campaigns.kinds.registration import requests
from campaigns.kinds.registration import running as register_running
from campaigns.kinds.registration.driver import driver
from campaigns.kinds.registration.requests import attempt_prefix
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.registration.place import ANOTHER, Place, parameters, target_of
from sandbox.process import running

pytestmark = pytest.mark.system


def whole(place, **changes):
    """Everything up to the clean-up; give what was measured, and the proofs of after."""
    values = parameters(**changes)
    assert all(proof.ok for proof in place.reset(values))
    assert all(setting.ok for setting in place.apply(values))
    measured = place.measure(values)
    return values, measured, place.verify(values, measured)


@pytest.mark.parametrize("profile", ["rhsm-1.30", "rhsm-1.29", "foreman-global"])
def test_hosts_register_are_there_and_are_gone_again(place, simulator, profile):
    values, measured, proofs = whole(place, hosts=6, profile=profile)

    assert measured.failure == ""
    assert (measured.units_done, measured.units_failed) == (6, 0)
    assert measured.values["passed"] == 6
    assert measured.values["first_try"] == measured.values["eventual"] == 100
    assert all(proof.ok for proof in proofs), proofs
    assert simulator.told()["consumers"] == simulator.told()["hosts"] == 6

    place.clean_up(values)

    assert simulator.told()["consumers"] == simulator.told()["hosts"] == 0
    assert not list(place.directory.rglob("identities-*"))


def test_the_steps_make_up_the_time_of_a_registration(place):
    _, measured, _ = whole(place, hosts=4)

    parts = sum(phase.seconds for phase in measured.phases)
    assert parts == pytest.approx(measured.values["registration_time"], rel=0.05)
    assert {each.name for each in measured.distributions} >= {"registration_time", "consumer"}
    assert measured.values["registration_rate"] == pytest.approx(
        4 / measured.values["window"], rel=1e-6
    )


@pytest.mark.parametrize(
    ("family", "sent"),
    [
        ("katello", "10 on 3 connections"),
        ("candlepin", "8 on 3 connections; left out: status_3, profile"),
    ],
)
def test_what_hosts_sent_is_counted_and_not_what_was_recorded_of_a_client(
    place, simulator, family, sent
):
    url = f"{simulator.tls_url}{'/candlepin' if family == 'candlepin' else ''}"
    place.target = target_of(simulator, family=family, base_url=url)
    values = parameters(family, hosts=3)
    place.reset(values)

    settings = place.apply(values)
    proofs = place.verify(values, place.measure(values))

    assert "requests of a host" not in {setting.name for setting in settings}
    told = next(proof for proof in proofs if proof.name == "requests of a host")
    assert told.measured == sent
    assert told.expected.startswith("rhsm-1.30: 10 on 3 connections")
    place.clean_up(values)


def test_foremans_parts_are_told_apart_and_as_a_sum(place):
    _, measured, _ = whole(place, hosts=3, profile="foreman-global")

    values = measured.values
    names = ("script_time", "subscription_time", "configuration_time", "built_time")
    assert sum(values[name] for name in names) == pytest.approx(
        values["registration_time"], rel=0.05
    )


def test_a_row_a_host_is_kept_without_keys(place):
    _, measured, _ = whole(place, hosts=3)

    columns = measured.samples
    assert {len(column) for column in columns.values()} == {3}
    assert all(
        name.startswith(attempt_prefix(place.target, "attempt/1")) for name in columns["host"]
    )
    assert set(columns) >= {
        "start_seconds",
        "total_seconds",
        "consumer_seconds",
        "status",
        "failure",
    }
    assert not any("PRIVATE" in str(column) for column in columns.values())


def test_few_hosts_have_no_percentiles_and_twenty_have_a_median(place):
    _, measured, _ = whole(place, hosts=20)

    assert "registration_time_p50" in measured.values
    assert "registration_time_p95" not in measured.values


def test_a_ramp_spreads_the_starts(place):
    _, measured, _ = whole(place, hosts=5, start="ramp", ramp_seconds=1.0)

    assert 0.7 < measured.values["start_spread"] < 1.5


def test_hosts_arrive_at_a_rate_each_another_and_who_finds_no_place_is_not_begun(place, simulator):
    simulator.behave(answer_seconds=0.2)

    _, measured, proofs = whole(place, hosts=3, start="arrivals", rate=10, ramp_seconds=2.0)

    assert all(proof.ok for proof in proofs)
    not_begun = measured.values["not_begun"]
    assert 0 < not_begun < 20
    assert measured.units_done == 20 - not_begun
    assert (measured.values["at_a_time"], measured.values["offered_rate"]) == (3, 10)
    assert max(next(each for each in measured.series if each.name == "hosts at a time").values) == 3
    assert len(set(measured.samples["host"])) == measured.units_done
    assert measured.health.verdict == "saturated"


def test_hosts_that_failed_try_again_apart_from_the_others(place, simulator):
    simulator.behave(fault="unavailable", fault_on="^POST /rhsm/consumers", fault_share=0.5)

    _, measured, proofs = whole(place, hosts=12, retry_rounds=5, retry_hosts=3)

    assert 0 < measured.units_failed < 12
    assert measured.failures == {"5xx": measured.units_failed}
    assert measured.values["first_try"] < measured.values["eventual"]
    assert measured.values["eventual"] > 80
    assert "retry" in measured.samples["eventual"]
    assert sum(
        each.count for each in measured.distributions if each.name == "registration_time"
    ) == (measured.units_done)
    assert all(proof.ok for proof in proofs), proofs


def test_a_run_without_any_host_has_failed_and_says_why(place, simulator):
    simulator.behave(fault="rate", fault_on="^POST /rhsm/consumers")
    values = parameters(hosts=4)
    place.reset(values)

    measured = place.measure(values)

    assert measured.failure.startswith("None of 4 hosts registered (4 429).")
    assert "registration_time" not in measured.values
    assert measured.values["failed"] == 4


def test_what_timed_out_is_above_its_limit(place, simulator):
    simulator.behave(fault="hang", fault_on="certificates/serials", fault_share=0.7)
    values = parameters(hosts=20, timeout_seconds=0.8)
    place.reset(values)

    measured = place.measure(values)

    assert measured.failures["timeout"] > 10
    assert "registration_time_p50" in measured.censored
    assert measured.values["registration_time_p50"] >= 0.8


def test_hosts_of_a_run_that_died_are_removed_and_no_others(place, simulator, tmp_path):
    whole(place, hosts=3)
    stranger = Place(place.target, tmp_path / "other", attempt=7)
    mine = own_prefix(place.target)
    values = parameters(hosts=2)
    request_of_another(stranger, values)
    assert simulator.told()["hosts"] == 5

    fresh = Place(place.target, tmp_path / "later", attempt=2)
    proofs = fresh.reset(values)

    assert [proof.measured for proof in proofs[:3]] == [3, 0, 2]
    assert simulator.told()["hosts"] == simulator.told()["consumers"] == 2
    with pytest.raises(NotOurs, match=rf"2 hosts that another perfdash registered.*{mine}"):
        driver.look(place.target, values, place.context().rules)


def test_hosts_of_every_organization_are_removed(place, simulator, tmp_path):
    whole(place, hosts=2)
    other = Place(place.target, tmp_path / "other", attempt=2)
    values = parameters(hosts=2, organization="Other", activation_keys="other-ak")
    other.context().directory.mkdir(parents=True)
    other.measure(values)
    assert simulator.told()["hosts"] == 4

    Place(place.target, tmp_path / "later", attempt=3).reset(parameters())

    assert simulator.told()["hosts"] == simulator.told()["consumers"] == 0


def test_what_so_many_identities_cost_is_told(place):
    _, measured, _ = whole(place, hosts=4)

    figures = measured.health.figures
    names = {"tls_p50_seconds", "connect_p50_seconds", "identity_mean_seconds", "peak_memory_bytes"}
    assert all(figures[name] > 0 for name in names)
    counts = {each.name: each.count for each in measured.distributions}
    assert counts["tls"] == counts["connect"] == 3 * 4


def test_a_host_of_somebody_else_that_the_search_finds_too_stops_everything(
    place, simulator, tmp_path
):
    stranger = Place(place.target, tmp_path / "other", attempt=7)
    request_of_another(stranger, parameters(hosts=1), f"old-{own_prefix(place.target)}a7-")

    with pytest.raises(NotClean, match="which is none of them"):
        place.reset(parameters())
    assert simulator.told()["hosts"] == 1


def test_hosts_of_populations_are_left_alone(place, simulator, tmp_path):
    other = Place(place.target, tmp_path / "other", attempt=7)
    request_of_another(other, parameters(hosts=2), f"{own_prefix(place.target)}p7-")

    _, _, verified = whole(place, hosts=1)
    proofs = place.reset(parameters())

    assert all(proof.ok for proof in (*verified, *proofs))
    assert [proof.measured for proof in proofs[:3]] == [1, 0, 0]
    assert simulator.told()["hosts"] == 2
    driver.look(place.target, parameters(), place.context().rules)


def request_of_another(place, values, prefix=f"perfdash-{ANOTHER}-a7-"):
    """Let another installation register hosts, whose names begin otherwise."""
    context = place.context()
    context.directory.mkdir(parents=True)
    asked = requests.registering(place.target, values, context, 30.0) | {"prefix": prefix}
    outcome = context.generate(requests.REGISTERS, [asked], 40.0)
    assert outcome.result["hosts_done"] == values["hosts"]


def test_a_task_that_runs_keeps_a_run_from_beginning(place, simulator, monkeypatch):
    monkeypatch.setattr("campaigns.kinds.registration.katello.IDLE_SECONDS", 0.1)
    simulator.behave(sync_seconds=30)
    simulator.begin_sync(repository=3, user="jane")
    assert until(lambda: simulator.told()["tasks"].get("running"))

    proofs = place.reset(parameters())

    busy = next(proof for proof in proofs if "tasks" in proof.name)
    assert not busy.ok
    assert "jane" in str(busy.measured)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"activation_keys": "nope"}, "no activation key nope; it has bench-ak"),
        ({"organization": "X"}, "no organization with the label X"),
    ],
)
def test_an_unknown_key_or_organization_is_refused_before_any_load(
    place, simulator, changes, words
):
    with pytest.raises(ParametersRefused, match=words) as refused:
        place.apply(parameters(**changes))

    assert set(refused.value.refused) == set(changes)
    assert "POST rhsm" not in simulator.told()["requests"]


def test_a_key_that_lets_fewer_in_is_warned_of_and_refuses_the_rest(place, simulator):
    simulator.behave(host_limit=3)

    _, measured, _ = whole(place, hosts=5, activation_keys="few-ak")

    assert any("lets 3 hosts in" in line for line in place.lines)
    assert measured.failures == {"4xx": 2}
    assert set(measured.samples["status"]) == {200, 409}


def test_a_server_that_is_not_trusted_is_no_observation(place):
    with running(katello={}) as other:
        place.target = target_of(other.katello, tls=place.target.tls)
        values = parameters()

        with pytest.raises(TargetUnavailable, match="CA bundle"):
            place.reset(values)
        place.context().directory.mkdir(parents=True, exist_ok=True)
        with pytest.raises(TargetUnavailable, match="None of 10 hosts got a connection"):
            place.measure(values)


def test_without_tls_no_host_could_show_its_certificate(place, simulator):
    place.target = target_of(simulator, base_url=simulator.base_url, tls=Tls())

    with pytest.raises(DriverError, match="has to begin with https"):
        place.reset(parameters())


def test_a_target_that_vanishes_in_mid_run_has_failed_it(tmp_path):
    with running(katello={"answer_seconds": 0.05}) as sandbox:
        place = Place(target_of(sandbox.katello), tmp_path)
        values = parameters(hosts=12, start="ramp", ramp_seconds=6.0, timeout_seconds=2.0)
        place.reset(values)
        killer = threading.Thread(target=when_some_registered, args=(sandbox,))
        killer.start()
        measured = place.measure(values)
        killer.join()

    assert measured.failure.startswith("The target stopped answering in the middle of the run: ")
    assert 0 < measured.units_done < 12
    assert measured.units_failed == 12 - measured.units_done


def when_some_registered(sandbox):
    assert until(lambda: sandbox.katello.told()["consumers"] >= 5)
    os.kill(sandbox.pid, signal.SIGKILL)


@pytest.fixture
def removed(place, monkeypatch):
    """Let somebody else remove the hosts while they register: one who restored a copy of this perfdash."""
    register = register_running.register

    def register_and_remove(target, parameters, context, command):
        try:
            return register(target, parameters, context, command)
        finally:
            Place(target, place.directory / "a copy", attempt=2).reset(parameters)

    monkeypatch.setattr("campaigns.kinds.registration.driver.register", register_and_remove)


@pytest.mark.parametrize("family", ["katello", "candlepin"])
def test_hosts_that_somebody_removes_while_they_register_make_the_run_void(
    place, simulator, removed, family
):
    url = f"{simulator.tls_url}{'/candlepin' if family == 'candlepin' else ''}"
    place.target = target_of(simulator, family=family, base_url=url)
    values = parameters(family, hosts=2)
    place.reset(values)
    simulator.behave(fault="gone", fault_on="accessible_content")

    with pytest.raises(RemovedByOthers, match="2 hosts were removed from the server while"):
        place.measure(values)


def test_a_run_of_removed_hosts_that_was_cut_short_is_void(place, simulator, removed):
    values = parameters(hosts=12, start="ramp", ramp_seconds=3.0)
    place.reset(values)
    simulator.behave(fault="gone", fault_on="accessible_content", fault_share=0.5)

    with pytest.raises(RemovedByOthers, match=r"hosts had registered, and the server has 0"):
        driver.measure(place.target, values, replace(place.context(), most_failed=0.2))


def test_a_server_that_denies_hosts_that_it_has_fails_them(place, simulator):
    simulator.behave(fault="gone", fault_on="accessible_content")
    values = parameters(hosts=2)
    place.reset(values)

    measured = place.measure(values)

    assert measured.failures == {"4xx": 2}


def test_a_cancelled_run_leaves_no_host(place, simulator):
    simulator.behave(answer_seconds=0.1)
    values = parameters(hosts=10)
    place.reset(values)
    waiting = threading.Thread(target=cancel_when_registered, args=(place, simulator))
    waiting.start()

    with pytest.raises(Cancelled):
        place.measure(values)
    waiting.join()
    place.clean_up(values)

    assert simulator.told()["consumers"] == simulator.told()["hosts"] == 0


@pytest.mark.parametrize("family", ["katello", "candlepin"])
def test_hosts_that_the_server_registers_after_the_end_of_a_cancelled_run_are_removed(
    place, simulator, family
):
    """The four requests are under way when the run is cancelled, and the server commits them after the first looks."""
    url = f"{simulator.tls_url}{'/candlepin' if family == 'candlepin' else ''}"
    place.target = target_of(simulator, family=family, base_url=url)
    values = parameters(family, hosts=4)
    place.reset(values)
    cancelled_with_all_under_way(place, simulator, values)
    committing = threading.Thread(target=commit_after_two_looks, args=(simulator,))
    committing.start()
    place.clean_up(values)
    committing.join()

    told = simulator.told()
    assert (told["consumers"], told["hosts"], told["committing"]) == (0, 0, 0)
    assert re.search(r"clean-up: 4 hosts removed, 4 of them appeared up to \d", place.lines[-1])


def test_hosts_that_register_while_others_are_deleted_are_left_to_the_next_look(
    place, simulator, monkeypatch
):
    """The server works off what a cancelled run has asked: its deletion is waited for, not a moment without any host."""
    values = parameters(hosts=3)
    place.reset(values)
    place.measure(values)
    monkeypatch.setattr(katello_server, "CLEAR_SECONDS", 5.0)
    really_destroy, again = katello_server._destroy, list[bool]()

    def destroy(*arguments):
        really_destroy(*arguments)
        if not again:
            again.append(True)
            place.measure(values)

    monkeypatch.setattr(katello_server, "_destroy", destroy)

    place.clean_up(values)
    assert simulator.told()["hosts"] == 3
    place.clean_up(values)
    assert simulator.told()["hosts"] == simulator.told()["consumers"] == 0


def test_hosts_whose_retry_was_under_way_are_removed_too(place, simulator, monkeypatch):
    simulator.behave(fault="unavailable", fault_on="^POST /rhsm/consumers")
    values = parameters(hosts=2, retry_rounds=1, retry_hosts=2)
    place.reset(values)
    again = requests.again

    def again_and_held(*arguments):
        simulator.behave(fault="", commit_seconds=3600.0)
        return again(*arguments)

    monkeypatch.setattr(register_running, "again", again_and_held)
    cancelled_with_all_under_way(place, simulator, values, hosts=2, hold=False)
    simulator.behave(commit_seconds=0.0)
    committing = threading.Thread(target=commit_after_two_looks, args=(simulator,))
    committing.start()
    place.clean_up(values)
    committing.join()

    assert simulator.told()["hosts"] == simulator.told()["consumers"] == 0
    assert "2 of them appeared up to" in place.lines[-1]


def cancelled_with_all_under_way(place, simulator, values, hosts=4, hold=True):
    def cancel():
        assert until(lambda: simulator.told()["committing"] == hosts)
        place.cancelled.set()

    if hold:
        simulator.behave(commit_seconds=3600.0)
    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(Cancelled):
        place.measure(values)
    cancelling.join()


def commit_after_two_looks(simulator):
    def looks():
        return sum(count for name, count in simulator.told()["requests"].items() if "GET" in name)

    before = looks()
    assert until(lambda: looks() > before + 2)
    simulator.commit()


def test_what_may_be_left_without_a_user_who_could_look_is_told(place, simulator):
    place.target = target_of(
        simulator, family="candlepin", base_url=f"{simulator.tls_url}/candlepin",
        username="", password="",
    )  # fmt: skip
    values = parameters("candlepin", hosts=4)
    place.reset(values)
    cancelled_with_all_under_way(place, simulator, values)

    place.clean_up(values)

    assert "up to 4 hosts named perfdash-0a1b2c3d-a1-… may be left" in place.lines[-1]


def cancel_when_registered(place, simulator):
    assert until(lambda: simulator.told()["consumers"] >= 3)
    place.cancelled.set()


def test_the_owners_rate_is_kept_and_makes_the_values_bounds(place):
    place.most_per_second = 40.0

    _, measured, _ = whole(place, hosts=5)

    assert measured.values["window"] > 50 / 40 * 0.9
    assert measured.health.verdict == "saturated"
    assert any("40 requests/s" in reason for reason in measured.health.reasons)


def test_ten_thousand_hosts_on_1024_descriptors_are_refused_before_the_start():
    machine = Machine(descriptors=1024, memory=2**40, ports=50_000, disk=2**40, directory="here")

    found = judge(machine, driver.concurrency(parameters(hosts=10_000)))

    assert "10,000 connections need more open files than the 1,024" in found.problems[0]
    assert "ulimit -Hn" in found.problems[0]


def test_the_facts_say_what_no_api_tells(place):
    place.target = replace(
        place.target, settings={"puma_workers": 4}, hardware="puma_threads: 16, SSD"
    )

    facts = place.environment()

    assert facts["puma_workers"] == "4 (typed in by the operator)"
    assert facts["puma_threads"] == "16 (typed in by the operator)"
    assert facts["db_pool"] == "unknown: no API tells it"
    assert facts["setting host_profile_assume"] == "True"
    assert facts[SIMULATOR].startswith("simulated Katello")
    assert facts["online workers"] == "4"


def test_advice_stands_in_the_log_and_among_the_checks(place):
    place.target = replace(
        place.target, settings={"puma_workers": 48, "puma_threads": 16, "cpus": 4}
    )

    place.apply(parameters())
    proofs = driver.probe(place.target, place.context().rules)

    assert any(
        "48 workers with 16 threads may open 960 connections" in line for line in place.lines
    )
    assert [proof.ok for proof in proofs if proof.name == "advice"] == [True]


def test_settings_that_a_run_puts_in_force_are_advised_on_too(place):
    place.target = replace(
        place.target, hardware="puma_threads 5", wanted={"puma_workers": 48, "puma_threads": 16}
    )

    place.apply(parameters())

    assert any("48 workers with 16 threads may open 960" in line for line in place.lines)
    assert place.environment()["puma_threads"].startswith("set and read back by perfdash")


def test_services_that_are_away_keep_a_run_from_beginning(place, simulator):
    simulator.behave(failing_service="pulp3")

    with pytest.raises(TargetUnavailable, match="pulp3"):
        place.reset(parameters())


def test_a_run_that_fails_for_certain_is_cut_short(place, simulator):
    simulator.behave(
        fault="unavailable", fault_on="^POST /rhsm/consumers", fault_share=0.5, answer_seconds=1
    )
    values = parameters(hosts=20)
    place.reset(values)
    began_at = time.monotonic()

    measured = driver.measure(place.target, values, replace(place.context(), most_failed=0.05))

    assert time.monotonic() - began_at < 9  # ten requests of 1 s
    assert measured.failure.startswith("Cut short: ")
    assert measured.units_failed > 1
    assert measured.units_done + measured.units_failed == 20
    assert measured.values == {}
    simulator.behave(fault="", answer_seconds=0)
    place.clean_up(values)
    assert simulator.told()["hosts"] == simulator.told()["consumers"] == 0


def test_a_run_whose_failures_are_few_goes_on_to_its_end(place, simulator):
    simulator.behave(fault="unavailable", fault_on="^POST /rhsm/consumers", fault_share=0.5)
    values = parameters(hosts=6)
    place.reset(values)

    measured = driver.measure(place.target, values, replace(place.context(), most_failed=1.0))

    assert measured.values["passed"] + measured.values["failed"] == 6
