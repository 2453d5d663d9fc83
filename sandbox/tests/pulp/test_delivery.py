"""Content of the simulated Pulp: what was synced, cold and warm, and space that is reclaimed."""

import hashlib
import time

import pytest
import requests

from sandbox.pulp.process import SimulatedPulp
from sandbox.tests.pulp.client import Pulp, progress

COUNT = 20
PACKAGE = "Packages/sandbox-000003-1.0-1.noarch.rpm"


class Distributed:
    """A repository of packages that is distributed."""

    def __init__(self, pulp: Pulp, policy: str, seed: int, **settings: object) -> None:
        self.pulp = pulp
        self.feed = pulp.feed.rpm(packages=COUNT, size=20_000, seed=seed, **settings)
        name = pulp.name()
        values = {"name": name, "url": self.feed, "policy": policy}
        remote = pulp.ask("POST", "remotes/rpm/rpm/", values).json()["pulp_href"]
        made = {"name": name, "remote": remote}
        self.repository = pulp.ask("POST", "repositories/rpm/rpm/", made).json()["pulp_href"]
        assert pulp.sync(self.repository, remote)["state"] == "completed"
        pulp.done(pulp.task("POST", "publications/rpm/rpm/", {"repository": self.repository}))
        values = {"name": name, "base_path": name, "repository": self.repository}
        pulp.done(pulp.task("POST", "distributions/rpm/rpm/", values))
        found = pulp.get("distributions/rpm/rpm/", base_path=name)["results"][0]
        self.url = found["base_url"]
        self.version = pulp.get(self.repository)["latest_version_href"]

    def get(self, name: str) -> requests.Response:
        return requests.get(self.url + name, timeout=10)

    @property
    def artifacts(self) -> int:
        count: int = self.pulp.get("artifacts/", repository_version=self.version)["count"]
        return count

    def reclaim(self) -> dict[str, tuple[str, int, int | None]]:
        body = {"repo_hrefs": [self.repository]}
        task = self.pulp.done(self.pulp.task("POST", "repositories/reclaim_space/", body))
        assert task["name"] == "pulpcore.app.tasks.reclaim_space.reclaim_space"
        return progress(task)


def test_content_is_that_of_the_feed(pulp: Pulp) -> None:
    made = Distributed(pulp, "immediate", 1)

    for name in ("repodata/repomd.xml", "repodata/primary.xml.gz", PACKAGE):
        answer = made.get(name)
        assert answer.status_code == 200
        assert answer.content == pulp.fed(made.feed + name)
    digest = hashlib.sha256(made.get(PACKAGE).content).hexdigest()
    rows = pulp.get("content/rpm/packages/", repository_version=made.version, fields="pkgId")
    assert digest in {row["pkgId"] for row in rows["results"]}


def test_the_first_request_for_a_package_on_demand_is_cold(pulp: Pulp) -> None:
    made = Distributed(pulp, "on_demand", 2)
    assert made.artifacts == 0

    cold, warm = made.get(PACKAGE), made.get(PACKAGE)

    assert cold.content == warm.content
    assert cold.headers["Transfer-Encoding"] == "chunked"
    assert not {"Content-Length", "Etag"} & set(cold.headers)
    assert warm.headers["X-PULP-ARTIFACT-SIZE"] == warm.headers["Content-Length"] == "20000"
    assert made.artifacts == 1


def test_what_is_streamed_stays_cold(pulp: Pulp) -> None:
    made = Distributed(pulp, "streamed", 3)

    assert [made.get(PACKAGE).headers.get("Transfer-Encoding") for _ in range(2)] == ["chunked"] * 2
    assert made.artifacts == 0


def test_reclaiming_takes_artifacts_of_others_too(pulp: Pulp) -> None:
    immediate, on_demand = (Distributed(pulp, policy, 4) for policy in ("immediate", "on_demand"))
    assert (immediate.artifacts, on_demand.artifacts) == (COUNT, COUNT)

    assert on_demand.reclaim() == {"reclaim-space.artifact": ("completed", COUNT, COUNT)}

    assert (immediate.artifacts, on_demand.artifacts) == (0, 0)
    assert immediate.get(PACKAGE).headers["Transfer-Encoding"] == "chunked"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repo_hrefs": []}, "Must not be []."),
        ({}, "This field is required."),
        ({"repo_hrefs": ["/pulp/api/v3/repositories/rpm/rpm/0000/"]}, "ID invalid: 0000"),
    ],
    ids=["empty", "none", "unknown"],
)
def test_pulp_refuses_to_reclaim_nothing(pulp: Pulp, body: object, field: str) -> None:
    answer = pulp.ask("POST", "repositories/reclaim_space/", body)

    assert (answer.status_code, answer.json()) == (400, {"repo_hrefs": [field]})


@pytest.mark.parametrize("path", ["none/x", "none/repodata/repomd.xml", ""])
def test_what_is_not_distributed_is_not_found(simulator: SimulatedPulp, path: str) -> None:
    answer = requests.get(f"{simulator.base_url}/pulp/content/{path}", timeout=10)

    assert answer.status_code == 404


def test_a_package_that_is_not_there_is_not_found(pulp: Pulp) -> None:
    assert Distributed(pulp, "immediate", 5).get("Packages/none.rpm").status_code == 404


def test_what_is_wrong_with_the_feed_is_wrong_with_the_content(pulp: Pulp) -> None:
    made = Distributed(pulp, "on_demand", 6, missing=1)

    assert made.get(PACKAGE).status_code == 404
    assert made.artifacts == 0


def test_a_request_takes_a_cpu(pulp: Pulp, simulator: SimulatedPulp) -> None:
    made = Distributed(pulp, "on_demand", 7)
    simulator.behave(cpus=1, content_cpu_seconds=0.1)
    times = []
    for _ in range(2):
        began = time.perf_counter()
        made.get(PACKAGE)
        times.append(time.perf_counter() - began)

    assert times[0] >= 0.2
    assert times[1] >= 0.1
    assert times[1] < times[0]
