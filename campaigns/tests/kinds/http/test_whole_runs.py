"""Runs of the kind `http` as a worker does them, at an API that runs: in several processes and generators, and where little or nothing is answered."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import sqrt

import pytest

from campaigns.kinds.base import Target, TargetUnavailable
from campaigns.kinds.http.driver import driver
from campaigns.kinds.load.merging import merge
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.program import run_program
from campaigns.tests.kinds.http.conftest import parameters
from campaigns.tests.kinds.programs.servers import asked_head, behaving

pytestmark = pytest.mark.system

HOSTS, ROUNDS, WEIGHT = 60, 10, 0.25
WEIGHTED = """\
steps:
  - name: list
    get: /items
    take: {href: {json: results.1.href}}
  - name: read
    get: "{href}"
  - name: say
    weight: 0.25
    post: /echo/{host}/{round}
    json: {all: "{number}"}
prove:
  - {get: /count, json: requests}
"""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def run(target, context, values):
    """Do all steps of a run; give what was measured, and all proofs."""
    proofs = driver.reset(target, values, context)
    driver.apply(target, values, context)
    measured = driver.measure(target, values, context)
    if not measured.failure:
        proofs += driver.verify(target, values, context, measured)
    driver.clean_up(target, values, context)
    return measured, proofs


def gather(module, requests, deadline_seconds, progress, cancelled):
    """Run several generators on this machine, from one instant on; add their results."""
    ready, started = threading.Barrier(len(requests)), []

    def begin(_):
        ready.wait(30)
        started.append(monotonic() + 0.3)

    def one(request):
        return run_program(
            module,
            request,
            cancelled=cancelled,
            lease_seconds=lambda: 30.0,
            deadline_seconds=deadline_seconds,
            ready=begin,
            start_at=lambda: started[0] if started else None,
        )

    with ThreadPoolExecutor(len(requests)) as pool:
        outcomes = list(pool.map(one, requests))
    return replace(outcomes[0], result=merge([outcome.result for outcome in outcomes]))


@pytest.mark.parametrize("generators", [1, 2])
def test_a_weighted_scenario_of_sixty_hosts_in_two_processes_adds_up(
    target, api, keeper, generators
):
    values = parameters(
        WEIGHTED, hosts=HOSTS, iterations=ROUNDS, processes=2, generators=generators
    )

    measured, proofs = run(target, replace(keeper.context(), gather=gather), values)

    assert measured.failure == ""
    assert [proof for proof in proofs if not proof.ok] == []
    result = measured.work["played"].result
    assert len(result["processes"]) == 2 * generators
    rounds = HOSTS * ROUNDS
    asked = api.paths()
    said = [each for each in api.asked if each.path.startswith("/echo/")]
    assert (asked["GET /items"], asked["GET /items/1/"]) == (rounds, rounds)
    assert abs(len(said) - WEIGHT * rounds) <= 3 * sqrt(WEIGHT * (1 - WEIGHT) * rounds)
    assert len({each.path for each in said}) == len(said)  # no process did the round of another
    assert measured.units_done == 2 * rounds + len(said)
    assert result["steps_answered"] == {"list": rounds, "read": rounds, "say": len(said)}
    by_name = {proof.name: proof for proof in proofs}
    assert by_name["rounds"].measured == rounds
    assert by_name["requests: say"].measured == len(said)
    assert by_name["share: say"].measured == pytest.approx(len(said) / rounds, abs=1e-4)
    assert by_name["counted: requests"].measured == 2 * rounds + len(said)
    counts = {each.name: each.count for each in measured.distributions}
    assert counts["scenario_time"] == rounds
    assert counts["say: response"] == len(said)


def test_which_rounds_do_a_weighted_step_does_not_depend_on_the_processes(target, api, keeper):
    done = []
    for processes in (1, 2):
        values = parameters(WEIGHTED, hosts=5, iterations=8, processes=processes)
        driver.measure(target, values, keeper.context())
        done.append({each.path for each in api.asked if each.path.startswith("/echo/")})
        api.asked.clear()

    assert done[0] == done[1] != set()


def test_a_step_that_lacks_a_value_does_not_spoil_the_proof_of_its_weight(target, api, keeper):
    fine = "steps:\n  - {name: fine, get: /items}\n"
    lacks = WEIGHTED.replace("results.1.href", "results.7.href").replace("/echo/", "/echo/{href}/")
    lacks = lacks.replace("steps:\n", fine)

    measured, proofs = run(target, keeper.context(), parameters(lacks, hosts=2, iterations=20))

    assert measured.failures == {"protocol": 40}
    share = next(proof for proof in proofs if proof.name == "share: say")
    assert share.ok
    assert 0 < float(share.measured) < 1


BOTH = pytest.mark.parametrize("path", ["/", "/{round}"], ids=["plain", "scenario"])


@BOTH
def test_a_target_that_answers_nothing_fails_the_run_with_what_was_seen(keeper, path):
    def silent(connection):
        while asked_head(connection):
            pass

    with behaving(silent) as (place, _):
        values = parameters(
            f"steps: [{{name: one, get: '{path}'}}]", timeout_seconds=0.2, iterations=2
        )
        measured = driver.measure(
            Target("silent", "http", f"http://{place}/"), values, keeper.context()
        )

    assert measured.failures == {"timeout": 4}
    assert measured.failure.startswith(
        "No request was answered as expected (4 timeout). The first: "
    )
    assert "waited 0.2 s for the first byte" in measured.failure
    assert measured.values["failed"] == 100
    assert not measured.censored


@BOTH
def test_a_target_that_goes_half_way_leaves_sums_and_proofs_right(keeper, path):
    """From the 31st request on it hangs up without a word. Whether it has counted these requests nobody knows."""
    asked = itertools.count(1)
    heads: list[bytes] = []

    def goes(connection):
        while head := asked_head(connection):
            if b"/count" in head:
                body = b'{"all": %d}' % len(heads)
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
                )
                continue
            heads.append(head)
            if next(asked) > 30:
                return
            connection.sendall(OK)

    scenario = (
        f"steps: [{{name: one, get: '{path}'}}]\nprove: {{get: /count, json: all, delta: one}}"
    )
    with behaving(goes) as (place, _):
        target = Target("goes", "http", f"http://{place}/")
        values = parameters(scenario, iterations=20)
        measured = driver.measure(target, values, keeper.context())
        proofs = driver.verify(target, values, keeper.context(), measured)

    assert [proof for proof in proofs if not proof.ok] == []
    result = measured.work["played"].result
    assert result["steps_sent"] == {"one": len(heads)}
    assert result["steps_answered"] == {"one": 30}
    assert result["steps_unanswered"] == {"one": 10}
    assert measured.units_done == 30
    counted = next(proof for proof in proofs if proof.name == "counted: all")
    assert counted.expected == f"30 to {len(heads)}"


def test_a_target_that_gives_connections_and_no_answer_is_not_told_as_one_without_connections(
    keeper,
):
    def hangs_up(connection):
        asked_head(connection)

    with behaving(hangs_up) as (place, _):
        target = Target("hangs up", "http", f"http://{place}/")
        with pytest.raises(
            TargetUnavailable, match=r"No host got an answer: .*closed the connection"
        ):
            driver.measure(target, parameters("steps: [{name: a, get: /}]"), keeper.context())


@BOTH
def test_a_rate_so_low_that_nothing_begins_after_the_warm_up_is_told(target, api, keeper, path):
    values = parameters(
        f"steps: [{{name: one, get: '{path}'}}]",
        loop="open", rate=0.1, iterations=None, duration_seconds=0.4, warm_up_seconds=0.2,
    )  # fmt: skip

    measured = driver.measure(target, values, keeper.context())

    assert measured.failure == (
        "No request was to begin after the warm-up of 0.2 s, in which 1 were sent. Make the load longer, the warm-up "
        "shorter, or the rate of an open loop higher."
    )
    assert "achieved" not in measured.values


def test_steps_whose_weights_never_chose_them_are_told(target, api, keeper):
    rare = "steps: [{name: rare, get: /items, weight: 0.0001}, {name: rarer, get: /items, weight: 0.0001}]"

    measured = driver.measure(target, parameters(rare), keeper.context())

    assert measured.failure.startswith("In 6 rounds no step was done, as each has a weight.")
    assert api.asked == []
