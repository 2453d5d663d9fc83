"""Submissions whose analysis never ends keep neither the runs of a campaign waiting nor its own analysis."""

import os

import pytest
import redis

from e2e.conftest import ROOT, served, wait_for
from perfdash.addresses import redis_url

pytestmark = pytest.mark.system

NEVER_SECONDS = "100000"
LONG_SECONDS = 400  # these processes give way to all others
SUBMITTED = "state = 'finished' AND counted_from IS NULL AND analysis_requested_at IS NOT NULL"
STATE = "SELECT state, analysis_requested_at IS NULL FROM campaigns_campaign WHERE id = %s"


def submission(number):
    return {
        "id": f"build-{number}",
        "campaign": {"question": "Is it slower?"},
        "metrics": {"seconds": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {"tags": {"build": build}, "values": {"seconds": 1.0 + n}}
            for n in range(3)
            for build in ("old", "new")
        ],
    }


def test_a_burst_of_submissions_holds_up_no_campaign(tmp_path):
    tmp_path.chmod(0o755)
    slow = os.pathsep.join([str(ROOT / "bench" / "slow_analyses"), str(ROOT)])
    with served(
        tmp_path / "data", PYTHONPATH=slow, BENCH_ANALYSIS_SECONDS=NEVER_SECONDS
    ) as perfdash:
        broker = redis.Redis.from_url(redis_url(perfdash.environment_of_commands["BROKER_URL"]))
        wait_for(
            lambda: perfdash.rows("SELECT 1 FROM campaigns_worker WHERE pools ? 'analysis'"),
            "a worker that computes",
            LONG_SECONDS,
        )
        for number in range(12):
            perfdash.api("POST", "submissions", submission(number))
        began = f"SELECT count(*) FROM campaigns_campaign WHERE {SUBMITTED} AND analysis_began_at IS NOT NULL"  # noqa: S608
        wait_for(
            lambda: perfdash.rows(began) == [(1,)], "an analysis of a submission", LONG_SECONDS
        )

        targets = perfdash.api("GET", "targets")["results"]
        target = next(each["id"] for each in targets if each["family"] == "http")
        campaign = perfdash.api(
            "POST",
            "campaigns",
            {
                "question": "Does it wait?",
                "kind": "downloader",
                "target": target,
                "parameters": {"manifest": "/repo/files=4,size=2000/PULP_MANIFEST"},
                "factors": {"concurrency": [1, 2]},
                "repetitions": 3,
                "launch": True,
            },
        )["id"]
        wait_for(
            lambda: perfdash.rows(STATE, campaign) == [("finished", True)],
            "the end of the campaign, and its analysis",
            LONG_SECONDS,
        )

        assert perfdash.rows(began) == [(1,)]
        waiting = f"SELECT count(*) FROM campaigns_campaign WHERE {SUBMITTED}"  # noqa: S608
        assert perfdash.rows(waiting) == [(12,)]
        assert broker.llen("analysis") == 0
        broker.close()
