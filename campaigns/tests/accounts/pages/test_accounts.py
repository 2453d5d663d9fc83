from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.accounts import access
from campaigns.kit.encryption import token_hash
from campaigns.models import ApiToken, SignInLink
from campaigns.tests.browsing import PASSWORD, Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

ANONYMOUS = Client


NEW = {"name": "laptop", "may": "read", "expires": "90d"}


def link(text):
    return reverse("sign-in-link", args=[text])


def is_signed_in(client):
    return client.get(reverse("account")).status_code == 200


def test_name_and_password_sign_in_and_lead_where_one_wanted_to_go(person):
    client = ANONYMOUS()

    asked = client.get(reverse("target-list"))
    answer = client.post(asked["Location"], {"login": "reviewer", "password": PASSWORD})

    assert asked["Location"] == "/sign-in/?next=/targets/"
    assert answer["Location"] == "/targets/"
    assert is_signed_in(client)


def test_a_wrong_password_is_said_and_the_name_stays(person):
    answer = ANONYMOUS().post(reverse("account_login"), {"login": "reviewer", "password": "no"})

    page = Page(answer)
    assert page.named("login")[0]["value"] == "reviewer"
    assert page.named("password")[0]["aria-invalid"] == "true"
    assert "value" not in page.named("password")[0]
    assert "alert" in [attributes.get("role") for _, attributes in page.elements]


def test_nobody_is_sent_to_another_site(person):
    answer = ANONYMOUS().post(
        f"{reverse('account_login')}?next=https://example.org/",
        {"login": "reviewer", "password": PASSWORD, "next": "https://example.org/"},
    )

    assert answer["Location"] == "/"


@pytest.mark.parametrize("bad", ["a\x00b", "x" * 100_000, "<script>", "\u202e", ""])
def test_bad_names_get_an_answer(db, bad):
    answer = ANONYMOUS().post(reverse("account_login"), {"login": bad, "password": bad})

    assert answer.status_code == 200


def test_a_link_signs_in_once(person):
    text = access.make_sign_in_link(person, 5)
    first, second = ANONYMOUS(), ANONYMOUS()

    answer, refusal = first.get(link(text)), second.get(link(text))

    assert answer["Location"] == "/"
    assert is_signed_in(first)
    assert refusal.status_code == 403
    assert "used already" in Page(refusal).text
    assert not is_signed_in(second)


def test_a_head_request_does_not_use_a_link_up(person):
    text = access.make_sign_in_link(person)

    ANONYMOUS().head(link(text))

    assert ANONYMOUS().get(link(text)).status_code == 302


def test_a_link_that_is_too_old_says_so(person):
    text = access.make_sign_in_link(person)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    answer = ANONYMOUS().get(link(text))

    assert answer.status_code == 403
    assert "has expired" in Page(answer).text


@pytest.mark.parametrize("text", ["nonsense", "%00", "%ff%fe", "x" * 5000])
def test_an_unknown_link_says_so(db, text):
    answer = ANONYMOUS().get(f"/sign-in/link/{text}/")

    assert answer.status_code == 403
    assert "is unknown" in Page(answer).text


def test_a_link_of_a_switched_off_account_signs_nobody_in(person):
    text = access.make_sign_in_link(person)
    person.is_active = False
    person.save()

    answer = ANONYMOUS().get(link(text))

    assert answer.status_code == 403
    assert "switched off" in Page(answer).text


def test_a_used_link_leads_home_whoever_is_signed_in(person):
    text = access.make_sign_in_link(person)
    client = ANONYMOUS()
    client.get(link(text))

    assert client.get(link(text))["Location"] == "/"


@pytest.mark.django_db(transaction=True)
def test_of_many_who_use_a_link_at_once_one_gets_in(person):
    text = access.make_sign_in_link(person)

    def try_it(_):
        try:
            return access.redeem(text)
        except access.LinkRefused:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        users = list(pool.map(try_it, range(16)))

    assert users.count(person) == 1
    assert users.count(None) == 15


def test_no_link_and_no_token_is_stored_as_it_is(person):
    text = access.make_sign_in_link(person)
    token, secret = access.make_token(person, "laptop")

    assert SignInLink.objects.get().hash == token_hash(text) != text
    assert token.hash == token_hash(secret) != secret


def test_signing_out_takes_a_post(browser):
    assert browser.get(reverse("account_logout")).status_code == 405
    assert is_signed_in(browser)

    browser.post(reverse("account_logout"))

    assert not is_signed_in(browser)


def test_a_token_is_shown_once(browser, person):
    made = browser.post(reverse("token-create"), NEW | {"name": "laptop <b>"})
    later = browser.get(reverse("account"))

    (secret,) = [text for text in Page(made).texts if len(text.strip()) == 43]
    assert ApiToken.objects.get(user=person).hash == token_hash(secret.strip())
    assert "no-store" in made["Cache-Control"]
    assert secret not in later.content.decode()
    assert "laptop <b>" in Page(later).text


@pytest.mark.parametrize("name", ["", "x" * 101, "a\x00b", "\u202e"])
def test_a_token_with_a_bad_name_is_not_made(browser, name):
    answer = browser.post(reverse("token-create"), NEW | {"name": name})

    assert answer.status_code == 422
    assert Page(answer).by_id("f-name")["aria-invalid"] == "true"
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("field", ["may", "expires"])
@pytest.mark.parametrize("value", ["", "admin", "read read", "operate read"])
def test_a_token_is_not_made_for_what_nobody_offers(browser, field, value):
    answer = browser.post(reverse("token-create"), NEW | {field: value})

    page = Page(answer)
    assert answer.status_code == 422
    assert page.by_id(f"f-{field}")["aria-invalid"] == "true"
    assert page.by_id("f-name")["value"] == "laptop"
    assert not ApiToken.objects.exists()


def test_a_form_that_nobody_touched_makes_a_token_that_reads_for_90_days(browser):
    page = Page(browser.get(reverse("account")))

    chosen = [a["value"] for tag, a in page.elements if tag == "option" and "selected" in a]
    assert chosen == ["read", "90d"]


def test_the_page_tells_what_each_token_may_and_until_when(browser, person):
    browser.post(reverse("token-create"), NEW | {"may": "read submit", "expires": "1y"})
    access.make_token(person, "old", "submit", "30d")
    ApiToken.objects.filter(name="old").update(expires_at=timezone.now())
    access.make_token(person, "ending", "operate", "30d")
    soon = timezone.now() + timedelta(days=6)
    ApiToken.objects.filter(name="ending").update(expires_at=soon)

    text = Page(browser.get(reverse("account"))).text

    assert "laptop in force read and submit" in text
    assert "old expired submit only" in text
    assert "ending expires soon everything its owner may do" in text
    assert text.index("ending") < text.index("laptop") < text.index("old")  # what is over is last
    assert [text.count(word) for word in ("in force", "expired", "expires soon")] == [1, 1, 1]
    assert f"{soon:%Y-%m-%d}" in text


def test_a_revoked_token_stays_on_record(browser, person):
    token, _ = access.make_token(person, "laptop")

    browser.post(reverse("token-revoke", args=[token.pk]))

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "revoked" in Page(browser.get(reverse("account"))).text


def test_nobody_revokes_the_token_of_somebody_else(browser, django_user_model):
    token, _ = access.make_token(somebody("other"), "theirs")

    answer = browser.post(reverse("token-revoke", args=[token.pk]))

    assert answer.status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None


def test_a_poll_after_the_session_ended_makes_the_page_load_again(db):
    client = ANONYMOUS()

    answer = client.get(reverse("home-running"), follow=True, headers={"HX-Request": "true"})

    assert answer["HX-Refresh"] == "true"
