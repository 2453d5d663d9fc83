"""One's own sessions: told, and ended."""

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from campaigns.accounts.access import make_token
from campaigns.models import AuditEvent
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def browser_of(user, **named):
    """A browser that is signed in, and was seen."""
    browser = Client(**named)
    browser.force_login(user)
    assert is_in(browser)
    return browser


def is_in(browser):
    return browser.get("/account/").status_code == 200


def pk_of(browser):
    return UserSession.objects.get(session_key=browser.session.session_key).pk


@pytest.fixture
def firefox(owner):
    return browser_of(owner, HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="192.0.2.7")


def test_they_are_told_with_browser_and_address_and_without_their_key(api, firefox):
    browser_of(somebody("other"))

    status, body = api.get("account/sessions")

    assert status == 200
    (told,) = body["results"]
    assert told["id"] == pk_of(firefox)
    assert (told["browser"], told["address"]) == ("Firefox on Linux", "192.0.2.7")
    assert told["created_at"] <= told["last_seen_at"]
    assert told["in_use"] is False
    assert firefox.session.session_key not in str(body)


def test_a_browser_that_asks_is_told_which_one_it_is(firefox, owner):
    browser_of(owner)

    told = firefox.get("/api/v1/account/sessions").json()["results"]

    assert {row["id"]: row["in_use"] for row in told} == {
        row["id"]: row["id"] == pk_of(firefox) for row in told
    }
    assert len(told) == 2


def test_an_ended_one_is_out_at_once_and_that_is_recorded(api, firefox):
    assert api.post(f"account/sessions/{pk_of(firefox)}/end") == (204, None)

    assert not is_in(firefox)
    assert api.get("account/sessions")[1]["results"] == []
    row = AuditEvent.objects.get(action="session_ended")
    assert row.means == "token “tests”"


def test_a_browser_may_end_itself(firefox):
    key = pk_of(firefox)

    assert firefox.post(f"/api/v1/account/sessions/{key}/end").status_code == 204
    assert not is_in(firefox)


def test_a_browser_ends_all_others_and_stays(firefox, owner):
    others = [browser_of(owner), browser_of(owner)]

    answer = firefox.post("/api/v1/account/sessions/end-others")

    assert (answer.status_code, answer.json()) == (200, {"ended": 2})
    assert [is_in(each) for each in (firefox, *others)] == [True, False, False]


def test_a_token_ends_them_all_and_goes_on(api, firefox):
    assert api.post("account/sessions/end-others") == (200, {"ended": 1})

    assert not is_in(firefox)
    assert api.post("account/sessions/end-others") == (200, {"ended": 0})
    assert AuditEvent.objects.filter(action="session_ended").count() == 1


def test_nobody_ends_those_of_others(api, firefox):
    other = browser_of(somebody("other"))

    assert api.post(f"account/sessions/{pk_of(other)}/end")[0] == 404
    assert api.post("account/sessions/999999/end")[0] == 404
    api.post("account/sessions/end-others")

    assert is_in(other)


def test_a_token_that_may_not_operate_ends_none(owner, firefox):
    reader = ApiClient(make_token(owner, "reader", "read")[1])

    assert reader.get("account/sessions")[0] == 200
    assert reader.post(f"account/sessions/{pk_of(firefox)}/end")[0] == 403
    assert reader.post("account/sessions/end-others")[0] == 403
    assert is_in(firefox)
