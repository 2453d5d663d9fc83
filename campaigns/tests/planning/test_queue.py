"""The order in which campaigns wait for one server, and who may change it."""

import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone

from campaigns.execution import dispatch, move_in_queue, queues
from campaigns.kit.errors import NotPossible
from campaigns.models import Attempt, Campaign, LogLine
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.targets import saving
from campaigns.tests.people import everywhere, somebody
from campaigns.tests.toy import definition, worker

__all__ = ["worker"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(target):
    def make(name, on=target):
        sent = definition(target=on.pk, name=name, question=f"How fast is {name}?")
        return lifecycle.launch(drafts.create(check(sent), None), None)

    return make


def order(target):
    return [entry.name for entry in queues.queue_of(target, everywhere()).waiting]


def test_campaigns_wait_in_the_order_of_their_launch(launched, target):
    for name in ("a", "b", "c"):
        launched(name)

    assert order(target) == ["a", "b", "c"]


def test_a_campaign_moves_up_by_one_place(launched, target):
    launched("a"), launched("b")
    third = launched("c")

    move_in_queue.move_up(third, None)

    assert order(target) == ["a", "c", "b"]


def test_a_campaign_moves_down_by_one_place(launched, target):
    first = launched("a")
    launched("b"), launched("c")

    move_in_queue.move_down(first, None)

    assert order(target) == ["b", "a", "c"]


def test_what_was_moved_up_runs_first(launched, worker):
    launched("a")
    second = launched("b")

    move_in_queue.move_up(second, None)
    dispatch.dispatch()

    assert Attempt.objects.get().run.campaign == second


def test_a_run_that_is_on_ends_as_planned(launched, worker):
    first, second = launched("a"), launched("b")
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=timezone.now())

    move_in_queue.move_up(second, None)
    dispatch.dispatch()

    attempt = Attempt.objects.get()
    assert (attempt.run.campaign, attempt.cancel_requested_at) == (first, None)


def test_the_first_does_not_move_up_nor_the_last_down(launched, target):
    first, last = launched("a"), launched("b")

    with pytest.raises(NotPossible, match="“a” is the first in its queue already"):
        move_in_queue.move_up(first, None)
    with pytest.raises(NotPossible, match="“b” is the last in its queue already"):
        move_in_queue.move_down(last, None)

    assert order(target) == ["a", "b"]


@pytest.mark.parametrize("state", ["cancelling", "cancelled", "finished"])
def test_what_waits_for_nothing_is_not_moved(launched, state):
    launched("a")
    other = launched("b")
    Campaign.objects.filter(pk=other.pk).update(state=state)

    with pytest.raises(NotPossible, match=f"“b” is {state}; it waits in no queue"):
        move_in_queue.move_up(other, None)


def test_a_draft_is_not_moved(target):
    draft = drafts.create(check(definition(target=target.pk)), None)

    with pytest.raises(NotPossible, match="is draft; it waits in no queue"):
        move_in_queue.move_up(draft, None)


def test_a_paused_campaign_keeps_its_place_and_can_be_moved(launched, target):
    first = launched("a")
    launched("b")
    lifecycle.pause(first)

    move_in_queue.move_down(first, None)

    assert order(target) == ["b", "a"]


def test_two_targets_of_one_address_share_a_queue(launched, target):
    twin = saving.save_target(
        {
            "name": "the same server",
            "family": "http",
            "base_url": f"{target.base_url}/other/",
            "confirm_address": True,
        }
    )
    launched("a")
    second = launched("b", on=twin)

    move_in_queue.move_up(second, None)

    assert order(target) == order(twin) == ["b", "a"]


def test_a_queue_of_another_server_is_left_alone(launched, target):
    other = saving.save_target(
        {
            "name": "another server",
            "family": "http",
            "base_url": "http://127.0.0.1:10",
            "confirm_address": True,
        }
    )
    launched("a")
    alone = launched("b", on=other)

    with pytest.raises(NotPossible, match="first"):
        move_in_queue.move_up(alone, None)

    assert order(target) == ["a"]


def test_campaigns_of_an_earlier_version_have_no_place_and_can_be_moved(launched, target):
    launched("a"), launched("b")
    third = launched("c")
    Campaign.objects.update(queue_place=None)
    launched("d")

    move_in_queue.move_up(third, None)

    assert order(target) == ["a", "c", "b", "d"]
    places = Campaign.objects.values_list("queue_place", flat=True)
    assert len(set(places)) == 4


def test_both_logs_say_who_moved_what(launched):
    user = somebody("owner")
    first, second = launched("a"), launched("b")

    move_in_queue.move_up(second, user)

    texts = {line.campaign_id: line.text for line in LogLine.objects.filter(text__contains="moved")}
    assert texts[second.pk] == "moved before “a” in the queue by owner"
    assert texts[first.pk] == "“b” was moved before this one in the queue by owner"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_move_at_once_nobody_loses_a_swap(launched, target):
    for name in ("a", "b", "c", "d"):
        launched(name)
    moved = Campaign.objects.get(name="d")
    errors: list[Exception] = []

    def move():
        try:
            move_in_queue.move_up(moved, None)
        except Exception as error:  # noqa: BLE001  looked at by the test
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=move, daemon=True) for _ in range(2)]
    with transaction.atomic():
        list(Campaign.objects.select_for_update().order_by("pk"))  # both wait for this
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(10)

    assert not errors
    assert order(target) == ["a", "d", "b", "c"]
