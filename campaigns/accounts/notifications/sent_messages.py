"""List the messages sent to a user, without subjects that he may no longer see. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet

from campaigns.accounts.notifications.messages import message_of
from campaigns.accounts.notifications.recipients import may_know
from campaigns.models import Announcement, Delivery

HIDDEN = "something that you may not see any more"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A delivery. `message`: the error of the last attempt."""

    id: int
    uid: str
    channel: int
    channel_name: str
    kind: str
    subject: str
    state: str
    tries: int
    message: str
    created_at: datetime
    next_try_at: datetime | None
    delivered_at: datetime | None


def deliveries_of(user: User) -> QuerySet[Delivery]:
    """Return the deliveries of a user's channels, the newest first."""
    return (
        Delivery.objects.filter(channel__user=user)
        .select_related(
            *("channel__user", "announcement__team", "announcement__by"),
            *("announcement__campaign", "announcement__conclusion"),
        )
        .order_by("-pk")
    )


def described(delivery: Delivery) -> SentMessage:
    """Describe a delivery; its subject only if its owner may see the object now."""
    row = delivery.announcement
    known = row.kind == Announcement.Kind.TRIAL or may_know(delivery.channel.user, row)
    waits = delivery.state == Delivery.State.WAITING
    return SentMessage(
        id=delivery.pk,
        uid=str(delivery.uid),
        channel=delivery.channel_id,
        channel_name=delivery.channel.name,
        kind=row.kind,
        subject=message_of(delivery).subject if known else HIDDEN,
        state=delivery.state,
        tries=delivery.tries,
        message=delivery.message,
        created_at=delivery.created_at,
        next_try_at=delivery.not_before if waits else None,
        delivered_at=delivery.delivered_at,
    )
