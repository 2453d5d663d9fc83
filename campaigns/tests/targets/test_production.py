"""Where loading a production server takes two people, one operator does not take its mark away."""

import pytest

from campaigns.kit.activity import by_request
from campaigns.kit.rights import NotAllowed
from campaigns.models import Target, Team
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.targets import ending, saving
from campaigns.targets.forms import as_data
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rule(target, settings):
    """The team wants two people on its production server."""
    settings.OWNER_CONFIRMS = True
    settings.ALLOWED_ADDRESSES = "*:*"
    Target.objects.filter(pk=target.pk).update(is_production=True)
    Team.objects.filter(pk=target.team_id).update(second_for_production=True)
    target.refresh_from_db()


@pytest.fixture
def ann(target):
    return somebody("ann", "operator")


def change(target, **fields):
    return saving.save_target(as_data(target) | fields, target)


DOORS = {
    "the mark": lambda target, user: change(target, is_production=False),
    "the address": lambda target, user: change(
        target, base_url="http://127.0.0.1:7/", forget_password=True
    ),
    "retiring": lambda target, user: saving.retire_target(target),
    "deleting": ending.delete_target,
}


@pytest.mark.parametrize("door", DOORS)
def test_it_takes_an_admin_of_the_team(target, ann, door):
    with by_request(lambda: ann), pytest.raises(NotAllowed, match="An admin of the team"):
        DOORS[door](target, ann)
    assert Target.objects.get(pk=target.pk, retired_at=None).is_production

    boss = somebody("boss", "admin")
    with by_request(lambda: boss):
        DOORS[door](target, boss)


@pytest.mark.parametrize("door", DOORS)
def test_without_the_rule_an_operator_may(target, ann, door):
    Team.objects.update(second_for_production=False)

    with by_request(lambda: ann):
        DOORS[door](target, ann)


def test_an_operator_changes_all_else_and_sets_the_mark(target, ann):
    with by_request(lambda: ann):
        assert change(target, notes="mine").notes == "mine"
        Target.objects.update(is_production=False)
        assert change(target, is_production=True).is_production


def test_a_form_that_was_opened_before_the_mark_was_set_does_not_take_it_off(target, ann):
    Target.objects.update(is_production=False)
    target.refresh_from_db()
    Target.objects.update(is_production=True)

    with by_request(lambda: ann), pytest.raises(NotAllowed):
        change(target, notes="mine")


def test_a_target_of_the_same_server_without_the_mark_opens_nothing(target, ann):
    with by_request(lambda: ann):
        twin = saving.save_target(
            {"name": "twin", "family": target.family, "base_url": target.base_url}
            | {"confirm_address": True},
            team=target.team,
        )

    draft = drafts.create(check(definition(target=twin.pk)), ann)
    assert not twin.is_production
    assert lifecycle.takes_two(draft)


def test_another_teams_own_mark_does_not_hide_the_rule_of_who_marked_it_too(target):
    others = Team.objects.create(name="Others")
    twin = Target.objects.create(
        team=others, name="theirs", family=target.family, base_url=target.base_url,
        address=target.address, is_production=True,
    )  # fmt: skip
    eve = somebody("eve", "operator", team=others)

    assert lifecycle.takes_two(drafts.create(check(definition(target=twin.pk)), eve))
