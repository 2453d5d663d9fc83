"""Make one attempt at one delivery: check that the person may still see its subject, write the message, send it."""

import logging
from collections.abc import Callable, Mapping

from django.db import DatabaseError, InterfaceError

from campaigns.accounts.notifications import claiming, mail, webhook
from campaigns.accounts.notifications.errors import DeliveryFailed, Unwanted
from campaigns.accounts.notifications.messages import Message, message_of
from campaigns.accounts.notifications.network_rules import notification_rules
from campaigns.accounts.notifications.recipients import may_know
from campaigns.kit import chat_services
from campaigns.kit.encryption import SecretUnreadable, decrypt
from campaigns.kit.network import NetworkError
from campaigns.models import Announcement, Channel, Comment, Delivery

log = logging.getLogger(__name__)


def send_chat(delivery: Delivery, message: Message) -> None:
    """Send a message to a chat service. Raise DeliveryFailed."""
    address = decrypt(delivery.channel.address)
    try:
        chat_services.send(
            address, harmless(message.subject), harmless(message.text), notification_rules()
        )
    except chat_services.ChatFailed as failure:
        raise DeliveryFailed(str(failure)) from None


def harmless(text: str) -> str:
    """Return text whose @everyone or <!here> does not notify a whole chat channel."""
    return text.replace("@", "@\u200b").replace("<", "<\u200b")


SENDERS: Mapping[str, Callable[[Delivery, Message], None]] = {
    Channel.Kind.EMAIL: mail.send,
    Channel.Kind.WEBHOOK: webhook.send,
    Channel.Kind.CHAT: send_chat,
}


def deliver_next() -> bool:
    """Attempt the next due delivery; return False if nothing is due."""
    delivery = claiming.claim()
    if delivery is None:
        return False
    if why_not := _why_not(delivery):
        claiming.drop(delivery, why_not)
        return True
    try:
        SENDERS[delivery.channel.kind](delivery, message_of(delivery))
    except Unwanted as refusal:
        claiming.note_failed(delivery, str(refusal))
        claiming.switch_off(delivery.channel, str(refusal))
    except DeliveryFailed as failure:
        claiming.note_failed(delivery, str(failure), failure.wait_seconds)
    except (NetworkError, SecretUnreadable) as failure:
        claiming.note_failed(delivery, str(failure))
    except (DatabaseError, InterfaceError):
        raise
    except Exception:
        log.exception("Delivery %s failed in a way that nobody has foreseen.", delivery.pk)
        claiming.note_failed(delivery, "An error of perfdash itself; its log tells more.")
    else:
        claiming.note_delivered(delivery)
    return True


def _why_not(delivery: Delivery) -> str:
    """Return why a delivery must no longer be sent; empty if it may be."""
    row, channel = delivery.announcement, delivery.channel
    if not channel.user.is_active:
        return "The account is switched off."
    if row.kind == Announcement.Kind.TRIAL:
        return ""
    if not (channel.is_on and channel.is_confirmed):
        return "The channel is switched off, or its address is not confirmed."
    if not may_know(channel.user, row):
        return "You may not see it any more."
    return _why_no_comment(delivery)


def _why_no_comment(delivery: Delivery) -> str:
    """Return why the text of a comment must no longer be sent; empty if it may be, or there is no comment."""
    key = delivery.announcement.data.get("comment")
    if key is None:
        return ""
    comment = Comment.objects.filter(pk=key).first()
    if comment is None or comment.deleted_at is not None:
        return "The comment was deleted."
    if not comment.mentions.filter(user=delivery.channel.user_id).exists():
        return "The comment was changed, and does not mention you any more."
    return ""
