"""How often who may ask."""

import pytest
from django.test import Client

from campaigns.accounts.access import make_token, revoke
from campaigns.kit import rates
from campaigns.kit.broker import RedisLink
from campaigns.models import Campaign
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def limits(settings):
    """Change some of the rates."""

    def limits(**named):
        settings.API_RATES = settings.API_RATES | named

    return limits


@pytest.fixture
def client(token):
    return Client(headers={"Authorization": f"Bearer {token}"}, REMOTE_ADDR="192.0.2.1")


def wrong(address, text="wrong"):
    client = Client(headers={"Authorization": f"Bearer {text}"}, REMOTE_ADDR=address)
    return client.get("/api/v1/campaigns")


def test_a_token_that_asks_too_often_is_told_when_to_ask_again(limits, client):
    limits(read=(2, 3600))

    codes = [client.get("/api/v1/campaigns").status_code for _ in range(2)]
    refused = client.get("/api/v1/kinds")

    assert codes == [200, 200]
    assert refused.status_code == 429
    assert refused["Content-Type"] == "application/problem+json"
    assert 1790 <= int(refused["Retry-After"]) <= 1800
    assert refused.json()["type"] == "urn:perfdash:too-many"
    assert "2 in 3600 s (PERFDASH_API_READ_RATE)" in refused.json()["detail"]


def test_reading_and_changing_are_counted_apart(limits, client, target):
    limits(write=(1, 3600), read=(1, 3600))
    asked = definition(target=target.pk)

    sent = [
        client.post("/api/v1/campaigns", asked, content_type="application/json") for _ in range(2)
    ]

    assert [answer.status_code for answer in sent] == [201, 429]
    assert "PERFDASH_API_WRITE_RATE" in sent[1].json()["detail"]
    assert client.get("/api/v1/campaigns").status_code == 200
    assert Campaign.objects.count() == 1


def test_every_answer_tells_what_is_left(limits, client):
    limits(read=(10, 60))

    found, missing = client.get("/api/v1/campaigns"), client.get("/api/v1/campaigns/1")

    assert found["RateLimit-Policy"] == missing["RateLimit-Policy"] == '"read";q=10;w=60'
    assert found["RateLimit"] == '"read";r=9;t=6'
    assert missing["RateLimit"].startswith('"read";r=8;t=')


def test_each_token_has_a_rate_of_its_own(limits, client, owner):
    limits(read=(1, 3600))
    other = Client(headers={"Authorization": f"Bearer {make_token(owner, 'other')[1]}"})

    assert client.get("/api/v1/campaigns").status_code == 200
    assert client.get("/api/v1/campaigns").status_code == 429
    assert other.get("/api/v1/campaigns").status_code == 200


def test_a_browser_is_counted_by_its_person(limits, owner):
    limits(read=(1, 3600), session=(2, 3600))
    first, second = Client(), Client()
    for browser in (first, second):
        browser.force_login(owner)

    codes = [b.get("/api/v1/campaigns").status_code for b in (first, second, first)]

    assert codes == [200, 200, 429]


def test_an_address_that_sends_wrong_tokens_is_told_to_wait(limits, client, owner):
    limits(failure=(2, 3600))
    token, text = make_token(owner, "old")
    revoke(token)

    codes = [wrong("192.0.2.1").status_code for _ in range(2)]
    refused = wrong("192.0.2.1", text)

    assert codes == [401, 401]
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 1700
    assert "PERFDASH_API_FAILURE_RATE" in refused.json()["detail"]
    assert client.get("/api/v1/campaigns").status_code == 200
    assert wrong("192.0.2.2").status_code == 401


def test_without_a_limit_nothing_is_counted(limits, client):
    limits(read=None)

    answer = client.get("/api/v1/campaigns")

    assert answer.status_code == 200
    assert "RateLimit" not in answer


def test_everybody_is_let_through_while_redis_is_away(limits, client, settings, monkeypatch):
    limits(read=(1, 3600), failure=(1, 3600))
    settings.PROGRESS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(rates, "_link", RedisLink("test"))

    answers = [client.get("/api/v1/campaigns") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert [wrong("192.0.2.3").status_code for _ in range(2)] == [401, 401]


def test_a_refusal_for_the_rate_is_not_kept_for_its_key(limits, client, target):
    asked = definition(target=target.pk)

    def send():
        return client.post(
            "/api/v1/campaigns",
            asked,
            content_type="application/json",
            headers={"Idempotency-Key": "a"},
        )

    limits(write=(1, 3600))
    client.post("/api/v1/campaigns/preview", asked, content_type="application/json")
    refused = send()
    limits(write=None)
    taken = send()

    assert (refused.status_code, taken.status_code) == (429, 201)
    assert "Idempotency-Replayed" not in taken


def test_a_repeated_answer_tells_what_is_left_now(client, target):
    asked = definition(target=target.pk)

    first, second = (
        client.post(
            "/api/v1/campaigns",
            asked,
            content_type="application/json",
            headers={"Idempotency-Key": "a"},
        )
        for _ in range(2)
    )

    assert second["Idempotency-Replayed"] == "true"
    assert first["RateLimit"] == '"write";r=29999;t=1'
    assert second["RateLimit"].startswith('"write";r=2999')
