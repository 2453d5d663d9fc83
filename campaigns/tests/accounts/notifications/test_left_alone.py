"""A receiver that says when it wants to be asked again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.utils import timezone

from campaigns.accounts.notifications.backoff import LONGEST_SECONDS, retry_after_seconds
from campaigns.models import Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, tell

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("86400", LONGEST_SECONDS),
        ("9" * 5000, LONGEST_SECONDS),
        ("Sun, 22 Nov 2026 12:30:00 GMT", 1800),
        ("Sunday, 22-Nov-26 12:30:00 GMT", 1800),
        ("Sun Nov 22 12:30:00 2026", 1800),
        ("Sun, 22 Nov 2026 11:30:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_SECONDS),
        ("Fri, 31 Dec 99999 23:59:59 GMT", 0),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("1.5", 0),
        ("1e9", 0),
        ("٣", 0),
        ("Sun, 22 Nov 2026 25:61:00 GMT", 0),
        ("Sun, 22 Nov 2026 12:30:00 +9999", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_nothing_else(header, seconds):
    assert retry_after_seconds(header, NOW) == seconds


def waits(delivery: Delivery) -> float:
    return (delivery.not_before - timezone.now()).total_seconds()


@pytest.mark.django_db
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_receiver_is_left_alone_for_as_long_as_it_asks(team, hook, receiver, status):
    receiver.answers, receiver.headers = [status], {"Retry-After": "3600"}
    for _ in range(3):
        tell(team)

    first, *others = deliver_all()

    assert len(receiver.got) == 1
    assert first.message == (
        f"The receiver answered {status}, and asks to be left alone for 3600 s."
    )
    assert all(3550 < waits(each) <= 3600 for each in [first, *others])


@pytest.mark.django_db
def test_it_may_ask_by_a_date(team, hook, receiver):
    at = format_datetime(timezone.now() + timedelta(minutes=30), usegmt=True)
    receiver.answers, receiver.headers = [503], {"Retry-After": at}
    tell(team)

    (delivery,) = deliver_all()

    assert 1750 < waits(delivery) <= 1800


@pytest.mark.django_db
def test_it_is_not_asked_sooner_than_usual(team, hook, receiver):
    receiver.answers, receiver.headers = [429], {"Retry-After": "1"}
    tell(team)

    (delivery,) = deliver_all()

    assert waits(delivery) > 55


@pytest.mark.django_db
def test_it_is_asked_again_after_six_hours_whatever_it_says(team, hook, receiver):
    receiver.answers, receiver.headers = [503], {"Retry-After": "99999999"}
    tell(team)

    (delivery,) = deliver_all()

    assert LONGEST_SECONDS - 50 < waits(delivery) <= LONGEST_SECONDS


@pytest.mark.django_db
def test_other_answers_ask_for_nothing(team, hook, receiver):
    receiver.answers, receiver.headers = [500], {"Retry-After": "3600"}
    tell(team)

    (delivery,) = deliver_all()

    assert waits(delivery) < 100
    assert delivery.message == "The receiver answered 500."
