"""Invitations to a team, by its admins."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client

from campaigns.accounts import invitations
from campaigns.accounts.access import make_token
from campaigns.models import Invitation, Team
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient

pytestmark = pytest.mark.django_db
SENT = {"roles": ["reviewer", "author"], "note": "for Anna", "days": 3}


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="storage")


@pytest.fixture
def admin(team) -> ApiClient:
    return ApiClient(make_token(somebody("admin", team=team), "t")[1])


@pytest.fixture
def made(admin, team):
    status, body = admin.post(f"teams/{team.pk}/invitations", SENT)
    assert status == 201, body
    return body


def opened(made):
    new = {"name": "anna", "email": "", "password": "much better 7", "again": "much better 7"}
    return Client().post(made["address"].partition("testserver")[2], new)


def test_the_link_that_is_told_once_lets_somebody_in(admin, team, made):
    assert made["address"].startswith("http://testserver/sign-in/invitation/")
    assert (made["roles"], made["note"], made["state"]) == (
        ["author", "reviewer"],
        "for Anna",
        "waiting",
    )

    assert opened(made).status_code == 302

    assert User.objects.get(username="anna").memberships.get().team == team
    (listed,) = admin.get(f"teams/{team.pk}/invitations")[1]["results"]
    assert (listed["state"], listed["used_by"], listed["made_by"]) == ("used", "anna", "admin")
    assert "address" not in listed
    assert made["address"].rstrip("/").rpartition("/")[2] not in str(listed)


def test_one_that_is_asked_for_without_days_is_good_for_a_week(admin, team):
    _, made = admin.post(f"teams/{team.pk}/invitations", {"roles": ["viewer"]})

    row = Invitation.objects.get(pk=made["id"])
    assert row.expires_at - row.created_at == timedelta(days=7)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"roles": []}, "roles"),
        ({"roles": ["owner"]}, "roles.0"),
        ({"days": 0}, "days"),
        ({"days": 31}, "days"),
        ({"note": "x" * 201}, "note"),
        ({"note": "a\u202eb"}, "note"),
        ({"hash": "x"}, "hash"),
    ],
)
def test_one_that_says_something_wrong_is_not_made(admin, team, change, field):
    status, problem = admin.post(f"teams/{team.pk}/invitations", SENT | change)

    assert status == 400
    assert [error["field"] for error in problem["errors"]] == [field]
    assert not Invitation.objects.exists()


def test_a_revoked_one_lets_nobody_in_and_stays_as_a_record(admin, team, made):
    status, body = admin.post(f"invitations/{made['id']}/revoke")

    assert (status, body["state"]) == (200, "revoked")
    assert opened(made).status_code == 403
    assert admin.post(f"invitations/{made['id']}/revoke") == (200, body)


def test_a_used_one_cannot_be_revoked(admin, made):
    opened(made)

    status, problem = admin.post(f"invitations/{made['id']}/revoke")

    assert status == 409
    assert problem["detail"] == "anna has used it; take the member out of the team."


def test_one_whose_time_is_over_says_so(admin, team, made):
    Invitation.objects.update(expires_at=Now())

    (listed,) = admin.get(f"teams/{team.pk}/invitations")[1]["results"]

    assert listed["state"] == "expired"


@pytest.mark.parametrize(("role", "status"), [("operator", 403), ("reviewer", 403), (None, 404)])
def test_nobody_but_an_admin_makes_lists_or_revokes_them(team, made, role, status):
    user = somebody("other", role, team=team) if role else somebody("stranger")
    other = ApiClient(make_token(user, "t")[1])

    answers = [
        other.get(f"teams/{team.pk}/invitations"),
        other.post(f"teams/{team.pk}/invitations", SENT),
        other.post(f"invitations/{made['id']}/revoke"),
    ]

    assert [answer[0] for answer in answers] == [status] * 3
    assert Invitation.objects.get().revoked_at is None


def test_a_token_that_may_only_read_makes_none(team):
    admin = somebody("admin", team=team)
    reader = ApiClient(make_token(admin, "t", "read")[1])

    assert reader.get(f"teams/{team.pk}/invitations")[0] == 200
    assert reader.post(f"teams/{team.pk}/invitations", SENT)[0] == 403


def test_a_repeated_request_makes_no_second_one_and_does_not_tell_the_link_again(admin, team):
    send = {"content_type": "application/json", "headers": {"Idempotency-Key": "k"}}
    path = f"/api/v1/teams/{team.pk}/invitations"

    first = admin.client.post(path, SENT, **send).json()
    again = admin.client.post(path, SENT, **send).json()

    assert first["address"]
    assert again == first | {"address": None}
    assert invitations.of(team).count() == 1
