"""Whole programs that fetch the sandbox's packages: what hosts do, what is counted, and how they fail."""

from collections import Counter

import pytest

from campaigns.kinds.content_delivery.program.crew import COLUMNS
from campaigns.kinds.content_delivery.requests import delivering
from campaigns.kinds.load.judging import judge
from campaigns.kinds.load.reservoir import columns_of
from campaigns.kit import histogram
from campaigns.tests.kinds.content_delivery.conftest import context_in, offered, run

pytestmark = pytest.mark.system

OF_OTHERS = ("machine_cpu_share", "others_cpu_share", "waited_share", "cpu_waiting_cores")
"""Figures of the generator's machine, which tests share with others."""


def count(result, name: str) -> int:
    encoded = result["histograms"].get(name)
    return histogram.summarise(encoded.encode()).count if encoded else 0


@pytest.mark.parametrize("profile", ["plain", "dnf-4"])
def test_each_host_fetches_the_metadata_and_every_package(deliver, sandbox, profile):
    url = sandbox.rpm(packages=20, size="3kB")
    documents, packages = offered(url)
    sandbox.reset()

    outcome = deliver(url, hosts=3, profile=profile, documents=documents, packages=packages)

    result, rows, served = outcome.result, outcome.samples, sandbox.stats()["all"]
    counts = result["counts"]
    size = sum(each.size or 0 for each in packages)
    assert result["complete"]
    assert (result["hosts_done"], result["hosts_failed"]) == (3, 0)
    assert (counts["packages"], counts["first_try"], counts["packages_failed"]) == (60, 60, 0)
    assert counts["requests"] == served["requests"] == 3 * 23
    assert counts["bytes"] == served["bytes"]
    assert counts["connections"] == (9 if profile == "plain" else 18)
    assert sorted(rows["number"]) == [0, 1, 2]
    assert rows["files"] == [23, 23, 23]
    assert [each - size for each in rows["bytes"]] == [served["bytes"] // 3 - size] * 3
    for began, metadata, ended in zip(
        rows["began_us"], rows["metadata_us"], rows["ended_us"], strict=True
    ):
        assert 0 <= began < metadata < ended
    assert {name: count(result, name) for name in ("package", "metadata", "connect")} == {
        "package": 60,
        "metadata": 3,
        "connect": counts["connections"],
    }
    assert count(result, "package_round2") == count(result, "tls") == 0
    assert sum(result["per_second"]["packages"]) == 60
    sample = columns_of(result["sampled"]["packages"], COLUMNS)
    assert Counter(sample["host"]) == {0: 20, 1: 20, 2: 20}
    assert set(sample["status"]) == {200}


def test_processes_share_the_hosts_and_their_counts_are_added(deliver, sandbox):
    url = sandbox.rpm(packages=10, size="3kB")
    documents, packages = offered(url)
    sandbox.reset()

    outcome = deliver(
        url, hosts=5, processes=2, profile="plain", documents=documents, packages=packages
    )

    result = outcome.result
    assert len(result["processes"]) == 2
    assert sorted(outcome.samples["number"]) == [0, 1, 2, 3, 4]
    assert result["counts"]["packages"] == count(result, "package") == 50
    assert result["counts"]["requests"] == sandbox.stats()["all"]["requests"] == 65
    assert result["sampled"]["packages"]["seen"] == 50
    assert judge(result["figures"]).word


@pytest.mark.parametrize(("metadata", "requests"), [("fetch", 8), ("repomd", 6), ("none", 5)])
def test_metadata_are_fetched_as_far_as_asked(deliver, sandbox, metadata, requests):
    outcome = deliver(sandbox.rpm(packages=5, size="3kB"), metadata=metadata)

    assert outcome.result["counts"]["requests"] == requests
    assert outcome.result["counts"]["packages"] == 5


def test_a_second_round_is_told_apart(deliver, sandbox):
    outcome = deliver(sandbox.rpm(packages=5, size="3kB"), rounds=2)

    assert outcome.result["counts"]["packages"] == 10
    assert (count(outcome.result, "package"), count(outcome.result, "package_round2")) == (5, 5)


@pytest.mark.parametrize(
    ("fault", "verify", "failure"),
    [
        ("missing", "size", "404"),
        ("errors", "size", "5xx"),
        ("longer", "size", "size"),
        ("truncated", "size", "protocol"),
        ("resets", "size", "connect"),
        ("corrupt", "all", "digest"),
        ("corrupt", "size", ""),
    ],
)
def test_a_bad_package_fails_its_host_by_its_class(deliver, sandbox, fault, verify, failure):
    url = sandbox.rpm(packages=5, size="30kB", **{fault: 0.2})

    outcome = deliver(url, profile="plain", retries=0, verify=verify)

    result, rows = outcome.result, outcome.samples
    assert rows["failure"] == [failure]
    assert bool(rows["words"][0]) == bool(failure)
    assert result["package_failures"] == ({failure: 1} if failure else {})
    assert result["counts"]["packages"] == (4 if failure else 5)
    assert result["sampled"]["failures"]["seen"] == bool(failure)


def test_retries_come_through_what_fails_once(deliver, sandbox):
    url = sandbox.rpm(packages=20, size="3kB", flaky=0.2)

    outcome = deliver(url, retries=3)

    counts = outcome.result["counts"]
    assert outcome.samples["failure"] == [""]
    assert (counts["packages"], counts["first_try"], counts["retried"]) == (20, 16, 4)


@pytest.mark.parametrize(
    ("faults", "requests", "fetched"),
    [({"flaky": 0.2}, (26,), (18, 19)), ({"errors": 0.2}, (20, 21, 22, 23), (12, 13, 14))],
    ids=["flaky", "errors"],
)
def test_a_host_of_dnf_gives_up_after_as_many_failures_as_dnf(
    deliver, sandbox, faults, requests, fetched
):
    """With four of twenty packages that fail once, or always, dnf makes 26, and 21 or 22, requests: see test_recordings.

    What other lanes fetch at the moment of the last failure may still come, or not.
    """
    url = sandbox.rpm(packages=20, size="20kB", **faults)
    documents, packages = offered(url)
    sandbox.reset()

    outcome = deliver(url, order="dnf", documents=documents, packages=packages)

    counts = outcome.result["counts"]
    assert counts["requests"] == sandbox.stats()["all"]["requests"]
    assert counts["requests"] in requests
    assert counts["packages"] in fetched
    assert counts["retried"] == 3
    assert outcome.samples["failure"] == ["5xx"]


@pytest.mark.parametrize(
    ("verify", "hosts", "found"), [("all", 1, 1), ("sample", 200, 1), ("size", 200, 0)]
)
def test_a_corrupt_package_is_found_by_those_who_hash_it(deliver, sandbox, verify, hosts, found):
    url = sandbox.rpm(packages=2, size="3kB", corrupt=0.5)

    outcome = deliver(url, hosts=hosts, verify=verify, retries=0, profile="plain", metadata="none")

    failed = outcome.result["package_failures"].get("digest", 0)
    assert (0 < failed < hosts // 5) if verify == "sample" else failed == found


@pytest.mark.parametrize(
    ("hosts", "parallel", "packages", "latency", "share"),
    [
        (20, 3, 9, 500, 0.4),
        pytest.param(700, 3, 9, 9000, 0.01, marks=pytest.mark.nightly),
    ],
)
def test_the_time_of_a_package_is_what_the_server_takes(
    deliver, sandbox, hosts, parallel, packages, latency, share
):
    url = sandbox.rpm(packages=packages, size="3kB")
    documents, listed = offered(url)
    slow = sandbox.rpm(packages=packages, size="3kB", latency=latency)
    seconds = latency / 1000

    outcome = deliver(
        slow,
        documents=documents,
        packages=listed,
        hosts=hosts,
        parallel=parallel,
        processes=2,
        profile="plain",
        metadata="none",
        start="ramp",
        ramp_seconds=seconds,
    )

    result = outcome.result
    counts = histogram.counts_of(result["histograms"]["package"].encode())
    begun, ended = result["window"]
    assert counts.total == hosts * packages
    for level in (0.05, 0.5, 0.95):
        assert counts.at([level])[0] / 1e6 == pytest.approx(seconds, rel=share)
    whole = packages / parallel * seconds + seconds * (hosts - 1) / hosts
    assert ended - begun == pytest.approx(whole, rel=min(2 * share, 0.5))
    if share < 0.1:
        steady = result["per_second"]["packages"][11:26]
        assert sum(steady) / len(steady) == pytest.approx(hosts * parallel / seconds, rel=0.02)
        own = {name: value for name, value in result["figures"].items() if name not in OF_OTHERS}
        assert judge(own).word == "healthy", judge(own).reasons


def test_no_more_requests_are_under_way_than_the_owner_of_the_target_allows(sandbox, tmp_path):
    url = sandbox.rpm(packages=10, size="3kB", latency=5)
    documents, packages = offered(url)
    sandbox.reset()

    context = context_in(tmp_path, most_concurrent=2)
    request = delivering(context, url, documents=documents, packages=packages, hosts=4, processes=2)
    outcome = run(request)

    assert outcome.samples["failure"] == [""] * 4
    assert sandbox.stats()["all"]["in_flight_max"] <= 2
    assert sandbox.stats()["all"]["requests"] == outcome.result["counts"]["requests"] == 52
