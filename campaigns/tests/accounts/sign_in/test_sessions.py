"""Sessions: who sees them, who ends them, and what ends them by itself."""

import re
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from campaigns.accounts import access, sessions
from campaigns.tests.accounts.sign_in.conftest import actions, come_in, is_in
from campaigns.tests.browsing import PASSWORD, Page

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


@pytest.fixture
def two(person):
    """The same person in two browsers."""
    first = come_in(HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="192.0.2.7")
    return first, come_in(HTTP_USER_AGENT=SAFARI, REMOTE_ADDR="2001:db8::5")


def pk_of(client):
    return UserSession.objects.get(session_key=client.session.session_key).pk


def test_the_page_tells_browser_address_door_and_which_is_this_one(two):
    text = Page(two[0].get("/account/")).text

    assert re.search(r"Firefox on Linux 192\.0\.2\.7 password [-\d]+ [:\d]+ [\w ]+ this one", text)
    assert "Safari on iPhone 2001:db8:: password" in text
    assert text.count("this one") == 1


def test_an_ended_session_is_out_at_once(two):
    first, second = two

    first.post(f"/account/sessions/{pk_of(second)}/end/")

    assert is_in(first)
    assert not is_in(second)
    assert "Safari" not in Page(first.get("/account/")).text
    assert actions()[-1] == "session_ended"


def test_all_others_are_ended_and_this_one_stays(two, person):
    first, second = two
    third = come_in()

    first.post("/account/sessions/end-others/")

    assert [is_in(client) for client in (first, second, third)] == [True, False, False]


def test_nobody_ends_the_session_of_somebody_else(two):
    User.objects.create_user("other", password=PASSWORD)
    other = come_in("other")

    assert other.post(f"/account/sessions/{pk_of(two[0])}/end/").status_code == 404
    other.post("/account/sessions/end-others/")

    assert is_in(two[0])
    assert "Firefox" not in Page(other.get("/account/")).text


def test_a_changed_password_ends_the_others(two):
    first, second = two
    sent = {"oldpassword": PASSWORD, "password1": "much better 7", "password2": "much better 7"}

    answer = first.post("/account/password/", sent)

    assert answer["Location"] == "/account/"
    assert is_in(first)
    assert not is_in(second)
    assert UserSession.objects.count() == 1
    assert "password_changed" in actions()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"oldpassword": "wrong"}, "f-oldpassword"),
        ({"password1": "short", "password2": "short"}, "f-password1"),
        ({"password1": "password1", "password2": "password1"}, "f-password1"),
        ({"password2": "another one 8"}, "f-password2"),
    ],
)
def test_a_password_that_will_not_do_changes_nothing(person, change, named):
    client = come_in()
    sent = {"oldpassword": PASSWORD, "password1": "much better 7", "password2": "much better 7"}

    answer = client.post("/account/password/", sent | change)

    person.refresh_from_db()
    assert Page(answer).by_id(named)["aria-invalid"] == "true"
    assert "value" not in Page(answer).named("password1")[0] or not Page(answer).named("password1")[
        0
    ].get("value")
    assert person.check_password(PASSWORD)


def test_who_has_no_password_sets_one_without_an_old_one(db):
    owner = User.objects.create_user("owner")
    client = Client()
    client.get(f"/sign-in/link/{access.make_sign_in_link(owner)}/")
    assert "Password none · set one" in Page(client.get("/account/")).text

    client.post(
        "/account/password/set/", {"password1": "much better 7", "password2": "much better 7"}
    )

    owner.refresh_from_db()
    assert owner.check_password("much better 7")
    assert is_in(client)


def test_guesses_at_the_password_of_an_open_session_are_limited(person):
    client = come_in(REMOTE_ADDR="192.0.2.9")
    sent = {"oldpassword": "wrong", "password1": "much better 7", "password2": "much better 7"}

    statuses = [client.post("/account/password/", sent).status_code for _ in range(6)]
    statuses.append(client.post("/account/password/", sent | {"oldpassword": PASSWORD}).status_code)

    person.refresh_from_db()
    assert statuses[:4] == [200] * 4
    assert statuses[-2:] == [429, 429]
    assert person.check_password(PASSWORD)


def test_an_account_that_is_switched_off_is_out_at_once(two, person):
    person.is_active = False
    person.save()

    assert not is_in(two[0])


def test_an_address_is_changed_with_the_password(person):
    client = come_in()
    confirm = "/account/confirm/"

    asked = client.post("/account/email/", {"email": "r@example.org"})
    refused = client.post(confirm, {"password": "wrong", "next": "/account/email/"})
    person.refresh_from_db()
    assert asked["Location"] == f"{confirm}?next=%2Faccount%2Femail%2F"
    assert "not the password" in Page(refused).text
    assert person.email != "r@example.org"

    client.post(confirm, {"password": PASSWORD, "next": "/account/email/"})
    bad = client.post("/account/email/", {"email": "no address"})
    client.post("/account/email/", {"email": "r@example.org"})

    person.refresh_from_db()
    assert bad.status_code == 422
    assert person.email == "r@example.org"
    assert "r@example.org" in Page(client.get("/account/")).text


def test_sessions_that_are_over_are_forgotten(two, person):
    two[1].session.flush()

    assert len(sessions.of(person, "")) == 1
    assert UserSession.objects.count() == 1


def test_what_has_expired_is_deleted(two):
    Session.objects.filter(pk=two[1].session.session_key).update(expire_date=timezone.now())

    sessions.forget_expired()

    assert Session.objects.count() == UserSession.objects.count() == 1


def test_a_session_is_noted_again_after_a_while_and_not_at_each_request(person, monkeypatch):
    from campaigns.accounts.sign_in import sessions as noting

    client = come_in()
    long_ago = timezone.now() - timedelta(days=1)
    UserSession.objects.update(last_seen_at=long_ago)

    client.get("/account/")
    assert UserSession.objects.get().last_seen_at == long_ago
    monkeypatch.setattr(noting, "NOTED_SECONDS", 0.0)
    client.get("/account/")

    assert UserSession.objects.get().last_seen_at > long_ago


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14) Chrome/140 Safari/537", "Chrome on macOS"),
        ("", "another program"),
        ("<script>", "another program"),
    ],
)
def test_a_browser_is_named_in_two_words(agent, words):
    assert sessions.browser(agent) == words
