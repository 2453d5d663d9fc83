"""The documented jobs of GitHub and GitLab, run as a runner does: their steps by a shell, with a server that answers."""

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import User

from campaigns.accounts.access import make_token
from campaigns.models import SubjectVersion, TrendChange
from campaigns.tests.people import somebody
from campaigns.tests.trends.measuring import another, line_from, measured, telling

__all__ = ["telling"]
ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/how-to/judge-a-version-in-ci.md").read_text(encoding="utf-8")
JOBS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def line(telling, target):
    owner = somebody("owner")
    line = line_from(measured(target, owner, days=9), owner, cron="", name="Nightly")
    another(line, owner, days=3, core="3.124.0")
    TrendChange.objects.filter(trend__line=line).delete()
    for trend in line.trends.all():
        trend.state |= {"p": 0.4}
        trend.save()
    return line


@pytest.fixture
def run(tmp_path, live_server):
    """A function that runs lines of a script as a runner does, and returns the first exit code that is not 0."""
    programs = {
        "pip": "exit 0",
        "gh": 'echo "$@" >> gh.log; cp perfdash.md comment.md',
        "perfdash": f'exec {sys.executable} -m perfdash_client "$@"',
    }
    for name, text in programs.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "client"),
        "PERFDASH_URL": live_server.url,
        "PERFDASH_TOKEN": make_token(User.objects.get(username="owner"), "ci", "read trigger")[1],
        "VERSION": "3.124.0",
        "HOME": str(tmp_path),
        "NUMBER": "17",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }

    def run(lines):
        for text in lines:
            ended = subprocess.run(
                ["/bin/bash", "-e", "-c", text],
                cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60,
            )  # fmt: skip
            if ended.returncode:
                return ended.returncode
        return 0

    return run


def suspected(line):
    good, bad = SubjectVersion.objects.order_by("position")
    TrendChange.objects.create(
        trend=line.trends.first(), kind="screen", direction="worse", good=good, bad=bad, estimate=0.06,
        low=0.02, high=0.1, p=0.01, suspected=True, reading=line.readings.order_by("-at").first(),
    )  # fmt: skip


def test_the_job_of_github_passes_and_replaces_its_comment(line, run, tmp_path):
    steps = [step["run"] for step in JOBS[0]["jobs"]["performance"]["steps"]]

    assert [run(steps), run(steps)] == [0, 0]

    assert (tmp_path / "comment.md").read_text().count("<!-- perfdash:line:") == 1
    assert (tmp_path / "summary.md").read_text().count("<!-- perfdash:line:") == 1
    assert "--edit-last" in (tmp_path / "gh.log").read_text()


def test_a_suspicion_fails_neither_job_and_is_told(line, run, tmp_path):
    suspected(line)
    steps = [step["run"].replace("7200", "0") for step in JOBS[0]["jobs"]["performance"]["steps"]]
    gitlab = JOBS[1]["performance"]

    assert run(steps) == 0
    assert run([text.replace("7200", "0") for text in gitlab["script"]]) == 9
    assert 9 in gitlab["allow_failure"]["exit_codes"]
    assert "suspected" in (tmp_path / "comment.md").read_text()
    assert '<skipped message="' in (tmp_path / "junit.xml").read_text()


def test_a_finding_fails_both(line, run):
    suspected(line)
    more = " --fail-on suspected --junit"
    steps = [
        step["run"].replace(" --junit", more) for step in JOBS[0]["jobs"]["performance"]["steps"]
    ]

    assert run(steps) == 1
    assert run([text.replace(" --junit", more) for text in JOBS[1]["performance"]["script"]]) == 1
