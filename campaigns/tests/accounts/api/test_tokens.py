"""A person's own tokens: read, and ended."""

import pytest
from django.test import Client

from campaigns.accounts.access import make_token
from campaigns.models import ApiToken
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient

pytestmark = pytest.mark.django_db


def test_own_tokens_are_told_without_their_text_and_those_of_others_are_not(api, owner, token):
    old = make_token(owner, "old", "read", "30d")[0]
    make_token(somebody("other"), "theirs")

    status, body = api.get("tokens")

    assert status == 200
    assert [(each["name"], each["in_use"]) for each in body["results"]] == [
        ("old", False),
        ("tests", True),
    ]
    assert body["results"][0]["scopes"] == ["read"]
    assert body["results"][0]["expires_at"]
    assert token not in str(body)
    assert old.hash not in str(body)


def test_a_revoked_token_lets_nobody_in_and_stays_as_a_record(api, owner):
    other, text = make_token(owner, "old")

    status, body = api.post(f"tokens/{other.pk}/revoke")

    assert status == 200
    assert body["revoked_at"]
    assert ApiClient(text).get("whoami")[0] == 401
    again = api.post(f"tokens/{other.pk}/revoke")
    assert again == (200, body)


def test_a_token_may_end_itself(api, owner):
    own = ApiToken.objects.get(user=owner)

    assert api.post(f"tokens/{own.pk}/revoke")[0] == 200
    assert api.get("tokens")[0] == 401


def test_nobody_ends_the_tokens_of_others(api):
    theirs = make_token(somebody("other"), "theirs")[0]

    assert api.post(f"tokens/{theirs.pk}/revoke")[0] == 404
    theirs.refresh_from_db()
    assert theirs.revoked_at is None


def test_a_token_that_may_not_operate_ends_none(owner):
    token, text = make_token(owner, "reader", "read")
    reader = ApiClient(text)

    assert reader.get("tokens")[0] == 200
    assert reader.post(f"tokens/{token.pk}/revoke")[0] == 403
    assert ApiClient(make_token(owner, "ci", "submit")[1]).get("tokens")[0] == 403


def test_no_token_is_made_by_a_token(api):
    assert api.post("tokens", {"name": "x"})[0] == 405


def test_a_session_has_no_token_in_use(owner, token):
    client = Client()
    client.force_login(owner)

    assert [each["in_use"] for each in client.get("/api/v1/tokens").json()["results"]] == [False]
