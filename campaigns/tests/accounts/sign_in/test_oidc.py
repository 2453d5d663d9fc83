"""OpenID Connect against a real provider: django-oauth-toolkit, in a process of its own on loopback."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from campaigns.accounts import invitations, single_sign_on
from campaigns.accounts.single_sign_on import Identity
from campaigns.models import Membership, Team
from campaigns.tests.accounts.sign_in.at_provider import (
    BACK,
    BEGIN,
    by_provider,
    log_in_there,
    refusal,
)
from campaigns.tests.accounts.sign_in.conftest import (
    CODE,
    actions,
    code_of,
    come_in,
    is_in,
    switched_on,
)
from campaigns.tests.browsing import PASSWORD, Page
from campaigns.tests.people import somebody

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("oidc")]


def test_who_is_new_gets_an_account_without_password_and_team(provider):
    client, answer = by_provider("anna", next="/targets/")

    user = User.objects.get(username="anna")
    assert answer["Location"] == "/targets/"
    assert is_in(client)
    assert (user.email, user.has_usable_password()) == ("anna@example.org", False)
    assert not Membership.objects.filter(user=user).exists()
    assert actions() == ["account_made", "provider_linked", "signed_in"]


def test_who_comes_again_has_the_same_account_whatever_became_of_the_address(provider):
    by_provider("anna")
    User.objects.filter(username="anna").update(username="renamed", email="")

    client, _ = by_provider("anna")

    assert is_in(client)
    assert User.objects.count() == 1


def test_the_way_there_has_state_nonce_pkce_and_our_address(provider):
    sent = parse_qs(urlsplit(Client().get(BEGIN)["Location"]).query)

    assert sent["code_challenge_method"] == ["S256"]
    assert sent["redirect_uri"] == [f"http://testserver{BACK}"]
    assert sent["response_type"] == ["code"]
    assert set(sent["scope"][0].split()) == {"openid", "profile", "email"}
    assert len(sent["nonce"][0]) >= 32
    assert len(sent["state"][0]) >= 16


def test_a_name_that_somebody_has_gets_a_number(provider):
    somebody("Anna")

    by_provider("anna")

    assert User.objects.filter(username="anna-2").exists()


def test_a_team_may_be_given_to_whoever_comes(provider, oidc):
    team = Team.objects.create(name="storage")
    oidc(team="storage", roles=("viewer", "author"))

    by_provider("anna")

    assert Membership.objects.get(team=team).roles == ["viewer", "author"]
    assert "member_added" in actions()


def test_who_was_not_invited_stays_outside_where_only_guests_come_in(provider, oidc):
    oidc(everybody=False)

    client, answer = by_provider("anna")

    assert answer.status_code == 403
    assert "invitation link" in refusal(answer)
    assert not is_in(client)
    assert not User.objects.exists()


def test_who_was_invited_comes_in_and_is_in_the_team(provider, oidc):
    oidc(everybody=False)
    team = Team.objects.create(name="storage")
    made = invitations.make(somebody("admin", team=team), team, roles=["author"], note="", days=1)
    page = Client().get(f"/sign-in/invitation/{made.text}/")
    assert f"{BEGIN}?invitation={made.text}" in page.content.decode()

    client, _ = by_provider("anna", invitation=made.text)

    assert is_in(client)
    assert Membership.objects.get(user__username="anna").roles == ["author"]
    assert Client().get(BEGIN, {"invitation": made.text}).status_code == 403


def test_an_invitation_that_is_revoked_on_the_way_lets_nobody_in(provider, oidc):
    oidc(everybody=False)
    team = Team.objects.create(name="storage")
    admin = somebody("admin", team=team)
    made = invitations.make(admin, team, roles=["author"], note="", days=1)
    client = Client()
    back = log_in_there(client.get(BEGIN, {"invitation": made.text})["Location"], "anna")

    invitations.revoke(admin, made.invitation)

    assert "revoked" in refusal(client.get(back))
    assert not User.objects.filter(username="anna").exists()


@pytest.mark.parametrize(("name", "trusts"), [("anna", False), ("bert", False), ("bert", True)])
def test_an_account_with_the_same_address_is_not_taken_over(provider, oidc, name, trusts):
    oidc(trusts_email=trusts)
    local = User.objects.create_user("local", f"{name.upper()}@example.org", PASSWORD)

    client, answer = by_provider(name)

    local.refresh_from_db()
    assert answer.status_code == 403
    assert "sign in to it in its own way" in refusal(answer).replace("\n", " ")
    assert not is_in(client)
    assert local.check_password(PASSWORD)
    assert not SocialAccount.objects.exists()
    assert User.objects.count() == 1


def test_a_verified_address_that_is_trusted_connects_the_account_and_takes_its_password(
    provider, oidc
):
    oidc(trusts_email=True)
    local = User.objects.create_user("local", "anna@example.org", PASSWORD)
    stranger = come_in("local")

    client, _ = by_provider("anna")

    local.refresh_from_db()
    assert "Its password was taken away" in Page(client.get("/account/")).text
    assert SocialAccount.objects.get().user == local
    assert not local.has_usable_password()
    assert not is_in(stranger)


@pytest.mark.parametrize("lookalike", ["m\u0131ke@kiosk.example", "mike@kio\u017fk.example"])
def test_an_address_that_only_a_database_takes_for_the_same_takes_no_account_over(oidc, lookalike):
    """Its capitals are those of the other one; the domain may be anybody's."""
    oidc(trusts_email=True)
    local = User.objects.create_user("local", "Mike@kiosk.example", PASSWORD)
    issuer = single_sign_on.ours().issuer

    came = single_sign_on.let_in(Identity(issuer, "stranger", lookalike, email_verified=True))
    same = single_sign_on.let_in(
        Identity(issuer, "mike", "MIKE@kiosk.example", email_verified=True)
    )

    assert (came.by_email, came.user == local) == (False, False)
    assert (same.by_email, same.user) == (True, local)


def test_an_address_of_two_accounts_connects_neither(provider, oidc):
    oidc(trusts_email=True)
    for name in ("one", "two"):
        User.objects.create_user(name, "anna@example.org")

    assert by_provider("anna")[1].status_code == 403
    assert not SocialAccount.objects.exists()


def test_somebody_who_is_signed_in_connects_and_disconnects(provider):
    User.objects.create_user("local", "", PASSWORD)
    client = come_in("local")
    assert "Staff not connected" in Page(client.get("/account/")).text

    asked = client.post("/account/oidc/connect/")
    assert asked["Location"].startswith("/account/confirm/")
    client.post("/account/confirm/", {"password": PASSWORD})
    page = Page(client.post("/account/oidc/connect/"))
    (there,) = [a["href"] for tag, a in page.elements if a.get("rel") == "noreferrer"]
    client.get(log_in_there(there, "anna"))

    assert "Staff connected" in Page(client.get("/account/")).text
    other, _ = by_provider("anna")
    assert other.get("/account/").context["user"].username == "local"
    client.post("/account/oidc/disconnect/")
    assert not SocialAccount.objects.exists()
    assert {"provider_linked", "provider_unlinked"} <= set(actions())


def test_a_person_belongs_to_one_account_only(provider):
    by_provider("anna")
    User.objects.create_user("local", "", PASSWORD)
    client = come_in("local")
    client.post("/account/confirm/", {"password": PASSWORD})
    page = Page(client.post("/account/oidc/connect/"))
    (there,) = [a["href"] for tag, a in page.elements if a.get("rel") == "noreferrer"]

    client.get(log_in_there(there, "anna"))

    assert "belongs to another account" in Page(client.get("/account/")).text
    assert SocialAccount.objects.get().user.username == "anna"


def test_who_left_meanwhile_connects_nothing(provider):
    for name in ("local", "other"):
        User.objects.create_user(name, "", PASSWORD)
    client = come_in("local")
    client.post("/account/confirm/", {"password": PASSWORD})
    page = Page(client.post("/account/oidc/connect/"))
    (there,) = [a["href"] for tag, a in page.elements if a.get("rel") == "noreferrer"]
    back = log_in_there(there, "anna")
    client.post("/sign-out/")

    assert client.get(back).status_code == 400
    assert not SocialAccount.objects.exists()


def test_who_has_no_other_way_in_does_not_disconnect(provider):
    client, _ = by_provider("anna")

    client.post("/account/oidc/disconnect/")

    assert "Set a password first" in Page(client.get("/account/")).text
    assert SocialAccount.objects.exists()


def test_connecting_takes_a_post(provider):
    client, _ = by_provider("anna")

    assert client.get("/account/oidc/connect/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/account/oidc/connect/").status_code == 403


def test_a_second_factor_is_asked_for_after_the_provider_too(provider):
    by_provider("anna")
    secret, _ = switched_on(User.objects.get(username="anna"))

    client, answer = by_provider("anna")

    assert answer["Location"] == CODE
    assert not is_in(client)
    client.post(CODE, {"code": code_of(secret)})
    assert is_in(client)


def test_an_account_that_is_switched_off_stays_outside(provider):
    by_provider("anna")
    User.objects.update(is_active=False)

    client, answer = by_provider("anna")

    assert "switched off" in refusal(answer)
    assert not is_in(client)


def test_who_has_no_address_comes_in_all_the_same(provider):
    assert is_in(by_provider("carla")[0])
    assert User.objects.get().email == ""


def test_nobody_is_sent_to_another_site(provider):
    assert by_provider("anna", next="https://example.org/")[1]["Location"] == "/"


def test_where_no_provider_is_configured_nothing_of_it_is_there(settings):
    settings.OIDC = None

    assert Client().get(BEGIN).status_code == 404
    assert Client().get(BACK).status_code == 404
    assert BEGIN not in Client().get("/sign-in/").content.decode()


def test_a_free_name_is_made_of_whatever_the_provider_says(db):
    said = {
        "": "person",
        "\u202e\x00": "person-2",
        "a b/c": "a-b-c",
        "x" * 300: "x" * 100,
        "@" * 10: "person-3",
        "..": "person-4",
        "@zoe": "zoe",
        "Zoë": "Zoe-2",
        "\u0430lma": "lma",
        "Мария": "person-5",
    }
    for text, name in said.items():
        identity = single_sign_on.Identity("i", "s", username=text)
        assert single_sign_on._free_name(identity) == name
        User.objects.create_user(name)

    mail = single_sign_on.Identity("i", "s", username="Мария", email="maria@example.org")
    assert single_sign_on._free_name(mail) == "maria"
    for user in User.objects.all():
        user.set_unusable_password()
        user.full_clean()


@pytest.mark.django_db(transaction=True)
def test_who_comes_in_two_windows_at_once_gets_one_account(provider):
    identity = single_sign_on.Identity(provider.issuer, "twice", username="anna")

    def try_it(_):
        try:
            return single_sign_on.let_in(identity).user.pk
        except single_sign_on.NotLetIn:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(try_it, range(8))) - {None}

    assert len(found) == 1
    assert User.objects.count() == SocialAccount.objects.count() == 1
