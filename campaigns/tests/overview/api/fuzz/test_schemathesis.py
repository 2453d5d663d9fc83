"""Whatever is sent: no crash, and every answer is one that the OpenAPI document tells of.

PERFDASH_FUZZ_SECONDS says for how long (15 by day, 120 at night), PERFDASH_FUZZ_CASES how many an operation (60).
No worker is there, so that what is launched loads nobody. What schemathesis says is kept in pytest's directory of the
test, as report.txt.
"""

import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from campaigns.accounts.access import make_token
from campaigns.kinds.base import Distribution
from campaigns.kit import histogram
from campaigns.models import Attempt, Campaign
from campaigns.planning import checking, drafts, storage
from campaigns.results.closing import close
from campaigns.targets.saving import save_target
from campaigns.tests.measured import begin, launched, outcome

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("schemathesis")
SECONDS = os.environ.get("PERFDASH_FUZZ_SECONDS", "")
BY_DAY, AT_NIGHT = 15, 120
CASES = os.environ.get("PERFDASH_FUZZ_CASES", "60")
FEWEST_CASES_A_SECOND = 1.5
"""Fewer mean that hardly anything was sent; a busy machine sends two hundred in a minute, an idle one thousands."""


@pytest.fixture
def stored(transactional_db, target):
    """A finished campaign with findings, a running one with evidence, a draft; and their owner."""
    call_command("prepare", stdout=StringIO())
    owner = User.objects.get()
    campaign = launched(target, owner)
    Attempt.objects.all().delete()
    code = histogram.encode(range(1, 1001))
    for run in campaign.runs.order_by("position")[:2]:
        distributions = [Distribution("total", code.encoded, code.count, code.dropped)]
        close(begin(run), outcome(distributions=distributions))
    return owner


@pytest.fixture
def spare(stored, target):
    """Keys of what may be changed or ended, without end of what everything else rests on."""
    data = storage.definition_of(Campaign.objects.get(target=target))
    servers = [
        save_target(
            {
                "name": f"spare {number}",
                "family": "http",
                "base_url": f"http://127.0.1.{number}:9",
                "confirm_address": True,
            }
        )
        for number in range(1, 9)
    ]
    return {
        "drafts": [drafts.create(checking.check(data), stored).pk for _ in range(40)],
        "targets": [server.pk for server in servers],
        "tokens": [make_token(stored, f"spare {number}")[0].pk for number in range(8)],
    }


@pytest.mark.e2e
@pytest.mark.timeout(AT_NIGHT + 180)
@pytest.mark.parametrize("seconds", [BY_DAY, pytest.param(AT_NIGHT, marks=pytest.mark.nightly)])
@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_every_answer_is_one_that_is_documented(
    stored, spare, live_server, tmp_path, settings, seconds
):
    seconds = float(SECONDS or seconds)
    settings.API_RATES = dict.fromkeys(settings.API_RATES)
    settings.API_WAITING = 0
    token = make_token(stored, "fuzz")[1]

    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "schemathesis.cli",
                "--config-file",
                HERE / "schemathesis.toml",
            ),
            *("run", f"{live_server.url}/api/v1/openapi.json", "--no-color"),
            *("--header", f"Authorization: Bearer {token}"),
            *("--max-examples", CASES, "--max-time", str(int(seconds))),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "campaigns.tests.overview.api.fuzz.hooks",
            "PERFDASH_FUZZ_SPARE": json.dumps(spare),
            "PYTHONPATH": os.getcwd(),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    (tmp_path / "report.txt").write_text(done.stdout)
    cases = re.search(r"(\d+) generated", done.stdout)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert cases
    assert int(cases[1]) > FEWEST_CASES_A_SECOND * seconds
