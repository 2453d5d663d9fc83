"""The second factor: asked for, used once, limited, and taken away only by whoever has it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.utils import timezone

from campaigns.accounts import access, second_factor
from campaigns.models import AuditEvent
from campaigns.tests.accounts.sign_in.conftest import (
    CODE,
    actions,
    code_of,
    come_in,
    is_in,
    switched_on,
    typed,
)
from campaigns.tests.browsing import PASSWORD, Page

pytestmark = pytest.mark.django_db
ON, OFF = "/account/second-factor/totp/activate/", "/account/second-factor/totp/deactivate/"
RENEW = "/account/second-factor/recovery-codes/generate/"
CONFIRM, CONFIRM_CODE = "/account/confirm/", "/account/second-factor/reauthenticate/"


def asks(page, then):
    """Where somebody is led who has to confirm first that it is him."""
    return f"{page}?{urlencode({'next': then})}"


@pytest.fixture
def noon():
    """In the middle of a period, so that no test sees two of them."""
    with time_machine.travel(timezone.now().replace(second=15), tick=False) as travel:
        yield travel


@pytest.fixture
def secret(person, noon):
    return switched_on(person)[0]


def test_the_password_alone_lets_nobody_in(secret):
    client = Client()

    answer = typed(client)

    assert answer["Location"] == CODE
    assert not is_in(client)
    assert "signed_in" not in actions()


def test_the_code_of_the_moment_lets_in_and_leads_where_one_wanted_to_go(secret):
    client = Client()
    form = {"login": "reviewer", "password": PASSWORD, "next": "/targets/"}
    client.post("/sign-in/", form)

    answer = client.post(CODE, {"code": code_of(secret)})

    assert answer["Location"] == "/targets/"
    assert is_in(client)
    assert actions()[-1] == "signed_in"


def test_a_code_works_once_though_it_is_still_shown(secret):
    code = code_of(secret)
    for client, status in ((Client(), 302), (Client(), 200)):
        typed(client)
        assert client.post(CODE, {"code": code}).status_code == status


def test_what_was_stored_by_earlier_versions_goes_on(secret, person):
    row = Authenticator.objects.get(user=person, type="totp")
    period = int(timezone.now().timestamp()) // 30
    row.data |= {"last": period - 1, "failures": [timezone.now().timestamp()]}
    row.save()
    client = Client()
    typed(client)

    client.post(CODE, {"code": code_of(secret, -1)})
    assert not is_in(client)
    client.post(CODE, {"code": code_of(secret)})
    assert is_in(client)


def test_an_older_code_is_void_once_a_newer_one_was_used(secret):
    first, second = Client(), Client()
    typed(first)
    typed(second)
    first.post(CODE, {"code": code_of(secret, 1)})

    second.post(CODE, {"code": code_of(secret)})

    assert not is_in(second)


@pytest.mark.parametrize("code", ["", "000", "x" * 5000, "\x00", "\uff11" * 6, "<b>"])
def test_a_bad_code_is_refused_in_words(secret, code):
    client = Client()
    typed(client)

    answer = client.post(CODE, {"code": code})

    assert "wrong, or was used already" in Page(answer).text
    assert not is_in(client)


def test_who_guesses_has_to_wait_from_wherever_he_comes(secret, noon):
    for number in range(6):
        client = Client(REMOTE_ADDR=f"192.0.2.{number + 1}")
        typed(client)
        answer = client.post(CODE, {"code": "1"})
    assert "Too many wrong codes for this account. Wait 10 minutes." in Page(answer).text
    assert "Too many" in Page(client.post(CODE, {"code": code_of(secret)})).text

    noon.shift(timedelta(minutes=10, seconds=1))

    assert client.post(CODE, {"code": code_of(secret)})["Location"] == "/"


def test_failures_stand_on_the_record_of_the_account(secret, person):
    client = Client()
    typed(client)
    client.post(CODE, {"code": "1"})

    event = AuditEvent.objects.get(action="sign_in_failed")
    assert (event.subject_name, event.details["by"]) == ("reviewer", "code")


def test_each_recovery_code_signs_in_once(person, noon):
    _, codes = switched_on(person)
    assert len(set(codes)) == 10

    for client, status in ((Client(), 302), (Client(), 200)):
        typed(client)
        assert client.post(CODE, {"code": codes[0]}).status_code == status
    assert "recovery_code_used" in actions()
    assert second_factor.about(person)["codes_left"] == 9


def test_a_code_without_a_password_before_it_leads_back(person):
    assert Client().get(CODE)["Location"] == "/sign-in/"
    assert Client().post(CODE, {"code": "1"})["Location"] == "/sign-in/"


def test_a_sign_in_that_waits_too_long_begins_anew(secret, noon):
    client = Client()
    typed(client)

    noon.shift(timedelta(minutes=16))

    assert client.post(CODE, {"code": code_of(secret)})["Location"] == "/sign-in/"
    assert not is_in(client)


def test_a_sign_in_can_be_given_up(secret):
    client = Client()
    typed(client)

    client.post("/sign-out/")

    assert client.get(CODE)["Location"] == "/sign-in/"


def test_an_account_switched_off_in_between_stays_out(secret, person):
    client = Client()
    typed(client)
    person.is_active = False
    person.save()

    client.post(CODE, {"code": code_of(secret)})

    assert not is_in(client)


def test_a_sign_in_link_asks_for_no_code_and_may_switch_the_factor_off(secret, person):
    client = Client()

    client.get(f"/sign-in/link/{access.make_sign_in_link(person)}/")

    assert is_in(client)
    client.post(OFF)
    assert not second_factor.is_on(person)


def test_an_hour_later_a_session_that_came_by_a_link_is_asked_for_a_code(secret, person, noon):
    client = Client()
    client.get(f"/sign-in/link/{access.make_sign_in_link(person, 600)}/")

    noon.shift(timedelta(hours=1))

    assert client.post(OFF)["Location"] == asks(CONFIRM_CODE, OFF)
    assert second_factor.is_on(person)


def test_it_is_switched_on_with_the_password_and_a_code_and_shows_recovery_codes_once(
    person, noon, django_capture_on_commit_callbacks
):
    browser = come_in()
    assert browser.get(ON)["Location"] == asks(CONFIRM, ON)
    stolen = browser.post(CONFIRM, {"password": "guessed", "next": ON})
    assert "not the password" in Page(stolen).text
    assert browser.get(ON).status_code == 302
    assert browser.post(CONFIRM, {"password": PASSWORD, "next": ON})["Location"] == ON
    shown = next(text for text in Page(browser.get(ON)).texts if len(text) == 39)
    secret = shown.replace(" ", "")

    wrong = browser.post(ON, {"code": "1"})
    with django_capture_on_commit_callbacks(execute=True):
        right = browser.post(ON, {"code": code_of(secret)})
    codes = browser.get(right["Location"])

    assert "not the code of the moment" in Page(wrong).text
    assert shown in Page(wrong).text
    assert sum(text.isdecimal() and len(text) == 8 for text in Page(codes).texts) == 10
    assert "no-store" in codes["Cache-Control"]
    again = Page(browser.get(right["Location"]))
    assert "10 of your recovery codes are left" in again.text
    assert not any(text.isdecimal() and len(text) == 8 for text in again.texts)
    assert browser.get("/account/second-factor/recovery-codes/download/").status_code == 403
    account = Page(browser.get("/account/")).text
    assert "Second factor on" in account
    assert "Recovery codes 10 left" in account
    assert actions()[-1] == "factor_added"
    typed(other := Client())
    other.post(CODE, {"code": code_of(secret)})
    assert not is_in(other)  # it was used to switch the factor on


def test_only_who_has_it_switches_it_off(person, secret):
    browser = come_in_by_code(secret)
    assert browser.post(OFF)["Location"] == asks(CONFIRM_CODE, OFF)
    by_password = browser.post(CONFIRM, {"password": PASSWORD, "next": OFF})
    assert by_password["Location"].startswith(CONFIRM_CODE)
    assert "wrong" in Page(browser.post(CONFIRM_CODE, {"code": "1", "next": OFF})).text
    browser.post(OFF)
    assert second_factor.is_on(person)

    browser.post(CONFIRM_CODE, {"code": code_of(secret, 1), "next": OFF})  # what was asked is done

    assert not second_factor.is_on(person)
    assert not Authenticator.objects.exists()
    assert actions()[-1] == "factor_removed"


def test_a_code_that_signed_in_confirms_nothing(secret):
    browser = come_in_by_code(secret)

    browser.post(CONFIRM_CODE, {"code": code_of(secret), "next": OFF})

    assert browser.get(OFF).status_code == 302


def test_who_confirms_is_sent_to_no_other_site(secret):
    browser = come_in_by_code(secret)

    answer = browser.post(
        CONFIRM_CODE, {"code": code_of(secret, 1), "next": "https://example.org/"}
    )

    assert answer["Location"] == "/"


def test_new_recovery_codes_void_the_old_ones(person, noon, django_capture_on_commit_callbacks):
    secret, before = switched_on(person)
    browser = come_in_by_code(secret)
    browser.post(CONFIRM_CODE, {"code": code_of(secret, 1), "next": RENEW})

    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post(RENEW, follow=True)

    after = [text for text in Page(answer).texts if text.isdecimal() and len(text) == 8]
    assert len(after) == 10
    assert not set(after) & set(before)
    assert actions()[-1] == "recovery_codes_renewed"
    typed(other := Client())
    other.post(CODE, {"code": before[0]})
    assert not is_in(other)


def come_in_by_code(secret):
    """A browser that has signed in with the code of now."""
    client = Client()
    typed(client)
    client.post(CODE, {"code": code_of(secret)})
    assert is_in(client)
    return client


def test_no_secret_is_stored_as_it_is(secret, person):
    rows = Authenticator.objects.all()

    assert {row.type for row in rows} == {"totp", "recovery_codes"}
    assert secret not in str([row.data for row in rows])
    assert all("gAAAA" in str(row.data) for row in rows)  # Fernet


def test_a_factor_that_no_key_opens_says_so(secret, person, settings):
    from cryptography.fernet import Fernet

    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    client = Client()
    typed(client)

    answer = client.post(CODE, {"code": code_of(secret)})

    assert "PERFDASH_ENCRYPTION_KEYS" in Page(answer).text


@pytest.mark.django_db(transaction=True)
def test_of_many_who_send_one_code_at_once_one_gets_in(person, noon):
    secret, _ = switched_on(person)
    code = code_of(secret)

    clients = [Client() for _ in range(4)]
    for client in clients:
        typed(client)

    def try_it(client):
        try:
            client.post(CODE, {"code": code})
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(try_it, clients))

    assert sorted(is_in(client) for client in clients) == [False, False, False, True]
