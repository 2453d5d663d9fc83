"""The kind against the sandbox's server of files: the whole of a run, what the pilot host finds, and what is refused."""

import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
import requests

from campaigns.kinds.base import DriverError, ParametersRefused, Target, TargetUnavailable
from campaigns.kinds.content_delivery.driver import driver
from campaigns.tests.kinds.content_delivery.parameters import parameters_of
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.ports import free_port

pytestmark = pytest.mark.system


def requests_of(sandbox):
    return requests.get(f"{sandbox.base_url}/stats", timeout=10).json()["all"]["requests"]


def run(target, parameters, keeper):
    """Return the proofs before, what was measured, and the proofs after."""
    context = keeper.context()
    before = driver.reset(target, parameters, context)
    settings = driver.apply(target, parameters, context)
    measured = driver.measure(target, parameters, context)
    after = driver.verify(target, parameters, context, measured)
    assert all(each.ok for each in settings)
    return before, measured, after


def proof(proofs, name):
    return next(each for each in proofs if each.name == name)


def test_the_live_rate_counts_packages_and_no_metadata(target, keeper, sandbox):
    parameters = parameters_of(repository="rpm/packages=20,size=4kB/", hosts=3, packages=20)
    seen: list[dict[str, Any]] = []
    context = replace(keeper.context(), progress=seen.append)
    driver.reset(target, parameters, context)

    driver.measure(target, parameters, context)

    assert seen[-1]["packages_done"] == 60
    assert sum(seen[-1]["rate_series"]) == 60


def test_hosts_fetch_a_repository(target, keeper, sandbox):
    """What the server counts is what the run stores, to one."""
    parameters = parameters_of(repository="rpm/packages=20,size=4kB/", hosts=10, packages=20)
    begun = requests_of(sandbox)

    before, measured, after = run(target, parameters, keeper)

    assert all(each.ok for each in (*before, *after)), [each for each in after if not each.ok]
    assert (measured.units_done, measured.units_failed, measured.failure) == (200, 0, "")
    pilot = proof(before, "requests of the pilot host").measured
    counted = measured.health.figures["requests"]
    others = 2  # repomd and primary, which a worker reads
    assert requests_of(sandbox) - begun == pilot + counted + others
    assert counted == 10 * (20 + 3)  # repomd, primary and filelists
    values = measured.values
    assert values["packages_failed"] == values["hosts_failed"] == 0
    assert values["first_try"] == 100
    assert (
        0
        < values["package_time"]
        <= values["package_time_max"]
        <= values["host_time_p95" if "host_time_p95" in values else "host_time"] * 20
    )
    assert values["host_time_per_package"] == pytest.approx(values["host_time"] / 20)
    assert len(measured.samples["host"]) == 10
    assert proof(after, "content, units").measured == 20
    assert proof(after, "content, bytes").measured == 80_000
    assert "other bytes of the right size would not be found" in str(
        proof(after, "verified").measured
    )


def test_a_second_round_is_a_metric_of_its_own(target, keeper):
    parameters = parameters_of(
        repository="rpm/packages=5,size=4kB/", hosts=2, packages=5, rounds=2, verify="all"
    )

    _, measured, after = run(target, parameters, keeper)

    assert measured.units_done == 20
    assert measured.values["second_round_package_time"] > 0
    assert all(each.ok for each in after)


def test_the_first_packages_by_name_are_fetched(target, keeper):
    parameters = parameters_of(repository="rpm/packages=9,size=4kB/", hosts=1, packages=4)

    _, measured, after = run(target, parameters, keeper)

    assert measured.units_done == 4
    assert proof(after, "content, units").measured == 4


def test_a_manifest_is_a_repository_too(target, keeper):
    parameters = parameters_of(
        repository="repo/files=6,size=1000/PULP_MANIFEST", hosts=2, packages=0, profile="plain"
    )

    _, measured, after = run(target, parameters, keeper)

    assert measured.units_done == 12
    assert proof(after, "content, bytes").measured == 6000


def test_rows_of_hosts_are_computed_again(target, keeper):
    parameters = parameters_of(repository="rpm/packages=5,size=4kB/", hosts=3, packages=5)

    _, measured, _ = run(target, parameters, keeper)

    again = driver.recompute(measured.samples, measured.values)
    assert again is not None
    for name, value in again.values.items():
        assert measured.values[name] == pytest.approx(value), name
    assert len(again.times_us["host_time"]) == 3


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"repository": "nowhere/"}, "repository", "there is no repository"),
        ({"packages": 10}, "packages", "10 packages are asked for, and the repository has 5"),
        ({"identity": "one"}, "identity", "no client certificate"),
    ],
    ids=["no repomd", "too many packages", "no certificate"],
)
def test_what_no_run_can_do_is_refused_at_its_field(target, keeper, changed, field, words):
    parameters = parameters_of(
        **{"repository": "rpm/packages=5,size=4kB/", "hosts": 1, "packages": 5, **changed}
    )

    with pytest.raises(ParametersRefused, match=words) as refused:
        driver.reset(target, parameters, keeper.context())

    assert field in refused.value.refused


def test_a_missing_package_is_found_by_the_pilot_host(target, keeper):
    parameters = parameters_of(repository="rpm/packages=5,size=4kB/errors=1/", hosts=2, packages=5)

    with pytest.raises((DriverError, TargetUnavailable), match=r"pilot host|answered 5"):
        driver.reset(target, parameters, keeper.context())


def test_a_server_that_is_not_there_makes_the_run_void(keeper):
    target = Target(name="gone", family="http", base_url=f"http://127.0.0.1:{free_port()}")
    parameters = parameters_of(repository="rpm/", hosts=1, packages=1)

    with pytest.raises(TargetUnavailable):
        driver.reset(target, parameters, keeper.context())


def test_after_a_worker_was_killed_the_next_run_counts_what_the_server_counts(
    target, keeper, sandbox, tmp_path
):
    """Nothing of the killed run goes on: it would be counted by the server, and by no run."""
    slow = "rpm/packages=20,size=4kB/latency=100/"
    command = [sys.executable, "-m", "campaigns.tests.kinds.content_delivery.measuring"]
    worker = subprocess.Popen([*command, sandbox.base_url, slow, str(tmp_path / "killed")])
    pilot = 2 + 23
    assert until(lambda: requests_of(sandbox) > pilot + 60, seconds=40)
    worker.kill()
    worker.wait()
    assert until(lambda: not is_asked(sandbox), seconds=20)
    begun = requests_of(sandbox)

    before, measured, after = run(
        target, parameters_of(repository=slow, hosts=20, packages=20), keeper
    )

    assert (measured.units_done, measured.units_failed) == (400, 0)
    counted = measured.health.figures["requests"]
    asked = 2 + proof(before, "requests of the pilot host").measured + counted
    assert requests_of(sandbox) - begun == asked
    assert all(each.ok for each in after)


def is_asked(sandbox):
    """Whether anybody sends requests, within a second."""
    before = requests_of(sandbox)
    time.sleep(1.0)
    return requests_of(sandbox) != before
