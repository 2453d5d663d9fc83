from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.db.models.functions import Now
from django.test import Client

from campaigns.accounts.access import make_token, revoke
from campaigns.models import ApiToken
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

PATHS = ("kinds", "targets", "targets/1", "campaigns", "campaigns/1", "campaigns/1/runs", "none")


@pytest.mark.parametrize("path", PATHS)
def test_anonymous_gets_401_and_is_told_how_to_come_in(path):
    response = Client().get(f"/api/v1/{path}")

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == 401


@pytest.mark.parametrize(
    "path", ["targets", "campaigns", "campaigns/preview", "campaigns/1/launch"]
)
def test_anonymous_changes_nothing(path):
    response = Client().post(f"/api/v1/{path}", {}, content_type="application/json")

    assert response.status_code == 401


@pytest.mark.parametrize("word", ["Bearer", "bearer", "Token"])
def test_a_token_lets_its_owner_in(token, word):
    response = Client(headers={"Authorization": f"{word} {token}"}).get("/api/v1/campaigns")

    assert response.status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer x",
        "Bearer a b",
        "Bearer \xff\xfe",
        "Bearer " + "x" * 5000,
        "Basic b3duZXI6eA==",
        "nonsense",
        "",
    ],
)
def test_any_other_header_lets_nobody_in(db, header):
    response = Client(headers={"Authorization": header}).get("/api/v1/campaigns")

    assert response.status_code == 401


def test_a_revoked_token_lets_nobody_in(owner, api):
    token, text = make_token(owner, "old")
    revoke(token)

    response = Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/campaigns")

    assert response.status_code == 401
    assert "revoked" in response.json()["detail"]


def test_the_token_of_an_account_that_is_switched_off_lets_nobody_in(owner, api):
    owner.is_active = False
    owner.save(update_fields=["is_active"])

    assert api.get("campaigns")[0] == 401


def test_the_last_use_is_noted_once_a_minute(api):
    api.get("campaigns")
    first = ApiToken.objects.get().last_used_at
    api.get("campaigns")
    second = ApiToken.objects.get().last_used_at
    ApiToken.objects.update(last_used_at=Now() - timedelta(seconds=61))
    api.get("campaigns")
    third = ApiToken.objects.get().last_used_at

    assert first is not None
    assert second == first
    assert third is not None
    assert third > first


def test_the_use_of_a_token_is_noted_of_no_other(owner, api):
    other, _ = make_token(owner, "other")

    api.get("campaigns")

    other.refresh_from_db()
    assert other.last_used_at is None


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic b3duZXI6eA=="}])
def test_a_browser_reads_with_its_session_whatever_a_proxy_is_told(owner, headers):
    client = Client(headers=headers)
    client.force_login(owner)

    assert client.get("/api/v1/campaigns").status_code == 200


def test_a_browser_writes_only_with_its_csrf_token(owner, target):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    client.cookies["perfdash_csrf"] = "x" * 32

    refused = client.post(
        "/api/v1/campaigns", definition(target=target.pk), content_type="application/json"
    )
    allowed = client.post(
        "/api/v1/campaigns",
        definition(target=target.pk),
        content_type="application/json",
        headers={"X-CSRFToken": "x" * 32},
    )

    assert refused.status_code == 403
    assert refused["Content-Type"] == "application/problem+json"
    assert allowed.status_code == 201


def test_a_token_needs_no_csrf_token(token, target):
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"})

    response = client.post(
        "/api/v1/campaigns", definition(target=target.pk), content_type="application/json"
    )

    assert response.status_code == 201


@pytest.mark.parametrize(("expires", "days"), [("30d", 30), ("90d", 90), ("1y", 365)])
def test_a_token_lives_as_long_as_it_was_given(owner, expires, days):
    token, text = make_token(owner, "ci", "read", expires)
    client = Client(headers={"Authorization": f"Bearer {text}"})

    assert token.expires_at == token.created_at + timedelta(days=days)
    assert client.get("/api/v1/campaigns").status_code == 200
    ApiToken.objects.update(expires_at=Now())
    refused = client.get("/api/v1/campaigns")
    assert refused.status_code == 401
    assert f"expired on {token.created_at:%Y-%m-%d}" in refused.json()["detail"]


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "x"]])
def test_no_token_has_a_scope_that_nobody_knows(owner, scopes):
    make_token(owner, "ci")

    with pytest.raises(IntegrityError, match="token_scopes_known"):
        ApiToken.objects.update(scopes=scopes)


def test_only_the_hash_of_a_token_is_stored(token):
    assert token not in str(ApiToken.objects.values_list())
