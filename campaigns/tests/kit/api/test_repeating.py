"""The same POST, sent again with its Idempotency-Key."""

from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from campaigns.accounts.access import make_token
from campaigns.execution import dispatch
from campaigns.kit.api import idempotency
from campaigns.models import Campaign, KeptAnswer, Run, Team
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(token):
    """POST with a key; give the response."""
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def send(path, body=None, key="a", **named):
        headers = {} if key is None else {"Idempotency-Key": key}
        return client.post(
            f"/api/v1/{path}",
            {} if body is None else body,
            content_type="application/json",
            headers=headers,
            **named,
        )

    return send


@pytest.fixture
def asked(target):
    return definition(target=target.pk, seed=3)


def test_a_repeated_post_is_answered_alike_and_does_nothing(send, asked):
    first, second = send("campaigns", asked), send("campaigns", asked)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    for header in ("Location", "Content-Type", "Vary", "Allow"):
        assert first[header] == second[header]
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert Campaign.objects.count() == 1


def test_a_kept_answer_is_what_is_said_without_a_key(send, asked, api):
    kept, usual = send("campaigns", asked), send("campaigns", asked, key=None)

    changing = {"id", "links", "created_at"}
    assert {name: value for name, value in kept.json().items() if name not in changing} == {
        name: value for name, value in usual.json().items() if name not in changing
    }
    assert kept["Content-Type"] == usual["Content-Type"] == "application/json"
    assert Campaign.objects.count() == 2


@pytest.mark.parametrize(
    ("step", "body", "made"),
    [
        ("launch", {}, 6),
        ("try", {}, 1),
        ("clone", {}, 0),
    ],
)
def test_every_step_is_taken_once(send, draft, step, body, made):
    path = f"campaigns/{draft}/{step}"

    first, second = send(path, body), send(path, body)

    assert first.status_code == second.status_code < 300
    assert first.content == second.content
    assert Run.objects.count() == made
    assert Campaign.objects.count() == (2 if step == "clone" else 1)


def test_a_campaign_is_extended_once(send, draft):
    send(f"campaigns/{draft}/launch", key="b")

    first, second = (send(f"campaigns/{draft}/extend", {"repetitions": 1}) for _ in range(2))

    assert first.json()["runs"]["total"] == second.json()["runs"]["total"] == 8
    assert Run.objects.count() == 8


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("campaigns", {"repetitions": 2}),
        ("campaigns?launch=true", {}),
        ("campaigns/preview", {}),
    ],
)
def test_a_key_belongs_to_one_request(send, asked, path, changes):
    send("campaigns", asked)

    refused = send(path, asked | changes)

    assert refused.status_code == 409
    assert refused.json()["type"] == "urn:perfdash:key-reused"
    assert Campaign.objects.count() == 1


def test_a_key_belongs_to_one_person(send, asked):
    other = make_token(somebody("other"), "t")[1]

    send("campaigns", asked)
    answer = send("campaigns", asked, HTTP_AUTHORIZATION=f"Bearer {other}")

    assert "Idempotency-Replayed" not in answer
    assert Campaign.objects.count() == 2


def test_all_tokens_of_a_person_share_their_keys(send, asked, owner):
    send("campaigns", asked)

    answer = send("campaigns", asked, HTTP_AUTHORIZATION=f"Bearer {make_token(owner, 'new')[1]}")

    assert answer["Idempotency-Replayed"] == "true"


def test_what_was_refused_may_be_corrected_with_the_same_key(send, asked):
    refused = send("campaigns", asked | {"repetitions": 0})
    taken = send("campaigns", asked)

    assert (refused.status_code, taken.status_code) == (400, 201)
    assert KeptAnswer.objects.count() == 1


def test_a_mistake_of_the_server_leaves_nothing_and_is_not_kept(send, asked, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(dispatch, "dispatch", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send("campaigns?launch=true", asked)

    assert not Campaign.objects.exists()
    assert not KeptAnswer.objects.exists()
    assert send("campaigns?launch=true", asked).status_code == 201


def test_an_answer_that_is_no_success_undoes_what_was_done_before_it(owner):
    def act():
        Team.objects.create(name="half done")
        return HttpResponse(status=409)

    answer = idempotency.once(Mock(user=owner), "a", act, lambda: b"")

    assert answer.status_code == 409
    assert not Team.objects.filter(name="half done").exists()
    assert not KeptAnswer.objects.exists()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("", "this one has 0"),
        ("x" * 201, "this one has 201"),
        ("x" * 300, "this one has 300"),
        ("schlüssel", "not all of ASCII"),
        ("a\tb", "1 to 200 printable"),
        (" ", "1 to 200 printable"),
    ],
)
def test_a_key_that_cannot_be_kept_is_refused_in_words(send, asked, key, told):
    refused = send("campaigns", asked, key)

    assert refused.status_code == 400
    assert refused["Content-Type"] == "application/problem+json"
    assert told in refused.json()["detail"]
    assert not Campaign.objects.exists()


@pytest.mark.parametrize("key", ["x", "x" * 200, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "a b"])
def test_any_printable_key_will_do(send, asked, key):
    assert send("campaigns", asked, key).status_code == 201
    assert send("campaigns", asked, key)["Idempotency-Replayed"] == "true"


def test_a_key_is_nothing_to_a_request_that_only_reads(token):
    client = Client(headers={"Authorization": f"Bearer {token}", "Idempotency-Key": ""})

    assert client.get("/api/v1/campaigns").status_code == 200


def test_an_answer_is_kept_for_a_day(send, asked):
    send("campaigns", asked)
    KeptAnswer.objects.update(created_at=Now() - timedelta(hours=24))

    answer = send("campaigns", asked)

    assert "Idempotency-Replayed" not in answer
    assert Campaign.objects.count() == 2
    assert KeptAnswer.objects.count() == 1


def test_a_request_without_a_key_asks_nothing_of_the_table(send, asked):
    with CaptureQueriesContext(
        connection,
    ) as asked_for:
        send("campaigns", asked, key=None)

    text = " ".join(query["sql"] for query in asked_for)
    assert "keptanswer" not in text
    assert "advisory" not in text
