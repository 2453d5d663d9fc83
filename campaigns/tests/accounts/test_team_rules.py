"""Who is in a team with which roles, and its rules: changed by admins, and never without one."""

import pytest

from campaigns.accounts import teams
from campaigns.kit.errors import Invalid
from campaigns.kit.rights import NotAllowed, NotVisible, team_for
from campaigns.models import AuditEvent, Membership, Team
from campaigns.tests.people import join, somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(db):
    return Team.objects.create(name="Storage")


@pytest.fixture
def admin(team):
    return somebody("ada", team=team)


def member(team, name):
    return Membership.objects.get(team=team, user__username=name)


def test_an_account_is_added_by_its_name_and_gets_other_roles(team, admin):
    somebody("bob")

    teams.set_roles(team, "bob", ["reviewer", "author"], admin)
    assert member(team, "bob").roles == ["author", "reviewer"]
    teams.set_roles(team, "bob", ["viewer"], admin)

    assert member(team, "bob").roles == ["viewer"]
    told = AuditEvent.objects.filter(team=team).order_by("pk").values_list("action", flat=True)
    assert list(told) == ["member_added", "member_changed"]


@pytest.mark.parametrize(("name", "roles"), [("nobody", ["viewer"]), ("bob", []), ("bob", ["god"])])
def test_what_is_no_account_and_no_role_is_refused_in_words(team, admin, name, roles):
    somebody("bob")

    with pytest.raises(Invalid):
        teams.set_roles(team, name, roles, admin)


def test_the_last_admin_neither_goes_nor_becomes_less(team, admin):
    with pytest.raises(Invalid, match="last admin"):
        teams.set_roles(team, "ada", ["viewer"], admin)
    with pytest.raises(Invalid, match="last admin"):
        teams.remove_member(member(team, "ada"), admin)

    somebody("bob", "admin", team=team)
    teams.remove_member(member(team, "ada"), admin)
    assert not Membership.objects.filter(team=team, user=admin).exists()


def test_an_account_that_is_switched_off_is_no_other_admin(team, admin):
    gone = somebody("gone", "admin", team=team)
    gone.is_active = False
    gone.save()

    with pytest.raises(Invalid, match="last admin"):
        teams.remove_member(member(team, "ada"), admin)


def test_only_admins_of_the_team_change_it(team, admin):
    with pytest.raises(NotAllowed):
        teams.change_rules(team, {"approvals_needed": 2}, somebody("op", "operator", team=team))
    with pytest.raises(NotVisible):
        teams.set_roles(team, "ada", ["viewer"], somebody("stranger"))


def test_rules_are_changed_and_recorded(team, admin):
    teams.change_rules(team, {"approvals_needed": 2, "second_for_production": True}, admin)

    team.refresh_from_db()
    assert (team.approvals_needed, team.second_for_production) == (2, True)
    changes = AuditEvent.objects.get(action="team_edited").details["changes"]
    assert changes == {"approvals_needed": [1, 2], "second_for_production": [False, True]}


def test_only_the_owner_of_the_installation_makes_teams(admin):
    with pytest.raises(NotAllowed):
        teams.create_team("New", admin)
    admin.is_superuser = True

    made = teams.create_team("New", admin)

    assert member(made, "ada").roles == ["admin"]
    with pytest.raises(Invalid, match="already"):
        teams.create_team("New", admin)


def test_something_new_belongs_to_ones_only_team_or_to_the_one_that_is_named(team, admin):
    assert team_for(admin) == team

    second = Team.objects.create(name="Network")
    join(admin, "author", team=second)
    with pytest.raises(Invalid, match="several teams"):
        team_for(admin)
    assert team_for(admin, "Network") == second
    assert team_for(admin, str(second.pk)) == second
    with pytest.raises(Invalid, match="no team"):
        team_for(admin, "Default")


def test_who_writes_in_no_team_makes_nothing(team):
    with pytest.raises(NotAllowed, match="in none"):
        team_for(somebody("guest", "viewer", team=team))
