"""The published experiments that are stored as submissions, from the request to the answer."""

import json

import pytest

from campaigns.findings import compute
from campaigns.models import Campaign
from campaigns.results.importing.demonstration import SUBMISSIONS
from campaigns.reviews.reports.building import advice_of
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


def carried(findings, factor):
    """The word and both ends of what each setting carries."""
    return {
        each["levels"][factor]: (
            each["capacity"]["word"],
            each["capacity"]["low"],
            each["capacity"]["high"],
        )
        for each in findings["capacity"]["settings"]
    }


def words_at_loads(findings, factor, load):
    """The word of each comparison with the first setting, by load and setting."""
    (matrix,) = [
        each for each in findings["matrix"]["factors"].values() if each["factor"] == factor
    ]
    return {
        (row["levels"][load], cell["level"]): cell["word"]
        for row in matrix["rows"]
        for cell in row["cells"]
        if cell["word"]
    }


def test_a_throttle_is_compared_at_each_load_and_each_setting_carries_its_own(analysed):
    campaign, findings = analysed("throttle")

    assert set(findings["matrix"]["factors"]) == {"throttle"}
    words = words_at_loads(findings, "throttle", "clients")
    assert {load: words[load, "maxconn 3"] for load in (4, 5, 6, 7, 8)} == dict.fromkeys(
        (4, 5, 6, 7, 8), "better"
    )
    assert not {words[load, "maxconn 3"] for load in (1, 2, 3)} & {"better", "worse"}
    word, low, high = carried(findings, "throttle")["none"]
    assert word == "between"
    assert low < 4.55 < high * 1.02  # where N / X(N) is 1.5 ms, by the model
    assert carried(findings, "throttle")["maxconn 3"] == ("at_least", 8, None)
    law = {g["levels"]["throttle"]: g["law"] for g in findings["usl"]["groups"]}["none"]
    assert (law["throttle"], law["rule_agrees"]) == (5, True)
    assert campaign.criterion["conditions"] == [{"metric": "response", "at_most": 1.5}]


def test_proxies_are_compared_at_each_number_of_hosts_and_fail_at_the_highest(analysed):
    _, findings = analysed("proxy_registration")

    capacities = carried(findings, "proxy")
    for proxy, true in (("4 CPU, 12 GiB", 533), ("8 CPU, 24 GiB", 560), ("16 CPU, 46 GiB", 581)):
        word, low, high = capacities[proxy]
        assert word == "between"
        assert low < 1.02 * true
        assert high > 0.98 * true
    words = words_at_loads(findings, "proxy", "hosts")
    largest = {load: words[load, "16 CPU, 46 GiB"] for load in (100, 400, 700)}
    assert set(largest.values()) == {"better"}
    assert words[800, "16 CPU, 46 GiB"] == "too_many_failures"


def test_the_server_carries_no_more_than_500_hosts_for_its_failures(analysed):
    _, findings = analysed("proxy_content")

    capacities = carried(findings, "source")
    assert capacities["server 8 CPU, 24 GiB"] == ("between", 500, 600)
    assert capacities["proxy 16 CPU, 46 GiB"] == ("at_least", 1000, None)
    server = findings["capacity"]["settings"][3]["capacity"]
    assert server["binding"] == "failures"


def test_every_source_says_that_its_rows_are_simulated():
    for path in SUBMISSIONS.glob("*.json"):
        about = json.loads(path.read_text())["campaign"]
        assert about["source"].startswith("Simulated rows; published "), path.name


def test_the_report_favours_the_throttle_that_carries_the_most_at_no_load(analysed):
    campaign, _ = analysed("throttle")
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()

    (advice,) = advice_of(campaign, None)

    assert (advice.setting, advice.why) == (
        "throttle maxconn 3",
        "carries the most: at least 8 clients",
    )
