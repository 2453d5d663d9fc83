"""Who comes in and goes, and which tokens are used."""

from collections import OrderedDict
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.test import Client, RequestFactory

from campaigns.accounts.access import make_token
from campaigns.kit.activity import Action
from campaigns.kit.api.authentication import note_use
from campaigns.models import AuditEvent
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return somebody("ada", password="a long word of hers")  # noqa: S106


def rows(action):
    return list(AuditEvent.objects.filter(action=action).order_by("pk"))


def sign_in(browser, name, password, address="192.0.2.1"):
    return browser.post("/sign-in/", {"login": name, "password": password}, REMOTE_ADDR=address)


def test_signing_in_and_out_is_recorded_with_where_from(ada):
    browser = Client()

    sign_in(browser, "ada", "a long word of hers")
    browser.post("/sign-out/", REMOTE_ADDR="192.0.2.1")

    for action, by in ((Action.SIGNED_IN, {"by": "password"}), (Action.SIGNED_OUT, {})):
        (row,) = rows(action)
        assert (row.user, row.means, row.subject_name) == (ada, "browser", "ada")
        assert row.details == {"address": "192.0.2.1", **by}


def test_a_failed_sign_in_names_the_account_and_nobody_as_the_one_who_did_it(ada):
    sign_in(Client(), "ada", "wrong")

    (row,) = rows(Action.SIGN_IN_FAILED)
    assert (row.user, row.subject_key, row.subject_name) == (None, ada.pk, "ada")


def test_a_name_that_nobody_has_is_not_kept(ada):
    sign_in(Client(), "my password, typed in the wrong field", "ada")

    (row,) = rows(Action.SIGN_IN_FAILED)
    assert (row.subject_key, row.subject_name) == (None, "")
    assert "my password" not in str(row.details)


def test_who_guesses_on_and_on_does_not_fill_the_record(ada, rf: RequestFactory):
    for number in range(9):
        request = rf.post("/", REMOTE_ADDR="192.0.2.7")
        authenticate(request, username=f"nobody {number}", password="x")  # noqa: S106
    sign_in(Client(), "nobody", "x", address="192.0.2.8")

    addresses = [row.details["address"] for row in rows(Action.SIGN_IN_FAILED)]
    assert addresses == ["192.0.2.7"] * 5 + ["192.0.2.8"]


def test_a_token_leaves_a_row_at_its_first_use_from_each_address_and_then_none_for_a_day(ada):
    _, text = make_token(ada, "ci")
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1"):
        Client().get(
            "/api/v1/whoami", REMOTE_ADDR=address, headers={"Authorization": f"Bearer {text}"}
        )

    used = rows(Action.TOKEN_USED)
    assert [row.details["address"] for row in used] == ["192.0.2.1", "192.0.2.2"]
    assert {(row.user, row.means, row.subject_name) for row in used} == {(ada, "token “ci”", "ci")}


def test_another_process_finds_the_row_of_the_first(ada, monkeypatch):
    token, _ = make_token(ada, "ci")
    note_use(token, "192.0.2.1")
    monkeypatch.setattr("campaigns.kit.api.authentication._noted", OrderedDict())
    note_use(token, "192.0.2.1")

    assert len(rows(Action.TOKEN_USED)) == 1


def test_a_day_later_it_is_told_again(ada, monkeypatch):
    token, _ = make_token(ada, "ci")
    note_use(token, "192.0.2.1")
    monkeypatch.setattr("campaigns.kit.api.authentication.EVERY", timedelta(0))

    note_use(token, "192.0.2.1")

    assert len(rows(Action.TOKEN_USED)) == 2


def test_a_token_that_a_command_makes_is_in_its_owners_record_with_the_command_as_means(ada):
    call_command("create_token", "ada", "--name", "ci", stdout=StringIO(), stderr=StringIO())

    (row,) = rows(Action.TOKEN_MADE)
    assert (row.user, row.means, row.subject_name) == (ada, "command", "ci")
    assert row.details == {"scopes": ["operate"], "expires_at": None}


def test_what_a_token_does_names_it_as_the_means(ada):
    _, text = make_token(ada, "ci")
    bearer = {"Authorization": f"Bearer {text}"}
    own = ada.api_tokens.get()

    Client().post(f"/api/v1/tokens/{own.pk}/revoke", headers=bearer)

    (row,) = rows(Action.TOKEN_REVOKED)
    assert (row.user, row.means) == (ada, "token “ci”")
