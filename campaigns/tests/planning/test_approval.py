"""A production server is loaded when two people want it, where the rule of the team says so."""

import threading

import pytest
from django.db import connection

from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import (
    Announcement,
    AuditEvent,
    Campaign,
    LaunchRequest,
    Membership,
    Run,
    Target,
    Team,
)
from campaigns.planning import drafts, lifecycle
from campaigns.planning.amending import amend
from campaigns.planning.checking import check
from campaigns.planning.lifecycle.approval import definition_hash
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db
State = LaunchRequest.State


@pytest.fixture
def team(target):
    Target.objects.filter(pk=target.pk).update(is_production=True)
    target.refresh_from_db()
    Team.objects.filter(pk=target.team_id).update(second_for_production=True)
    return Team.objects.get(pk=target.team_id)


@pytest.fixture
def ann(team):
    return somebody("ann", "operator")


@pytest.fixture
def bob(team):
    return somebody("bob", "operator")


@pytest.fixture
def draft(target, ann):
    return drafts.create(check(definition(target=target.pk, seed=5)), ann)


def asked(campaign, user):
    lifecycle.launch(campaign, user, campaign.target.name)
    return LaunchRequest.objects.get(campaign=campaign, state=State.WAITING)


def test_a_launch_on_production_asks_and_begins_nothing(draft, ann, bob):
    request = asked(draft, ann)

    draft.refresh_from_db()
    assert draft.state == Campaign.State.DRAFT
    assert not draft.runs.exists()
    assert (request.asked_by, request.definition_hash) == (ann, definition_hash(draft))
    told = Announcement.objects.get(kind="launch_asked")
    assert (told.to, told.by) == ([bob.pk], ann)
    assert AuditEvent.objects.filter(action="launch_asked", user=ann).count() == 1


def test_another_operators_yes_launches_it(draft, ann, bob):
    lifecycle.approve(asked(draft, ann), bob, "go")

    draft.refresh_from_db()
    assert draft.state == Campaign.State.RUNNING
    assert draft.runs.count() == 6
    request = draft.launch_requests.get()
    assert (request.state, request.decided_by, request.words) == (State.APPROVED, bob, "go")
    assert Announcement.objects.get(kind="launch_decided").to == [ann.pk]
    assert AuditEvent.objects.filter(action="launch_approved", user=bob).count() == 1


def test_who_asked_cannot_say_the_second_yes(draft, ann):
    request = asked(draft, ann)

    with pytest.raises(NotAllowed, match="another person has to approve it"):
        lifecycle.approve(request, ann)

    assert not Run.objects.exists()


def test_the_owner_of_the_installation_does_not_say_both(draft):
    owner = somebody("owner")
    owner.is_superuser = True
    owner.save()
    request = asked(draft, owner)

    with pytest.raises(NotAllowed):
        lifecycle.approve(request, owner)


@pytest.mark.parametrize("role", ["viewer", "author", "reviewer"])
def test_only_who_may_launch_says_yes(draft, ann, role):
    with pytest.raises(NotAllowed):
        lifecycle.approve(asked(draft, ann), somebody("eve", role))


def test_a_definition_that_was_changed_since_takes_a_new_yes(draft, target, ann, bob):
    request = asked(draft, ann)
    drafts.change(draft, check(definition(target=target.pk, seed=6)))

    with pytest.raises(NotPossible, match="void"):
        lifecycle.approve(request, bob)
    again = asked(draft, ann)

    assert again != request
    lifecycle.approve(again, bob)
    assert Campaign.objects.get(pk=draft.pk).state == Campaign.State.RUNNING


def test_a_target_that_moved_since_makes_the_request_void(draft, target, ann, bob):
    request = asked(draft, ann)
    Target.objects.filter(pk=target.pk).update(base_url="http://127.0.0.1:9/")

    assert lifecycle.approve(request, bob).state == State.OUTDATED
    assert not Run.objects.exists()


def test_a_role_that_was_taken_away_makes_the_request_void(draft, ann, bob):
    request = asked(draft, ann)
    Membership.objects.filter(user=ann).update(roles=["author"])

    assert lifecycle.approve(request, bob).state == State.OUTDATED
    assert not Run.objects.exists()


def test_a_no_launches_nothing_and_a_new_wish_is_possible(draft, ann, bob):
    lifecycle.refuse(asked(draft, ann), bob, "not today")

    assert not Run.objects.exists()
    assert asked(draft, ann).state == State.WAITING


def test_who_asked_takes_it_back(draft, ann, bob):
    request = asked(draft, ann)

    with pytest.raises(NotAllowed):
        lifecycle.withdraw(request, bob)
    assert lifecycle.withdraw(request, ann).state == State.WITHDRAWN
    with pytest.raises(NotPossible, match="withdrawn"):
        lifecycle.approve(request, bob)


def test_to_ask_twice_is_to_ask_once(draft, ann):
    assert asked(draft, ann) == asked(draft, ann)
    assert AuditEvent.objects.filter(action="launch_asked").count() == 1


def test_two_people_who_ask_do_not_say_yes_to_each_other_by_accident(draft, ann, bob):
    asked(draft, ann)

    with pytest.raises(NotPossible, match="ann"):
        lifecycle.launch(draft, bob, draft.target.name)


def test_a_try_out_takes_two_as_well(draft, ann, bob):
    request = lifecycle.try_or_request_approval(draft, ann, None, draft.target.name)

    assert isinstance(request, LaunchRequest)
    lifecycle.approve(request, bob)
    assert draft.runs.get().purpose == Run.Purpose.TRIAL


def test_an_extension_takes_two_as_well(draft, ann, bob):
    lifecycle.approve(asked(draft, ann), bob)

    lifecycle.extend(draft, 2, ann, draft.target.name)
    assert draft.runs.count() == 6
    lifecycle.approve(LaunchRequest.objects.get(state=State.WAITING), bob)

    assert draft.runs.count() == 10


@pytest.fixture
def failed(draft, ann, bob):
    """The first run of a launched campaign, which failed."""
    lifecycle.approve(asked(draft, ann), bob)
    Run.objects.filter(campaign=draft, position=1).update(state="failed", reason="no")
    return draft.runs.get(position=1)


def test_to_make_a_run_again_takes_two_as_well(failed, ann, bob):
    lifecycle.run_again(failed, ann, failed.campaign.target.name)

    request = LaunchRequest.objects.get(state=State.WAITING)
    failed.refresh_from_db()
    assert failed.state == Run.State.FAILED
    assert (request.step, request.options) == ("again", {"run": 1})
    lifecycle.approve(request, bob)
    failed.refresh_from_db()
    assert failed.state == Run.State.PLANNED


def test_a_run_that_was_made_again_meanwhile_is_not_made_twice(failed, ann, bob, team):
    lifecycle.run_again(failed, ann, failed.campaign.target.name)
    Run.objects.filter(pk=failed.pk).update(state="done")

    with pytest.raises(NotPossible, match="is done"):
        lifecycle.approve(LaunchRequest.objects.get(state=State.WAITING), bob)


def test_a_pause_and_its_end_take_one(draft, ann, bob):
    lifecycle.approve(asked(draft, ann), bob)

    lifecycle.pause(draft, ann)
    resumed = lifecycle.resume(draft, ann, draft.target.name)

    assert resumed.state == Campaign.State.RUNNING


@pytest.fixture
def adaptive(target, ann, bob):
    """A campaign that two people launched: until ±5 %, at most 20 blocks."""
    rule = {"stop_rule": "precision", "stop_width_percent": 5, "stop_most": 20, "repetitions": 8}
    campaign = drafts.create(check(definition(target=target.pk, **rule)), ann)
    lifecycle.approve(asked(campaign, ann), bob)
    return Campaign.objects.get(pk=campaign.pk)


@pytest.mark.parametrize("change", [{"stop_most": 21}, {"stop_width_percent": 4}])
def test_a_stop_rule_that_may_load_more_is_no_amendment_of_one(adaptive, ann, change):
    with pytest.raises(NotPossible, match="Extend the campaign, or clone it"):
        amend(adaptive, change, "more", ann, adaptive.target.name)

    assert not adaptive.amendments.exists()


def test_a_fixed_number_of_blocks_does_not_become_open_by_one_person(failed, ann):
    rule = {"stop_rule": "precision", "stop_most": 8}

    with pytest.raises(NotPossible, match="approval by a second person"):
        amend(failed.campaign, rule, "more", ann, failed.campaign.target.name)


@pytest.mark.parametrize(
    "change",
    [{"stop_most": 15, "stop_width_percent": 6}, {"stop_rule": "fixed"}, {"question": "?"}],
)
def test_what_loads_no_more_is_amended_by_one(adaptive, ann, change):
    assert amend(adaptive, change, "enough", ann, adaptive.target.name)


def test_without_the_rule_or_off_production_one_person_is_enough(draft, target, team, ann):
    Target.objects.filter(pk=target.pk).update(is_production=False)
    assert not lifecycle.takes_two(Campaign.objects.get(pk=draft.pk))
    Target.objects.filter(pk=target.pk).update(is_production=True)
    Team.objects.filter(pk=team.pk).update(second_for_production=False)

    launched = lifecycle.launch(Campaign.objects.get(pk=draft.pk), ann, target.name)

    assert launched.state == Campaign.State.RUNNING


def test_the_rule_of_the_owner_of_the_server_counts_for_other_teams_too(target, team):
    others = Team.objects.create(name="Others")
    same = Target.objects.create(
        team=others, name="theirs", family=target.family, base_url=target.base_url,
        address=target.address,
    )  # fmt: skip
    eve = somebody("eve", "operator", team=others)
    draft = drafts.create(check(definition(target=same.pk)), eve)

    assert lifecycle.takes_two(draft)


@pytest.mark.django_db(transaction=True)
def test_two_who_say_yes_at_once_launch_it_once(draft, ann, bob):
    request, cid = asked(draft, ann), somebody("cid", "admin")
    together, outcomes = threading.Barrier(2), []

    def approve(user):
        together.wait()
        try:
            outcomes.append(lifecycle.approve(request, user).state)
        except NotPossible:
            outcomes.append("too late")
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=[user]) for user in (bob, cid)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["approved", "too late"]
    assert draft.runs.count() == 6
