"""The published experiments that are stored as submissions, from the request to the answer."""

import json

import pytest

from campaigns.findings import compute
from campaigns.results.importing.demonstration import SUBMISSIONS
from campaigns.tests.rest import api, own_rates, owner, send, token
from campaigns.tests.results.api.documents import made
from campaigns.tests.stats.conftest import golden

__all__ = ["api", "golden", "own_rates", "owner", "send", "token"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def analysed(send):
    """Submit a published experiment as its file is, and analyse it."""

    def submit(name):
        answer = send(json.loads((SUBMISSIONS / f"{name}.json").read_text()))
        campaign = made(answer)
        compute.analyse(campaign)
        return campaign, {each.name: each.result for each in campaign.findings.all()}

    return submit


def test_the_published_table_of_failures_is_a_matrix(analysed, golden):
    _, findings = analysed("puma_workers")

    rows = {
        row["levels"]["server"]: {cell["level"]: cell for cell in row["cells"]}
        for row in findings["matrix"]["factors"]["puma_workers"]["rows"]
    }
    tables = golden("c")["matrices"]
    published = {
        "4 CPU": tables["workers_default_4cpu"],
        "8 CPU": tables["workers_medium_8cpu"],
        "32 CPU, 90 GiB": tables["workers_xl_32cpu_90gib"],
    }
    for server, table in published.items():
        for level, improvement in zip(table["levels"], table["improvement"], strict=True):
            cell = rows[server][level]
            if improvement == "too many failures":
                assert (cell["state"], cell["improvement_pct"]) == ("too_many_failures", None)
            else:
                assert cell["improvement_pct"] == pytest.approx(improvement, abs=3)


def test_every_source_says_that_its_rows_are_simulated():
    for path in SUBMISSIONS.glob("*.json"):
        about = json.loads(path.read_text())["campaign"]
        assert about["source"].startswith("Simulated rows; published "), path.name
