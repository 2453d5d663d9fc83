import pytest
from django.contrib.auth.models import User

from campaigns.kit import rights
from campaigns.kit.rights import May, Right
from campaigns.models import (
    Campaign,
    Comment,
    Conclusion,
    Evidence,
    Membership,
    Role,
    Team,
    Thread,
)
from campaigns.tests.people import join, somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def team():
    return Team.objects.create(name="Pulp")


@pytest.mark.parametrize("role", Role)
def test_a_role_is_good_for_its_own_team_only(team, role):
    user = somebody("somebody", role, team=team)
    other = Team.objects.create(name="Katello")

    assert rights.rights_in(user, team) == rights.RIGHTS[role]
    assert rights.rights_in(user, other) == frozenset()


def test_rights_of_several_roles_add_up(team):
    user = somebody("somebody", "author", "reviewer", team=team)

    assert rights.rights_in(user, team) == {Right.SEE, Right.COMMENT, Right.WRITE, Right.REVIEW}


def test_a_stranger_is_told_that_there_is_nothing(team):
    with pytest.raises(rights.NotVisible):
        rights.require(somebody("stranger"), team, Right.SEE)


def test_who_may_look_is_told_which_role_it_takes(team):
    viewer = somebody("viewer", "viewer", team=team)

    with pytest.raises(rights.NotAllowed, match="operator or admin in the team “Pulp”"):
        rights.require(viewer, team, Right.OPERATE)


def test_a_role_that_was_taken_away_is_gone_at_once(team):
    user = somebody("operator", "operator", team=team)
    rights.require(user, team, Right.OPERATE)

    Membership.objects.get(team=team, user=user).delete()

    assert not rights.may(user, team, Right.SEE)


def test_an_account_that_is_switched_off_may_nothing(team):
    user = somebody("operator", "operator", team=team)
    User.objects.filter(pk=user.pk).update(is_active=False)
    user.refresh_from_db()

    assert rights.rights_in(user, team) == frozenset()
    assert list(rights.people_with(team, Right.SEE)) == []


def test_an_owner_of_the_installation_who_is_switched_off_sees_no_rows(team):
    Campaign.objects.create(team=team, name="seen", kind="sync", primary_metric="x")
    owner = User.objects.create_superuser("root", is_active=False)

    assert not rights.visible(Campaign.objects.all(), owner).exists()
    assert May(owner).see == frozenset()


def test_a_page_knows_the_rights_of_whoever_looks_at_it_alone(team):
    somebody("operator", "operator", team=team)
    viewer = somebody("viewer", "viewer", team=Team.objects.create(name="Katello"))

    assert May(viewer).see == {viewer.memberships.get().team_id}
    assert May(viewer).operate == frozenset()


def test_lists_hold_what_somebody_may_see(team):
    hidden = Team.objects.create(name="Katello")
    seen = Campaign.objects.create(team=team, name="seen", kind="sync", primary_metric="x")
    Campaign.objects.create(team=hidden, name="hidden", kind="sync", primary_metric="x")
    user = somebody("viewer", "viewer", team=team)

    assert list(rights.visible(Campaign.objects.all(), user)) == [seen]
    assert not rights.visible(Campaign.objects.all(), user, right=Right.WRITE).exists()


def test_the_owner_of_the_installation_may_everything_everywhere(team):
    owner = User.objects.create_superuser("root")

    assert rights.rights_in(owner, team) == frozenset(Right)
    assert list(rights.teams_with(owner, Right.MANAGE)) == list(Team.objects.order_by("name"))


def test_people_are_found_by_what_they_may(team):
    reviewer = somebody("reviewer", "viewer", "reviewer", team=team)
    somebody("author", "author", team=team)
    other = Team.objects.create(name="Katello")
    join(somebody("admin", team=team), "viewer", team=other)
    somebody("reviewer elsewhere", "reviewer", team=other)

    assert {user.username for user in rights.people_with(team, Right.REVIEW)} == {
        reviewer.username,
        "admin",
    }


def test_a_row_is_found_by_the_role_in_its_own_team(team):
    seen = Campaign.objects.create(team=team, name="seen", kind="sync", primary_metric="x")
    other = somebody("admin elsewhere", "admin", team=Team.objects.create(name="Katello"))

    assert rights.find(Campaign.objects.all(), somebody("viewer", "viewer", team=team)) == seen
    with pytest.raises(rights.NotVisible):
        rights.find(Campaign.objects.all(), other, pk=seen.pk)


def test_a_conclusion_on_what_another_team_measured_is_hidden_beside_one_that_is_not(team):
    viewer = somebody("viewer", "viewer", team=team)
    elsewhere = Team.objects.create(name="Katello")
    measured = Campaign.objects.create(team=elsewhere, name="x", kind="sync", primary_metric="x")
    plain, hidden = (
        Conclusion.objects.create(team=team, author=viewer, claim=claim)
        for claim in ("As fast.", "Faster.")
    )
    own = Campaign.objects.create(team=team, name="y", kind="sync", primary_metric="x")
    Evidence.objects.create(conclusion=plain, position=1, campaign=own)
    for position, campaign in enumerate((own, measured)):
        Evidence.objects.create(conclusion=hidden, position=position, campaign=campaign)

    for conclusion in (plain, hidden):
        thread = Thread.objects.create(team=team, on="conclusion", conclusion=conclusion)
        comment = Comment.objects.create(thread=thread, author=viewer, text="So it is.")
        for row in (conclusion, thread, comment):
            rows = type(row).objects.all()
            assert rights.without_hidden(rows, viewer).contains(row) == (conclusion == plain)
            if conclusion == plain:
                assert rights.find(rows, viewer, pk=row.pk) == row
                continue
            with pytest.raises(rights.NotVisible):
                rights.find(rows, viewer, pk=row.pk)
