import json
from datetime import UTC, datetime

import pytest
from django.db.models.functions import Now

from campaigns.kinds.base import EffectiveSetting, Health, Measured, Phase, Proof
from campaigns.models import Attempt, Campaign, Finding, Run, Worker
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.storing import Outcome
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def attempt_of(run: Run, state: str, duration: float | None, reason: str = "") -> None:
    """Close an attempt at a run as its keeper would."""
    attempt = Attempt.objects.create(
        run=run,
        number=run.attempts.count() + 1,
        state=Attempt.State.RUNNING,
        pool="measure",
        worker="measure@here",
        host="here",
        token=1,
        claimed_at=Now(),
    )
    health = Health("healthy", (), {"cpu_share": 0.2})
    measured = Measured(
        values={"duration": duration or 0.0, "rate": 10.0},
        health=health,
        phases=(Phase("download", 1.5),),
        units_done=9,
        units_failed=1,
        failures={"5xx": 1},
    )
    close(
        attempt,
        Outcome(
            state=state,
            reason=reason,
            clean_state=(Proof("files", 0, 0, "files", ok=True),),
            same_work=(Proof("bytes", 10, 9, "B", ok=False),),
            settings=(EffectiveSetting("workers", 4, 4, ok=True),),
            measured=measured if duration is not None else None,
            steps={"reset": 0.5},
            environment={"target": {"version": "1.2"}},
            measure_started_at=AT,
            measure_finished_at=AT,
        ),
    )


@pytest.fixture
def campaign(api, target) -> Campaign:
    """Run 1 went well at the second try, run 2 failed, run 3 is excluded; 4 to 6 are planned."""
    _, body = api.post("campaigns?launch=true", definition(target=target.pk))
    campaign = Campaign.objects.get(pk=body["id"])
    Attempt.objects.all().delete()
    one, two, three = campaign.runs.order_by("position")[:3]
    attempt_of(one, Attempt.State.VOID, None, "not clean")
    attempt_of(one, Attempt.State.ACCEPTED, 12.5)
    attempt_of(two, Attempt.State.FAILED, 30.0, "timed out")
    attempt_of(three, Attempt.State.ACCEPTED, 99.0)
    three.refresh_from_db()
    lifecycle.exclude(three, campaign.author, "somebody copied a disk")
    return campaign


def test_runs_are_listed_with_their_values_and_proofs(api, campaign):
    status, body = api.get(f"campaigns/{campaign.pk}/runs")

    assert status == 200
    assert len(body["results"]) == 6
    one, two, three, four, *_ = body["results"]
    assert (one["position"], one["state"], one["attempts"]) == (1, "done", 2)
    assert one["measurements"]["duration"] == {
        "value": 12.5,
        "unit": "s",
        "lower_is_better": True,
        "censored": False,
        "bound": False,
        "fidelity": "raw",
    }
    assert set(one["measurements"]) == {"duration", "rate"}
    assert one["proofs"] == {"total": 2, "ok": 1}
    assert (two["state"], two["reason"]) == ("failed", "timed out")
    assert two["measurements"]["duration"]["value"] == 30.0
    assert three["excluded"]["by"] == "owner"
    assert three["excluded"]["reason"] == "somebody copied a disk"
    assert (four["state"], four["attempts"], four["measurements"]) == ("planned", 0, {})
    assert (four["started_at"], four["excluded"]) == (None, None)


def test_instants_are_utc(api, campaign):
    _, run = api.get(f"campaigns/{campaign.pk}/runs/1")

    assert run["attempts"][1]["measure_started_at"] == "2026-03-01T12:00:00Z"
    assert run["finished_at"].endswith("Z")


def test_runs_are_filtered(api, campaign):
    def positions(**query):
        _, body = api.get(f"campaigns/{campaign.pk}/runs", **query)
        return [run["position"] for run in body["results"]]

    assert positions(state="failed") == [2]
    assert positions(state="planned") == [4, 5, 6]
    assert positions(purpose="warm_up") == []
    assert [len(positions(cell=cell, block=1)) for cell in (1, 2)] == [1, 1]
    assert positions(cell=9) == []
    assert api.get(f"campaigns/{campaign.pk}/runs", state="lost")[0] == 400


def test_a_list_of_many_runs_asks_few_questions(api, campaign, django_assert_max_num_queries):
    lifecycle.extend(campaign, 40, None)

    with django_assert_max_num_queries(13):
        _, body = api.get(f"campaigns/{campaign.pk}/runs", limit=500)

    assert len(body["results"]) == 86


def test_a_list_of_runs_goes_on_where_it_ended(api, campaign):
    seen, address = [], f"/api/v1/campaigns/{campaign.pk}/runs?limit=4"
    while address:
        body = api.client.get(address).json()
        seen += [run["position"] for run in body["results"]]
        address = body["next"]

    assert seen == [1, 2, 3, 4, 5, 6]


def test_only_the_fields_that_are_asked_for_are_read_and_sent(
    api, campaign, django_assert_max_num_queries
):
    address = f"campaigns/{campaign.pk}"

    with django_assert_max_num_queries(7):
        _, listed = api.get(f"{address}/runs", fields="position,state")
    with django_assert_max_num_queries(7):
        _, one = api.get(address, fields="id,cells")

    assert listed["results"][0] == {"position": 1, "state": "done"}
    assert one == {
        "id": campaign.pk,
        "cells": [
            {"position": 1, "levels": {"engine": "new"}},
            {"position": 2, "levels": {"engine": "old"}},
        ],
    }


def test_a_field_that_is_not_there_is_told_with_those_that_are(api, campaign):
    status, problem = api.get(f"campaigns/{campaign.pk}/runs", fields="position,colour")

    assert status == 400
    assert problem["errors"][0]["field"] == "fields"
    assert "“colour”; there are position, purpose, state" in problem["errors"][0]["message"]


@pytest.mark.parametrize("path", ["", "/runs", "/runs/1"])
def test_an_answer_that_is_still_the_same_is_not_sent_again(api, campaign, path):
    address = f"/api/v1/campaigns/{campaign.pk}{path}"
    query = "?fields=state,reason" if path else "?fields=id,state"

    first = api.client.get(address + query)
    again = api.client.get(address + query, headers={"If-None-Match": first["ETag"]})
    other = api.client.get(address + query, headers={"If-None-Match": '"other"'})
    head = api.client.head(address + query)

    assert first.status_code == other.status_code == head.status_code == 200
    assert "no-cache" in first["Cache-Control"]
    assert (again.status_code, again.content) == (304, b"")
    assert (head["ETag"], head.content) == (first["ETag"], b"")


def test_a_run_tells_everything_about_its_attempts(api, campaign):
    status, run = api.get(f"campaigns/{campaign.pk}/runs/1")

    assert status == 200
    void, accepted = run["attempts"]
    assert (void["state"], void["reason"], void["health"]) == ("void", "not clean", None)
    assert accepted["state"] == "accepted"
    assert accepted["worker"] == "measure@here"
    assert accepted["health"] == {
        "verdict": "healthy",
        "reasons": [],
        "figures": {"cpu_share": 0.2},
    }
    assert (accepted["units_done"], accepted["units_failed"]) == (9, 1)
    assert accepted["failures"] == {"5xx": 1}
    assert accepted["measurements"]["rate"]["unit"] == "files/s"
    assert accepted["proofs"] == [
        {
            "step": "reset",
            "name": "files",
            "expected": 0,
            "measured": 0,
            "unit": "files",
            "ok": True,
        },
        {
            "step": "verify",
            "name": "bytes",
            "expected": 10,
            "measured": 9,
            "unit": "B",
            "ok": False,
        },
    ]
    assert accepted["effective_settings"] == [
        {"name": "workers", "asked": 4, "in_force": 4, "ok": True}
    ]
    assert accepted["environment"] == [
        {"side": "target", "name": "version", "value": "1.2", "value_after": ""}
    ]
    assert {phase["name"] for phase in accepted["phases"]} == {"reset", "download"}


def test_a_run_that_is_not_there_is_not_found(api, campaign):
    for position in ("7", "0", "99999999999999999999"):
        assert api.get(f"campaigns/{campaign.pk}/runs/{position}")[0] == 404
    status, problem = api.get(f"campaigns/{campaign.pk}/runs/1?trial=true")
    assert status == 404
    assert "no try-out 1" in problem["detail"]


def test_a_try_out_stands_beside_the_run_of_its_position(api, draft):
    api.post(f"campaigns/{draft}/try")
    Attempt.objects.all().delete()
    Run.objects.update(state=Run.State.DONE)
    api.post(f"campaigns/{draft}/launch")

    _, listed = api.get(f"campaigns/{draft}/runs")
    _, planned = api.get(f"campaigns/{draft}/runs/1")
    _, trial = api.get(f"campaigns/{draft}/runs/1?trial=true")

    assert len(listed["results"]) == 7
    assert listed["results"][-1]["purpose"] == "trial"
    assert planned["purpose"] == "measured"
    assert trial["purpose"] == "trial"


def test_a_campaign_counts_its_runs_and_knows_how_long_it_may_take(api, campaign):
    _, body = api.get(f"campaigns/{campaign.pk}")

    assert body["runs"] == {
        "total": 6,
        "planned": 3,
        "running": 0,
        "done": 2,
        "failed": 1,
        "void": 0,
        "cancelled": 0,
    }
    assert body["seconds_left"] is None, "it waits for a worker, and nobody knows for how long"

    Worker.objects.create(name="measure@here", host="here", pools=["measure"])
    _, body = api.get(f"campaigns/{campaign.pk}")
    assert body["seconds_left"] is not None


@pytest.mark.parametrize("state", ["running", "paused", "cancelling"])
def test_no_answer_is_given_before_the_stop_rule(api, campaign, state):
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    for name in ("answer", "levels", "pairs", "matrix", "usl", "checks"):
        Finding.objects.create(
            campaign=campaign, name=name, result={"sentence": "b is the fastest."}, data_hash="v1:a"
        )
    reason = f"The campaign is {state}: no answer is given before its stop rule is met."

    _, body = api.get(f"campaigns/{campaign.pk}")
    _, listed = api.get(f"campaigns/{campaign.pk}/findings")
    status, refused = api.get(f"campaigns/{campaign.pk}/findings/answer")
    exported = json.loads(
        b"".join(
            api.client.get(
                f"/api/v1/campaigns/{campaign.pk}/export", {"format": "json"}
            ).streaming_content
        )
    )

    assert (list(body["findings"]), body["answer_withheld"]) == (["checks"], reason)
    assert [row["name"] for row in listed["results"]] == ["checks"]
    assert (status, refused["detail"]) == (404, reason)
    assert [found["name"] for found in exported["findings"]] == ["checks"]


def test_findings_are_given_by_name(api, campaign):
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    Finding.objects.create(
        campaign=campaign, name="answer", result={"sentence": "Yes."}, data_hash="v1:abc"
    )

    _, body = api.get(f"campaigns/{campaign.pk}")

    answer = body["findings"]["answer"]
    assert answer["result"] == {"sentence": "Yes."}
    assert answer["data_hash"] == "v1:abc"
    assert answer["computed_at"].endswith("Z")
