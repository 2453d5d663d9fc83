"""Whole campaigns of perfdash on real Pulps: two versions of pulpcore on one address, and one content at two paths."""

import json
import sys
from itertools import pairwise

import pytest

from campaigns.tests.targets.ssh_server import within
from e2e.conftest import ROOT, wait_for
from e2e.pulp.conftest import RealPulp, purged_at_the_end

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(900)]

OLD, NEW, MISSING = "3.105.0", "3.123.1", "3.105.999"
ALLOWED_SECONDS = 500
SWITCH = f"""#!/bin/sh
cd {ROOT}
home=$(dirname "$0")/versions
switch() {{ exec {sys.executable} -m perfdash.local.pulp switch "$1" --data "$home"; }}
"""
AS_ASKED = 'switch "$1"\n'
BREAKS = rf"""
database() {{ sed -n 's/.*"database": \([0-9]*\).*/\1/p' "$home"/{NEW}/run/state.json; }}
if [ "$1" != {NEW} ]; then switch "$1"; fi
if mkdir "$home"/../other 2>/dev/null; then exit; fi
if mkdir "$home"/../killed 2>/dev/null; then
    (switch "$1") & python=$!
    until [ "$(database)" ]; do sleep 0.1; done
    kill -9 $python; exit 137
fi
(switch "$1")
kill -QUIT "$(database)"
"""
"""Leaves the old version in force, then is killed in the middle of a start, then leaves the new one without a database."""


class Versions(RealPulp):
    """The home of both versions, one of which runs."""

    @property
    def state(self):
        states = [json.loads(path.read_text()) for path in self.data.glob("*/run/state.json")]
        (running,) = [state for state in states if state["services"]]
        return running

    def core(self):
        """The version that the API reports, asked with the password of all versions."""
        parts = {
            part["component"]: part["version"] for part in self.rest().get("status/")["versions"]
        }
        return parts["core"]

    def script(self, text):
        """Have the machine switch versions as a text of a shell says."""
        path = self.data.parent / "switch"
        path.write_text(SWITCH + text)
        path.chmod(0o700)
        return str(path)


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Both versions, of which the old one runs; each is stopped and deleted at the end."""
    home = tmp_path_factory.mktemp("switched") / "versions"
    with purged_at_the_end(home / OLD), purged_at_the_end(home / NEW):
        pulp = Versions(home)
        assert pulp.run("switch", OLD, "--fast-auth", "--port", "25917") == 0, pulp.said
        yield pulp


@pytest.fixture(scope="module")
def target(perfdash, versions):
    """The address of both versions, whose builds a command installs over SSH."""
    state = versions.state
    sent = {
        "name": "real Pulp of two builds",
        "family": "pulp",
        "base_url": state["base_url"],
        "username": state["user"],
        "password": state["password"],
        "is_dedicated": True,
        "confirm_address": True,
    }
    key = perfdash.api("POST", "targets", sent)["id"]
    with within() as machine:
        login = {"host": "127.0.0.1", "port": machine.port, "username": machine.username}
        path = f"targets/{key}/ssh"
        perfdash.api("PUT", path, login | {"key": machine.key, "confirm_address": True})
        wait_for(lambda: perfdash.api("GET", f"targets/{key}")["probed_at"], "the first probe")
        perfdash.api("POST", f"targets/{key}/read-settings")
        shown = wait_for(lambda: perfdash.api("GET", path)["offered"], "the machine's host key")
        perfdash.api("POST", f"{path}/accept", {"fingerprint": shown})
        arguments = [versions.script(AS_ASKED), "{value}"]
        build = {
            "name": "pulpcore",
            "type": "text",
            "is_build": True,
            "apply": {"way": "command", "arguments": arguments, "seconds": ALLOWED_SECONDS},
            "read_back": {"way": "http", "url": "/pulp/api/v3/status/", "at": "versions.0.version"},
        }
        perfdash.api("POST", f"targets/{key}/settings", build)
        yield key


def launch(perfdash, target, factors, **others):
    feed = f"{perfdash.state['sandbox_url']}/repo/files=3,size=1000/PULP_MANIFEST"
    sent = {
        "question": "Is the new build faster?",
        "kind": "sync",
        "target": target,
        "parameters": {"feed": feed},
        "factors": factors,
        "order": "interleaved",
        "repetitions": 3,
        "seed": 1,
        "launch": True,
        **others,
    }
    return perfdash.api("POST", "campaigns", sent)["id"]


def ended(perfdash, campaign, *states):
    perfdash.until(campaign, *states, seconds=ALLOWED_SECONDS)
    return perfdash.api("GET", f"campaigns/{campaign}")


def runs_of(perfdash, campaign):
    """Of each run: the build that was asked for, its state, and why it is void."""
    runs = perfdash.api("GET", f"campaigns/{campaign}/runs")["results"]
    return [(run["cell"]["levels"]["pulpcore"], run["state"], run["reason"]) for run in runs]


def text_of(perfdash, campaign):
    """The whole answer of a campaign that has ended."""
    return json.dumps(
        perfdash.api("GET", f"campaigns/{campaign}/findings/answer")["text"], ensure_ascii=False
    )


def put_back(perfdash, versions):
    """Wait until the version of before the campaigns runs again."""
    owed = "SELECT count(*) FROM campaigns_foundsetting WHERE restored_at IS NULL"
    wait_for(lambda: perfdash.rows(owed) == [(0,)], "the build of before", ALLOWED_SECONDS)
    assert versions.core() == OLD


def test_two_versions_of_pulpcore_are_compared_by_their_whole_plots(perfdash, versions, target):
    versions.script(AS_ASKED)
    contrast = {"factor": "pulpcore", "candidate": NEW, "baseline": OLD}
    factors = {"pulpcore": [OLD, NEW], "download_concurrency": [1, 2]}
    campaign = launch(perfdash, target, factors, primary_contrast=contrast)

    ended(perfdash, campaign, "finished", "paused")

    runs = runs_of(perfdash, campaign)
    assert [state for _, state, _ in runs] == ["done"] * 12, runs
    assert sum(one[0] != other[0] for one, other in pairwise(runs)) <= 5  # two whole plots a block
    read_back = perfdash.rows(
        "SELECT asked #>> '{}', in_force #>> '{}', count(*) FROM campaigns_effectivesetting"
        " WHERE name = 'pulpcore' AND attempt_id IN (SELECT attempt.id FROM campaigns_attempt attempt"
        " JOIN campaigns_run run ON run.id = run_id WHERE campaign_id = %s AND attempt.state = 'accepted')"
        " GROUP BY 1, 2 ORDER BY 1",
        campaign,
    )
    assert read_back == [(OLD, OLD, 6), (NEW, NEW, 6)]
    put_back(perfdash, versions)
    text = text_of(perfdash, campaign)
    levels = perfdash.api("GET", f"campaigns/{campaign}/findings/levels")["result"]
    assert (levels["factor"], levels["hard"]) == ("pulpcore", ["pulpcore"])
    assert levels["plots"]["whole_df"] == levels["primary"]["comparison"]["df"] == 2
    assert f"pulpcore {NEW}" in text
    assert "environment changed" not in text


def test_builds_that_break_are_void_and_the_one_of_before_is_put_back(perfdash, versions, target):
    versions.script(BREAKS)
    factors = {"pulpcore": [NEW, MISSING]}
    campaign = launch(perfdash, target, factors, repetitions=1, max_consecutive_failures=1)

    paused = ended(perfdash, campaign, "paused")
    assert "Look at the target, then resume or cancel." in paused["state_reason"]
    perfdash.api("POST", f"campaigns/{campaign}/resume")
    ended(perfdash, campaign, "finished")

    put_back(perfdash, versions)
    attempts = perfdash.rows(
        "SELECT levels_by_factor ->> 'pulpcore', attempt.reason FROM campaigns_attempt attempt"
        " JOIN campaigns_run run ON run.id = run_id JOIN campaigns_cell cell ON cell.id = cell_id"
        " WHERE run.campaign_id = %s ORDER BY attempt.id",
        campaign,
    )
    other, killed, gone = [reason for build, reason in attempts if build == NEW]
    assert f"asked {NEW}, in force {OLD}" in other
    assert "ended with exit code 137" in killed
    assert "cannot be read back" in gone
    missing = [reason for build, reason in attempts if build == MISSING]
    assert len(missing) == 3
    assert all(
        f"No matching distribution found for pulpcore=={MISSING}" in each for each in missing
    )
    assert all("goes on." in each for each in missing)


@pytest.fixture
def paths(perfdash, versions):
    """One repository of four files under two paths of the content app, and what adds a fifth to the second path."""
    rest, state = versions.rest(), versions.state
    url = f"{perfdash.state['sandbox_url']}/repo/files={{}},size=1000/PULP_MANIFEST"
    remote, repository = rest.feed("paths", url.format(4))

    def published():
        rest.done(rest.sync(remote, repository))
        task = rest.done(rest.post("publications/file/file/", repository=repository["pulp_href"]))
        return task["created_resources"][0]

    def distributed(name, publication):
        body = {"name": name, "base_path": name, "publication": publication}
        return rest.done(rest.post("distributions/file/file/", **body))["created_resources"][0]

    def one_more():
        rest.done(rest.ask("PATCH", remote["pulp_href"], {"url": url.format(5)}).json())
        rest.done(rest.ask("PATCH", there, {"publication": published()}).json())

    publication = published()
    distributed("here", publication)
    there = distributed("there", publication)
    names = ("here", "there")
    yield [f"{state['content_url']}/pulp/content/{name}/PULP_MANIFEST" for name in names], one_more
    versions.empty(
        ("distributions/file/file/?", "repositories/?", "remotes/?")
    )  # a sync measures no Pulp that holds the content of others


def test_one_repository_at_two_paths_is_compared_and_one_file_more_is_refused(
    perfdash, versions, paths
):
    manifests, one_more = paths
    base_url = versions.state["content_url"]
    body = {"name": "content app", "family": "http", "base_url": base_url, "confirm_address": True}
    target = perfdash.api("POST", "targets", body)["id"]
    asked = {
        "kind": "downloader",
        "parameters": {},
        "question": "Is one path as fast as the other?",
    }

    same = launch(perfdash, target, {"manifest": manifests}, **asked)
    ended(perfdash, same, "finished", "paused")
    one_more()
    other = launch(perfdash, target, {"manifest": manifests}, **asked)
    ended(perfdash, other, "finished", "paused")

    compared, refused = text_of(perfdash, same), text_of(perfdash, other)
    assert "Same content (4 files, 4 kB), from 2 addresses (manifest)." in compared
    assert "not compared, since they hold other content: 4 / 5 files" in refused
