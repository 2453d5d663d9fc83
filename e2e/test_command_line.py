"""A campaign that lives in a file: defined, launched, watched and judged from a shell."""

import json
import os
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from e2e.conftest import ROOT, wait_for

pytestmark = pytest.mark.e2e

DEFINITION = """\
question: Is the asyncio downloader faster than futures?
kind: downloader
target: sandbox
parameters:
  concurrency: 1
  manifest: repo/files=20/size=1kB/latency={latency}/PULP_MANIFEST
factors:
  engine: [futures, asyncio]
order: paired
baseline: futures
repetitions: 3
tags: [command line]
"""


@pytest.fixture
def command(perfdash, tmp_path):
    """Call the program as a CI job does."""
    perfdash.api("GET", "whoami")  # makes a token
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "client"),
        "PERFDASH_URL": perfdash.state["base_url"],
        "PERFDASH_TOKEN": perfdash.token,
        "XDG_CONFIG_HOME": str(tmp_path),
    }

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "perfdash_client", *map(str, arguments)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return command


def test_a_token_is_made_beside_the_running_server(perfdash):
    words = ["create_token", "owner", "--name", "laptop"]

    made = subprocess.run(
        [sys.executable, "-m", "perfdash.local", "manage", "--data", str(perfdash.data), *words],
        env=os.environ | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert made.returncode == 0, made.stderr
    (token,) = made.stdout.split()
    request = urllib.request.Request(  # noqa: S310  loopback
        f"{perfdash.state['base_url']}/api/v1/whoami",
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        told = json.load(answer)
    assert (told["user"], told["token"]) == ("owner", "laptop")


def test_a_campaign_in_yaml_is_launched_watched_and_judged(perfdash, command, tmp_path):
    file = tmp_path / "campaign.yaml"
    file.write_text(DEFINITION.format(latency=5))

    checked = command("campaign", "create", file, "--check")
    ended = command("campaign", "create", file, "--launch", "--watch", "--json")

    assert checked.returncode == 0, checked.stderr
    assert "6 runs in 3 blocks, paired" in checked.stdout
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["state"], found["runs"]["done"]) == ("finished", 6)
    assert found["simulators"] == ["sandbox of perfdash"]
    assert "6 of 6 runs" in ended.stderr
    (verdict,) = found["verdicts"]
    others = [w for w in ("better", "worse", "equivalent") if w != verdict["word"]]
    number = found["id"]
    failing = command("campaign", "result", number, "--fail-on", verdict["word"])
    passing = command("campaign", "result", number, "--fail-on", ",".join(others))
    assert (failing.returncode, passing.returncode) == (1, 0)
    assert f"{verdict['word']}: engine asyncio vs. futures" in failing.stderr

    again = tmp_path / "again.yaml"
    assert command("campaign", "definition", number, "-o", again).returncode == 0
    made = json.loads(command("campaign", "create", again, "--json").stdout)
    assert made["definition"] == perfdash.api("GET", f"campaigns/{number}")["definition"]


def test_watching_survives_a_restart_of_the_server(perfdash, command, tmp_path):
    file = tmp_path / "campaign.yaml"
    file.write_text(DEFINITION.format(latency=50))
    web = psutil.Process(perfdash.state["services"]["web"])

    with ThreadPoolExecutor(1) as beside:
        watching = beside.submit(command, "campaign", "create", file, "--launch", "--watch")
        wait_for(
            lambda: perfdash.rows("SELECT 1 FROM campaigns_run WHERE state = 'running'"), "a run"
        )
        web.kill()
        ended = watching.result()

    assert ended.returncode == 0, ended.stderr
    assert "Trying again in" in ended.stderr
    assert "6 of 6 runs, finished" in ended.stderr


def test_a_campaign_is_launched_and_cancelled_from_two_shells(command, tmp_path):
    file = tmp_path / "campaign.yaml"
    file.write_text(DEFINITION.format(latency=400))
    number = int(command("campaign", "create", file, "--launch").stdout)

    left = command("campaign", "watch", number, "--timeout", 2)
    cancelled = command("campaign", "cancel", number, "--reason", "enough")
    ended = command("campaign", "watch", number)

    assert left.returncode == 6
    assert "now run 1" in left.stderr
    assert cancelled.returncode == 0
    assert ended.returncode == 5
    assert "was cancelled" in ended.stderr
