"""When what is tried again, given up, and by how many at once."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.accounts.notifications import claiming, delivering, delivery_threads, forget_old
from campaigns.accounts.notifications.backoff import FIRST_SECONDS, LONGEST_SECONDS, wait_seconds
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.kit.encryption import encrypt
from campaigns.models import Announcement, Channel, Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, hook_of, tell
from campaigns.tests.accounts.notifications.receiver import receiving
from campaigns.tests.people import somebody

State = Delivery.State


def pass_time(**much: float) -> None:
    span = timedelta(**much)
    Delivery.objects.update(
        created_at=F("created_at") - span,
        not_before=F("not_before") - span,
        claimed_until=F("claimed_until") - span,
    )


def test_the_wait_grows_from_a_minute_to_six_hours():
    usual = [wait_seconds(failed, 0.5) for failed in range(1, 9)]

    assert usual == [60, 180, 540, 1620, 4860, 14580, 21600, 21600]
    assert wait_seconds(10**9, 1.0) == LONGEST_SECONDS
    assert wait_seconds(1, 0.0) == FIRST_SECONDS
    assert wait_seconds(3, 0.0) < 540 < wait_seconds(3, 1.0)


@pytest.mark.django_db
def test_what_was_claimed_and_not_noted_is_tried_again_after_its_claim(team, hook, receiver):
    """As when the process is killed in the middle of a try."""
    tell(team)
    assert claiming.claim() is not None
    assert claiming.claim() is None

    pass_time(seconds=claiming.CLAIM_SECONDS + 1)
    (delivery,) = deliver_all()

    assert (delivery.state, delivery.tries) == (State.DELIVERED, 2)
    assert len(receiver.got) == 1


@pytest.mark.django_db
def test_a_latecomer_changes_nothing_of_what_was_noted_since(team, hook, receiver):
    tell(team)
    late = claiming.claim()
    assert late is not None
    pass_time(seconds=claiming.CLAIM_SECONDS + 1)
    deliver_all()

    claiming.note_failed(late, "too late")

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.message) == (State.DELIVERED, "")
    assert Channel.objects.get().failed == 0


@pytest.mark.django_db
def test_what_fails_for_a_day_is_given_up(team, hook, receiver):
    receiver.answers = [500]
    tell(team)
    deliver_all()
    pass_time(hours=25)

    (delivery,) = deliver_all()

    hook.refresh_from_db()
    assert (delivery.state, delivery.tries) == (State.GIVEN_UP, 2)
    assert delivery.message == "The receiver answered 500."
    assert (hook.is_on, hook.given_up) == (True, 1)


@pytest.mark.django_db
def test_a_day_holds_ten_tries_or_so(team, hook, receiver):
    receiver.answers = [500]
    tell(team)
    for _ in range(40):
        (delivery,) = deliver_all()
        if delivery.state == State.GIVEN_UP:
            break
        pass_time(seconds=(delivery.not_before - timezone.now()).total_seconds() + 1)

    assert delivery.state == State.GIVEN_UP
    assert 8 <= delivery.tries <= 12


@pytest.mark.django_db
def test_three_given_up_in_a_row_switch_the_channel_off_and_say_why(team, hook, receiver):
    receiver.answers = [503]
    for _ in range(3):
        tell(team)
    deliver_all()
    for _ in range(3):
        pass_time(hours=30)
        deliver_all()

    hook.refresh_from_db()
    assert not hook.is_on
    assert "3 messages in a row" in hook.off_reason
    assert "The receiver answered 503." in hook.off_reason
    assert set(Delivery.objects.values_list("state", flat=True)) == {State.GIVEN_UP}


@pytest.mark.django_db
def test_one_that_comes_through_begins_the_count_anew(team, hook, receiver):
    Channel.objects.update(given_up=2, failed=7)
    tell(team)

    deliver_all()

    hook.refresh_from_db()
    assert (hook.given_up, hook.failed) == (0, 0)


@pytest.mark.django_db
def test_a_dead_receiver_is_asked_once_and_the_rest_waits_with_it(team, hook, receiver):
    receiver.answers = [500]
    for _ in range(5):
        tell(team)

    deliver_all()

    assert len(receiver.got) == 1


@pytest.mark.django_db
def test_when_it_is_back_what_waited_goes_at_once(team, hook, receiver):
    receiver.answers = [500, 200]
    for _ in range(4):
        tell(team)
    deliver_all()
    pass_time(minutes=2)

    found = deliver_all()

    assert [each.state for each in found] == [State.DELIVERED] * 4


@pytest.mark.django_db
def test_one_message_that_is_refused_stops_no_other(team, hook, receiver, monkeypatch):
    """A receiver may choke on one and take the rest."""
    tell(team, words="poison")
    for _ in range(3):
        tell(team)
    post = delivering.SENDERS["webhook"]

    def choosy(delivery, message):
        if message.words:
            receiver.answers[:] = [400]
        post(delivery, message)

    monkeypatch.setitem(delivering.SENDERS, "webhook", choosy)
    deliver_all()
    receiver.answers[:] = [200]
    pass_time(minutes=2)

    deliver_all()

    states = list(Delivery.objects.order_by("pk").values_list("state", flat=True))
    assert states == [State.WAITING, *[State.DELIVERED] * 3]


@pytest.mark.django_db
def test_what_kills_its_process_at_each_try_is_given_up_in_the_end(team, hook):
    tell(team)
    claiming.claim()
    pass_time(hours=26)

    claiming.give_up_old()

    assert Delivery.objects.get().state == State.GIVEN_UP


@pytest.mark.django_db
def test_a_secret_that_no_key_opens_is_a_failure_in_words(team, hook, settings):
    tell(team)
    from cryptography.fernet import Fernet

    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    (delivery,) = deliver_all()

    assert delivery.state == State.WAITING
    assert "PERFDASH_ENCRYPTION_KEYS" in delivery.message
    assert encrypt("x")


@pytest.mark.django_db
def test_an_error_of_our_own_is_logged_and_tried_again(team, hook, monkeypatch, caplog):
    def broken(delivery, message):
        raise ZeroDivisionError

    monkeypatch.setitem(delivering.SENDERS, "webhook", broken)
    tell(team)

    (delivery,) = deliver_all()

    assert delivery.state == State.WAITING
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.django_db
def test_what_was_told_is_forgotten_after_a_month_unless_it_waits(team, hook, receiver):
    tell(team)
    deliver_all()
    receiver.answers = [500]
    waits = tell(team)
    deliver_all()
    Announcement.objects.update(read_at=Now() - timedelta(days=31))

    forget_old()

    assert list(Announcement.objects.all()) == [waits]


@pytest.mark.django_db(transaction=True)
def test_two_at_once_deliver_each_message_once_and_one_a_channel(team, settings):
    with receiving() as receiver:
        receiver.hang = 0.02
        settings.NOTIFICATION_ADDRESSES = f"127.0.0.1:{receiver.port}"
        for number in range(3):
            hook_of(somebody(f"person{number}", "viewer"), receiver)
        for _ in range(5):
            tell(team, "campaign_finished")
        start = threading.Barrier(4)

        def work() -> None:
            start.wait()
            try:
                for _ in range(60):
                    delivering.deliver_next()
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

        ids = [got.headers["webhook-id"] for got in receiver.got]
        assert len(ids) == len(set(ids)) == 15
        assert set(Delivery.objects.values_list("tries", flat=True)) == {1}


@pytest.mark.django_db(transaction=True)
def test_one_that_hangs_holds_up_neither_the_caller_nor_the_others(team, settings):
    with receiving() as silent, receiving() as quick:
        silent.hang = 30.0
        settings.NOTIFICATION_ADDRESSES = f"127.0.0.1:{silent.port},{quick.port}"
        hook_of(somebody("hanging", "viewer"), silent)
        hook_of(somebody("quick", "viewer"), quick)
        for _ in range(3):
            tell(team, "campaign_finished")
        read_outbox()

        delivery_threads.deliver_in_threads()

        quick.wait(3)
        assert len(silent.got) == 1
        silent.ended.set()
        assert delivery_threads.messengers.wait(10)
