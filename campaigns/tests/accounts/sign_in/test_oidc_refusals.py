"""What a provider, or who stands between, may send: only what holds lets somebody in."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from campaigns.tests.accounts.sign_in.at_provider import (
    BACK,
    BEGIN,
    by_provider,
    log_in_there,
    refusal,
)
from campaigns.tests.accounts.sign_in.conftest import is_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("oidc")]


def test_an_address_in_the_user_info_counts_where_it_is_of_the_same_person(provider):
    by_provider("quiet")
    client, answer = by_provider("liar")

    assert User.objects.get(username="quiet").email == "quiet@example.org"
    assert answer.status_code == 502
    assert not is_in(client)


@pytest.mark.parametrize(
    ("way", "logged"),
    [
        ("nonce", "its nonce is a different one"),
        ("no-nonce", "its nonce is a different one"),
        ("issuer", "issuer"),
        ("audience", "Audience"),
        ("party", "for another program"),
        ("expired", "expired"),
        ("key", "Signature verification failed"),
        ("unsigned", "not one of a public key"),
        ("shared-secret", "not one of a public key"),
        ("subject", "names nobody"),
        ("missing", "OAuth2Error"),
    ],
)
def test_an_id_token_that_does_not_hold_lets_nobody_in(provider, way, logged, caplog):
    client, answer = by_provider(f"bad-{way}")

    assert answer.status_code == 502
    assert "what it answers does not hold" in refusal(answer)
    assert logged.lower() in caplog.text.lower()
    assert not is_in(client)
    assert not User.objects.exists()


def test_no_other_browser_ends_what_this_one_began(provider):
    begun = Client().get(BEGIN)["Location"]

    answer = Client().get(log_in_there(begun, "anna"))

    assert answer.status_code == 400
    assert "did not begin in this browser" in refusal(answer)


def test_a_way_back_is_good_once(provider):
    client = Client()
    back = log_in_there(client.get(BEGIN)["Location"], "anna")
    client.get(back)
    client.post("/sign-out/")

    assert client.get(back).status_code == 400
    assert not is_in(client)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"state": "x" * 16}, 400),
        ({"state": ""}, 400),
        ({"code": "guessed"}, 502),
        ({"code": "\x00" * 3000}, 502),
        ({"iss": "https://login.example.org"}, 502),
        ({"error": "access_denied"}, 403),
        ({"error": "<script>"}, 502),
    ],
)
def test_a_way_back_that_was_changed_lets_nobody_in(provider, change, status):
    client = Client()
    back = urlsplit(log_in_there(client.get(BEGIN)["Location"], "anna"))
    sent = {name: values[0] for name, values in parse_qs(back.query).items()} | change

    answer = client.get(BACK, sent)

    assert answer.status_code == status
    assert refusal(answer)
    assert not is_in(client)
