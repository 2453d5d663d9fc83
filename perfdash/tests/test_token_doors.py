"""Tokens that are not good enough, at every address of the API there is."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from campaigns.accounts.access import make_token, revoke
from campaigns.models import ApiToken
from campaigns.tests.people import somebody
from perfdash.tests.test_anonymous import API_PAGE, METHODS, PUBLIC, ROUTES

pytestmark = pytest.mark.django_db

API = [r for r in ROUTES if r.startswith("/api/") and r not in PUBLIC | {API_PAGE}]
OPEN = {"/api/v1/whoami": "any token may ask who it is", "/api/v1/": "there is nothing"}
READS = ("get", "head", "options")


@pytest.fixture(autouse=True)
def no_rates(settings):
    """Each test asks more often than a client may."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES)


def client(may="operate"):
    owner = somebody()
    token, text = make_token(owner, "ci", may)
    return token, Client(headers={"Authorization": f"Bearer {text}"})


def test_the_scan_sees_the_api():
    assert {"/api/v1/campaigns", "/api/v1/campaigns/1/launch", *OPEN} <= set(API)
    assert len(API) > 60


def test_an_expired_token_opens_nothing(subtests):
    _, sender = client()
    ApiToken.objects.update(expires_at=Now() - timedelta(seconds=1))

    for route in API:
        with subtests.test(route):
            answers = [getattr(sender, method)(route) for method in METHODS]
            assert {answer.status_code for answer in answers} == {401}
            assert "expired on 2" in answers[0].json()["detail"]


def test_a_revoked_token_opens_nothing(subtests):
    token, sender = client()
    revoke(token)

    for route in API:
        with subtests.test(route):
            answers = [getattr(sender, method)(route) for method in METHODS]
            assert {answer.status_code for answer in answers} == {401}
            assert "revoked on 2" in answers[0].json()["detail"]


def test_a_token_that_was_revoked_after_it_expired_says_so():
    token, sender = client()
    ApiToken.objects.update(expires_at=Now() - timedelta(seconds=1))
    revoke(token)

    assert "revoked on 2" in sender.get("/api/v1/campaigns").json()["detail"]


def test_a_token_to_submit_reads_nothing(subtests):
    _, sender = client("submit")

    for route in API:
        if route in OPEN:
            continue
        with subtests.test(route):
            for method in READS:
                assert getattr(sender, method)(route).status_code in (403, 405), method


def test_a_token_to_read_changes_nothing(subtests):
    _, sender = client("read")

    for route in API:
        if route in OPEN:
            continue
        with subtests.test(route):
            for method in sorted({*METHODS} - {*READS}):
                answer = getattr(sender, method)(route, {}, content_type="application/json")
                reads = (method, route) == ("post", "/api/v1/campaigns/preview")
                assert answer.status_code in ((400,) if reads else (403, 405)), method


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
    assert sender.get("/api/v1/whoami").json()["scopes"] == ["read", "submit", "trigger", "operate"]


def test_an_address_that_is_not_there_is_told_apart_from_a_method(subtests):
    _, sender = client()

    for route in API:
        with subtests.test(route):
            assert sender.trace(route).status_code == (404 if route == "/api/v1/" else 405)


def test_every_post_heeds_its_idempotency_key(subtests):
    _, sender = client()

    for route in API:
        with subtests.test(route):
            answer = sender.post(
                route, {}, content_type="application/json", headers={"Idempotency-Key": "x" * 300}
            )
            if answer.status_code == 400:
                assert "Idempotency-Key takes 1 to 200" in answer.json()["detail"]
            else:
                assert answer.status_code == (404 if route == "/api/v1/" else 405)
