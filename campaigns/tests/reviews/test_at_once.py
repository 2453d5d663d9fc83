"""What happens at the same instant: two connections, real threads."""

import threading
import time

import pytest
from django.db import connection, transaction

from campaigns.kit.rights import NotAllowed
from campaigns.models import AuditEvent, Campaign, Conclusion, Membership
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.reviews.drafting import edit
from campaigns.reviews.errors import Moved, ReviewRefused
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import send, withdraw
from campaigns.tests.reviews.conftest import content, say

pytestmark = pytest.mark.django_db(transaction=True)
State = Conclusion.State


class Others:
    """Steps that go on beside, each in a thread with a connection of its own."""

    def __init__(self):
        self.results, self._threads = [], []

    def begin(self, *steps):
        for step in steps:
            thread = threading.Thread(target=self._take, args=[step], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _take(self, step):
        try:
            self.results.append(step())
        except Exception as refusal:  # noqa: BLE001 - the test reads it
            self.results.append(refusal)
        finally:
            connection.close()

    def wait_until_blocked(self, number):
        """Until so many of them wait for a lock that somebody else holds."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
                if cursor.fetchone()[0] >= number:
                    return
            time.sleep(0.01)
        raise AssertionError(f"nobody waits: {self.results}")

    def end(self):
        for thread in self._threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self._threads)
        return self.results


def refusals(results):
    return [each for each in results if isinstance(each, Exception)]


def test_of_two_who_accept_at_once_one_is_told_that_it_is_done(sent, reviewer, other):
    beside = Others()
    with transaction.atomic():
        Conclusion.objects.select_for_update().get(pk=sent.pk)
        beside.begin(lambda: say(sent, reviewer), lambda: say(sent, other))
        beside.wait_until_blocked(2)

    (refusal,) = refusals(beside.end())
    assert isinstance(refusal, ReviewRefused)
    assert "accepted" in str(refusal)
    assert AuditEvent.objects.filter(action="conclusion_accepted").count() == 1


def test_an_approval_and_a_rejection_at_once_leave_one_of_them(sent, reviewer, other):
    beside = Others()
    with transaction.atomic():
        Conclusion.objects.select_for_update().get(pk=sent.pk)
        beside.begin(lambda: say(sent, reviewer), lambda: say(sent, other, "reject", reason="No."))
        beside.wait_until_blocked(2)

    assert len(refusals(beside.end())) == 1
    assert sent.decisions.count() == 1


def test_an_exclusion_that_is_on_its_way_re_opens_what_is_accepted_meanwhile(
    sent, reviewer, author, campaign
):
    """Nobody sees the exclusion yet when he accepts; when it comes, it finds what was accepted."""
    excluded, accepted = threading.Event(), threading.Event()

    def exclude():
        with transaction.atomic():
            lifecycle.exclude(campaign.runs.get(position=3), author, "x")
            excluded.set()
            assert accepted.wait(20)
            request_analysis(campaign)

    beside = Others()
    beside.begin(exclude)
    assert excluded.wait(20)
    assert say(sent, reviewer).state == State.ACCEPTED
    accepted.set()

    assert refusals(beside.end()) == []
    sent.refresh_from_db()
    assert sent.state == State.REOPENED


def test_who_decides_while_a_run_is_excluded_waits_and_is_refused(sent, reviewer, author, campaign):
    beside = Others()
    seen = {"revision": sent.revision, "data_hash": data_hash_of(sent)}
    with transaction.atomic():
        lifecycle.exclude(campaign.runs.get(position=3), author, "x")
        request_analysis(campaign)
        beside.begin(lambda: say(sent, reviewer, **seen))
        beside.wait_until_blocked(1)

    (refusal,) = refusals(beside.end())
    assert isinstance(refusal, ReviewRefused)
    assert not sent.decisions.exists()


def test_sending_waits_for_an_exclusion_that_is_on_its_way(draft, reviewer, author, campaign):
    beside = Others()
    with transaction.atomic():
        lifecycle.exclude(campaign.runs.get(position=3), author, "x")
        request_analysis(campaign)
        beside.begin(lambda: send(draft.pk, author, [reviewer]))
        beside.wait_until_blocked(1)

    (refusal,) = refusals(beside.end())
    assert "being analysed anew" in str(refusal)
    assert Campaign.objects.get(pk=campaign.pk).analysis_requested_at is not None


def test_a_role_that_is_taken_away_at_the_instant_decides_nothing(sent, reviewer):
    beside = Others()
    with transaction.atomic():
        Membership.objects.filter(user=reviewer).update(roles=["viewer"])
        beside.begin(lambda: say(sent, reviewer))
        beside.wait_until_blocked(1)

    (refusal,) = refusals(beside.end())
    assert isinstance(refusal, NotAllowed)


def test_what_is_taken_back_at_the_instant_is_not_accepted(sent, reviewer, author):
    beside = Others()
    with transaction.atomic():
        withdraw(sent.pk, author)
        beside.begin(lambda: say(sent, reviewer))
        beside.wait_until_blocked(1)

    (refusal,) = refusals(beside.end())
    assert "draft" in str(refusal)


def test_of_two_who_edit_one_page_the_second_is_refused(draft, author, campaign):
    seen = Conclusion.objects.get(pk=draft.pk).changed_at
    beside = Others()
    with transaction.atomic():
        Conclusion.objects.select_for_update().get(pk=draft.pk)
        beside.begin(
            *[
                lambda claim=claim: edit(draft.pk, author, content(campaign, claim=claim), seen)
                for claim in ("One.", "Two.")
            ]
        )
        beside.wait_until_blocked(2)

    (refusal,) = refusals(beside.end())
    assert isinstance(refusal, Moved)
