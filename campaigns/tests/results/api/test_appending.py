"""Runs that are sent later, again, or at the same time: nothing is overwritten, nothing counted twice."""

import json
import sys
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from campaigns.findings import compute
from campaigns.models import Campaign, Measurement
from campaigns.tests.results.api.documents import document, made

if sys.version_info >= (3, 14):
    pass
else:
    pass

pytestmark = pytest.mark.django_db


def test_the_same_submission_again_is_the_same_campaign(send):
    campaign = made(send(document(id="nightly-7")))

    again = send(json.dumps(document(id="nightly-7"), indent=2, sort_keys=True).encode())

    assert again.status_code == 200
    assert again.json()["made"] is False
    assert again.json()["submission"]["campaign"]["id"] == campaign.pk
    assert Campaign.objects.count() == 1


def test_another_submission_under_the_same_id_is_a_conflict_and_overwrites_nothing(send):
    campaign = made(send(document(id="nightly-7")))
    other = document(id="nightly-7")
    other["runs"][0]["values"]["duration"] = 1

    answer = send(other)

    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:perfdash:differs"
    assert answer.json()["campaign"] == campaign.pk
    assert Measurement.objects.filter(value=20.0).exists()


def test_runs_are_appended_out_of_order_with_new_levels_and_metrics(send):
    campaign = made(send(document()))
    path = f"campaigns/{campaign.pk}/runs"

    answer = send(
        {
            "metrics": {"cost": {"unit": "EUR", "lower_is_better": True}},
            "runs": [
                {
                    "tags": {"engine": "uvloop"},
                    "values": {"duration": 8, "cost": 1},
                    "started_at": "2026-11-01T10:00:00Z",
                },
                {"tags": {"engine": "asyncio"}, "values": {"duration": 9}},
            ],
        },
        path,
    )

    assert answer.status_code == 201, answer.content
    assert answer.json()["first"] == 7
    assert list(campaign.runs.order_by("position").values_list("block__number", flat=True)) == [
        *(1, 2, 3, 1, 2, 3),
        *(1, 4),
    ]
    assert campaign.cells.count() == 3
    assert campaign.metrics.count() == 3
    compute.analyse(campaign)
    assert len(campaign.findings.get(name="cells").result["cells"]) == 3


def test_a_run_that_is_there_is_left_alone_and_one_that_differs_is_a_conflict(send):
    data = document()
    for place, run in enumerate(data["runs"]):
        run["id"] = f"build-{place}"
    campaign = made(send(data))
    path = f"campaigns/{campaign.pk}/runs"

    same = send({"runs": [data["runs"][0] | {}]}, path)
    assert (same.status_code, same.json()["known"], same.json()["runs"]) == (200, 1, 0)

    changed = data["runs"][0] | {"values": {"duration": 1, "memory": 100}}
    differs = send(
        {"runs": [changed, {"tags": {"engine": "asyncio"}, "values": {"duration": 1}}]}, path
    )

    assert differs.status_code == 409
    assert "another values" in differs.json()["detail"]
    for change, word in (
        ({"context": {"cpu": "another"}}, "another context"),
        ({"units_done": 7}, "another units"),
    ):
        differs = send({"runs": [data["runs"][0] | change]}, path)
        assert differs.status_code == 409
        assert word in differs.json()["detail"]
    assert campaign.runs.count() == 6


def test_a_campaign_that_perfdash_measures_takes_no_runs_from_outside(send, owner):
    campaign = Campaign.objects.create(kind="downloader", name="ours", primary_metric="duration")

    answer = send({"runs": [{"values": {"duration": 1}}]}, f"campaigns/{campaign.pk}/runs")

    assert answer.status_code == 409
    assert "measured by perfdash" in answer.json()["detail"]


def test_a_metric_with_another_unit_is_a_conflict(send):
    campaign = made(send(document()))
    data = {
        "metrics": {"duration": {"unit": "ms", "lower_is_better": True}},
        "runs": [{"tags": {"engine": "asyncio"}, "values": {"duration": 1}}],
    }

    answer = send(data, f"campaigns/{campaign.pk}/runs")

    assert answer.status_code == 409
    assert "is in s, lower is better, raw" in answer.json()["detail"]


def test_a_key_makes_a_repeated_submission_one(send):
    first = send(document(), **{"Idempotency-Key": "a"})
    again = send(document(), **{"Idempotency-Key": "a"})

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Campaign.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_runs_that_come_at_the_same_time_have_positions_of_their_own(send, owner):
    campaign = made(send(document()))

    def append(number):
        client = Client()
        client.force_login(User.objects.get(pk=owner.pk))
        answers.append(
            client.post(
                f"/api/v1/campaigns/{campaign.pk}/runs",
                json.dumps(
                    {"runs": [{"tags": {"engine": f"e{number}"}, "values": {"duration": 1}}]}
                ),
                content_type="application/json",
            ).status_code
        )
        connection.close()

    answers: list[int] = []
    threads = [threading.Thread(target=append, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [201] * 8
    assert sorted(campaign.runs.values_list("position", flat=True)) == list(range(1, 15))
    assert campaign.cells.count() == 10


def test_a_single_run_takes_three_messages_to_the_database(send, api):
    one = {"tags": {"engine": "asyncio"}, "values": {"duration": 1.5}}
    path = f"campaigns/{made(send(document())).pk}/runs"
    api.post(path, {"runs": [one]})

    with CaptureQueriesContext(connection) as asked:
        status, _ = api.post(path, {"runs": [one]})

    assert status == 201
    bounds = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")
    texts = [each["sql"] for each in asked if not each["sql"].startswith(bounds)]
    assert len(texts) == 3  # who sends it, what is there, what is new
