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
    """Send it. Raise DeliveryFailed where it was not taken."""
    address = decrypt(delivery.channel.address)
    try:
        chat_services.send(
            address, harmless(message.subject), harmless(message.text), notification_rules()
        )
    except chat_services.ChatFailed as failure:
        raise DeliveryFailed(str(failure)) from None


def harmless(text: str) -> str:
    """Let nothing that somebody wrote call a whole channel together, as @everyone or <!here> would."""
    return text.replace("@", "@\u200b").replace("<", "<\u200b")


WAYS: Mapping[str, Callable[[Delivery, Message], None]] = {
    Channel.Kind.EMAIL: mail.send,
    Channel.Kind.WEBHOOK: webhook.send,
    Channel.Kind.CHAT: send_chat,
}


def deliver_next() -> bool:
    """Try the next delivery that is due; False where nothing is."""
    delivery = claiming.claim()
    if delivery is None:
        return False
    if why_not := _why_not(delivery):
        claiming.drop(delivery, why_not)
        return True
    try:
        WAYS[delivery.channel.kind](delivery, message_of(delivery))
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
    """Why a delivery is not to be sent any more; empty where it is."""
    row, channel = delivery.announcement, delivery.channel
    if not channel.user.is_active:
        return "The account is switched off."
    if row.kind == Announcement.Kind.TRIAL:
        return ""
    if not (channel.is_on and channel.is_confirmed):
        return "The channel is switched off, or its address is not confirmed."
    if not may_know(channel.user, row):
        return "You may not see it any more."
    return _unsaid(delivery)


def _unsaid(delivery: Delivery) -> str:
    """Why what a comment said is not told any more; empty where it is, or none said it."""
    key = delivery.announcement.data.get("comment")
    if key is None:
        return ""
    comment = Comment.objects.filter(pk=key).first()
    if comment is None or comment.deleted_at is not None:
        return "The comment was deleted."
    if not comment.mentions.filter(user=delivery.channel.user_id).exists():
        return "The comment was changed, and does not mention you any more."
    return ""
