"""Submissions that cost more than they look, or say less than they seem to."""

import json
import threading
from io import BytesIO
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client

from campaigns.findings import compute
from campaigns.models import Campaign, Run, Submission
from campaigns.results.api import submissions
from campaigns.results.importing import document as documents
from campaigns.results.importing import waiting
from campaigns.results.importing.files import About

pytestmark = pytest.mark.django_db
MAPPING = {"factors": [], "metrics": {"t": {"unit": "s", "lower_is_better": True}}}


@pytest.fixture
def send(client, owner):
    def sending(data, path="submissions"):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        client.force_login(owner)
        return client.post(f"/api/v1/{path}", body, content_type="application/json")

    return sending


def document(*runs, **changes):
    return {
        "campaign": {"question": "Which?", **changes},
        "metrics": {"t": {"unit": "s", "lower_is_better": True}},
        "runs": list(runs),
    }


def test_a_name_that_is_there_twice_is_found_among_many_thousands(send):
    names = b",".join(b'"%d":1' % number for number in range(100_000))

    answer = send(b"{" + names + b',"99999":1}')

    assert answer.status_code == 400
    assert "“99999” is there twice" in answer.json()["detail"]


def test_a_body_of_more_parts_than_fit_into_memory_is_refused_unread(send, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_PARTS", 50)

    answer = send(b"[" + b"{}," * 50 + b"{}]")

    assert answer.status_code == 413
    assert "more than 50 values" in answer.json()["detail"]


def test_facts_of_all_runs_together_are_bounded(send, monkeypatch):
    monkeypatch.setattr(documents, "MOST_FACTS_LETTERS", 1000)
    runs = [{"tags": {"a": 1}, "values": {"t": 1}}] * 6

    answer = send({**document(*runs), "context": {"cpu": "x" * 200}})

    assert answer.status_code == 400
    assert (
        "these 6 runs would have more than 1,000 letters" in answer.json()["errors"][0]["message"]
    )
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"values": {"t": []}}, "values", "lists are empty"),
        ({"values": {"t": {"value": 1, "censored": "yes"}}}, "values.t.censored", "true or false"),
        ({"values": {"t": {"censored": True}}}, "values.t", "no `value`"),
        ({"context": {" ": "x"}}, "context. ", "a name"),
    ],
)
def test_what_would_be_left_out_without_a_word_is_refused(send, change, field, words):
    good = {"tags": {"a": 1}, "values": {"t": 1}}

    answer = send(document(good, good | change))

    assert answer.status_code == 400
    errors = {each["field"]: each["message"] for each in answer.json()["errors"]}
    assert words in errors[f"runs.1.{field}"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "change", [{"block": 2}, {"info": {"commit": "b"}}, {"state": "failed", "reason": "other"}]
)
def test_a_run_that_differs_beside_its_values_is_a_conflict(send, change):
    run = {"id": "x", "tags": {"a": 1}, "values": {"t": 1}, "block": 1, "info": {"commit": "a"}}
    run |= {"state": "failed", "reason": "slow"} if "reason" in change else {}
    made = send(document(run, order="interleaved")).json()["submission"]["campaign"]
    path = f"campaigns/{made['id']}/runs"

    assert send({"runs": [run]}, path).status_code == 200
    differs = send({"runs": [run | change]}, path)

    assert differs.status_code == 409
    assert f"another {list(change)[-1]}" in differs.json()["detail"]


def test_blocks_are_looked_up_at_once(send, django_assert_max_num_queries):
    def runs(first):
        return [
            {"tags": {"a": place % 2}, "values": {"t": 1 + place}, "block": first + place // 2}
            for place in range(100)
        ]

    made = send(document(*runs(1), order="interleaved")).json()["submission"]["campaign"]
    with django_assert_max_num_queries(60):
        added = send({"runs": runs(51)}, f"campaigns/{made['id']}/runs")
    again = send({"runs": runs(100)[:1]}, f"campaigns/{made['id']}/runs")

    assert added.status_code == 201
    assert "Block 100 has a run" in again.json()["errors"][0]["message"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("submissions", json.dumps(document({"values": {"t": 1}}) | {"id": "once"}).encode()),
        (
            "imports?filename=x.csv&format=plain_csv&mapping=" + quote(json.dumps(MAPPING)),
            b"t\n1\n",
        ),
    ],
)
def test_what_is_sent_several_times_at_once_is_stored_once(owner, path, body):
    codes = []
    together = threading.Barrier(4)

    def send():
        client = Client()
        client.force_login(owner)
        together.wait()
        try:
            answer = client.post(f"/api/v1/{path}", body, content_type="application/json")
            codes.append(answer.status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(codes) == [200, 200, 200, 201]
    assert Campaign.objects.count() == 1


def test_a_large_file_that_waits_twice_is_one_campaign(owner):
    about = About(filename="x.csv", format="plain_csv", mapping=MAPPING)
    for _ in range(2):
        waiting.keep(BytesIO(b"t\n1\n"), about, owner)

    for key in waiting.due(9):
        waiting.read_waiting(key)

    first, second = Submission.objects.order_by("pk")
    assert first.state == second.state == "stored"
    assert first.campaign == second.campaign == Campaign.objects.get()
    assert not second.parts.exists()


@pytest.mark.parametrize("name", ["a/b", "../x", "?", "#", "%2F", "é"])
def test_findings_of_a_metric_of_any_name_are_listed_and_read(send, client, name):
    data = document(*({"tags": {"a": x}, "values": {name: 1 + x}} for x in (0, 1)))
    metrics = {each: {"unit": "s", "lower_is_better": True} for each in ("t", name)}
    key = send(data | {"metrics": metrics}).json()["submission"]["campaign"]["id"]
    compute.analyse(Campaign.objects.get(pk=key))

    rows = client.get(f"/api/v1/campaigns/{key}/findings").json()["results"]
    row = next(row for row in rows if row["name"] == f"cells:{name}")

    assert client.get(row["url"]).json()["name"] == f"cells:{name}"
