"""Guessing of passwords is slowed down, for the name and the address that guess."""

import threading
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.db import connection
from django.test import Client
from django.urls import reverse

from campaigns.accounts import access
from campaigns.tests.browsing import PASSWORD, Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.2"


def sign_in(password, name="reviewer", address=HERE, **headers):
    client = Client(REMOTE_ADDR=address, headers=headers)
    return client.post(reverse("account_login"), {"login": name, "password": password})


def guess(times, **named):
    return [sign_in(f"guess {number}", **named) for number in range(times)]


def test_after_five_wrong_passwords_even_the_right_one_waits(person):
    answers = guess(5)

    refused = sign_in(PASSWORD)

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429]
    assert refused.status_code == 429
    assert 590 <= int(refused["Retry-After"]) <= 600
    page = Page(refused)
    assert "Wait 10 minutes, or use a sign-in link" in page.text
    assert page.named("login")[0]["value"] == "reviewer"
    assert "value" not in page.named("password")[0]


def test_the_owner_elsewhere_is_not_locked_out_by_who_knows_the_name(person):
    guess(6)

    assert sign_in(PASSWORD, address=ELSEWHERE).status_code == 302


def test_others_at_the_same_address_are_not_locked_out(person, django_user_model):
    somebody("neighbour", password=PASSWORD)
    guess(6)

    assert sign_in(PASSWORD, name="neighbour").status_code == 302


def test_another_browser_is_no_way_around(person):
    guess(3, **{"User-Agent": "one"})
    guess(2, **{"User-Agent": "two"})

    assert sign_in(PASSWORD, **{"User-Agent": "three"}).status_code == 429


def test_a_made_up_forwarded_address_is_no_way_around(person):
    for number in range(5):
        sign_in("wrong", **{"X-Forwarded-For": f"203.0.113.{number}"})

    assert sign_in(PASSWORD, **{"X-Forwarded-For": "203.0.113.99"}).status_code == 429


def test_behind_a_proxy_each_client_counts_for_itself(person, settings):
    settings.BEHIND_PROXY = True
    for _ in range(5):
        sign_in("wrong", **{"X-Forwarded-For": "203.0.113.1"})

    assert sign_in(PASSWORD, **{"X-Forwarded-For": "203.0.113.1"}).status_code == 429
    assert sign_in(PASSWORD, **{"X-Forwarded-For": "203.0.113.2"}).status_code == 302


def test_the_door_opens_again_after_the_time_that_was_said(person):
    guess(6)
    AccessAttempt.objects.update(attempt_time=_earlier(minutes=9))
    assert "Wait 1 minute," in Page(sign_in(PASSWORD)).text
    AccessAttempt.objects.update(attempt_time=_earlier(minutes=10, seconds=1))

    assert sign_in(PASSWORD).status_code == 302


def test_trying_on_does_not_make_the_wait_longer(person):
    guess(5)
    AccessAttempt.objects.update(attempt_time=_earlier(minutes=5))

    assert int(sign_in("again")["Retry-After"]) <= 300


def test_success_forgets_the_slips_before_it(person):
    guess(4)
    assert sign_in(PASSWORD).status_code == 302

    assert guess(4)[-1].status_code == 200
    assert AccessAttempt.objects.count() == 1


def test_old_failures_are_deleted_by_the_next_one(person):
    guess(2, name="somebody")
    AccessAttempt.objects.update(attempt_time=_earlier(minutes=11))

    guess(1, name="somebody else")

    assert [row.username for row in AccessAttempt.objects.all()] == ["somebody else"]


def test_a_sign_in_link_works_for_who_is_locked_out(person):
    guess(6)
    client = Client(REMOTE_ADDR=HERE)

    answer = client.get(
        reverse("sign-in-link", args=[access.make_sign_in_link(person)]), follow=False
    )

    assert answer["Location"] == "/"


def test_no_password_is_stored_with_a_failure(person):
    sign_in("PLANTED", name="reviewer")

    (row,) = AccessAttempt.objects.values()
    assert "PLANTED" not in str(row)


@pytest.mark.django_db(transaction=True)
def test_guesses_at_once_are_all_counted(person):
    def one(number):
        try:
            sign_in(f"guess {number}")
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sign_in(PASSWORD).status_code == 429


def test_the_session_changes_at_the_door(person):
    client = Client()
    client.get(reverse("account_login"))
    session = client.session
    session["planted"] = "1"
    session.save()
    before = str(client.session.session_key)
    client.cookies["perfdash_session"] = before

    client.post(reverse("account_login"), {"login": "reviewer", "password": PASSWORD})

    assert client.session.session_key != before
    assert client.session["_auth_user_id"] == str(person.pk)


def test_the_session_changes_with_a_link_too(person):
    client = Client()
    session = client.session
    session["planted"] = "1"
    session.save()
    before = str(session.session_key)
    client.cookies["perfdash_session"] = before

    client.get(reverse("sign-in-link", args=[access.make_sign_in_link(person)]))

    assert client.session.session_key != before


def test_cookies_are_kept_from_scripts_and_from_forms_of_other_sites(person):
    client = Client()
    client.get(reverse("account_login"))

    client.post(reverse("account_login"), {"login": "reviewer", "password": PASSWORD})

    assert {"perfdash_session", "perfdash_csrf"} <= set(client.cookies)
    for cookie in client.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "http:evil.example",
        "javascript:alert(1)",
        "https://testserver@evil.example/",
        "\x00//evil.example",
        "/\t/evil.example",
    ],
)
def test_nobody_is_led_to_another_site(person, elsewhere):
    answer = Client().post(
        reverse("account_login"), {"login": "reviewer", "password": PASSWORD, "next": elsewhere}
    )

    assert answer["Location"] == "/"


def _earlier(**ago):
    from django.utils import timezone

    return timezone.now() - timedelta(**ago)
