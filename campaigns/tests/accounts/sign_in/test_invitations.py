"""Invitations: made by an admin, good once, for some days, until revoked; only their hash is kept."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from campaigns.accounts import invitations
from campaigns.kit.encryption import token_hash
from campaigns.models import Invitation, Membership, Team
from campaigns.tests.accounts.sign_in.conftest import actions, is_in
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db
NEW = {"name": "anna", "email": "", "password": "much better 7", "again": "much better 7"}


@pytest.fixture
def team(db):
    return Team.objects.create(name="storage")


@pytest.fixture
def admin(team):
    return somebody("admin", team=team)


@pytest.fixture
def made(team, admin):
    return invitations.make(admin, team, roles=["reviewer", "operator"], note="for Anna", days=7)


def address(made):
    return f"/sign-in/invitation/{made.text}/"


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def roles(user, team):
    return Membership.objects.get(user=user, team=team).roles


def test_an_admin_makes_a_link_and_sees_it_once(team, admin):
    client = signed_in(admin)
    page = f"/teams/{team.pk}/invitations/"

    answer = client.post(page, {"roles": ["author"], "note": "for <b>", "days": "3"})

    (link,) = [text for text in Page(answer).texts if "/sign-in/invitation/" in text]
    text = link.rstrip("/").rpartition("/")[2]
    assert Invitation.objects.get().hash == token_hash(text) != text
    assert "no-store" in answer["Cache-Control"]
    assert text not in client.get(page).content.decode()
    assert "for <b> waiting author" in Page(client.get(page)).text
    assert actions()[-1] == "invitation_made"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"roles": []}, "f-roles"),
        ({"roles": ["owner"]}, "f-roles"),
        ({"days": "0"}, "f-days"),
        ({"days": "31"}, "f-days"),
        ({"days": "1e9"}, "f-days"),
        ({"note": "x" * 201}, "f-note"),
        ({"note": "a\x00b"}, "f-note"),
    ],
)
def test_a_link_that_says_something_wrong_is_not_made(team, admin, change, named):
    sent = {"roles": ["viewer"], "note": "", "days": "7"} | change

    answer = signed_in(admin).post(f"/teams/{team.pk}/invitations/", sent)

    assert answer.status_code == 422
    assert f"{named}-error" in answer.content.decode()
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(("role", "status"), [("operator", 403), ("reviewer", 403), (None, 404)])
def test_nobody_but_an_admin_makes_sees_or_revokes_links(team, made, role, status):
    user = somebody("other", role, team=team) if role else somebody("stranger")
    client = signed_in(user)

    answers = [
        client.get(f"/teams/{team.pk}/invitations/"),
        client.post(f"/teams/{team.pk}/invitations/", {"roles": ["admin"], "days": "1"}),
        client.post(f"/invitations/{made.invitation.pk}/revoke/"),
    ]

    assert [answer.status_code for answer in answers] == [status] * 3
    made.invitation.refresh_from_db()
    assert made.invitation.revoked_at is None
    assert Invitation.objects.count() == 1


def test_who_opens_it_makes_an_account_and_is_in_the_team(team, made):
    client = Client()
    page = Page(client.get(address(made)))
    assert "admin invites you to the team “storage”, as operator, reviewer" in page.text

    answer = client.post(address(made), NEW)

    user = User.objects.get(username="anna")
    assert answer["Location"] == "/"
    assert is_in(client)
    assert roles(user, team) == ["operator", "reviewer"]
    assert user.check_password(NEW["password"])
    assert actions()[-3:] == ["account_made", "invitation_used", "signed_in"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": "ADMIN"}, "f-name"),
        ({"name": "a b"}, "f-name"),
        ({"name": "\u202e"}, "f-name"),
        ({"name": "\u0430nna"}, "f-name"),  # its first letter is Cyrillic
        ({"name": "ANNÁ"}, "f-name"),
        ({"name": "."}, "f-name"),
        ({"name": ".."}, "f-name"),
        ({"name": "@x"}, "f-name"),
        ({"name": "a\x00"}, "f-name"),
        ({"name": ""}, "f-name"),
        ({"name": "x" * 151}, "f-name"),
        ({"password": "12345678", "again": "12345678"}, "f-password"),
        ({"password": "x" * 201, "again": "x" * 201}, "f-password"),
        ({"again": "another"}, "f-again"),
        ({"email": "nobody"}, "f-email"),
    ],
)
def test_a_bad_account_is_not_made_and_the_link_stays_good(made, change, named):
    answer = Client().post(address(made), NEW | change)

    assert answer.status_code == 422
    assert Page(answer).by_id(named)["aria-invalid"] == "true"
    assert not User.objects.filter(username="anna").exists()
    assert invitations.find(made.text).pk == made.invitation.pk


def test_who_has_an_account_joins_with_it_and_keeps_the_roles_he_has(team, made):
    user = somebody("bert", "author", team=team)
    client = signed_in(user)
    assert "Join as bert" in Page(client.get(address(made))).text

    client.post(address(made))

    assert roles(user, team) == ["author", "operator", "reviewer"]
    assert User.objects.count() == 2


def used(made):
    Client().post(address(made), NEW)


def revoked(made):
    invitations.revoke(made.invitation.made_by, made.invitation)


def made_by_nobody(made):
    """Whoever made it is no admin any more: he may not come back by a link that he kept."""
    Membership.objects.update(roles=["viewer"])


def expired(made):
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (used, "used already"),
        (revoked, "revoked"),
        (expired, "has expired"),
        (made_by_nobody, "is no admin of the team any more"),
    ],
)
def test_a_link_that_is_over_says_so_and_makes_nothing(made, end, told):
    end(made)
    before = User.objects.count()

    shown = Client().get(address(made))
    sent = Client().post(address(made), NEW | {"name": "second"})

    assert (shown.status_code, sent.status_code) == (403, 403)
    assert told in Page(shown).text
    assert told in Page(sent).text
    assert User.objects.count() == before


@pytest.mark.parametrize("text", ["nonsense", "%00", "%ff%fe", "x" * 5000])
def test_an_unknown_link_says_so(db, text):
    answer = Client().get(f"/sign-in/invitation/{text}/")

    assert answer.status_code == 403
    assert "is unknown" in Page(answer).text


def test_a_used_link_is_not_revoked_any_more(made, admin):
    used(made)

    signed_in(admin).post(f"/invitations/{made.invitation.pk}/revoke/")

    made.invitation.refresh_from_db()
    assert made.invitation.revoked_at is None
    assert made.invitation.used_by.username == "anna"


@pytest.mark.django_db(transaction=True)
def test_of_many_who_use_a_link_at_once_one_gets_in(made):
    users = [User.objects.create_user(f"user {number}") for number in range(4)]

    def try_it(user):
        try:
            return invitations.accept(user, made.invitation.pk)
        except invitations.InvitationRefused:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        accepted = [found for found in pool.map(try_it, users) if found]

    assert len(accepted) == 1
    assert Membership.objects.filter(user__in=users).count() == 1


def test_the_log_never_holds_the_link(made, caplog):
    from perfdash.logs import without_secrets

    assert made.text not in without_secrets(f"GET {address(made)} 200")


def test_the_page_of_somebody_signed_out_offers_the_account_he_has(made):
    page = Page(Client().get(address(made)))

    links = [a["href"] for tag, a in page.elements if tag == "a" and "href" in a]
    assert f"/sign-in/?next={address(made)}" in links
