"""What is written down of a campaign, and who works."""

import json
from datetime import timedelta

import jsonschema_rs
import pytest
from django.db.models.functions import Now

from campaigns.findings.store import shape_of
from campaigns.kit.api.openapi import document
from campaigns.models import Campaign, Run, Worker
from campaigns.stats.methods import METHODS
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, owner):
    campaign = launched(target, owner)
    store(campaign, lambda run: 10.0 + run.position / 100)
    return finish(campaign)


@pytest.fixture
def path(campaign) -> str:
    return f"campaigns/{campaign.pk}"


def test_findings_are_listed_and_read_by_name(api, path):
    rows = api.get(f"{path}/findings")[1]["results"]
    answer = next(row for row in rows if row["name"] == "answer")

    found = api.client.get(answer["url"]).json()

    assert "result" not in answer
    assert answer["versions"]["methods"] == METHODS
    assert found["text"]["sentence"]
    assert found["data_hash"] == answer["data_hash"]


def test_a_run_is_excluded_listed_and_included_again(api, path, campaign):
    status, made = api.post(f"{path}/exclusions", {"run": 2, "reason": "somebody copied a disk"})
    listed = api.get(f"{path}/exclusions", standing="true")[1]["results"]
    asked = Campaign.objects.get(pk=campaign.pk).analysis_requested_at
    withdrawn = api.post(f"{path}/exclusions/{made['id']}/withdraw")

    assert status == 201
    assert (made["run"], made["by"], made["withdrawn_at"]) == (2, "owner", None)
    assert listed == [made]
    assert asked is not None
    assert withdrawn[0] == 200
    assert withdrawn[1]["withdrawn_at"]
    assert api.get(f"{path}/exclusions", standing="true")[1]["results"] == []
    assert api.get(f"{path}/exclusions", run=2)[1]["results"] == [withdrawn[1]]
    assert api.client.get(made["url"]).json() == withdrawn[1]


def test_an_exclusion_needs_a_reason_and_a_run_that_is_there(api, path):
    assert api.post(f"{path}/exclusions", {"run": 2, "reason": " "})[0] == 400
    assert api.post(f"{path}/exclusions", {"run": 2})[0] == 400
    assert api.post(f"{path}/exclusions", {"run": 99, "reason": "x"})[0] == 404


def test_nothing_is_excluded_or_included_twice(api, path):
    _, made = api.post(f"{path}/exclusions", {"run": 2, "reason": "x"})

    assert api.post(f"{path}/exclusions", {"run": 2, "reason": "x"})[0] == 409
    api.post(f"{path}/exclusions/{made['id']}/withdraw")
    assert api.post(f"{path}/exclusions/{made['id']}/withdraw")[0] == 409


def test_a_run_is_cancelled_and_run_again(api, target, owner):
    campaign = launched(target, owner)
    path = f"campaigns/{campaign.pk}/runs/1"

    status, cancelled = api.post(f"{path}/cancel", {"reason": "not now"})
    refused = api.post(f"{path}/again")
    Run.objects.filter(campaign=campaign, position=1).update(state="failed", reason="It refused.")
    again = api.post(f"{path}/again")

    assert (status, cancelled["state"], cancelled["reason"]) == (200, "cancelled", "not now")
    assert refused[0] == 409
    assert (again[0], again[1]["state"]) == (200, "planned")


def test_the_log_is_read_from_an_instant_on(api, path):
    lines = api.get(f"{path}/log")[1]["results"]

    later = api.get(f"{path}/log", after=lines[-1]["at"])[1]["results"]

    assert any("launched" in line["text"] for line in lines)
    assert lines[-1] in later
    assert len(later) < len(lines) or len(lines) == 1


def test_workers_tell_whether_they_are_present(api, worker):
    Worker.objects.create(
        name="measure@gone", host="gone", pools=["measure"], seen_at=Now() - timedelta(minutes=5)
    )

    _, body = api.get("workers")

    told = [(row["name"], row["pools"], row["present"]) for row in body["results"]]
    assert told == [("measure@gone", ["measure"], False), ("measure@here", ["measure"], True)]


def test_findings_have_their_text_beside_them(api, path, campaign):
    answer = api.get(f"{path}/findings/answer")[1]["text"]
    pairs = api.get(f"{path}/findings/pairs")[1]
    checks = api.get(f"{path}/findings/checks")[1]["text"]
    drift = api.get(f"{path}/findings/drift:duration")[1]
    whole = api.get(path)[1]["findings"]
    exported = json.loads(b"".join(api.client.get(f"/api/v1/{path}/export").streaming_content))

    assert answer["sentence"].endswith(".")
    assert len(pairs["text"]["comparisons"]) == len(pairs["result"]["strata"])
    assert {"label", "tone", "advice", "also"} == pairs["text"]["comparisons"][0].keys()
    assert any(line.startswith("Drift") for line in checks), checks
    assert (drift["text"], drift["result"]["v"]) == (None, 2)
    assert {name: each["text"] for name, each in whole.items()} == {
        each["name"]: each["text"] for each in exported["findings"]
    }
    assert whole["pairs"]["text"] == pairs["text"]


def test_a_finding_of_other_methods_has_no_text(api, path, campaign):
    campaign.findings.update(versions={"methods": "1"})

    assert api.get(f"{path}/findings/answer")[1]["text"] is None
    assert api.get(f"{path}/findings/pairs")[1]["text"] is None


def test_each_finding_has_the_shape_that_is_documented(campaign):
    schemas = document()["components"]["schemas"]
    registry = jsonschema_rs.Registry([("urn:d", {"components": {"schemas": schemas}})])

    for finding in campaign.findings.all():
        shape = shape_of(finding.name)
        assert shape is not None, finding.name
        result = {**finding.result, "v": 2}
        reference = {"$ref": f"urn:d#/components/schemas/{shape.__name__}"}
        errors = jsonschema_rs.Draft202012Validator(reference, registry=registry).iter_errors(
            result
        )
        assert [each.message for each in errors] == [], finding.name
        assert result.keys() <= schemas[shape.__name__]["properties"].keys()
