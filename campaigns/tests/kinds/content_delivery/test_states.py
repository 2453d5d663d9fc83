"""Cold and warm content: at the simulated Pulp, and at the simulated Katello."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from campaigns.kinds.base import NotOurs, ParametersRefused, Target
from campaigns.kinds.base.pulp import pulp_of
from campaigns.kinds.content_delivery.driver import driver
from campaigns.kinds.servers.pulp_content import do, publish
from campaigns.tests.kinds.content_delivery.parameters import parameters_of
from campaigns.tests.ports import free_port
from sandbox.process import running

pytestmark = pytest.mark.system
PACKAGES = 5


@pytest.fixture(scope="module")
def sandbox():
    with running(pulp={}, katello={}) as process:
        yield process


def distribute(target, feed, context, name="held", policy="on_demand"):
    """Make, sync, publish and distribute a repository."""
    with pulp_of(target, context) as pulp:
        remote = pulp.create("remotes/rpm/rpm/", {"name": name, "url": feed, "policy": policy})
        made = pulp.create("repositories/rpm/rpm/", {"name": name, "remote": remote["pulp_href"]})
        do(pulp, f"{made['pulp_href']}sync/", {"remote": remote["pulp_href"]}, 60, "A sync")
        publication = publish(pulp, "rpm/rpm", made["pulp_href"], 60).created_resources[0]
        body = {"name": name, "base_path": name, "publication": publication}
        do(pulp, "distributions/rpm/rpm/", body, 60, "Distributing")


def proof(proofs, name):
    return next(each for each in proofs if each.name == name)


def run(target, parameters, context):
    before = driver.reset(target, parameters, context)
    driver.apply(target, parameters, context)
    measured = driver.measure(target, parameters, context)
    return before, measured, driver.verify(target, parameters, context, measured)


def test_a_pulp_gives_up_its_packages_before_each_cold_run(sandbox, keeper):
    target = Target("pulp", "pulp", sandbox.pulp.base_url, "admin", "password", dedicated=True)
    distribute(target, f"{sandbox.base_url}/rpm/packages={PACKAGES},size=4kB/", keeper.context())
    parameters = parameters_of(
        repository="pulp/content/held/",
        hosts=2,
        packages=PACKAGES,
        content_state="cold",
        order="same",
        rounds=2,
    )

    for _ in range(2):
        before, measured, after = run(target, parameters, keeper.context())

        assert proof(before, "packages stored by the server").measured == 0
        assert proof(after, "packages stored after the run").measured == PACKAGES
        assert 0 < measured.values["cold_share"] < 100
        assert all(each.ok for each in (*before, *after)), [
            each for each in (*before, *after) if not each.ok
        ]

    warm = parameters_of(
        repository="pulp/content/held/", hosts=2, packages=PACKAGES, content_state="warm"
    )
    before, measured, after = run(target, warm, keeper.context())
    assert proof(before, "packages stored by the server").measured == PACKAGES
    assert measured.values["cold_share"] == 0


def test_packages_that_another_repository_holds_are_not_given_up(sandbox, keeper):
    target = Target("pulp", "pulp", sandbox.pulp.base_url, "admin", "password")
    feed = f"{sandbox.base_url}/rpm/packages={PACKAGES},size=4kB,seed=2/"
    distribute(target, feed, keeper.context(), "one")
    distribute(target, feed, keeper.context(), "other")
    parameters = parameters_of(
        repository="pulp/content/one/", hosts=1, packages=PACKAGES, content_state="cold"
    )

    with pytest.raises(NotOurs, match="“other” holds packages of “one”"):
        driver.reset(target, parameters, keeper.context())


def test_packages_that_could_not_be_fetched_again_are_not_given_up(sandbox, keeper):
    target = Target("pulp", "pulp", sandbox.pulp.base_url, "admin", "password", dedicated=True)
    feed = f"{sandbox.base_url}/rpm/packages={PACKAGES},size=4kB,seed=3/"
    distribute(target, feed, keeper.context(), "kept", "immediate")
    parameters = parameters_of(
        repository="pulp/content/kept/", hosts=1, packages=PACKAGES, content_state="cold"
    )

    with pytest.raises(ParametersRefused, match="policy immediate") as refused:
        driver.reset(target, parameters, keeper.context())

    assert "content_state" in refused.value.refused


def test_a_katello_that_others_use_gives_up_nothing(sandbox, keeper):
    target = Target("katello", "katello", sandbox.katello.base_url, "admin", "password")
    parameters = parameters_of(
        repository="pulp/content/ACME/Library/custom/Bench/files20k_on_demand/",
        hosts=1, packages=3, content_state="cold", repository_id=11,
    )  # fmt: skip

    with pytest.raises(NotOurs, match="not marked as belonging to perfdash alone"):
        driver.reset(target, parameters, keeper.context())


def test_a_katello_gives_up_its_packages_before_a_cold_run(sandbox, keeper):
    target = Target(
        "katello",
        "katello",
        sandbox.katello.base_url,
        "admin",
        "password",
        dedicated=True,
        installation="00c0ffee",
    )
    parameters = parameters_of(
        repository="pulp/content/ACME/Library/custom/Bench/files20k_on_demand/",
        hosts=2, packages=3, content_state="cold", repository_id=11,
    )  # fmt: skip

    before, measured, after = run(target, parameters, keeper.context())

    assert proof(before, "task that gives up packages").ok
    assert measured.values["cold_share"] > 0
    assert all(each.ok for each in (*before, *after))


class Api(BaseHTTPRequestHandler):
    """The API of a Pulp that serves content at another port."""

    def do_GET(self):
        told = {"versions": [], "content_settings": {"content_origin": "http://127.0.0.1:24816"}}
        body = json.dumps(told).encode() if self.path.endswith("/status/") else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


def test_a_pulp_says_where_its_content_is(keeper):
    """Its API knows nothing of a repository, so the address that its status tells is named."""
    with ThreadingHTTPServer(("127.0.0.1", free_port()), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        target = Target("pulp", "pulp", f"http://127.0.0.1:{server.server_port}")

        with pytest.raises(ParametersRefused, match="24816: give that as the"):
            driver.look(
                target, parameters_of(repository="pulp/content/held/"), keeper.context().rules
            )

        server.shutdown()
