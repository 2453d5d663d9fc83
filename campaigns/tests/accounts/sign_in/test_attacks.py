"""What strangers try at django-allauth's pages."""

import json

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.test import Client

from campaigns.accounts import access
from campaigns.tests.accounts.sign_in.conftest import (
    CODE,
    code_of,
    come_in,
    is_in,
    switched_on,
    typed,
)
from campaigns.tests.browsing import PASSWORD, Page

pytestmark = pytest.mark.django_db
PASSKEY = "/account/second-factor/webauthn/login/"
CONFIRM = "/account/confirm/"
ELSEWHERE = ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)")


@pytest.mark.parametrize("page", ["/sign-in/", CODE, PASSKEY, "/sign-out/", CONFIRM])
def test_no_other_site_signs_somebody_in_or_out(person, page):
    client = Client(enforce_csrf_checks=True)

    answer = client.post(page, {"login": "reviewer", "password": PASSWORD, "code": "1"})

    assert answer.status_code == 403
    assert not is_in(client)


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_nobody_is_led_to_another_site(person, elsewhere):
    client = come_in()
    confirmed = client.post(CONFIRM, {"password": PASSWORD, "next": elsewhere})
    left = client.post("/sign-out/", {"next": elsewhere})

    assert confirmed["Location"] == "/"
    assert left["Location"] == "/sign-in/"


@pytest.mark.parametrize("page", ["/accounts/signup/", "/sign-in/signup/", "/sign-up/", "/signup/"])
def test_nobody_makes_an_account_without_an_invitation(person, page):
    sent = {
        "username": "new",
        "email": "",
        "password1": "much better 7",
        "password2": "much better 7",
    }

    come_in().post(page, sent)

    assert User.objects.count() == 1


def test_the_session_changes_when_the_code_was_right(person):
    secret, _ = switched_on(person)
    client = Client()
    typed(client)
    before = client.session.session_key

    client.post(CODE, {"code": code_of(secret)})

    assert is_in(client)
    assert client.session.session_key != before


def test_who_waits_for_a_code_changes_nothing_of_the_account(person):
    switched_on(person)
    client = Client()
    typed(client)

    for page in (
        CONFIRM,
        "/account/password/",
        "/account/second-factor/recovery-codes/",
        "/account/email/",
    ):
        answer = client.post(page, {"password": PASSWORD})
        assert answer["Location"].startswith("/sign-in/?next="), page


def test_a_link_of_somebody_else_ends_what_waited(person):
    """The session that waits for the second factor of one account is not that of another one."""
    switched_on(person)
    other = User.objects.create_user("other")
    client = Client()
    typed(client)

    client.get(f"/sign-in/link/{access.make_sign_in_link(other)}/")

    assert client.get("/account/").context["user"] == other


def test_confirming_as_one_account_does_not_count_for_another(person):
    User.objects.create_user("other", password=PASSWORD)
    client = come_in()
    client.post(CONFIRM, {"password": PASSWORD})
    client.post("/sign-out/")
    typed(client, "other")

    assert client.get("/account/email/").status_code == 302


@pytest.mark.parametrize(
    "sent",
    [
        "", "null", "[]", "{}", '"x"', "{", json.dumps({"response": {"userHandle": "MQ"}}),
        json.dumps({"id": "x", "rawId": "x", "type": "public-key", "response": {
            "clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA", "userHandle": "MQ"}}),
    ],
)  # fmt: skip
def test_a_made_up_passkey_lets_nobody_in(person, sent):
    client = Client()
    client.get(PASSKEY, headers={"Accept": "application/json"})

    answer = client.post(PASSKEY, {"credential": sent})

    assert answer.status_code in (302, 429)
    assert not is_in(client)


def test_a_made_up_passkey_is_not_added(person):
    client = come_in()
    client.post(CONFIRM, {"password": PASSWORD})
    add = "/account/second-factor/webauthn/add/"
    client.get(add)
    made_up = {"id": "x", "rawId": "x", "type": "public-key", "response": {
        "clientDataJSON": "e30", "attestationObject": "AA"}}  # fmt: skip

    answer = client.post(add, {"name": "x", "credential": json.dumps(made_up)})

    assert answer.status_code == 200
    assert not Authenticator.objects.exists()


def test_an_inactive_account_is_told_so_by_no_page_before_its_password(person):
    person.is_active = False
    person.save()
    unknown, off = Client(), Client()

    answers = [typed(unknown, "nobody"), typed(off)]

    first, second = (Page(answer).text.replace("nobody", "reviewer") for answer in answers)
    assert first == second
    assert not is_in(off)
