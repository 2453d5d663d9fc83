"""Tokens that are not good enough, at every address of the API there is."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.test import Client

from campaigns import rates
from campaigns.definition.access import make_token, revoke
from campaigns.models import ApiToken
from campaigns.tests.people import somebody
from perfdash.tests.test_anonymous import API_PAGE, METHODS, PUBLIC, ROUTES

pytestmark = pytest.mark.django_db

API = [r for r in ROUTES if r.startswith("/api/") and r not in PUBLIC | {API_PAGE}]
OPEN = {"/api/v1/whoami": "any token may ask who it is", "/api/v1/": "there is nothing"}
READS = ("get", "head", "options")


@pytest.fixture(autouse=True)
def own_rates(monkeypatch):
    """Nobody has sent wrong tokens from here before."""
    monkeypatch.setattr(rates, "PREFIX", f"test:{uuid4()}:")


def client(may="operate"):
    owner = somebody("owner")
    token, text = make_token(owner, "ci", may)
    return token, Client(headers={"Authorization": f"Bearer {text}"})


def test_the_scan_sees_the_api():
    assert {"/api/v1/campaigns", "/api/v1/campaigns/1/launch", *OPEN} <= set(API)


@pytest.mark.parametrize("route", API)
def test_a_revoked_and_an_expired_token_open_nothing(route):
    token, sender = client()
    ApiToken.objects.update(expires_at=Now() - timedelta(seconds=1))
    expired = [getattr(sender, method)(route) for method in METHODS]
    revoke(token)
    revoked = [getattr(sender, method)(route) for method in METHODS]

    assert {answer.status_code for answer in expired + revoked} == {401}
    assert "expired on 2" in expired[0].json()["detail"]
    assert "revoked on 2" in revoked[0].json()["detail"]


@pytest.mark.parametrize("route", [route for route in API if route not in OPEN])
def test_a_token_to_submit_reads_nothing(route):
    _, sender = client("submit")

    for method in READS:
        answer = getattr(sender, method)(route)
        assert answer.status_code in (403, 405), (method, answer.status_code)


@pytest.mark.parametrize("route", [route for route in API if route not in OPEN])
def test_a_token_to_read_changes_nothing(route):
    _, sender = client("read")

    for method in sorted({*METHODS} - {*READS}):
        answer = getattr(sender, method)(route, {}, content_type="application/json")
        reads = route == "/api/v1/campaigns/preview" and method == "post"
        assert answer.status_code == 400 if reads else answer.status_code in (403, 405), method


def test_a_token_without_the_scope_is_told_which_it_needs_and_which_it_has():
    _, sender = client("read")

    answer = sender.post("/api/v1/campaigns/1/launch")

    body = answer.json()
    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"
    assert 'error="insufficient_scope", scope="operate"' in answer["WWW-Authenticate"]
    assert (body["type"], body["needs"], body["scopes"]) == (
        "urn:perfdash:scope",
        "operate",
        ["read"],
    )
    assert "“ci” has read" in body["detail"]


def test_to_operate_takes_the_other_scopes_in():
    _, sender = client()

    assert sender.get("/api/v1/campaigns").status_code == 200
    assert sender.post("/api/v1/campaigns/1/launch").status_code == 404
    assert sender.get("/api/v1/whoami").json()["scopes"] == ["read", "submit", "operate"]


@pytest.mark.parametrize("route", API)
def test_an_address_that_is_not_there_is_told_apart_from_a_method(route):
    _, sender = client()

    assert sender.trace(route).status_code == (404 if route == "/api/v1/" else 405)


@pytest.mark.parametrize("route", API)
def test_every_post_heeds_its_idempotency_key(route):
    _, sender = client()

    answer = sender.post(
        route, {}, content_type="application/json", headers={"Idempotency-Key": "x" * 300}
    )

    if answer.status_code == 400:
        assert "Idempotency-Key takes 1 to 200" in answer.json()["detail"]
    else:
        assert answer.status_code == (404 if route == "/api/v1/" else 405)
