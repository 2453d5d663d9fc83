"""A comment that is deleted, or mentions somebody no more, before he was told of it."""

import pytest
from django.db.models.functions import Now

from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.models import Announcement, Comment, Delivery
from campaigns.reviews import comments
from campaigns.tests.accounts.notifications.conftest import deliver_all

pytestmark = pytest.mark.django_db
State = Delivery.State
WORDS = "@bob the password is Swordfish"


@pytest.fixture
def comment(hook, campaign, ada) -> Comment:
    """Ada's, which mentions bob; he wants to know of it."""
    return comments.begin(comments.place_on(campaign), WORDS, ada).comment


def test_a_comment_that_was_deleted_before_is_not_told_of(comment, ada, receiver, client, bob):
    read_outbox()
    comments.delete(comment, ada)

    (delivery,) = deliver_all()

    assert receiver.got == []
    assert (delivery.state, delivery.message) == (State.DROPPED, "The comment was deleted.")
    client.force_login(bob)
    page = client.get("/account/notifications/").content.decode()
    assert "not sent" in page
    assert "The comment was deleted." in page


def test_one_that_is_deleted_between_two_tries_is_not_told_of(comment, ada, receiver):
    receiver.answers = [500, 200]
    read_outbox()
    deliver_all()
    comments.delete(comment, ada)
    Delivery.objects.update(not_before=Now())

    (delivery,) = deliver_all()

    assert (delivery.state, len(receiver.got)) == (State.DROPPED, 1)


def test_one_that_mentions_somebody_no_more_is_not_told_to_him(comment, ada, receiver):
    read_outbox()
    comments.edit(comment, "I meant somebody else.", ada)

    (delivery,) = deliver_all()

    assert receiver.got == []
    assert delivery.message == "The comment was changed, and does not mention you any more."


def test_one_that_was_changed_and_mentions_him_still_is_told(comment, ada, receiver):
    read_outbox()
    comments.edit(comment, "@bob never mind", ada)

    (delivery,) = deliver_all()

    assert (delivery.state, len(receiver.got)) == (State.DELIVERED, 1)


@pytest.mark.parametrize("told_before", [True, False])
def test_nothing_of_a_deleted_comment_stays_in_the_outbox(comment, ada, receiver, told_before):
    read_outbox()
    if told_before:
        deliver_all()

    comments.delete(comment, ada)

    assert "Swordfish" not in str(Announcement.objects.get().data)


def test_others_comments_are_told_as_ever(comment, campaign, ada, receiver):
    comments.begin(comments.place_on(campaign), "@bob and this", ada)
    comments.delete(comment, ada)
    read_outbox()

    deliver_all()

    (got,) = receiver.got
    assert b"and this" in got.body
