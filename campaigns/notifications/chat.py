"""Sends messages to chat services."""

from campaigns.clients import chat
from campaigns.kit.encryption import decrypt
from campaigns.models import Delivery
from campaigns.notifications.errors import DeliveryFailed
from campaigns.notifications.messages import Message
from campaigns.notifications.rules import notification_rules


def send(delivery: Delivery, message: Message) -> None:
    """Send it. Raise DeliveryFailed where it was not taken."""
    address = decrypt(delivery.channel.address)
    try:
        chat.send(address, harmless(message.subject), harmless(message.text), notification_rules())
    except chat.ChatFailed as failure:
        raise DeliveryFailed(str(failure)) from None


def harmless(text: str) -> str:
    """Let nothing that somebody wrote call a whole channel together, as @everyone or <!here> would."""
    return text.replace("@", "@\u200b").replace("<", "<\u200b")
