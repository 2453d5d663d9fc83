"""Claim due deliveries, one per channel at a time, and record how each attempt ended."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now

from campaigns.accounts.notifications.backoff import LAST_SECONDS, wait_seconds
from campaigns.kit.redaction import redact
from campaigns.models import Channel, Delivery

CLAIM_SECONDS = 90
"""Longer than any attempt takes; after that, a delivery whose process was killed is claimed again."""
MOST_GIVEN_UP = 3
"""The number of deliveries given up in a row that switches a channel off."""
LONGEST_MESSAGE = 500
State = Delivery.State


def due() -> QuerySet[Delivery]:
    """Return the deliveries that are due and not claimed."""
    unclaimed = Q(claimed_until=None) | Q(claimed_until__lte=Now())
    return Delivery.objects.filter(unclaimed, state=State.WAITING, not_before__lte=Now())


@transaction.atomic
def claim() -> Delivery | None:
    """Claim the first due delivery of a channel without a claimed one; return None if nothing is due.

    The claim is stored before anything is sent, so that an attempt that kills its process counts, too.
    """
    busy = Delivery.objects.filter(state=State.WAITING, claimed_until__gt=Now())
    free = (
        due()
        .exclude(channel__in=busy.values("channel"))
        .select_related("channel")
        .select_for_update(of=("self", "channel"), no_key=True, skip_locked=True)
        .order_by("tries", "not_before", "pk")
    )
    result = free.first()
    if result is None or busy.filter(channel=result.channel_id).exists():  # since it is locked
        return None
    Delivery.objects.filter(pk=result.pk).update(
        claimed_until=Now() + timedelta(seconds=CLAIM_SECONDS), tries=F("tries") + 1
    )
    return Delivery.objects.select_related(
        *("channel__user", "announcement__team", "announcement__by"),
        *("announcement__campaign", "announcement__conclusion"),
    ).get(pk=result.pk)


@transaction.atomic
def note_delivered(delivery: Delivery) -> None:
    """Record a successful delivery, and make other deliveries of the channel due."""
    channel = _lock(delivery)
    waiting = Delivery.objects.filter(state=State.WAITING)
    waiting.filter(pk=delivery.pk).update(
        state=State.DELIVERED, delivered_at=Now(), claimed_until=None, message=""
    )
    if channel.failed or channel.given_up:
        Channel.objects.filter(pk=channel.pk).update(failed=0, given_up=0)
        waiting.filter(channel=channel, tries=0).update(not_before=Now())


@transaction.atomic
def note_failed(delivery: Delivery, message: str, at_least_seconds: float = 0.0) -> None:
    """Record a failed attempt and the time of the next one; give up after a day.

    Other deliveries of the channel wait as long, so that one attempt at a time tests the receiver.
    at_least_seconds: the wait that the receiver requests, if it is longer than the usual one.
    """
    channel = _lock(delivery)
    mine = Delivery.objects.filter(pk=delivery.pk, state=State.WAITING, tries=delivery.tries)
    failed = channel.failed + 1
    wait = max(wait_seconds(max(failed, delivery.tries)), at_least_seconds)
    again = Now() + timedelta(seconds=wait)
    if not mine.update(
        message=redact(message)[:LONGEST_MESSAGE], claimed_until=None, not_before=again
    ):
        return
    Channel.objects.filter(pk=channel.pk).update(failed=failed)
    soon = Now() + timedelta(seconds=max(wait_seconds(failed), at_least_seconds))
    Delivery.objects.filter(channel=channel, state=State.WAITING).exclude(pk=delivery.pk).update(
        not_before=Greatest(F("not_before"), soon)
    )
    if mine.filter(created_at__lt=Now() - timedelta(seconds=LAST_SECONDS)).update(
        state=State.GIVEN_UP
    ):
        _count_given_up(channel, 1)


@transaction.atomic
def drop(delivery: Delivery, message: str) -> None:
    """Drop a delivery that its receiver may no longer see, or does not want."""
    Delivery.objects.filter(pk=delivery.pk, state=State.WAITING).update(
        state=State.DROPPED, message=message[:LONGEST_MESSAGE], claimed_until=None
    )


@transaction.atomic
def give_up_old() -> None:
    """Give up deliveries older than a day whose attempts were never recorded: their processes were killed."""
    too_old = Now() - timedelta(seconds=LAST_SECONDS + 2 * CLAIM_SECONDS)
    lost = Delivery.objects.filter(state=State.WAITING, created_at__lt=too_old, tries__gt=0)
    lost = lost.filter(Q(claimed_until__lte=Now()))
    for pk in set(lost.values_list("channel", flat=True)):
        channel = Channel.objects.select_for_update(no_key=True).get(pk=pk)
        count = lost.filter(channel=channel).update(
            state=State.GIVEN_UP,
            message="It was not noted how the tries ended.",
            claimed_until=None,
        )
        _count_given_up(channel, count)


@transaction.atomic
def switch_off(channel: Channel, reason: str) -> None:
    """Switch a channel off, store the reason, and give up what waits for it."""
    Channel.objects.filter(pk=channel.pk).update(is_on=False, off_reason=redact(reason))
    Delivery.objects.filter(channel=channel, state=State.WAITING).update(
        state=State.GIVEN_UP, message="The channel was switched off.", claimed_until=None
    )


def _count_given_up(channel: Channel, count: int) -> None:
    Channel.objects.filter(pk=channel.pk).update(given_up=F("given_up") + count)
    channel.refresh_from_db()
    if channel.given_up >= MOST_GIVEN_UP and channel.is_on:
        last = channel.deliveries.filter(state=State.GIVEN_UP).order_by("-pk").first()
        why = last.message if last else ""
        switch_off(
            channel,
            f"{channel.given_up} messages in a row could not be delivered for a day each. The last "
            f"time: {why} Mend that, try the channel, and switch it on again.",
        )


def _lock(delivery: Delivery) -> Channel:
    return Channel.objects.select_for_update(no_key=True).get(pk=delivery.channel_id)
