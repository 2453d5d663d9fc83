"""Two people act at the same instant."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from campaigns.kit.activity import Action
from campaigns.kit.errors import NotPossible
from campaigns.models import AuditEvent, Campaign, Comment
from campaigns.reviews import comments
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def thread():
    campaign = Campaign.objects.create(name="c", question="q", kind="external")
    return comments.begin(comments.place_on(campaign), "Settled?", somebody("ada")).comment.thread


def at_once(*acts):
    """Give what each act gave, or what it raised."""
    barrier = Barrier(len(acts))

    def run(act):
        try:
            barrier.wait(timeout=10)
            return act()
        except NotPossible as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_many_who_resolve_a_thread_one_did_it_and_the_others_are_told(thread):
    people = [somebody(name) for name in ("bea", "cem", "dan", "eli")]

    done = at_once(*(lambda each=each: comments.resolve(thread, each) for each in people))

    thread.refresh_from_db()
    assert thread.resolved_by in people
    refusals = [str(each) for each in done if isinstance(each, NotPossible)]
    assert refusals == [f"{thread.resolved_by} has resolved this thread already."] * 3
    assert AuditEvent.objects.filter(action=Action.THREAD_RESOLVED).count() == 1


def test_a_comment_that_is_deleted_while_it_is_edited_keeps_no_text(thread):
    comment = thread.comments.get()
    ada = comment.author

    at_once(
        lambda: comments.delete(comment, ada), lambda: comments.edit(comment, "What I meant", ada)
    )

    comment.refresh_from_db()
    assert comment.deleted_at is not None
    assert comment.text == ""


def test_answers_at_once_are_all_there(thread):
    bea, cem = somebody("bea"), somebody("cem")

    at_once(lambda: comments.reply(thread, "one", bea), lambda: comments.reply(thread, "two", cem))

    assert {each.text for each in Comment.objects.all()} == {"Settled?", "one", "two"}
