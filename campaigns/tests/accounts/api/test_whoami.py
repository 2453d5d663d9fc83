from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

import perfdash
from campaigns.accounts.access import make_token

pytestmark = pytest.mark.django_db


def ask(text):
    return Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/whoami").json()


@pytest.mark.parametrize(
    ("may", "scopes"),
    [
        ("read", ["read"]),
        ("submit", ["submit"]),
        ("read submit", ["read", "submit"]),
        ("operate", ["read", "submit", "trigger", "operate"]),
    ],
)
def test_a_token_is_told_whose_it_is_what_it_may_and_until_when(owner, may, scopes):
    token, text = make_token(owner, "ci", may, "30d")

    told = ask(text)

    assert told | {"now": ""} == {
        "user": "owner",
        "token": "ci",
        "scopes": scopes,
        "expires_at": f"{token.expires_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "version": perfdash.__version__,
        "now": "",
    }
    assert abs(datetime.fromisoformat(told["now"]) - timezone.now()) < timedelta(minutes=1)


def test_a_token_without_an_end_says_so(owner):
    assert ask(make_token(owner, "ci")[1])["expires_at"] is None


def test_a_browser_is_told_that_it_has_no_token(owner):
    client = Client()
    client.force_login(owner)

    told = client.get("/api/v1/whoami").json()

    assert (told["user"], told["token"]) == ("owner", None)
    assert told["scopes"] == ["read", "submit", "trigger", "operate"]
