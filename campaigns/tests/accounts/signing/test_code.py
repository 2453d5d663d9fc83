"""The second factor: asked for, used once, limited, and taken away only by whoever has it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.utils import timezone

from campaigns.accounts import access, second_factor
from campaigns.models import AuditEvent
from campaigns.tests.accounts.signing.conftest import actions, code_of, is_in, switched_on, typed
from campaigns.tests.browsing import PASSWORD, Page

pytestmark = pytest.mark.django_db
CODE = "/sign-in/code/"


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
    form = {"username": "reviewer", "password": PASSWORD, "next": "/targets/"}
    client.post("/sign-in/", form)

    answer = client.post(CODE, {"code": code_of(secret)})

    assert answer["Location"] == "/targets/"
    assert is_in(client)
    assert actions()[-1] == "signed_in"


def test_a_code_works_once_though_it_is_still_shown(secret):
    code = code_of(secret)
    for client, status in ((Client(), 302), (Client(), 422)):
        typed(client)
        assert client.post(CODE, {"code": code}).status_code == status


def test_an_older_code_is_void_once_a_newer_one_was_used(secret):
    first, second = Client(), Client()
    typed(first)
    typed(second)
    first.post(CODE, {"code": code_of(secret, 1)})

    assert second.post(CODE, {"code": code_of(secret)}).status_code == 422


@pytest.mark.parametrize("code", ["", "000", "x" * 5000, "\x00", "\uff11" * 6, "<b>"])
def test_a_bad_code_is_refused_in_words(secret, code):
    client = Client()
    typed(client)

    answer = client.post(CODE, {"code": code})

    assert answer.status_code == 422
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

    for client, status in ((Client(), 302), (Client(), 422)):
        typed(client)
        assert client.post(CODE, {"code": codes[0]}).status_code == status
    assert "recovery_code_used" in actions()
    assert second_factor.recovery_codes_left(person) == 9


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

    client.post("/sign-in/code/give-up/")

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
    client.post("/account/second-factor/off/")
    assert not second_factor.is_on(person)


def test_an_hour_later_a_session_that_came_by_a_link_is_asked_for_a_code(secret, person, noon):
    client = Client()
    client.get(f"/sign-in/link/{access.make_sign_in_link(person, 600)}/")

    noon.shift(timedelta(hours=1))

    assert client.post("/account/second-factor/off/").status_code == 422
    assert second_factor.is_on(person)


def test_it_is_switched_on_with_a_code_and_the_password_and_shows_recovery_codes_once(
    browser, person, noon
):
    page = Page(browser.get("/account/second-factor/on/"))
    secret = next(text for text in page.texts if len(text) == 39).replace(" ", "")

    wrong = browser.post("/account/second-factor/on/", {"code": "1", "current": PASSWORD})
    stolen = browser.post(
        "/account/second-factor/on/", {"code": code_of(secret), "current": "guessed"}
    )
    right = browser.post(
        "/account/second-factor/on/", {"code": code_of(secret), "current": PASSWORD}
    )

    assert (wrong.status_code, stolen.status_code, right.status_code) == (422, 422, 200)
    assert "not the code of the moment" in Page(wrong).text
    assert "not the password" in Page(stolen).text
    assert sum(text.isdecimal() and len(text) == 8 for text in Page(right).texts) == 10
    assert "no-store" in right["Cache-Control"]
    assert browser.get("/account/second-factor/on/").status_code == 302
    assert "on · 10 recovery codes left" in Page(browser.get("/account/")).text
    assert actions()[-1] == "factor_added"


def test_only_who_has_it_switches_it_off(browser, person, secret):
    refused = browser.post("/account/second-factor/off/", {"code": "1"})
    assert refused.status_code == 422
    assert second_factor.is_on(person)

    browser.post("/account/second-factor/off/", {"code": code_of(secret)})

    assert not second_factor.is_on(person)
    assert not Authenticator.objects.exists()
    assert actions()[-1] == "factor_removed"


def test_new_recovery_codes_void_the_old_ones(browser, person, noon):
    secret, before = switched_on(person)

    answer = browser.post("/account/recovery-codes/", {"code": code_of(secret)})

    after = [text for text in Page(answer).texts if text.isdecimal() and len(text) == 8]
    assert len(after) == 10
    assert not set(after) & set(before)
    with pytest.raises(second_factor.CodeRefused):
        second_factor.check(person, before[0])


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

    assert answer.status_code == 422
    assert "PERFDASH_ENCRYPTION_KEYS" in Page(answer).text


@pytest.mark.django_db(transaction=True)
def test_of_many_who_send_one_code_at_once_one_gets_in(person, noon):
    secret, _ = switched_on(person)
    code = code_of(secret)

    def try_it(_):
        try:
            return second_factor.check(person, code)
        except second_factor.CodeRefused:
            return ""
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        kinds = list(pool.map(try_it, range(4)))

    assert sorted(kinds) == ["", "", "", "totp"]
