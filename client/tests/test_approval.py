"""A launch that needs approval by a second person: told, waited for, and what becomes of it."""

from collections.abc import Callable

import pytest

from campaigns.kit.api import waiting
from campaigns.models import Campaign, LaunchRequest, Target, Team
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition
from perfdash_client import following

pytestmark = pytest.mark.django_db
NAMED = ("--confirm-target", "toy server")
TEXT = "{question: Q?, kind: toy, target: toy server, parameters: {path: /a}, repetitions: 3}"


@pytest.fixture
def target(target):
    """A production server of a team that wants two people there."""
    Target.objects.filter(pk=target.pk).update(is_production=True)
    Team.objects.filter(pk=target.team_id).update(second_for_production=True, name="Storage")
    return target


@pytest.fixture
def draft(target):
    return drafts.create(check(definition(target=target.pk)), somebody("ann"))


@pytest.fixture
def bob(target):
    return somebody("bob", "operator")


@pytest.fixture
def meanwhile(monkeypatch):
    """What happens while it waits, one step each time that the server looks."""
    steps: list[Callable[[], object]] = []
    monkeypatch.setattr(waiting, "sleep", lambda seconds: steps.pop(0)())
    monkeypatch.setattr(following, "sleep", lambda seconds: None)
    return steps


def asked():
    return LaunchRequest.objects.latest("pk")


def test_a_launch_that_waits_is_told_with_whose_yes_it_takes_and_where(perfdash, draft):
    ran = perfdash("campaign", "launch", draft.pk, *NAMED)

    assert ran.code == 6
    assert "not launched yet: owner asked for it" in ran.words
    assert "Another operator of “Storage” can approve it on the page" in ran.words
    assert f"http://testserver/campaigns/{draft.pk}/" in ran.words
    assert f"perfdash campaign watch {draft.pk}" in ran.words
    assert "Launch it" not in ran.words
    assert ran.out == ""


def test_a_program_gets_the_request(perfdash, draft):
    ran = perfdash("campaign", "launch", draft.pk, *NAMED, "--json")

    assert ran.code == 6
    assert ran.data["error"]["exit_code"] == 6
    assert ran.data["error"]["launch_request"]["id"] == asked().pk


def test_a_campaign_that_is_made_and_launched_at_once_is_stored_and_waits(
    perfdash, target, worker, written
):
    ran = perfdash("campaign", "create", written(TEXT), "--launch", *NAMED)

    assert ran.code == 6
    assert int(ran.out) == asked().campaign_id
    assert "Stored campaign" in ran.words
    assert "waits for approval by a second person" in ran.words


def test_the_yes_is_waited_for_and_then_the_end(perfdash, draft, bob, meanwhile):
    meanwhile += [
        lambda: lifecycle.approve(asked(), bob),
        lambda: Campaign.objects.update(state="cancelled"),
    ]

    ran = perfdash("campaign", "launch", draft.pk, *NAMED, "--watch")

    assert ran.code == 5
    assert ran.words.count("Another operator of “Storage”") == 1
    assert "draft; it waits for approval by a second person" in ran.words
    assert "0 of 6 runs" in ran.words
    assert "was cancelled" in ran.words
    assert meanwhile == []


@pytest.mark.parametrize("again", ["launch", "watch"])
def test_a_no_ends_the_waiting(perfdash, draft, bob, meanwhile, again):
    perfdash("campaign", "launch", draft.pk, *NAMED)
    meanwhile += [lambda: lifecycle.refuse(asked(), bob, "Not today.")]

    arguments = {"launch": [draft.pk, *NAMED, "--watch"], "watch": [draft.pk]}[again]
    ran = perfdash("campaign", again, *arguments)

    assert ran.code == 7
    assert "was not launched: bob rejected it (Not today)." in ran.words
    assert f"perfdash campaign launch {draft.pk}" in ran.words


def test_a_wish_that_is_taken_back_ends_the_waiting(perfdash, draft, meanwhile):
    perfdash("campaign", "launch", draft.pk, *NAMED)
    meanwhile += [lambda: lifecycle.withdraw(asked(), asked().asked_by)]

    ran = perfdash("campaign", "watch", draft.pk, "--json")

    assert ran.code == 7
    assert "owner withdrew the request" in ran.data["error"]["message"]
    assert ran.data["error"]["launch_request"]["state"] == "withdrawn"


def test_a_definition_that_is_changed_meanwhile_ends_the_waiting(
    perfdash, draft, target, meanwhile
):
    perfdash("campaign", "launch", draft.pk, *NAMED)
    meanwhile += [lambda: drafts.change(draft, check(definition(target=target.pk, seed=9)))]

    ran = perfdash("campaign", "watch", draft.pk)

    assert ran.code == 7
    assert "void (its definition was changed since)" in ran.words


def test_the_yes_is_waited_for_as_long_as_was_said(perfdash, draft, meanwhile):
    ran = perfdash("campaign", "launch", draft.pk, *NAMED, "--timeout", 0)

    assert ran.code == 6
    assert "its launch still waits" in ran.words


def test_a_try_out_that_waits_is_no_launch(perfdash, draft):
    lifecycle.try_or_request_approval(draft, draft.author, None, "toy server")

    ran = perfdash("campaign", "watch", draft.pk)

    assert ran.code == 6
    assert "is a draft. Launch it" in ran.words
