"""A forgotten password: a code goes to the confirmed address of one account, and whoever asks learns nothing."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

from campaigns.accounts import own_account
from campaigns.accounts.notifications import channels, defaults
from campaigns.accounts.sign_in import password, start_session
from campaigns.kit import rates
from campaigns.kit.broker import RedisLink
from campaigns.kit.rates import Rate
from campaigns.models import Channel
from campaigns.tests.accounts.sign_in.conftest import (
    CODE,
    actions,
    come_in,
    is_in,
    switched_on,
    typed,
)
from campaigns.tests.browsing import PASSWORD, Page
from perfdash.mail import MailServer

pytestmark = pytest.mark.django_db
RESET = "/sign-in/reset/"
CHOICE = {"password1": "much better 7", "password2": "much better 7"}


class AtOnce:
    """A thread that has ended when it begins."""

    def __init__(self, target, args, daemon):
        self.start = lambda: target(*args)


@pytest.fixture(autouse=True)
def server(settings, monkeypatch):
    settings.EMAIL_SERVER = MailServer(host="mail.example.org")
    monkeypatch.setattr(start_session, "Thread", AtOnce)
    monkeypatch.setattr(rates, "PREFIX", f"test:{uuid4()}:")
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def anna(person):
    return with_address(person)


def with_address(user, *, confirmed=True):
    """Give the account an address by its page, and open the link that is mailed for it."""
    own_account.set_email(user, "Anna@example.org")
    if confirmed:
        channel = Channel.objects.get_or_create(user=user, name=defaults.NAME, kind="email")[0]
        channels.confirm(channel)
    return user


def asked(client=None, address="anna@example.org"):
    client = client or Client()
    answer = client.post(RESET, {"email": address})
    assert answer["Location"] == f"{RESET}code/"
    return client


def mailed():
    (code,) = re.findall(r"^[A-Z0-9]{4}-[A-Z0-9]{4}$", str(mail.outbox[-1].body), re.MULTILINE)
    return code


def test_the_code_of_the_mail_lets_choose_a_password_and_ends_all_sessions(anna):
    before = come_in()
    client = asked()

    client.post(f"{RESET}code/", {"code": mailed()})
    answer = client.post(f"{RESET}password/", CHOICE)

    anna.refresh_from_db()
    assert answer["Location"] == f"{RESET}done/"
    assert mail.outbox[0].to == ["anna@example.org"]
    assert anna.check_password(CHOICE["password1"])
    assert not is_in(before)
    assert not is_in(client)  # it signs nobody in
    assert "password_changed" in actions()
    assert "password was changed" in Page(client.get(answer["Location"], follow=True)).text


def test_the_second_factor_is_asked_for_all_the_same(anna):
    switched_on(anna)
    client = asked()
    client.post(f"{RESET}code/", {"code": mailed()})
    client.post(f"{RESET}password/", CHOICE)

    assert typed(client, password=CHOICE["password1"])["Location"] == CODE


@pytest.mark.parametrize("address", ["nobody@example.org", "anna@example.org"])
def test_nobody_learns_who_has_an_account(person, address):
    with_address(person, confirmed=False)  # whoever typed it may not be whoever reads the mail

    client = asked(address=address)

    assert f"If {address} is the confirmed address" in Page(client.get(f"{RESET}code/")).text
    assert not mail.outbox
    for code in ("", "AAAA-AAAA"):
        assert client.post(f"{RESET}code/", {"code": code}).status_code == 200
    assert client.get(f"{RESET}password/")["Location"] == f"{RESET}code/"


def test_an_account_that_is_off_gets_no_mail(anna):
    User.objects.update(is_active=False)

    asked()

    assert not mail.outbox


def test_who_confirmed_an_address_first_keeps_it(anna):
    other = with_address(User.objects.create_user("other"))
    client = asked()
    client.post(f"{RESET}code/", {"code": mailed()})
    client.post(f"{RESET}password/", CHOICE)

    anna.refresh_from_db()
    other.refresh_from_db()
    assert anna.check_password(CHOICE["password1"])
    assert not other.has_usable_password()


def test_an_address_that_was_changed_is_confirmed_anew(anna):
    own_account.set_email(anna, "else@example.org")
    own_account.set_email(anna, "anna@example.org")

    asked()

    assert not mail.outbox


def test_three_wrong_codes_void_it(anna):
    client = asked()
    for _ in range(3):
        answer = client.post(f"{RESET}code/", {"code": "AAAA-AAAA"})
    assert answer["Location"] == "/sign-in/"

    assert client.post(f"{RESET}code/", {"code": mailed()})["Location"] == "/sign-in/"
    anna.refresh_from_db()
    assert anna.check_password(PASSWORD)


def test_the_code_is_good_in_the_browser_that_asked_alone(anna):
    asked()

    assert Client().post(f"{RESET}code/", {"code": mailed()})["Location"] == "/sign-in/"


def test_few_mails_are_sent_to_one_address(anna):
    statuses = [Client().post(RESET, {"email": "anna@example.org"}).status_code for _ in range(4)]

    assert statuses == [302, 302, 302, 429]
    assert len(mail.outbox) == 3


def other_process(settings):
    """Count as another web process does: with a memory of its own."""
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": str(uuid4()),
        }
    }


def test_all_web_processes_count_the_mails_to_one_address_together(anna, settings):
    for _ in range(3):
        asked(address=anna.email.upper())
        other_process(settings)

    assert Client().post(RESET, {"email": anna.email}).status_code == 429
    assert len(mail.outbox) == 3
    asked(address="else@example.org")


def test_all_web_processes_count_the_requests_of_one_client_together(monkeypatch, settings):
    monkeypatch.setattr(password, "REQUESTS", Rate(2, 600))
    statuses = []
    for name in ("anna", "bert", "cleo"):
        answer = Client().post(RESET, {"email": f"{name}@example.org"})
        statuses.append(answer.status_code)
        other_process(settings)

    assert statuses == [302, 302, 429]
    asked(Client(REMOTE_ADDR="192.0.2.78"))


def test_without_redis_each_process_counts_and_passwords_let_in(anna, settings, monkeypatch):
    settings.PROGRESS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(rates, "_link", RedisLink("test"))

    statuses = [Client().post(RESET, {"email": anna.email}).status_code for _ in range(4)]

    assert statuses == [302, 302, 302, 429]
    come_in()


def test_a_weak_password_is_refused(anna):
    client = asked()
    client.post(f"{RESET}code/", {"code": mailed()})

    answer = client.post(f"{RESET}password/", {"password1": "short", "password2": "short"})

    assert Page(answer).by_id("f-password1")["aria-invalid"] == "true"


def test_it_is_offered_where_mail_is_sent_only(settings):
    assert RESET in Client().get("/sign-in/").content.decode()

    settings.EMAIL_SERVER = MailServer()

    assert RESET not in Client().get("/sign-in/").content.decode()
    assert Client().get(RESET).status_code == 404
