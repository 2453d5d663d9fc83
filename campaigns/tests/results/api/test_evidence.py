"""Everything that runs left behind can be read one kind at a time, with units."""

from datetime import datetime

import pytest

from campaigns.kinds.base import Distribution
from campaigns.kit import histogram
from campaigns.models import Attempt, Run
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.tests.measured import begin, launched, outcome

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, owner):
    """Run 1 was void at first and went well then, run 2 failed, the others are planned."""
    campaign = launched(target, owner)
    Attempt.objects.all().delete()
    one, two, *_ = campaign.runs.order_by("position")
    code = histogram.encode(range(1, 1001))
    distributions = [Distribution("total", code.encoded, code.count, code.dropped)]
    void = outcome(state=Attempt.State.VOID, reason="not clean")
    close(begin(one), void)
    close(begin(one), outcome(distributions=distributions))
    close(begin(two), outcome(state=Attempt.State.FAILED, reason="timed out"))
    return campaign


@pytest.fixture
def read(api, campaign):
    def reads(path, **query):
        status, body = api.get(f"campaigns/{campaign.pk}/{path}", **query)
        assert status == 200, body
        return body

    return reads


def test_cells_are_listed_and_read(read):
    listed = read("cells")["results"]

    assert listed == [
        {"position": 1, "levels": {"engine": "new"}},
        {"position": 2, "levels": {"engine": "old"}},
    ]
    assert read("cells/2") == listed[1]


def test_attempts_are_listed_and_lead_to_their_evidence(api, read):
    listed = read("attempts")["results"]

    states = [(row["run"], row["number"], row["state"]) for row in listed]
    assert states == [(1, 1, "void"), (1, 2, "accepted"), (2, 1, "failed")]
    accepted = api.client.get(listed[1]["url"]).json()
    assert accepted["measurements"]["duration"]["value"] == 2.5
    assert accepted["proofs"][0]["unit"] == "files"
    assert [row["run"] for row in read("attempts", state="failed")["results"]] == [2]


def test_measurements_have_units_and_say_of_which_attempt_they_are(read):
    rows = read("measurements", metric="rate", run=1, attempt_state="accepted")["results"]

    cell = Run.objects.get(position=1).cell.position
    assert rows == [
        {
            "run": 1,
            "purpose": "measured",
            "cell": cell,
            "attempt": 2,
            "attempt_state": "accepted",
            "metric": "rate",
            "value": 40.0,
            "unit": "files/s",
            "lower_is_better": False,
            "censored": False,
            "bound": False,
            "fidelity": "raw",
        }
    ]
    assert read("measurements", metric="colour")["results"] == []


def test_proofs_are_filtered_by_step_and_result(read):
    broken = read("proofs", ok="false", run=2)["results"]

    assert [(row["name"], row["expected"], row["measured"], row["unit"]) for row in broken] == [
        ("files there", 3, 2, "files")
    ]
    assert {row["step"] for row in read("proofs", step="reset")["results"]} == {"reset"}


def test_a_distribution_has_percentiles_and_its_histogram(api, read):
    (row,) = read("distributions")["results"]

    found = api.client.get(row["url"]).json()

    assert (row["name"], row["unit"], row["count"], row["dropped"]) == ("total", "µs", 1000, 0)
    assert "encoded" not in row
    summary = found["summary"]
    assert (summary["minimum"], summary["maximum"]) == (1, 1000)
    assert [p["label"] for p in summary["percentiles"]] == ["p50", "p90", "p95", "p99", "p99.9"]
    assert summary["percentiles"][3]["value"] == 990
    assert (summary["percentiles"][4]["value"], summary["percentiles"][4]["needs"]) == (
        None,
        "needs 10000",
    )
    again = histogram.summarise(found["encoded"].encode())
    assert again.count == 1000


def test_percentiles_may_be_chosen(api, read):
    (row,) = read("distributions")["results"]

    found = api.client.get(row["url"], {"percentiles": "25,99.9", "fields": "summary"}).json()

    assert found.keys() == {"summary"}
    assert [(p["label"], p["value"]) for p in found["summary"]["percentiles"]] == [
        ("p25", 250),
        ("p99.9", None),
    ]


@pytest.mark.parametrize("text", ["", "100", "-1", "x", "50,", "1e1", "99.9999", "٣", "1," * 30])
def test_a_percentile_that_is_none_is_refused(api, campaign, text):
    path = f"campaigns/{campaign.pk}/runs/1/attempts/2/distributions/total"

    status, problem = api.get(path, percentiles=text)

    assert status == 400
    assert problem["errors"][0]["field"].startswith("percentiles")


def test_a_series_has_its_step_and_unit_and_its_values(api, read):
    rows = read("series", run=2)["results"]
    row = next(row for row in rows if row["name"] == "bytes")

    found = api.client.get(row["url"]).json()

    assert (row["unit"], row["step_seconds"], row["count"]) == ("B/s", 0.5, 3)
    assert found["values"] == [1e6, 2e6, 3e6]


@pytest.mark.parametrize(
    "path",
    [
        "cells/9",
        "runs/1/attempts/9",
        "runs/9/attempts/1",
        "runs/1/attempts/2/distributions/colour",
        "runs/1/attempts/2/series/colour",
        "findings/colour",
        "exclusions/1",
        "alerts",
    ],
)
def test_what_is_not_there_is_not_found(api, campaign, path):
    status, problem = api.get(f"campaigns/{campaign.pk}/{path}")

    assert status == 404
    assert problem["detail"]


def test_history_has_the_values_of_one_cell_in_columns(api, read, campaign):
    cell = Run.objects.get(position=1).cell.position

    found = read("history", cell=cell)

    run = Run.objects.get(position=1)
    assert run.started_at
    assert (found["metric"], found["unit"], found["lower_is_better"]) == ("duration", "s", True)
    assert found["value"] == [2.5]
    assert [datetime.fromisoformat(at) for at in found["at"]] == [run.started_at]
    assert (found["run"], found["cell"], found["state"]) == ([1], [cell], ["done"])
    assert found["excluded"] == [False]


def test_history_has_the_latest_values_of_all_cells_and_says_which_are_excluded(
    read, campaign, owner, django_assert_max_num_queries
):
    lifecycle.exclude(Run.objects.get(position=2), owner, "somebody copied a disk")
    read("cells")  # the first use of a token is recorded

    with django_assert_max_num_queries(6):
        everything = read("history", metric="rate")
    latest = read("history", metric="rate", limit=1, fields="run,value")

    assert (everything["run"], everything["state"]) == ([1, 2], ["done", "failed"])
    assert everything["excluded"] == [False, True]
    assert latest == {"run": [2], "value": [40.0]}


@pytest.mark.parametrize("metric", ["colour", 'a"b', "a\\b", "%s", "é"])
def test_history_of_nothing_is_empty(read, metric):
    found = read("history", metric=metric)

    assert (found["metric"], found["value"], found["unit"]) == (metric, [], None)


def test_history_that_is_refused_is_told_as_everywhere(api, campaign):
    status, problem = api.get(f"campaigns/{campaign.pk}/history", limit=0)

    assert status == 400
    assert problem["errors"][0]["field"] == "limit"


def test_history_comes_once_more_only_where_it_has_changed(api, campaign):
    path = f"/api/v1/campaigns/{campaign.pk}/history"

    first = api.client.get(path)
    second = api.client.get(path, headers={"If-None-Match": first["ETag"]})

    assert first["Content-Type"] == "application/json"
    assert (first.status_code, second.status_code) == (200, 304)
    assert api.client.head(path)["ETag"] == first["ETag"]
